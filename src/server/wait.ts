// The answer of `wait` and `join`: JSON when the run has ended. A run that takes long gets its headers early and newlines until
// then, so that no proxy or client gives the connection up.
import { Readable } from "node:stream";
import type { RunEnd } from "../runs/active.ts";
import type { Reply } from "./respond.ts";

/** Milliseconds until the headers go out without the body. */
const HEADERS_AFTER_MS = 1000;
/** Milliseconds between newlines after that. */
const NEWLINE_MS = 5000;

/** Answers with how the run ends. */
export async function waitFor(
  reply: Reply,
  ended: Promise<RunEnd>,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, HEADERS_AFTER_MS, undefined);
  });
  const end = await Promise.race([ended, late]);
  clearTimeout(timer);
  if (end !== undefined) return reply.jsonText(end.json, headers);
  const body = new Readable({
    read() {},
    destroy(error, callback) {
      clearInterval(newlines);
      callback(error);
    },
  });
  const newlines = setInterval(() => body.push("\n"), NEWLINE_MS).unref();
  body.push("\n");
  const finish = async (): Promise<void> => {
    const { json } = await ended;
    clearInterval(newlines);
    body.push(json);
    body.push(null);
  };
  void finish();
  return reply.stream(body, "application/json", headers);
}
