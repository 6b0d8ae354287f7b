// What happens on one thread, for those who follow it: the events of its runs one after the other, their begins and ends, its state
// behind each. It is there while somebody reads, and a while longer for those who come back.
import { EventLog, frame, type ReadFrom, type Tap } from "./events.ts";
import { describeError } from "./describe-error.ts";
import type { Chunk, LogReader } from "./log-reader.ts";
import { errorJson } from "./result.ts";
import { advanceStamp, nextStamp } from "./stamp.ts";
import type { StoredLogs } from "./stored-logs.ts";
import { replay } from "./stored-replay.ts";
import { kindsOf, STATE_UPDATE, type ThreadEventKind, type ThreadStreamMode } from "./thread-events.ts";

/** Characters kept per thread; a reader that is further behind is cut off. */
const MAX_FEED_CHARS = 16 * 1024 * 1024;
/** As many events of the largest size may wait for a reader, if that is more: a step brings several that hold the whole state. */
const LARGE_EVENTS = 8;
/** Characters after which it is told that a feed without a reader has grown. */
const GROWTH_CHARS = 128 * 1024;

export interface ThreadFeedOptions {
  readonly threadId: string;
  readonly logs: StoredLogs;
  /** The JSON of the thread's newest state. */
  readonly stateOf: (threadId: string) => Promise<string>;
  /** The last reader has left. */
  readonly onUnread: () => void;
  /** It has grown without a reader; not told of every event. */
  readonly onGrown: () => void;
}

export class ThreadFeed extends EventLog implements Tap {
  readonly #options: ThreadFeedOptions;
  /** Characters when it was last told that it has grown. */
  #toldAt = 0;
  #largest = 0;
  #wantsEvents = false;
  #wantsState = false;
  /** States are told in the order in which they were asked for. */
  #told: Promise<unknown> = Promise.resolve();

  constructor(options: ThreadFeedOptions) {
    super(nextStamp(), MAX_FEED_CHARS);
    this.#options = options;
  }

  override get wanted(): boolean {
    return this.#wantsEvents;
  }

  /** Events of resumable runs can be read back from storage. */
  protected override get oldest(): number {
    return 0;
  }

  protected override get room(): number {
    return this.readers.size === 0 ? super.room : Math.max(super.room, LARGE_EVENTS * this.#largest);
  }

  follow(from: ReadFrom, modes: readonly ThreadStreamMode[]): LogReader {
    const kinds = kindsOf(modes);
    this.#wantsEvents ||= kinds.has("event");
    this.#wantsState ||= kinds.has("state");
    return this.reader(from, kinds);
  }

  put(name: string, data: string, kind: ThreadEventKind): number {
    const id = this.next++;
    this.#largest = Math.max(this.#largest, data.length);
    if (!this.closed) this.add({ id, mode: kind, frame: frame(name, data, id) });
    if (this.readers.size === 0 && this.chars > this.#toldAt + GROWTH_CHARS) {
      this.#toldAt = this.chars;
      this.#options.onGrown();
    }
    return id;
  }

  changed(): void {
    if (!this.#wantsState || this.closed) return;
    const { threadId, stateOf } = this.#options;
    const state = stateOf(threadId).catch((error: unknown) => errorJson(describeError(error)));
    this.#told = Promise.all([state, this.#told]).then(([json]) => this.put(STATE_UPDATE, json, "state"));
  }

  /** Numbers that are given on this thread later are greater than those given here. */
  override close(over = true): void {
    super.close(over);
    advanceStamp(this.next);
  }

  protected override unread(): void {
    this.#options.onUnread();
  }

  override framesFrom(cursor: number, kinds: ReadonlySet<string> | undefined): Chunk {
    // A client must not know an event that a crash could take back.
    this.#options.logs.commit();
    return super.framesFrom(cursor, kinds);
  }

  protected override older(cursor: number, first: number, kinds: ReadonlySet<string> | undefined): Chunk {
    const { threadId, logs } = this.#options;
    return replay(threadId, logs.of(threadId), cursor, first, kinds);
  }
}
