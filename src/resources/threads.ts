// Threads: their head records (status, times, metadata), an index of them that is derived from storage, and search.
// The state of a thread is not here: it lives in its checkpoints (states.ts).
import { ApiError } from "../errors.ts";
import { isUuid, timestamp, uuid4 } from "../ids.ts";
import { prefixRange, type Database, type Write } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import { contains, page, type Json, type Page } from "./json.ts";

export type ThreadStatus = "idle" | "busy" | "interrupted" | "error";

/** An interrupt as clients see it. */
export interface InterruptJson {
  readonly id?: string | null;
  readonly value: unknown;
}

/** A thread without its values. Times are ISO 8601 with microseconds and offset. */
export interface ThreadRecord {
  readonly thread_id: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** Changes only when values change. */
  readonly state_updated_at: string;
  readonly metadata: Json;
  readonly config: Json;
  readonly status: ThreadStatus;
  /** Task id → the interrupts that it waits at. */
  readonly interrupts: Readonly<Record<string, readonly InterruptJson[]>>;
  /** Why the last run failed. */
  readonly error?: Json | null;
}

export type ThreadSortField = "thread_id" | "status" | "created_at" | "updated_at" | "state_updated_at";

/** What a search asks for. */
export interface ThreadQuery {
  readonly ids?: readonly string[] | undefined;
  readonly metadata?: Json | undefined;
  readonly values?: Json | undefined;
  readonly status?: ThreadStatus | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly sort_by?: ThreadSortField | undefined;
  readonly sort_order?: "asc" | "desc" | undefined;
}

/** A thread in memory: a node of the list of all threads in the order of their last update. */
interface Entry {
  record: ThreadRecord;
  older: Entry | undefined;
  newer: Entry | undefined;
}

/** The error for a thread that does not exist (or that the caller may not see). */
export const threadNotFound = (threadId: string): ApiError => new ApiError(404, `Thread with ID ${threadId} not found`);

export class Threads {
  readonly #db: Database;
  readonly #entries = new Map<string, Entry>();
  #newest: Entry | undefined;
  #loaded = false;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Reads all heads from storage, once; what needs no index does not wait for it. */
  #load(): void {
    if (this.#loaded) return;
    this.#loaded = true;
    const known = [...this.#entries.values()].map((entry) => entry.record);
    this.#entries.clear();
    this.#newest = undefined;
    const records = Array.from(
      this.#db.range(prefixRange(keys.threads)),
      ([, text]) => JSON.parse(text) as ThreadRecord,
    );
    records.sort((a, b) => compare(a.updated_at, b.updated_at));
    for (const record of records) this.#remember(record);
    for (const record of known) if (!this.#entries.has(record.thread_id)) this.#remember(record);
  }

  #remember(record: ThreadRecord): void {
    const entry = this.#entries.get(record.thread_id);
    if (entry !== undefined) this.#unlink(entry);
    const fresh: Entry = { record, older: this.#newest, newer: undefined };
    if (this.#newest !== undefined) this.#newest.newer = fresh;
    this.#newest = fresh;
    this.#entries.set(record.thread_id, fresh);
  }

  #unlink(entry: Entry): void {
    if (entry.older !== undefined) entry.older.newer = entry.newer;
    if (entry.newer !== undefined) entry.newer.older = entry.older;
    else this.#newest = entry.older;
  }

  /** The head of a thread, or undefined. */
  find(threadId: string): ThreadRecord | undefined {
    const entry = this.#entries.get(threadId);
    if (entry !== undefined || this.#loaded) return entry?.record;
    const text = this.#db.get(keys.thread(threadId));
    if (text === undefined) return undefined;
    const record = JSON.parse(text) as ThreadRecord;
    this.#remember(record);
    return record;
  }

  /** @throws ApiError 404 */
  get(threadId: string): ThreadRecord {
    const record = this.find(threadId);
    if (record === undefined) throw threadNotFound(threadId);
    return record;
  }

  /** A new thread, not stored yet: hand it to `writeOf` and, when the batch is committed, to `committed`. */
  draft(threadId: string = uuid4(), metadata: Json = {}): ThreadRecord {
    const now = timestamp();
    return {
      thread_id: threadId,
      created_at: now,
      updated_at: now,
      state_updated_at: now,
      metadata,
      config: {},
      status: "idle",
      interrupts: {},
    };
  }

  /** The change that stores a head; for batches with other records. */
  writeOf(record: ThreadRecord): Write {
    return { key: keys.thread(record.thread_id), value: JSON.stringify(record) };
  }

  /** Takes a stored head into the index. */
  committed(record: ThreadRecord): void {
    this.#remember(record);
  }

  /** Forgets a thread whose key was deleted. */
  removed(threadId: string): void {
    const entry = this.#entries.get(threadId);
    if (entry === undefined) return;
    this.#unlink(entry);
    this.#entries.delete(threadId);
  }

  /** Stores a head by itself. */
  put(record: ThreadRecord): ThreadRecord {
    this.#db.write([this.writeOf(record)]);
    this.#remember(record);
    return record;
  }

  /**
   * Creates a thread.
   * @throws ApiError 422 when the id is not a UUID; 409 when it exists and `ifExists` is `raise`.
   */
  create(options: {
    threadId?: string | undefined;
    metadata?: Json | undefined;
    ifExists: "raise" | "do_nothing";
  }): ThreadRecord {
    const { threadId, metadata } = options;
    if (threadId !== undefined) {
      if (!isUuid(threadId)) throw new ApiError(422, `thread_id must be a UUID, got "${threadId}"`);
      const existing = this.find(threadId);
      if (existing !== undefined) {
        if (options.ifExists === "do_nothing") return existing;
        throw new ApiError(409, "Thread already exists");
      }
    }
    return this.put(this.draft(threadId, metadata));
  }

  /** Merges metadata, one level deep. */
  patch(threadId: string, metadata: Json | undefined): ThreadRecord {
    const record = this.get(threadId);
    return this.put({ ...record, metadata: { ...record.metadata, ...metadata }, updated_at: timestamp() });
  }

  /** Number of threads with this metadata, values and status. */
  count(query: Pick<ThreadQuery, "metadata" | "values" | "status">, valuesOf: (threadId: string) => unknown): number {
    this.#load();
    if (query.metadata === undefined && query.values === undefined && query.status === undefined)
      return this.#entries.size;
    return this.#matches(query, valuesOf).length;
  }

  /** Threads in the order of their last update unless asked otherwise. `valuesOf` is called only for filters on values. */
  search(query: ThreadQuery, valuesOf: (threadId: string) => unknown): Page<ThreadRecord> {
    this.#load();
    const plain =
      query.ids === undefined &&
      query.metadata === undefined &&
      query.values === undefined &&
      query.status === undefined;
    const byUpdate = (query.sort_by ?? "updated_at") === "updated_at" && query.sort_order !== "asc";
    if (plain && byUpdate) return this.#newestPage(query.limit, query.offset);
    const found = this.#matches(query, valuesOf);
    if (!byUpdate) {
      const field = query.sort_by ?? "updated_at";
      const sign = query.sort_order === "asc" ? 1 : -1;
      found.sort((a, b) => sign * compare(a[field], b[field]));
    }
    return page(found, query.limit, query.offset);
  }

  /** The commonest search, without looking at more threads than it returns. */
  #newestPage(limit: number, offset: number): Page<ThreadRecord> {
    const items: ThreadRecord[] = [];
    let entry = this.#newest;
    for (let i = 0; entry !== undefined && i < offset + limit; i++, entry = entry.older) {
      if (i >= offset) items.push(entry.record);
    }
    return { items, total: this.#entries.size, next: entry === undefined ? undefined : offset + limit };
  }

  #matches(
    query: Pick<ThreadQuery, "ids" | "metadata" | "values" | "status">,
    valuesOf: (id: string) => unknown,
  ): ThreadRecord[] {
    const ids = query.ids === undefined ? undefined : new Set(query.ids);
    const found: ThreadRecord[] = [];
    for (let entry = this.#newest; entry !== undefined; entry = entry.older) {
      const { record } = entry;
      if (ids !== undefined && !ids.has(record.thread_id)) continue;
      if (query.status !== undefined && record.status !== query.status) continue;
      if (query.metadata !== undefined && !contains(record.metadata, query.metadata)) continue;
      if (query.values !== undefined && !contains(valuesOf(record.thread_id), query.values)) continue;
      found.push(record);
    }
    return found;
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
