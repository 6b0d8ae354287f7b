// The long-term store: what graphs see as `config.store` and HTTP callers as /store. Durable in the Database, indexed in memory.
// It has the methods of LangGraph's BaseStore without importing it: at run time there is only the user's own LangGraph.

import type {
  BaseStore,
  Item,
  Operation,
  OperationResults,
  PutOperation,
  SearchItem,
  SearchOperation,
} from "@langchain/langgraph-checkpoint";
import type { Database } from "./database.ts";
import type { JsonObject, WireItem, WireSearchItem } from "./long-term-cache.ts";
import type { Entry, NamespaceCondition } from "./long-term-index.ts";
import { LongTermItems, type LongTermStoreOptions, type PutItem, type SearchItems } from "./long-term-items.ts";
import { checkLabels, checkNamespace } from "./long-term-namespace.ts";

export type { JsonObject, WireItem, WireSearchItem } from "./long-term-cache.ts";
export type { LongTermStoreOptions, SearchItems } from "./long-term-items.ts";

/** Which namespaces to list; `*` stands for any one label. */
export interface ListNamespaces {
  readonly prefix?: readonly string[] | undefined;
  readonly suffix?: readonly string[] | undefined;
  /** Longer namespaces are cut to so many labels. */
  readonly maxDepth?: number | undefined;
  /** Default 100. */
  readonly limit?: number | undefined;
  /** Default 0. */
  readonly offset?: number | undefined;
}

/**
 * The long-term store over a Database of which it owns the keys `s/…`. The index of all items (heads, not values) is built at
 * first use; parsed values are cached within a bound.
 *
 * A mutation is committed before its call returns. An expired item is absent for every caller, and is deleted when it is met or
 * at a later write. A refresh by reading is exact in this process; on disk it may lag by a twentieth of the ttl, so that reading
 * does not write each time: after SIGKILL an item may expire that much early.
 *
 * The first group of methods is BaseStore's: values in and out are copies, a refused put rejects with ApiError 422, reading or
 * deleting under an impossible name finds nothing. The second group is for HTTP: synchronous, with wire items that share the
 * objects of the cache, so only to be serialised.
 */
export class LongTermStore implements BaseStore {
  readonly #items: LongTermItems;

  constructor(database: Database, options: LongTermStoreOptions = {}) {
    this.#items = new LongTermItems(database, options);
  }

  // For graphs: BaseStore

  async get(namespace: string[], key: string): Promise<Item | null> {
    return this.#getItem(namespace, key);
  }

  /** Last put first; `query` is ignored, as by LangGraph's in-memory store without an index. */
  async search(
    namespacePrefix: string[],
    options: Omit<SearchOperation, "namespacePrefix"> = {},
  ): Promise<SearchItem[]> {
    return this.#searchItems({ ...options, namespacePrefix });
  }

  /** @param _index ignored: there is no semantic index. */
  async put(
    namespace: string[],
    key: string,
    value: Record<string, unknown>,
    _index?: false | string[],
  ): Promise<void> {
    this.#items.commit([{ namespace, key, value }]);
  }

  async delete(namespace: string[], key: string): Promise<void> {
    this.#items.commit([{ namespace, key, value: null }]);
  }

  async listNamespaces(options: ListNamespaces = {}): Promise<string[][]> {
    return this.#list(options);
  }

  /** Reads see the store as it was before the batch; its puts and deletes are committed together, or none if one is refused. */
  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const puts: PutOperation[] = [];
    const results = operations.map((operation) => {
      if ("namespacePrefix" in operation) return this.#searchItems(operation);
      if ("value" in operation) return void puts.push(operation);
      if ("key" in operation) return this.#getItem(operation.namespace, operation.key);
      const { matchConditions = [], maxDepth, limit = Infinity, offset = 0 } = operation;
      return this.#items.namespaces(matchConditions, maxDepth).slice(offset, offset + limit);
    });
    this.#items.commit(puts);
    return results as OperationResults<Op>;
  }

  /** Builds the index now instead of at first use. */
  start(): void {
    void this.#items.index;
  }

  /** Does nothing: the Database belongs to whoever opened it. */
  stop(): void {}

  // For HTTP

  /** @throws ApiError 422 for a bad namespace or ttl, or a value that is not a JSON object. */
  putItem(item: PutItem & { readonly value: JsonObject }): void {
    this.#items.commit([item]);
  }

  /** @throws ApiError 422 for a bad namespace. */
  getItem(
    namespace: readonly string[],
    key: string,
    options: { readonly refreshTtl?: boolean | undefined } = {},
  ): WireItem | null {
    checkNamespace(namespace);
    const entry = this.#items.get(namespace, key, options.refreshTtl);
    if (entry === undefined) return null;
    const { score: _, ...item } = this.#items.read(entry);
    return item;
  }

  /** Deleting what is not there is fine. @throws ApiError 422 for a bad namespace. */
  deleteItem(namespace: readonly string[], key: string): void {
    checkNamespace(namespace);
    this.#items.commit([{ namespace, key, value: null }]);
  }

  /** Last put first. @throws ApiError 422 for a bad prefix or filter. */
  searchItems(search: SearchItems = {}): WireSearchItem[] {
    checkLabels(search.namespacePrefix ?? []);
    return this.#items.search(search).map((entry) => this.#items.read(entry));
  }

  /** Sorted by labels. @throws ApiError 422 for a bad prefix or suffix. */
  listNamespacePaths(options: ListNamespaces = {}): string[][] {
    checkLabels(options.prefix ?? []);
    checkLabels(options.suffix ?? []);
    return this.#list(options);
  }

  #getItem(namespace: readonly string[], key: string): Item | null {
    const entry = this.#items.get(namespace, key);
    return entry === undefined ? null : this.#toItem(entry);
  }

  #searchItems(search: SearchItems): SearchItem[] {
    return this.#items.search(search).map((entry) => this.#toItem(entry));
  }

  /** A node may change what it gets, so it gets objects of its own. */
  #toItem(entry: Entry): Item {
    const { namespace, key, createdAt, updatedAt } = entry.head;
    const value = JSON.parse(this.#items.text(entry)) as Record<string, unknown>;
    return { namespace: [...namespace], key, value, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
  }

  #list({ prefix, suffix, maxDepth, limit = 100, offset = 0 }: ListNamespaces): string[][] {
    const conditions: NamespaceCondition[] = [];
    if (prefix !== undefined) conditions.push({ matchType: "prefix", path: prefix });
    if (suffix !== undefined) conditions.push({ matchType: "suffix", path: suffix });
    return this.#items.namespaces(conditions, maxDepth).slice(offset, offset + limit);
  }
}
