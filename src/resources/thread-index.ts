// All threads in memory in the order of their last update, as a linked list: the commonest search asks for the newest few, and every
// run moves its thread to the front.

/** An element of the list. */
export interface Entry<T> {
  record: T;
  older: Entry<T> | undefined;
  newer: Entry<T> | undefined;
}

/** Records by thread id, and from the last updated to the first. */
export class ThreadIndex<T extends { readonly thread_id: string }> {
  readonly #entries = new Map<string, Entry<T>>();
  #newest: Entry<T> | undefined;

  get size(): number {
    return this.#entries.size;
  }

  get newest(): Entry<T> | undefined {
    return this.#newest;
  }

  get(threadId: string): T | undefined {
    return this.#entries.get(threadId)?.record;
  }

  has(threadId: string): boolean {
    return this.#entries.has(threadId);
  }

  /** Takes a record in as the last updated one. */
  put(record: T): void {
    const entry = this.#entries.get(record.thread_id);
    if (entry !== undefined) this.#unlink(entry);
    const fresh: Entry<T> = { record, older: this.#newest, newer: undefined };
    if (this.#newest !== undefined) this.#newest.newer = fresh;
    this.#newest = fresh;
    this.#entries.set(record.thread_id, fresh);
  }

  /** Takes the place of a record that is there; nothing when it is not. */
  replace(record: T): void {
    const entry = this.#entries.get(record.thread_id);
    if (entry !== undefined) entry.record = record;
  }

  delete(threadId: string): void {
    const entry = this.#entries.get(threadId);
    if (entry === undefined) return;
    this.#unlink(entry);
    this.#entries.delete(threadId);
  }

  /** All records, the last updated first. */
  *values(): Iterable<T> {
    for (let entry = this.#newest; entry !== undefined; entry = entry.older) yield entry.record;
  }

  clear(): void {
    this.#entries.clear();
    this.#newest = undefined;
  }

  #unlink(entry: Entry<T>): void {
    if (entry.older !== undefined) entry.older.newer = entry.newer;
    if (entry.newer !== undefined) entry.newer.older = entry.older;
    else this.#newest = entry.older;
  }
}
