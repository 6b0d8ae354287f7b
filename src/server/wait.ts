// The answer of `wait` and `join`: JSON when the run has ended. A run that takes long gets its headers early and newlines until
// then, so that no proxy or client gives the connection up.
import { Readable } from "node:stream";
import { systemTimers, type Timers } from "../clock.ts";
import type { RunEnd } from "../runs/active.ts";
import { waitBody } from "../runs/result.ts";
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
  clock: Timers = systemTimers,
): Promise<Response> {
  let callOff: (() => void) | undefined;
  const late = new Promise<undefined>((resolve) => {
    callOff = clock.at(clock.now() + HEADERS_AFTER_MS, () => resolve(undefined));
  });
  const end = await Promise.race([ended, late]);
  callOff?.();
  if (end !== undefined) return reply.jsonText(waitBody(end.json), headers);
  const body = new Readable({
    read() {},
    destroy(error, callback) {
      callOff?.();
      callback(error);
    },
  });
  const beat = (): void => {
    body.push("\n");
    callOff = clock.at(clock.now() + NEWLINE_MS, beat);
  };
  beat();
  const finish = async (): Promise<void> => {
    const { json } = await ended;
    callOff?.();
    body.push(waitBody(json));
    body.push(null);
  };
  void finish();
  return reply.stream(body, "application/json", headers);
}
