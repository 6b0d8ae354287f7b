// The newest values of threads as JSON, kept ready: what GET thread, search and join answer with.
import { LRUCache } from "lru-cache";
import type { CheckpointStore } from "../storage/checkpoints.ts";

/** Characters of values that are kept. */
const CACHE_CHARS = 4 * 1024 * 1024;

export class ThreadValues {
  readonly #checkpoints: CheckpointStore;
  readonly #cache = new LRUCache<string, string>({ maxSize: CACHE_CHARS, sizeCalculation: (json) => json.length + 64 });

  constructor(checkpoints: CheckpointStore) {
    this.#checkpoints = checkpoints;
    checkpoints.onChange((threadId) => this.#cache.delete(threadId));
  }

  /** The JSON of a thread's values; `null` when it never ran. */
  json(threadId: string): string {
    const cached = this.#cache.get(threadId);
    if (cached !== undefined) return cached;
    const json = this.#checkpoints.newestValuesJson(threadId) ?? "null";
    this.#cache.set(threadId, json);
    return json;
  }

  /** The values as data, for filters. */
  data(threadId: string): unknown {
    return JSON.parse(this.json(threadId));
  }
}
