// The items behind the long-term store: index, cache and Database kept in agreement. LongTermStore gives them their two faces.

import { systemTimers, type Timers } from "../clock.ts";
import { ApiError } from "../errors.ts";
import type { Database, Write } from "./database.ts";
import type { WireSearchItem } from "./long-term-cache.ts";
import { ItemDisk, toEntry } from "./long-term-disk.ts";
import { compileFilter } from "./long-term-filter.ts";
import { type Entry, LongTermIndex, type NamespaceCondition } from "./long-term-index.ts";
import { Order } from "./long-term-order.ts";
import type { CheckedPut } from "./long-term-put.ts";
import type { ItemHead } from "./long-term-record.ts";
import type { VectorRecord } from "./long-term-semantic.ts";
import type { ItemsOptions, ListNamespaces, SearchItems, TtlSettings } from "./long-term-settings.ts";
import { Sweeper } from "./long-term-sweeper.ts";

const MINUTE_MS = 60_000;
/** Least milliseconds between two looks for expired items that nobody reads, at a write. */
const SWEEP_MS = 60_000;
/** A read that moves the expiry by less than this share of the ttl stores nothing. */
const REFRESH_SHARE = 0.05;

/** Entry-level operations; see LongTermStore for what callers may rely on. */
export class LongTermItems {
  readonly #disk: ItemDisk;
  readonly #clock: Timers;
  readonly #onForget: (entry: Entry) => void;
  readonly #order = new Order();
  readonly #sweeper: Sweeper;
  #ttl: TtlSettings = {};
  #opened: LongTermIndex | undefined;
  #sequence = 0;
  #nextSweep = 0;
  #stopped = false;

  constructor(database: Database, options: ItemsOptions) {
    this.#disk = new ItemDisk(database, options.cacheChars);
    this.#clock = options.clock ?? systemTimers;
    this.#onForget = options.onForget;
    this.#sweeper = new Sweeper(this.#clock, () => {
      try {
        this.#sweep(this.now());
      } catch (error) {
        options.onSweepError(error);
      }
      return this.#opened !== undefined && this.#opened.expiring.size > 0;
    });
  }

  /** Takes over settings; items keep the ttl that they have. */
  configure(ttl: TtlSettings): void {
    this.#ttl = ttl;
    this.#sweeper.interval = ttl.sweepMinutes;
    // Which of the items can expire is known when the index is built, which must not delay a start: the first sweep does it.
    if (ttl.sweepMinutes !== undefined && !this.#disk.isEmpty) this.#sweeper.arm();
  }

  /** The index, built from the database when first asked for. */
  get index(): LongTermIndex {
    if (this.#opened !== undefined) return this.#opened;
    const index = new LongTermIndex();
    for (const entry of this.#disk.load()) {
      index.insert(entry);
      this.#sequence = entry.head.sequence;
    }
    if (index.expiring.size > 0) this.#sweeper.arm();
    return (this.#opened = index);
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#clock.now();
  }

  /** To be asked after every wait. @throws ApiError 503 when the store was stopped. */
  checkOpen(): void {
    if (this.#stopped) throw new ApiError(503, "The server is stopping");
  }

  /** Ends the timer; what waits is refused. */
  stop(): void {
    this.#stopped = true;
    this.#sweeper.stop();
  }

  get(namespace: readonly string[], key: string, refresh?: boolean): Entry | undefined {
    const now = this.now();
    const entry = this.index.find(namespace, key);
    if (entry === undefined) return undefined;
    if (entry.expiresAt <= now) {
      this.drop([entry]);
      return undefined;
    }
    this.refresh([entry], now, refresh);
    return entry;
  }

  /** Last put first; `query` plays no part. */
  search({ namespacePrefix = [], filter, limit = 10, offset = 0, refreshTtl, sees }: SearchItems): Entry[] {
    const now = this.now();
    const matches = compileFilter(filter);
    const isSeen = (entry: Entry): boolean => sees === undefined || sees(this.read(entry));
    const found: Entry[] = [];
    const expired: Entry[] = [];
    let skip = offset;
    if (limit <= 0) return found;
    for (const entry of this.index.newestFirst(namespacePrefix)) {
      if (entry.expiresAt <= now) expired.push(entry);
      else if ((matches === undefined || matches(this.read(entry).value)) && isSeen(entry)) {
        if (skip-- > 0) continue;
        found.push(entry);
        if (found.length >= limit) break;
      }
    }
    this.drop(expired);
    this.refresh(found, now, refreshTtl);
    return found;
  }

  /** All namespaces that meet the conditions and hold something that is seen. */
  namespaces(
    conditions: readonly NamespaceCondition[],
    maxDepth: number | undefined,
    sees?: ListNamespaces["sees"],
  ): string[][] {
    const { index } = this;
    this.#sweep(this.now());
    return index.namespaces(conditions, maxDepth, sees && ((entry) => sees(this.read(entry))));
  }

  /** Stores and deletes in one batch; of several changes to one item the last wins. */
  commit(puts: readonly CheckedPut[]): void {
    this.#store(puts, this.#order.next());
  }

  /**
   * Stores what has to wait for its vectors. What was stored meanwhile under the same name came later and stays.
   * @param prepare gives the vectors, one record or none per put.
   */
  commitLater(
    puts: readonly CheckedPut[],
    prepare: () => Promise<readonly (VectorRecord | undefined)[]>,
  ): Promise<void> {
    return this.#order.waiting(async (place) => {
      const vectors = await prepare();
      this.checkOpen();
      this.#store(puts, place, vectors);
    });
  }

  /** Stores vectors of items that are there already; of one that was deleted or replaced nothing is stored. */
  storeVectors(entries: readonly Entry[], vectors: readonly (VectorRecord | undefined)[]): void {
    const writes = entries.flatMap((entry, i) => {
      const record = vectors[i];
      const isOf = record !== undefined && this.index.has(entry);
      return isOf ? [this.#disk.putVectors(entry, record(entry.head.sequence))] : [];
    });
    this.#disk.write(writes);
  }

  /** The wire form of an item, shared with the cache. */
  read(entry: Entry): WireSearchItem {
    return this.#disk.read(entry);
  }

  /** The JSON of an item's value. */
  text(entry: Entry): string {
    return this.#disk.text(entry);
  }

  /** The stored vectors of an item; undefined when there are none. */
  vectors(entry: Entry): string | undefined {
    return this.#disk.vectors(entry);
  }

  /** Starts the ttl of items again, if `wanted`. */
  refresh(entries: readonly Entry[], now: number, wanted = this.#ttl.refreshOnRead ?? true): void {
    if (!wanted) return;
    const writes: Write[] = [];
    const stored: (() => void)[] = [];
    for (const entry of entries) {
      const { head } = entry;
      if (head.ttl === undefined) continue;
      const fresh: ItemHead = { ...head, ...expiry(head.ttl, now) };
      entry.expiresAt = fresh.expiresAt ?? Infinity;
      if (entry.expiresAt - (head.expiresAt ?? 0) < head.ttl * MINUTE_MS * REFRESH_SHARE) continue;
      writes.push(this.#disk.putHead(entry, fresh));
      stored.push(() => (entry.head = fresh));
    }
    this.#disk.write(writes);
    for (const apply of stored) apply();
  }

  /** Deletes items for good; those that are gone already are left alone. */
  drop(entries: readonly Entry[]): void {
    const there = entries.filter((entry) => this.index.has(entry));
    this.#disk.write(there.flatMap(({ storageKey }) => this.#disk.remove(storageKey)));
    for (const entry of there) this.#forget(entry);
  }

  #store(puts: readonly CheckedPut[], place: number, vectors: readonly (VectorRecord | undefined)[] = []): void {
    const { index } = this;
    const now = this.now();
    if (now >= this.#nextSweep) this.#sweep(now);
    const changes = new Map<string, { writes: Write[]; old: Entry | undefined; entry: Entry | undefined }>();
    for (const [i, { namespace, key, name, text, ttl, index: fields }] of puts.entries()) {
      if (this.#order.isLate(name, place)) continue;
      const old = index.find(namespace, key);
      // Again at the end, so that the order of the map is that of the sequence numbers.
      changes.delete(name);
      if (text === undefined) {
        changes.set(name, { writes: this.#disk.remove(name), old, entry: undefined });
        continue;
      }
      const head: ItemHead = {
        namespace,
        key,
        createdAt: old === undefined || old.expiresAt <= now ? now : old.head.createdAt,
        updatedAt: now,
        sequence: ++this.#sequence,
        ...expiry(ttl === undefined ? this.#ttl.defaultTtl : ttl, now),
        ...(fields === undefined ? {} : { index: fields }),
      };
      const writes = this.#disk.put(name, head, text, vectors[i]?.(head.sequence));
      changes.set(name, { writes, old, entry: toEntry(name, head) });
    }
    const needed = [...changes].filter(([, { old, entry }]) => old !== undefined || entry !== undefined);
    this.#disk.write(needed.flatMap(([, { writes }]) => writes));
    for (const [, { old, entry }] of needed) {
      if (old !== undefined) this.#forget(old);
      if (entry !== undefined) index.insert(entry);
    }
    for (const name of changes.keys()) this.#order.stored(name, place);
    if (index.expiring.size > 0) this.#sweeper.arm();
  }

  #sweep(now: number): void {
    this.#nextSweep = now + SWEEP_MS;
    this.drop([...this.index.expiring].filter((entry) => entry.expiresAt <= now));
  }

  #forget(entry: Entry): void {
    this.index.remove(entry);
    this.#disk.forget(entry);
    this.#onForget(entry);
  }
}

function expiry(ttl: number | null | undefined, now: number): Pick<ItemHead, "ttl" | "expiresAt"> {
  return ttl === null || ttl === undefined ? {} : { ttl, expiresAt: now + ttl * MINUTE_MS };
}
