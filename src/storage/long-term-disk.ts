// What the items of the long-term store are on disk: which writes a change takes, and reading them back, with parsed values cached.
import type { Database, Write } from "./database.ts";
import { ItemCache, type WireSearchItem } from "./long-term-cache.ts";
import type { Entry } from "./long-term-index.ts";
import { decodeHead, encodeRecord, type ItemHead, ITEMS, valueText, vectorKey, VECTORS } from "./long-term-record.ts";

export class ItemDisk {
  readonly #database: Database;
  readonly #cache: ItemCache;
  #vectorsSeen: boolean | undefined;

  /** @param cacheChars characters of JSON whose parsed form is kept; default 32 Mi. */
  constructor(database: Database, cacheChars: number | undefined) {
    this.#database = database;
    this.#cache = new ItemCache(cacheChars);
  }

  get isEmpty(): boolean {
    return this.#isEmpty(ITEMS);
  }

  /** Whether there may be vectors, which are to be read, and deleted together with their items. */
  get #hasVectors(): boolean {
    return (this.#vectorsSeen ??= !this.#isEmpty(VECTORS));
  }

  #isEmpty(range: { readonly start: string; readonly end: string }): boolean {
    for (const _ of this.#database.range({ ...range, limit: 1 })) return false;
    return true;
  }

  /** All items, in the order of their puts. */
  load(): Entry[] {
    const entries = Array.from(this.#database.range(ITEMS), ([key, record]) => toEntry(key, decodeHead(record)));
    return entries.toSorted((a, b) => a.head.sequence - b.head.sequence);
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

  /** The stored vectors of an item; undefined when there are none. */
  vectors(entry: Entry): string | undefined {
    return this.#hasVectors ? this.#database.get(vectorKey(entry.storageKey)) : undefined;
  }

  /** The writes that store an item and its vectors; those of the value before are of no use any more. */
  put(name: string, head: ItemHead, text: string, vectors: string | undefined): Write[] {
    const item: Write = { key: name, value: encodeRecord(head, text) };
    if (vectors !== undefined) this.#vectorsSeen = true;
    return this.#hasVectors ? [item, { key: vectorKey(name), value: vectors }] : [item];
  }

  /** The write that stores another head of an item. */
  putHead(entry: Entry, head: ItemHead): Write {
    return { key: entry.storageKey, value: encodeRecord(head, this.text(entry)) };
  }

  /** The write that stores the vectors of an item that is there. */
  putVectors(entry: Entry, vectors: string): Write {
    this.#vectorsSeen = true;
    return { key: vectorKey(entry.storageKey), value: vectors };
  }

  /** The writes that delete an item. */
  remove(name: string): Write[] {
    const item: Write = { key: name, value: undefined };
    return this.#hasVectors ? [item, { key: vectorKey(name), value: undefined }] : [item];
  }

  /** Commits all writes or none. */
  write(writes: readonly Write[]): void {
    if (writes.length > 0) this.#database.write(writes);
  }

  /** To be told of every entry that is not used any more. */
  forget(entry: Entry): void {
    this.#cache.drop(entry);
  }
}

/** The entry of a stored item. */
export function toEntry(storageKey: string, head: ItemHead): Entry {
  return { head, storageKey, expiresAt: head.expiresAt ?? Infinity };
}
