// What a reader that comes is shown of what has been. A client that names no number gets everything that is kept; but how an earlier run
// ended, and what it asked for, is no news once another run has begun: the official client would take it for the end of the run that
// it waits for.
import { filterKey, matches, type EventFilter } from "./filter.ts";
import type { LoggedEvent, ThreadLog } from "./thread-log.ts";

/** Milliseconds for a client that lost its connection to come back for what it has missed; it tries for about twenty seconds. */
const RETURN_MS = 30_000;
/** Readers that left and are remembered, per thread. */
const MAX_DEPARTED = 64;

/** Where a reader begins, and what it wants. */
export interface Replay {
  /** The number of the first event to look at. */
  readonly cursor: number;
  readonly wants: (event: LoggedEvent) => boolean;
}

interface Departed {
  readonly key: string;
  /** The first event that it has not read. */
  readonly cursor: number;
  readonly at: number;
}

export class Replays {
  readonly #log: ThreadLog;
  readonly #departed: Departed[] = [];

  constructor(log: ThreadLog) {
    this.#log = log;
  }

  /** Where a new reader begins. @param since only events behind this number; everything that is kept without it. */
  begin(filter: EventFilter, since: number | undefined): Replay {
    const { firstSeq, runs } = this.#log;
    if (since !== undefined) return { cursor: Math.max(firstSeq, since + 1), wants: (event) => matches(filter, event) };
    const unread = this.#unreadBy(filterKey(filter));
    return {
      cursor: firstSeq,
      wants: (event) => (!event.passing || event.run >= runs || event.seq >= unread) && matches(filter, event),
    };
  }

  /** From where on a reader with this filter has missed everything, when one has just left. */
  #unreadBy(key: string): number {
    const oldest = Date.now() - RETURN_MS;
    let unread = Infinity;
    for (const departed of this.#departed)
      if (departed.key === key && departed.at >= oldest) unread = Math.min(unread, departed.cursor);
    return unread;
  }

  /** A reader has gone, perhaps against its will. @param cursor the first event that it has not read. */
  left(filter: EventFilter, cursor: number): void {
    this.#departed.push({ key: filterKey(filter), cursor, at: Date.now() });
    if (this.#departed.length > MAX_DEPARTED) this.#departed.shift();
  }
}
