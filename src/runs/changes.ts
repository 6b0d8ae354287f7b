// Changes of a thread's state from outside of a run: one at a time, none while a run is there, and no run starts meanwhile.
import { ApiError } from "../errors.ts";
import type { Threads } from "../resources/threads.ts";
import type { RunQueue } from "./queue.ts";

export class ThreadChanges {
  readonly #threads: Threads;
  readonly #queue: RunQueue;
  /** The last change of each thread that has changes under way. */
  readonly #last = new Map<string, Promise<undefined>>();

  constructor(threads: Threads, queue: RunQueue) {
    this.#threads = threads;
    this.#queue = queue;
  }

  /** Resolves when the changes that are under way now are done. */
  settled(threadId: string): Promise<undefined> | undefined {
    return this.#last.get(threadId);
  }

  /** Makes a change when those before it are done. @throws ApiError 404 unknown thread; 409 busy. */
  make<T>(threadId: string, change: () => Promise<T>): Promise<T> {
    const before = this.#last.get(threadId);
    const mine = (async (): Promise<T> => {
      await before;
      this.#threads.get(threadId);
      if (this.#queue.lane(threadId).length > 0) throw new ApiError(409, "Thread is busy");
      const release = this.#queue.hold(threadId);
      try {
        return await change();
      } finally {
        release();
      }
    })();
    const done = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(threadId, done);
    void done.then(() => this.#last.get(threadId) === done && this.#last.delete(threadId));
    return mine;
  }
}
