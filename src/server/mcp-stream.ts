// An answer of MCP as a stream of events: notifications first, then the answer. For calls that take long, and those that want to hear of
// progress.
import { PassThrough } from "node:stream";
import type { RpcResponse } from "../json-rpc.ts";
import type { Reply } from "./respond.ts";

/** Milliseconds between comments that keep the connection alive. */
const PING_MS = 5000;
const PING = ": ping\n\n";

/** What `within` gives when the time is over. */
export const LATE = Symbol("late");

/** The result of `work`, or `LATE` when it takes longer. */
export async function within<T>(work: Promise<T>, milliseconds: number): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, milliseconds, LATE);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Answers with what `work` sends and, at the end, with what it gives. @param work must not reject. */
export function answerStream(
  reply: Reply,
  work: (send: (message: unknown) => void) => Promise<RpcResponse | undefined>,
): Response {
  const body = new PassThrough();
  const send = (message: unknown): void => void body.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  const pings = setInterval(() => body.write(PING), PING_MS).unref();
  body.write(PING);
  const finish = async (): Promise<void> => {
    const answer = await work(send);
    clearInterval(pings);
    if (answer !== undefined) send(answer);
    body.end();
  };
  void finish();
  return reply.stream(body, "text/event-stream", {});
}
