// Readers of a thread's events over SSE: the frames that a filter lets through, in the form that all our event streams are read in.
import { LogReader, type Chunk, type Source } from "../runs/log-reader.ts";
import type { Replay } from "./replay.ts";
import type { ThreadLog } from "./thread-log.ts";

/** Characters that are handed over at once. What follows waits in the log until the client has taken them. */
const CHUNK_CHARS = 256 * 1024;

/** A reader of a log. @param leave called when it has gone, with the number of the first event that it has not read. */
export function eventReader(log: ThreadLog, { cursor, wants }: Replay, leave: (cursor: number) => void): LogReader {
  const reader: LogReader = new LogReader(new WantedFrames(log, wants), cursor, undefined, () => {
    log.unfollow(reader);
    leave(reader.cursor);
  });
  log.follow(reader);
  return reader;
}

class WantedFrames implements Source {
  readonly #log: ThreadLog;
  readonly #wants: Replay["wants"];

  constructor(log: ThreadLog, wants: Replay["wants"]) {
    this.#log = log;
    this.#wants = wants;
  }

  get closed(): boolean {
    return this.#log.closed;
  }

  get end(): number {
    return this.#log.lastSeq + 1;
  }

  framesFrom(cursor: number): Chunk {
    let text = "";
    let next = cursor;
    for (; next < this.end && text.length < CHUNK_CHARS; next++) {
      const event = this.#log.at(next);
      if (event === undefined || !this.#wants(event)) continue;
      text += `event: ${event.method}\ndata: ${event.json}\nid: ${event.seq}\n\n`;
    }
    return { text, next };
  }
}
