// Ends the threads whose time is over. One timer waits for the first of them; nothing is looked for before. When a thread expires is told
// by its record, so that a restart changes nothing, and activity moves it without anything being written here.
import { ApiError } from "../errors.ts";
import type { Timers } from "../clock.ts";
import type { CheckpointerTtl } from "../config/types.ts";
import type { ThreadRecord, Threads } from "../resources/threads.ts";
import { expiryOf, MINUTE_MS, type ThreadTtl } from "../resources/thread-ttl.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import type { RunEngine } from "./engine.ts";
import { pruneThread } from "./thread-prune.ts";

/** Least time between two sweeps, and threads per sweep, without a config. */
const MIN_INTERVAL_MS = 1000;
const DEFAULT_LIMIT = 1000;
/** Threads that are looked at in one go before others get their turn. */
const SLICE = 20;
/** Threads that are read in one go at start. */
const START_SLICE = 1000;
/** When a thread that could not be swept is tried again. */
const RETRY_MS = MINUTE_MS;

export interface SweeperOptions {
  readonly threads: Threads;
  readonly checkpoints: CheckpointStore;
  readonly engine: RunEngine;
  readonly clock: Timers;
  /** A thread could not be swept. */
  readonly onError: (error: unknown) => void;
}

export class ThreadSweeper {
  readonly #options: SweeperOptions;
  /** Thread → when to look at it: its expiry, or earlier if there was activity since. */
  readonly #due = new Map<string, number>();
  #intervalMs = MIN_INTERVAL_MS;
  #limit = DEFAULT_LIMIT;
  /** When the last sweep ended. */
  #swept = -Infinity;
  #alarm: { readonly at: number; readonly cancel: () => void } | undefined;
  #sweep: Promise<void> | undefined;
  #stopped = false;

  constructor(options: SweeperOptions) {
    this.#options = options;
    options.threads.watchMortals({
      changed: (record) => this.#watch(record),
      gone: (threadId) => void this.#due.delete(threadId),
    });
  }

  /** Heeds `checkpointer.ttl` of the config; its default is that of threads that are made from now on. */
  configure(ttl: CheckpointerTtl | undefined): void {
    const { strategy, defaultMinutes: minutes } = ttl ?? {};
    const made: ThreadTtl | undefined =
      strategy === undefined || minutes === undefined ? undefined : { strategy, minutes };
    this.#options.threads.defaultTtl = made;
    this.#intervalMs = ttl === undefined ? MIN_INTERVAL_MS : ttl.sweepMinutes * MINUTE_MS;
    this.#limit = ttl?.sweepLimit ?? DEFAULT_LIMIT;
    this.#arm();
  }

  /** Finds the threads that expire some time; those whose time is over are swept soon. After recovery: a thread may be busy again. */
  async start(): Promise<void> {
    let left = START_SLICE;
    for (const threadId of this.#options.threads.mortals()) {
      const record = this.#options.threads.peek(threadId);
      if (record !== undefined) this.#watch(record);
      if (--left > 0) continue;
      left = START_SLICE;
      await turn();
      if (this.#stopped) return;
    }
  }

  /** Sweeps no more; resolves when a sweep that is under way has stopped. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#alarm?.cancel();
    await this.#sweep;
  }

  #watch(record: ThreadRecord): void {
    const expiry = expiryOf(record);
    if (expiry === undefined) return;
    const known = this.#due.get(record.thread_id);
    // A later time shows when the earlier one has come, so that a run costs nothing.
    if (known !== undefined && known <= expiry) return;
    this.#due.set(record.thread_id, expiry);
    if (this.#alarm === undefined || expiry < this.#alarm.at) this.#arm(expiry);
  }

  /** Waits for the first thread. @param first when that is, if it is known. */
  #arm(first: number = this.#first()): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
    if (first === Infinity || this.#stopped || this.#sweep !== undefined) return;
    const { clock } = this.#options;
    const at = Math.max(first, this.#swept + this.#intervalMs);
    const cancel = clock.at(at, () => {
      this.#alarm = undefined;
      this.#sweep = this.#sweepAll().finally(() => {
        this.#sweep = undefined;
        this.#swept = clock.now();
        this.#arm();
      });
    });
    this.#alarm = { at, cancel };
  }

  #first(): number {
    let first = Infinity;
    for (const at of this.#due.values()) if (at < first) first = at;
    return first;
  }

  async #sweepAll(): Promise<void> {
    const now = this.#options.clock.now();
    const due = [...this.#due].filter(([, at]) => at <= now).toSorted(([, a], [, b]) => a - b);
    for (const [i, [threadId]] of due.slice(0, this.#limit).entries()) {
      if (this.#stopped) return;
      if (i > 0 && i % SLICE === 0) await turn();
      try {
        await this.#look(threadId);
      } catch (error) {
        if (isGone(error)) continue;
        this.#due.set(threadId, now + RETRY_MS);
        this.#options.onError(error);
      }
    }
  }

  /** Sweeps a thread if its time is over, or finds out when that will be. */
  async #look(threadId: string): Promise<void> {
    const { threads, engine, clock } = this.#options;
    this.#due.delete(threadId);
    const record = threads.peek(threadId);
    if (record?.ttl === undefined) return;
    if (engine.isBusy(threadId)) {
      // The end of the run is activity, so it has all its time then.
      this.#due.set(threadId, clock.now() + record.ttl.minutes * MINUTE_MS);
    } else if (engine.changes.has(threadId)) {
      // Its code may hang, and the others must not wait for it. If it is done, that is activity.
      this.#due.set(threadId, clock.now() + RETRY_MS);
    } else if (!this.#isOver(threadId)) this.#watch(record);
    else if (record.ttl.strategy === "keep_latest") await this.#prune(threadId);
    else await engine.deleteThread(threadId);
  }

  #isOver(threadId: string): boolean {
    const record = this.#options.threads.peek(threadId);
    const expiry = record === undefined ? undefined : expiryOf(record);
    return expiry !== undefined && expiry <= this.#options.clock.now();
  }

  async #prune(threadId: string): Promise<void> {
    const { threads, engine, checkpoints, clock } = this.#options;
    try {
      await engine.update(threadId, async (signal) => {
        if (!this.#isOver(threadId)) return;
        const before = threads.get(threadId);
        await pruneThread(checkpoints, threadId, signal);
        signal.throwIfAborted();
        const record = threads.get(threadId);
        if (record.ttl === undefined || record.updated_at !== before.updated_at) return;
        threads.amend({ ...record, ttl: { ...record.ttl, pruned: record.updated_at } });
      });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    }
    // Somebody may have come first: another look will tell.
    if (this.#isOver(threadId)) this.#due.set(threadId, clock.now());
    else {
      const record = threads.peek(threadId);
      if (record !== undefined) this.#watch(record);
    }
  }
}

const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
