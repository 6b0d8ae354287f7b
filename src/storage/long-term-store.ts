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
import { LongTermItems } from "./long-term-items.ts";
import { checkLabels, checkNamespace } from "./long-term-namespace.ts";
import { type CheckedPut, checkPuts, type PutItem } from "./long-term-put.ts";
import { rank, type Ranked, type Ranking } from "./long-term-rank.ts";
import { type Notice, Reindexer } from "./long-term-reindex.ts";
import { SemanticIndex } from "./long-term-semantic.ts";
import type { ListNamespaces, LongTermStoreOptions, SearchItems, StoreSettings } from "./long-term-settings.ts";

export type { JsonObject, WireItem, WireSearchItem } from "./long-term-cache.ts";
export type { ListNamespaces, LongTermStoreOptions, SearchItems, StoreSettings } from "./long-term-settings.ts";
export type { Embedder, StoreIndex } from "./long-term-semantic.ts";

/**
 * The long-term store over a Database of which it owns the keys `s/…` (items) and `v/…` (vectors). The index of all items (heads,
 * not values) is built at first use; parsed values are cached within a bound.
 *
 * A mutation is committed before its call returns or resolves; with an index its vectors are made before and stored with it. Of
 * several changes to one item the one that was asked for last wins, however long an embedding takes. An expired item is absent for
 * every caller, and is deleted when it is met, at a later write or by a sweep. A refresh by reading is exact in this process; on
 * disk it may lag by a twentieth of the ttl, so that reading does not write each time: after SIGKILL an item may expire that much
 * early.
 *
 * The first group of methods is BaseStore's: values in and out are copies, a refused put rejects with ApiError 422, reading or
 * deleting under an impossible name finds nothing. The second group is for HTTP: wire items share the objects of the cache, so only
 * to be serialised.
 */
export class LongTermStore implements BaseStore {
  readonly #items: LongTermItems;
  readonly #notice: Notice;
  #ranking: Ranking | undefined;

  constructor(database: Database, options: LongTermStoreOptions = {}) {
    const { clock, cacheChars, onNotice = () => undefined, ...settings } = options;
    this.#notice = onNotice;
    this.#items = new LongTermItems(database, {
      ...(clock === undefined ? {} : { clock }),
      ...(cacheChars === undefined ? {} : { cacheChars }),
      onForget: (entry) => this.#ranking?.semantic.drop(entry),
      onSweepError: (error) => onNotice("warn", `Expired store items could not be deleted: ${String(error)}`),
    });
    this.configure(settings);
  }

  /** Takes over settings: all of them, so what is absent has its default again. */
  configure({ index, ...ttl }: StoreSettings): void {
    this.#items.configure(ttl);
    if (index !== undefined && this.#ranking?.semantic.fits(index) === true) {
      this.#ranking.semantic.replace(index.embedder);
      return;
    }
    this.#ranking?.reindexer.stop();
    this.#ranking = undefined;
    if (index === undefined) return;
    const items = this.#items;
    const semantic = new SemanticIndex(index);
    this.#ranking = { items, semantic, reindexer: new Reindexer(items, semantic, this.#notice) };
  }

  // For graphs: BaseStore

  async get(namespace: string[], key: string): Promise<Item | null> {
    return this.#getItem(namespace, key);
  }

  /** Last put first; with a `query` and an index the nearest first, each with its `score`. */
  async search(
    namespacePrefix: string[],
    options: Omit<SearchOperation, "namespacePrefix"> = {},
  ): Promise<SearchItem[]> {
    return this.#searchItems({ ...options, namespacePrefix });
  }

  /** @param index paths of the fields to embed, in place of the config's; false: none. */
  async put(namespace: string[], key: string, value: Record<string, unknown>, index?: false | string[]): Promise<void> {
    await this.#write(checkPuts([{ namespace, key, value, index }]));
  }

  async delete(namespace: string[], key: string): Promise<void> {
    await this.#write(checkPuts([{ namespace, key, value: null }]));
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
    const checked = checkPuts(puts);
    const read = await Promise.all(results);
    await this.#write(checked);
    return read as OperationResults<Op>;
  }

  /** Builds the index now instead of at first use. */
  start(): void {
    void this.#items.index;
  }

  /** Loads what embeds, so that a problem with it is told before it is needed. Never rejects. */
  async check(): Promise<void> {
    await this.#ranking?.semantic.check();
  }

  /** Ends the sweeps and what is embedded in the background. The Database belongs to whoever opened it. */
  stop(): void {
    this.#items.stop();
    this.#ranking?.reindexer.stop();
  }

  // For HTTP

  /**
   * Stores an item; nothing to wait for unless it has to be embedded.
   * @throws ApiError 422 for a bad namespace, ttl or index, or a value that is not a JSON object; what embedding throws.
   */
  putItem(item: PutItem & { readonly value: JsonObject }): Promise<void> | undefined {
    return this.#write(checkPuts([item]));
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
    this.#items.commit(checkPuts([{ namespace, key, value: null }]));
  }

  /** Last put first, whatever the `query`. @throws ApiError 422 for a bad prefix or filter. */
  searchItems(search: SearchItems = {}): WireSearchItem[] {
    checkLabels(search.namespacePrefix ?? []);
    return this.#items.search(search).map((entry) => this.#items.read(entry));
  }

  /**
   * With a `query` and an index the nearest first; otherwise as `searchItems`, with nothing to wait for.
   * @throws ApiError 422 for a bad prefix or filter; what embedding throws.
   */
  findItems(search: SearchItems): WireSearchItem[] | Promise<WireSearchItem[]> {
    checkLabels(search.namespacePrefix ?? []);
    const ranked = this.#rank(search);
    if (ranked === undefined) return this.searchItems(search);
    return ranked.then((found) => found.map(({ entry, score }) => ({ ...this.#items.read(entry), score })));
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

  #searchItems(search: SearchItems): SearchItem[] | Promise<SearchItem[]> {
    const ranked = this.#rank(search);
    if (ranked === undefined) return this.#items.search(search).map((entry) => this.#toItem(entry));
    return ranked.then((found) =>
      found.map(({ entry, score }) => ({ ...this.#toItem(entry), ...(score === null ? {} : { score }) })),
    );
  }

  /** Undefined when the search is not by meaning. */
  #rank(search: SearchItems): Promise<Ranked[]> | undefined {
    if (this.#ranking === undefined || search.query === undefined || search.query === "") return undefined;
    return rank(this.#ranking, search, search.query);
  }

  /** Undefined when all is done. */
  #write(puts: readonly CheckedPut[]): Promise<void> | undefined {
    const semantic = this.#ranking?.semantic;
    const asked = semantic === undefined ? [] : puts.map((put) => semantic.textsOf(put));
    if (semantic === undefined || asked.every(({ texts }) => texts.length === 0)) return void this.#items.commit(puts);
    return this.#items.commitLater(puts, () => semantic.embed(asked));
  }

  /** A node may change what it gets, so it gets objects of its own. */
  #toItem(entry: Entry): Item {
    const { namespace, key, createdAt, updatedAt } = entry.head;
    const value = JSON.parse(this.#items.text(entry)) as Record<string, unknown>;
    return { namespace: [...namespace], key, value, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
  }

  #list({ prefix, suffix, maxDepth, limit = 100, offset = 0, sees }: ListNamespaces): string[][] {
    const conditions: NamespaceCondition[] = [];
    if (prefix !== undefined) conditions.push({ matchType: "prefix", path: prefix });
    if (suffix !== undefined) conditions.push({ matchType: "suffix", path: suffix });
    return this.#items.namespaces(conditions, maxDepth, sees).slice(offset, offset + limit);
  }
}
