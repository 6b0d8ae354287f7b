// Readers of a thread's events over SSE: the frames that a filter lets through, in the form that all our event streams are read in.
import { LogReader, type Chunk, type Source } from "../runs/log-reader.ts";
import type { Replay } from "./replay.ts";
import type { ThreadLog } from "./thread-log.ts";

/** Characters that are handed over at once. What follows waits in the log until the client has taken them. */
const CHUNK_CHARS = 256 * 1024;

/**
 * A reader of a log.
 * @param leave called when it has gone, with the number of the first event that it has not read.
 * @param isSeen whether it may still read; always when undefined. If not, it ends.
 */
export function eventReader(
  log: ThreadLog,
  { cursor, wants }: Replay,
  leave: (cursor: number) => void,
  isSeen?: () => boolean,
): LogReader {
  const reader: LogReader = new LogReader(new WantedFrames(log, wants, isSeen), cursor, undefined, () => {
    log.unfollow(reader);
    leave(reader.cursor);
  });
  log.follow(reader);
  return reader;
}

class WantedFrames implements Source {
  readonly #log: ThreadLog;
  readonly #wants: Replay["wants"];
  readonly #isSeen: (() => boolean) | undefined;

  constructor(log: ThreadLog, wants: Replay["wants"], isSeen: (() => boolean) | undefined) {
    this.#log = log;
    this.#wants = wants;
    this.#isSeen = isSeen;
  }

  get closed(): boolean {
    return this.#log.closed || this.#isSeen?.() === false;
  }

  get end(): number {
    return this.#log.lastSeq + 1;
  }

  framesFrom(cursor: number): Chunk {
    if (this.#isSeen?.() === false) return { text: "", next: this.end };
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
