// The long-term store: what graphs see as `config.store` and HTTP callers as /store. Durable in the Database, indexed in memory.
// It has the methods of LangGraph's BaseStore without importing it: at run time there is only the user's own LangGraph.

import type {
  BaseStore,
  GetOperation,
  Item,
  ListNamespacesOperation,
  Operation,
  OperationResults,
  PutOperation,
  SearchItem,
  SearchOperation,
} from "@langchain/langgraph-checkpoint";
import { ApiError } from "../errors.ts";
import { type Clock, systemClock } from "../ids.ts";
import type { Database, Write } from "./database.ts";
import { ItemCache, type JsonObject, type WireItem, type WireSearchItem } from "./long-term-cache.ts";
import { compileFilter } from "./long-term-filter.ts";
import { type Entry, LongTermIndex, type NamespaceCondition } from "./long-term-index.ts";
import { checkLabels, checkNamespace, checkWritable } from "./long-term-namespace.ts";
import { decodeHead, encodeRecord, type ItemHead, ITEMS, storageKey, valueText } from "./long-term-record.ts";

export type { JsonObject, WireItem, WireSearchItem } from "./long-term-cache.ts";

const MINUTE_MS = 60_000;
/** Least milliseconds between two looks for expired items that nobody reads; there is no timer. */
const SWEEP_MS = 60_000;
/** A read that moves the expiry by less than this share of the ttl stores nothing. */
const REFRESH_SHARE = 0.05;

/** Settings of a LongTermStore. */
export interface LongTermStoreOptions {
  readonly clock?: Clock;
  /** Minutes to live of items put without a ttl; default: for ever. */
  readonly defaultTtl?: number;
  /** Whether get and search start an item's ttl again; default true. */
  readonly refreshOnRead?: boolean;
  /** Characters of JSON whose parsed form is kept in memory; default 32 Mi. */
  readonly cacheChars?: number;
}

/** One item to store. */
export interface PutItem {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: JsonObject;
  /** Minutes; null: for ever; absent: the store's default. */
  readonly ttl?: number | null | undefined;
}

/** What to search. `query` is not here: there is no semantic index, and the reference's in-memory store ignores it then, too. */
export interface SearchItems {
  /** Labels that the namespaces begin with; default none: all items. */
  readonly namespacePrefix?: readonly string[] | undefined;
  /** See compileFilter. */
  readonly filter?: Readonly<Record<string, unknown>> | undefined;
  /** Default 10. */
  readonly limit?: number | undefined;
  /** Default 0. */
  readonly offset?: number | undefined;
  /** Default: the store's `refreshOnRead`. */
  readonly refreshTtl?: boolean | undefined;
}

/** Which namespaces to list; `*` stands for any one label. */
export interface ListNamespaces {
  readonly prefix?: readonly string[] | undefined;
  readonly suffix?: readonly string[] | undefined;
  readonly maxDepth?: number | undefined;
  /** Default 100. */
  readonly limit?: number | undefined;
  /** Default 0. */
  readonly offset?: number | undefined;
}

/**
 * The long-term store over a Database of which it owns the keys `s/…`. The index is built at first use.
 *
 * A mutation is committed before its call returns. An expired item is absent for every caller and is deleted when it is met or at
 * a later write. A refresh by reading is exact in this process; on disk it may lag by a twentieth of the ttl, so that reading
 * does not write each time: after SIGKILL an item may expire that much early.
 *
 * The first group of methods is BaseStore's: values in and out are copies, refused names reject with ApiError 422, reads of
 * impossible names find nothing. The second group is for HTTP: synchronous, wire items that share the cache's objects.
 */
export class LongTermStore implements BaseStore {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #defaultTtl: number | undefined;
  readonly #refreshOnRead: boolean;
  readonly #cache: ItemCache;
  #opened: LongTermIndex | undefined;
  #sequence = 0;
  #nextSweep = 0;

  constructor(database: Database, options: LongTermStoreOptions = {}) {
    this.#database = database;
    this.#clock = options.clock ?? systemClock;
    this.#defaultTtl = options.defaultTtl;
    this.#refreshOnRead = options.refreshOnRead ?? true;
    this.#cache = new ItemCache(options.cacheChars);
  }

  // For graphs: BaseStore

  async get(namespace: string[], key: string): Promise<Item | null> {
    return this.#getForGraph({ namespace, key });
  }

  async search(
    namespacePrefix: string[],
    options: Omit<SearchOperation, "namespacePrefix"> = {},
  ): Promise<SearchItem[]> {
    return this.#searchForGraph({ ...options, namespacePrefix });
  }

  /** @param _index ignored: there is no semantic index. */
  async put(
    namespace: string[],
    key: string,
    value: Record<string, unknown>,
    _index?: false | string[],
  ): Promise<void> {
    this.#commit([{ namespace, key, value }]);
  }

  async delete(namespace: string[], key: string): Promise<void> {
    this.#commit([{ namespace, key, value: null }]);
  }

  async listNamespaces(options: Parameters<BaseStore["listNamespaces"]>[0] = {}): Promise<string[][]> {
    return this.#list(options);
  }

  /** Reads see the store as it was before the batch; its puts and deletes are committed together, or none when one is refused. */
  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const puts: PutOperation[] = [];
    const results = operations.map((operation) => {
      if ("namespacePrefix" in operation) return this.#searchForGraph(operation);
      if ("value" in operation) return void puts.push(operation);
      if ("key" in operation) return this.#getForGraph(operation);
      return this.#listMatching(operation);
    });
    this.#commit(puts);
    return results as OperationResults<Op>;
  }

  /** Builds the index now instead of at first use. */
  start(): void {
    this.#index();
  }

  /** Does nothing: the Database belongs to whoever opened it. */
  stop(): void {}

  // For HTTP

  /** @throws ApiError 422 for a bad namespace, key, ttl or a value that is not a JSON object. */
  putItem(item: PutItem): void {
    this.#commit([item]);
  }

  /** @throws ApiError 422 for a bad namespace. */
  getItem(namespace: readonly string[], key: string, options: { refreshTtl?: boolean | undefined } = {}): WireItem | null {
    checkNamespace(namespace);
    const entry = this.#get(namespace, key, options.refreshTtl);
    if (entry === undefined) return null;
    const { score: _, ...item } = this.#read(entry);
    return item;
  }

  /** Deleting what is not there is fine. @throws ApiError 422 for a bad namespace. */
  deleteItem(namespace: readonly string[], key: string): void {
    checkNamespace(namespace);
    this.#commit([{ namespace, key, value: null }]);
  }

  /** Last put first. @throws ApiError 422 for a bad prefix or filter. */
  searchItems(search: SearchItems): WireSearchItem[] {
    checkLabels(search.namespacePrefix ?? []);
    return this.#search(search).map((entry) => this.#read(entry));
  }

  /** Sorted by labels. @throws ApiError 422 for a bad prefix or suffix. */
  listNamespacePaths(options: ListNamespaces = {}): string[][] {
    checkLabels(options.prefix ?? []);
    checkLabels(options.suffix ?? []);
    return this.#list(options);
  }

  #index(): LongTermIndex {
    if (this.#opened !== undefined) return this.#opened;
    const entries: Entry[] = [];
    for (const [key, record] of this.#database.range(ITEMS)) entries.push(toEntry(key, decodeHead(record)));
    const index = new LongTermIndex();
    for (const entry of entries.toSorted((a, b) => a.head.sequence - b.head.sequence)) {
      index.insert(entry);
      this.#sequence = entry.head.sequence;
    }
    return (this.#opened = index);
  }

  #getForGraph({ namespace, key }: GetOperation): Item | null {
    const entry = this.#get(namespace, key);
    return entry === undefined ? null : this.#toItem(entry);
  }

  #searchForGraph(operation: SearchOperation): SearchItem[] {
    return this.#search(operation).map((entry) => this.#toItem(entry));
  }

  /** A node may change what it gets, so it gets a value of its own. */
  #toItem(entry: Entry): Item {
    const { namespace, key, createdAt, updatedAt } = entry.head;
    const value = JSON.parse(this.#text(entry)) as Record<string, unknown>;
    return { namespace: [...namespace], key, value, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
  }

  #read(entry: Entry): WireSearchItem {
    return this.#cache.read(entry, (one) => this.#text(one));
  }

  #text(entry: Entry): string {
    const record = this.#database.get(entry.storageKey);
    if (record === undefined) throw new Error(`store item ${entry.storageKey} is missing from the database`);
    return valueText(record);
  }

  #get(namespace: readonly string[], key: string, refresh?: boolean): Entry | undefined {
    const now = this.#clock.now();
    const entry = this.#index().find(namespace, key);
    if (entry === undefined) return undefined;
    if (entry.expiresAt <= now) this.#drop([entry]);
    else this.#refresh([entry], now, refresh);
    return entry.expiresAt <= now ? undefined : entry;
  }

  #search({ namespacePrefix = [], filter, limit = 10, offset = 0, refreshTtl }: SearchItems): Entry[] {
    const now = this.#clock.now();
    const matches = compileFilter(filter);
    const found: Entry[] = [];
    const expired: Entry[] = [];
    let skip = offset;
    if (limit <= 0) return found;
    for (const entry of this.#index().newestFirst(namespacePrefix)) {
      if (entry.expiresAt <= now) expired.push(entry);
      else if (matches === undefined || matches(this.#read(entry).value)) {
        if (skip-- > 0) continue;
        found.push(entry);
        if (found.length >= limit) break;
      }
    }
    this.#drop(expired);
    this.#refresh(found, now, refreshTtl);
    return found;
  }

  #list({ prefix, suffix, ...options }: ListNamespaces): string[][] {
    const matchConditions: NamespaceCondition[] = [];
    if (prefix) matchConditions.push({ matchType: "prefix", path: prefix });
    if (suffix) matchConditions.push({ matchType: "suffix", path: suffix });
    return this.#listMatching({ limit: 100, offset: 0, ...options, matchConditions });
  }
}
