// Threads: their head records (status, times, metadata), and an index of them that is derived from storage.
// The state of a thread is not here: it lives in its checkpoints (runs/states.ts).
import { ApiError } from "../errors.ts";
import { isUuid, systemClock, timestamp, uuid4, type Clock } from "../ids.ts";
import { prefixRange, type Database, type Write } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import { page, type Json, type Page } from "./json.ts";
import { merged } from "./settings-size.ts";
import { ThreadIndex } from "./thread-index.ts";
import type { ThreadRecord } from "./thread-record.ts";
import {
  isByUpdate,
  isPlain,
  matching,
  newestPage,
  sorted,
  withValues,
  type HeadFilter,
  type ThreadFilter,
  type ThreadQuery,
  type ValuesOf,
} from "./thread-search.ts";
import type { ThreadTtl } from "./thread-ttl.ts";

export type { InterruptJson, ThreadRecord, ThreadStatus } from "./thread-record.ts";
export type { ThreadQuery, ThreadSortField } from "./thread-search.ts";

/** The error for a thread that does not exist (or that the caller may not see). */
export const threadNotFound = (threadId: string): ApiError => new ApiError(404, `Thread with ID ${threadId} not found`);

/** Who is told of threads that have a time to live. */
export interface MortalWatcher {
  changed(record: ThreadRecord): void;
  gone(threadId: string): void;
}

export class Threads {
  /** The time to live of threads that are made from now on and are given none of their own; for ever when undefined. */
  defaultTtl: ThreadTtl | undefined;
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #index = new ThreadIndex<ThreadRecord>();
  #loaded = false;
  #watcher: MortalWatcher | undefined;

  constructor(db: Database, clock: Clock = systemClock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Tells of every change of a thread that has a time to live. */
  watchMortals(watcher: MortalWatcher): void {
    this.#watcher = watcher;
  }

  /** Now, as it is written into the heads of threads. */
  stamp(): string {
    return timestamp(this.#clock.now());
  }

  /** Reads all heads from storage, once; what needs no index does not wait for it. */
  #load(): void {
    if (this.#loaded) return;
    this.#loaded = true;
    const known = [...this.#index.values()].toReversed();
    this.#index.clear();
    const records = Array.from(
      this.#db.range(prefixRange(keys.threads)),
      ([, text]) => JSON.parse(text) as ThreadRecord,
    );
    records.sort((a, b) => (a.updated_at < b.updated_at ? -1 : a.updated_at > b.updated_at ? 1 : 0));
    for (const record of records) this.#index.put(record);
    for (const record of known) if (!this.#index.has(record.thread_id)) this.#index.put(record);
  }

  /** The head of a thread, or undefined. */
  find(threadId: string): ThreadRecord | undefined {
    const known = this.#index.get(threadId);
    if (known !== undefined || this.#loaded) return known;
    const record = this.#read(threadId);
    if (record !== undefined) this.#index.put(record);
    return record;
  }

  /** The same, for a look at many threads: it keeps none in memory that is not there. */
  peek(threadId: string): ThreadRecord | undefined {
    return this.#index.get(threadId) ?? (this.#loaded ? undefined : this.#read(threadId));
  }

  #read(threadId: string): ThreadRecord | undefined {
    const text = this.#db.get(keys.thread(threadId));
    return text === undefined ? undefined : (JSON.parse(text) as ThreadRecord);
  }

  /** @throws ApiError 404 */
  get(threadId: string): ThreadRecord {
    const record = this.find(threadId);
    if (record === undefined) throw threadNotFound(threadId);
    return record;
  }

  /** A new thread, not stored yet: hand it to `writesOf` and, when the batch is committed, to `committed`. */
  draft(threadId: string = uuid4(), metadata: Json = {}, ttl: ThreadTtl | undefined = this.defaultTtl): ThreadRecord {
    const now = this.stamp();
    return {
      thread_id: threadId,
      created_at: now,
      updated_at: now,
      state_updated_at: now,
      metadata,
      config: {},
      status: "idle",
      interrupts: {},
      ...(ttl === undefined ? {} : { ttl }),
    };
  }

  /** The change that stores a head whose ttl has not become one; for batches with other records. */
  writeOf(record: ThreadRecord): Write {
    return { key: keys.thread(record.thread_id), value: JSON.stringify(record) };
  }

  /** The changes that store a head, new ones included. */
  writesOf(record: ThreadRecord): Write[] {
    const head = this.writeOf(record);
    if (record.ttl === undefined || this.#index.get(record.thread_id)?.ttl !== undefined) return [head];
    return [head, { key: keys.expiring(record.thread_id), value: "" }];
  }

  /** The changes that delete a head. */
  deletion(threadId: string): Write[] {
    const head = { key: keys.thread(threadId), value: undefined };
    return this.peek(threadId)?.ttl === undefined ? [head] : [head, { key: keys.expiring(threadId), value: undefined }];
  }

  /** Takes a stored head into the index. */
  committed(record: ThreadRecord): void {
    this.#index.put(record);
    if (record.ttl !== undefined) this.#watcher?.changed(record);
  }

  /** Forgets a thread whose key was deleted. */
  removed(threadId: string): void {
    if (this.#index.get(threadId)?.ttl !== undefined) this.#watcher?.gone(threadId);
    this.#index.delete(threadId);
  }

  /** Stores a head by itself. */
  put(record: ThreadRecord): ThreadRecord {
    this.#db.write(this.writesOf(record));
    this.committed(record);
    return record;
  }

  /** Stores a change of a head that is no activity: the thread keeps its place among the last updated. */
  amend(record: ThreadRecord): void {
    this.#db.write(this.writesOf(record));
    this.#index.replace(record);
  }

  /** Ids of the threads that have a time to live. */
  *mortals(): Iterable<string> {
    for (const [key] of this.#db.range(prefixRange(keys.allExpiring))) {
      yield decodeURIComponent(key.slice(keys.allExpiring.length));
    }
  }

  /**
   * Creates a thread.
   * @throws ApiError 422 when the id is not a UUID; 409 when it exists and `ifExists` is `raise`.
   */
  create(options: {
    threadId?: string | undefined;
    metadata?: Json | undefined;
    ttl?: ThreadTtl | undefined;
    ifExists: "raise" | "do_nothing";
    /** What the caller sees, by metadata. */
    allows?: ((metadata: Json) => boolean) | undefined;
  }): ThreadRecord {
    const { threadId, metadata, ttl, allows } = options;
    if (threadId !== undefined) {
      if (!isUuid(threadId)) throw new ApiError(422, `thread_id must be a UUID, got "${threadId}"`);
      const existing = this.find(threadId);
      if (existing !== undefined) {
        const isSeen = allows === undefined || allows(existing.metadata);
        if (options.ifExists === "do_nothing" && isSeen) return existing;
        throw new ApiError(409, "Thread already exists");
      }
    }
    return this.put(this.draft(threadId, metadata, ttl));
  }

  /** Merges metadata, one level deep, and sets the time to live where one is given. @throws ApiError 404 */
  patch(
    threadId: string,
    { metadata, ttl }: { metadata?: Json | undefined; ttl?: ThreadTtl | undefined },
  ): ThreadRecord {
    const record = this.get(threadId);
    return this.put({
      ...record,
      metadata: merged(record.metadata, metadata),
      updated_at: this.stamp(),
      ...(ttl === undefined ? {} : { ttl }),
    });
  }

  /** Number of threads that a filter lets through. */
  count(filter: HeadFilter): number {
    this.#load();
    return isPlain(filter) ? this.#index.size : matching(this.#index.values(), filter).length;
  }

  /** The same with a filter on values, if there is one, which is the only thing that takes time. */
  async countBy(filter: ThreadFilter, valuesOf: ValuesOf): Promise<number> {
    const { values, ...head } = filter;
    return values === undefined ? this.count(head) : (await this.#withValues(head, values, valuesOf)).length;
  }

  /** Threads in the order of their last update unless asked otherwise. */
  search(query: Omit<ThreadQuery, "values">): Page<ThreadRecord> {
    this.#load();
    const byUpdate = isByUpdate(query);
    if (byUpdate && isPlain(query)) return newestPage(this.#index, query.limit, query.offset);
    const found = matching(this.#index.values(), query);
    return page(byUpdate ? found : sorted(found, query), query.limit, query.offset);
  }

  /** The same with a filter on values, if there is one, which is the only thing that takes time. */
  async searchBy(query: ThreadQuery, valuesOf: ValuesOf): Promise<Page<ThreadRecord>> {
    const { values, ...head } = query;
    if (values === undefined) return this.search(head);
    const found = await this.#withValues(head, values, valuesOf);
    return page(isByUpdate(head) ? found : sorted(found, head), head.limit, head.offset);
  }

  /** Threads as they are when their values have been looked at; those that went meanwhile are left out. */
  async #withValues(filter: HeadFilter, values: Json, valuesOf: ValuesOf): Promise<ThreadRecord[]> {
    this.#load();
    const found = await withValues(matching(this.#index.values(), filter), values, valuesOf);
    return found.flatMap(({ thread_id }) => this.#index.get(thread_id) ?? []);
  }
}
