// The items behind the long-term store: index, cache and Database kept in agreement. LongTermStore gives them their two faces.

import { ApiError } from "../errors.ts";
import { type Clock, systemClock } from "../ids.ts";
import type { Database, Write } from "./database.ts";
import { ItemCache, type JsonObject, type WireSearchItem } from "./long-term-cache.ts";
import { compileFilter } from "./long-term-filter.ts";
import { type Entry, LongTermIndex, type NamespaceCondition } from "./long-term-index.ts";
import { checkWritable } from "./long-term-namespace.ts";
import { decodeHead, encodeRecord, type ItemHead, ITEMS, storageKey, valueText } from "./long-term-record.ts";

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

/** One item to store, or with `value: null` to delete. */
export interface PutItem {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: JsonObject | null;
  /** Minutes; null: for ever; absent: the store's default. */
  readonly ttl?: number | null | undefined;
}

/** What to search. */
export interface SearchItems {
  /** Labels that the namespaces begin with; default none: all items. */
  readonly namespacePrefix?: readonly string[] | undefined;
  /** See compileFilter. */
  readonly filter?: Readonly<Record<string, unknown>> | undefined;
  /** Default 10. */
  readonly limit?: number | undefined;
  /** Default 0. */
  readonly offset?: number | undefined;
  /** Ignored: there is no semantic index, and the reference's in-memory store ignores it then, too. */
  readonly query?: string | undefined;
  /** Default: the store's `refreshOnRead`. */
  readonly refreshTtl?: boolean | undefined;
}

/** Entry-level operations; see LongTermStore for what callers may rely on. */
export class LongTermItems {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #defaultTtl: number | undefined;
  readonly #refreshOnRead: boolean;
  readonly #cache: ItemCache;
  #opened: LongTermIndex | undefined;
  #sequence = 0;
  #nextSweep = 0;

  constructor(database: Database, options: LongTermStoreOptions) {
    this.#database = database;
    this.#clock = options.clock ?? systemClock;
    this.#defaultTtl = options.defaultTtl;
    this.#refreshOnRead = options.refreshOnRead ?? true;
    this.#cache = new ItemCache(options.cacheChars);
  }

  /** The index, built from the database when first asked for. */
  get index(): LongTermIndex {
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

  get(namespace: readonly string[], key: string, refresh?: boolean): Entry | undefined {
    const now = this.#clock.now();
    const entry = this.index.find(namespace, key);
    if (entry === undefined) return undefined;
    if (entry.expiresAt <= now) {
      this.#drop([entry]);
      return undefined;
    }
    this.#refresh([entry], now, refresh);
    return entry;
  }

  search({ namespacePrefix = [], filter, limit = 10, offset = 0, refreshTtl }: SearchItems): Entry[] {
    const now = this.#clock.now();
    const matches = compileFilter(filter);
    const found: Entry[] = [];
    const expired: Entry[] = [];
    let skip = offset;
    if (limit <= 0) return found;
    for (const entry of this.index.newestFirst(namespacePrefix)) {
      if (entry.expiresAt <= now) expired.push(entry);
      else if (matches === undefined || matches(this.read(entry).value)) {
        if (skip-- > 0) continue;
        found.push(entry);
        if (found.length >= limit) break;
      }
    }
    this.#drop(expired);
    this.#refresh(found, now, refreshTtl);
    return found;
  }

  /** All namespaces that meet the conditions. */
  namespaces(conditions: readonly NamespaceCondition[], maxDepth: number | undefined): string[][] {
    const { index } = this;
    this.#sweep(this.#clock.now());
    return index.namespaces(conditions, maxDepth);
  }

  /**
   * Stores and deletes in one batch; of several changes to one item the last wins.
   * @throws ApiError 422 for a bad namespace, key, ttl or value; then nothing is stored.
   */
  commit(puts: readonly PutItem[]): void {
    if (puts.length === 0) return;
    const { index } = this;
    const now = this.#clock.now();
    if (now >= this.#nextSweep) this.#sweep(now);
    const changes = new Map<string, { write: Write; old: Entry | undefined; entry: Entry | undefined }>();
    for (const { namespace, key, value, ttl } of puts) {
      if (typeof key !== "string") throw new ApiError(422, "key must be a string");
      if (value !== null) checkWritable(namespace);
      const old = index.find(namespace, key);
      const name = storageKey(namespace, key);
      // Again at the end, so that the order of the map is that of the sequence numbers.
      changes.delete(name);
      if (value === null) {
        changes.set(name, { write: { key: name, value: undefined }, old, entry: undefined });
        continue;
      }
      const createdAt = old === undefined || old.expiresAt <= now ? now : old.head.createdAt;
      const head: ItemHead = {
        namespace: [...namespace],
        key,
        createdAt,
        updatedAt: now,
        sequence: ++this.#sequence,
        ...expiry(ttl === undefined ? this.#defaultTtl : ttl, now),
      };
      const write = { key: name, value: encodeRecord(head, toJson(value)) };
      changes.set(name, { write, old, entry: toEntry(name, head) });
    }
    const needed = [...changes.values()].filter(({ old, entry }) => old !== undefined || entry !== undefined);
    this.#database.write(needed.map(({ write }) => write));
    for (const { old, entry } of needed) {
      if (old !== undefined) this.#forget(old);
      if (entry !== undefined) index.insert(entry);
    }
  }

  /** The wire form of an item, shared with the cache. */
  read(entry: Entry): WireSearchItem {
    return this.#cache.read(entry, (one) => this.text(one));
  }

  /** The JSON of an item's value. */
  text(entry: Entry): string {
    const record = this.#database.get(entry.storageKey);
    if (record === undefined) throw new Error(`store item ${entry.storageKey} is missing from the database`);
    return valueText(record);
  }

  #refresh(entries: readonly Entry[], now: number, wanted = this.#refreshOnRead): void {
    if (!wanted) return;
    const writes: Write[] = [];
    const stored: (() => void)[] = [];
    for (const entry of entries) {
      const { head } = entry;
      if (head.ttl === undefined) continue;
      const fresh: ItemHead = { ...head, ...expiry(head.ttl, now) };
      entry.expiresAt = fresh.expiresAt ?? Infinity;
      if (entry.expiresAt - (head.expiresAt ?? 0) < head.ttl * MINUTE_MS * REFRESH_SHARE) continue;
      writes.push({ key: entry.storageKey, value: encodeRecord(fresh, this.text(entry)) });
      stored.push(() => (entry.head = fresh));
    }
    if (writes.length === 0) return;
    this.#database.write(writes);
    for (const apply of stored) apply();
  }

  #sweep(now: number): void {
    this.#nextSweep = now + SWEEP_MS;
    this.#drop([...this.index.expiring].filter((entry) => entry.expiresAt <= now));
  }

  /** Deletes items for good. */
  #drop(entries: readonly Entry[]): void {
    if (entries.length === 0) return;
    this.#database.write(entries.map(({ storageKey: key }) => ({ key, value: undefined })));
    for (const entry of entries) this.#forget(entry);
  }

  #forget(entry: Entry): void {
    this.index.remove(entry);
    this.#cache.drop(entry);
  }
}

function toEntry(key: string, head: ItemHead): Entry {
  return { head, storageKey: key, expiresAt: head.expiresAt ?? Infinity };
}

function expiry(ttl: number | null | undefined, now: number): Pick<ItemHead, "ttl" | "expiresAt"> {
  if (ttl === null || ttl === undefined) return {};
  if (!(ttl > 0 && Number.isFinite(ttl))) throw new ApiError(422, "ttl must be a number of minutes greater than 0");
  return { ttl, expiresAt: now + ttl * MINUTE_MS };
}

function toJson(value: JsonObject): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    // A cycle, a bigint, or nested too deeply: the caller's value, so not an error of the server.
    throw new ApiError(
      422,
      `value cannot be stored as JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (text?.startsWith("{")) return text;
  throw new ApiError(422, "value must be a JSON object");
}
