// An answer of MCP as a stream of events: notifications first, then the answer. For calls that take long, and those that want to hear of
// progress.
import type { RpcResponse } from "../json-rpc.ts";
import { OutgoingEvents, PING } from "./outgoing-events.ts";
import type { Reply } from "./respond.ts";

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
  const body = new OutgoingEvents();
  const send = (message: unknown): void => body.send(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  body.send(PING);
  const finish = async (): Promise<void> => {
    const answer = await work(send);
    if (answer !== undefined) send(answer);
    body.complete();
  };
  void finish();
  return reply.stream(body, "text/event-stream", {});
}
