// Changes of a thread's state from outside of a run: one at a time, none while a run is there, and no run starts meanwhile. They call the
// user's code, which may hang: a change has the time that a run has, and is given up when its thread is deleted or the server stops. What
// its code does then must have nowhere to go, which is why changes write into a StagedDatabase, or look at their signal.
import type { Timers } from "../clock.ts";
import { ApiError } from "../errors.ts";
import { threadNotFound, type Threads } from "../resources/threads.ts";
import type { RunQueue } from "./queue.ts";

export interface ThreadChangesOptions {
  readonly threads: Threads;
  readonly queue: RunQueue;
  readonly clock: Timers;
  /** Milliseconds that a change may take. */
  readonly timeoutMs: number;
}

/** Work that ends, or is of no consequence any more, when the signal is aborted. */
export type BoundedWork<T> = (signal: AbortSignal) => Promise<T>;

const stopping = (): ApiError => new ApiError(503, "The server is stopping");

export class ThreadChanges {
  readonly #options: ThreadChangesOptions;
  /** The last change of each thread that has changes under way. */
  readonly #last = new Map<string, Promise<undefined>>();
  /** What gives up those that are under way or wait, by thread; undefined for work on no thread that is there. */
  readonly #underWay = new Map<AbortController, string | undefined>();
  #stopped = false;

  constructor(options: ThreadChangesOptions) {
    this.#options = options;
  }

  /** Whether changes of a thread are under way. */
  has(threadId: string): boolean {
    return this.#last.has(threadId);
  }

  /** Resolves when the changes that are under way now are done, on all threads. */
  async settled(): Promise<void> {
    await Promise.all(this.#last.values());
  }

  /** Makes a change when those before it are done. @throws ApiError 404 unknown thread; 409 busy; what `bounded` throws. */
  make<T>(threadId: string, change: BoundedWork<T>): Promise<T> {
    const { threads, queue } = this.#options;
    const mine = this.#bounded(threadId, this.#last.get(threadId), async (signal) => {
      threads.get(threadId);
      if (queue.lane(threadId).length > 0) throw new ApiError(409, "Thread is busy");
      const release = queue.hold(threadId);
      // Given up, it holds up nobody, whatever its code still does.
      signal.addEventListener("abort", release, { once: true });
      try {
        return await change(signal);
      } finally {
        signal.removeEventListener("abort", release);
        if (!signal.aborted) release();
      }
    });
    const done = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(threadId, done);
    void done.then(() => this.#last.get(threadId) === done && this.#last.delete(threadId));
    return mine;
  }

  /**
   * Does work that calls the user's code and is about no thread that is there, for as long as it may take.
   * @throws ApiError 422 when its time is over; 503 when the server stops.
   */
  bounded<T>(work: BoundedWork<T>): Promise<T> {
    return this.#bounded(undefined, undefined, work);
  }

  async #bounded<T>(
    threadId: string | undefined,
    before: Promise<undefined> | undefined,
    work: BoundedWork<T>,
  ): Promise<T> {
    if (this.#stopped) throw stopping();
    const controller = new AbortController();
    const { signal } = controller;
    const givenUp = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
    this.#underWay.set(controller, threadId);
    let callOff: (() => void) | undefined;
    try {
      if (before !== undefined) await Promise.race([before, givenUp]);
      callOff = this.#limit(controller);
      return await Promise.race([work(signal), givenUp]);
    } finally {
      callOff?.();
      this.#underWay.delete(controller);
    }
  }

  #limit(controller: AbortController): () => void {
    const { clock, timeoutMs } = this.#options;
    // A 5xx would make clients try again, and the project's code would hang again.
    const message = `The change took longer than ${timeoutMs / 1000} s (BG_JOB_TIMEOUT_SECS) and was given up`;
    return clock.at(clock.now() + timeoutMs, () => controller.abort(new ApiError(422, message)));
  }

  /** Gives up the changes of a thread that is being deleted. */
  giveUp(threadId: string): void {
    for (const [controller, of] of this.#underWay) if (of === threadId) controller.abort(threadNotFound(threadId));
  }

  /** Gives up all changes, and makes no more. */
  stop(): void {
    this.#stopped = true;
    for (const controller of this.#underWay.keys()) controller.abort(stopping());
  }
}
