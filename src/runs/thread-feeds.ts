// The feeds of those threads that somebody follows. A thread without a reader has none, and its runs pay nothing for it.
import type { Timers } from "../clock.ts";
import type { ActiveRun } from "./active.ts";
import type { ReadFrom } from "./events.ts";
import type { LogReader } from "./log-reader.ts";
import type { StoredLogs } from "./stored-logs.ts";
import { ThreadFeed } from "./thread-feed.ts";
import { headOf, metadataJson, type ThreadStreamMode } from "./thread-events.ts";

/** Milliseconds that a feed is kept without a reader, for one that lost its connection. */
const KEEP_MS = 120_000;
/** Feeds without a reader that are kept at most, and their characters together. */
const KEEP_FEEDS = 100;
const KEEP_CHARS = 64 * 1024 * 1024;

export interface ThreadFeedsOptions {
  readonly logs: StoredLogs;
  readonly stateOf: (threadId: string) => Promise<string>;
  readonly clock: Timers;
  /** Runs of a thread that have not ended, the running one first. */
  readonly lane: (threadId: string) => readonly ActiveRun[];
}

export class ThreadFeeds {
  readonly #options: ThreadFeedsOptions;
  readonly #feeds = new Map<string, ThreadFeed>();
  /** Feeds without a reader, the first to go first, and what puts their end off. */
  readonly #unread = new Map<string, () => void>();
  #stopped = false;

  constructor(options: ThreadFeedsOptions) {
    this.#options = options;
  }

  /** The feed of a thread that somebody follows. */
  find(threadId: string): ThreadFeed | undefined {
    return this.#feeds.get(threadId);
  }

  /**
   * A reader of what happens on a thread.
   * @returns it, and the data of the `metadata` event of the run that is under way, if it comes too late for that.
   */
  follow(
    threadId: string,
    from: ReadFrom,
    modes: readonly ThreadStreamMode[],
  ): { reader: LogReader; metadata: string | undefined } {
    const feed = this.#feeds.get(threadId) ?? this.#create(threadId);
    this.#keep(threadId);
    const reader = feed.follow(from, modes);
    if (from !== "now" || !modes.includes("run_modes")) return { reader, metadata: undefined };
    const running = this.#options.lane(threadId).find(({ log }) => log.begun);
    return { reader, metadata: running === undefined ? undefined : metadataJson(headOf(running.record)) };
  }

  #create(threadId: string): ThreadFeed {
    const { logs, stateOf, lane } = this.#options;
    // When they are open, no number of theirs is given again, even by a clock that went backwards.
    logs.of(threadId);
    const feed = new ThreadFeed({
      threadId,
      logs,
      stateOf,
      onUnread: () => this.#leave(threadId, feed),
      onGrown: () => this.#limit(),
    });
    if (this.#stopped) feed.close();
    else {
      this.#feeds.set(threadId, feed);
      for (const { log } of lane(threadId)) log.tap = feed;
    }
    return feed;
  }

  /** The last reader has left: the feed goes in a while. */
  #leave(threadId: string, feed: ThreadFeed): void {
    if (this.#feeds.get(threadId) !== feed) return;
    const { clock } = this.#options;
    this.#unread.set(
      threadId,
      clock.at(clock.now() + KEEP_MS, () => this.end(threadId)),
    );
    this.#limit();
  }

  /** Ends those whose readers left first, when there are too many or they keep too much. */
  #limit(): void {
    let chars = 0;
    for (const threadId of this.#unread.keys()) chars += this.#feeds.get(threadId)?.chars ?? 0;
    for (const threadId of this.#unread.keys()) {
      if (this.#unread.size <= KEEP_FEEDS && chars <= KEEP_CHARS) break;
      chars -= this.#feeds.get(threadId)?.chars ?? 0;
      this.end(threadId);
    }
  }

  #keep(threadId: string): void {
    this.#unread.get(threadId)?.();
    this.#unread.delete(threadId);
  }

  /** The state of a thread was changed from outside. */
  changed(threadId: string): void {
    this.#feeds.get(threadId)?.changed();
  }

  /** The thread is gone, or nobody follows it any more: its readers end. @param over false when the server stops. */
  end(threadId: string, over = true): void {
    this.#keep(threadId);
    const feed = this.#feeds.get(threadId);
    if (feed === undefined) return;
    this.#feeds.delete(threadId);
    for (const { log } of this.#options.lane(threadId)) log.tap = undefined;
    feed.close(over);
  }

  /** All readers end, and those who come later at once. Their threads are there when the server starts again. */
  stop(): void {
    this.#stopped = true;
    for (const threadId of this.#feeds.keys()) this.end(threadId, false);
  }
}
