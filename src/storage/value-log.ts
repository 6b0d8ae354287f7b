// Where channel values live: one numbered log of parts per channel. A list channel (the messages of a conversation) is stored
// element by element, and a version of it is a few ranges over the log: a turn writes what is new, appending, cutting off the
// front or changing one message included. Other values are one part each, and small ones stand in the checkpoint itself.
import { LRUCache } from "lru-cache";
import { prefixRange, type Database, type Write } from "./database.ts";
import type { RunJournal } from "./journal.ts";
import { keys, partIndex } from "./keys.ts";

/** Where a version of a channel's value is: the value itself, the number of its part, or the ranges of its elements. */
export type ValueRef = string | number | [from: number, to: number][];

/** A value to place: one stored text, or the stored texts of a list's elements with the live elements. */
export type PlacedValue =
  | { readonly stored: string }
  | { readonly parts: readonly string[]; readonly live: readonly unknown[] };

/** The newest version of a list channel that this process has seen. */
interface ListHead {
  readonly ranges: readonly [number, number][];
  readonly parts: readonly string[];
  live: readonly unknown[] | undefined;
}

/** Values up to this many characters stand in the checkpoint record. */
const INLINE_CHARS = 200;
/** Lists up to this many characters are one value: cheaper than ranges. */
const SMALL_LIST_CHARS = 256;
/** A version cut into more ranges than this is written anew. */
const MAX_RANGES = 48;
/** Characters of list elements whose newest version is kept in memory, over all threads. */
const HEAD_CACHE_CHARS = 4 * 1024 * 1024;
/** Changes of a thread's size below this are not worth telling the cache. */
const COUNT_EVERY_CHARS = 4096;
/** What a thread keeps in memory between its runs is worth it from this many characters on; less is read again as quickly. */
const KEEP_FROM_CHARS = 8 * 1024;

/** Whether a list is worth a place of its own for every element. */
export function isLongList(parts: readonly string[]): boolean {
  let total = 0;
  for (const part of parts) if ((total += part.length) > SMALL_LIST_CHARS) return true;
  return false;
}

/** What is in memory of one thread. */
interface ThreadCache {
  /** The next number of each channel's log. */
  readonly next: Map<string, number>;
  readonly heads: Map<string, ListHead>;
  chars: number;
  /** Characters that the cache knows of. */
  counted: number;
  /** Nothing of the thread was stored before. */
  fresh: boolean;
}

/** A cache that forgets what was not used for long; a plain map serves where little is kept for a short time. */
interface Cache<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): unknown;
  delete(key: string): unknown;
}

export class ValueLog {
  readonly #db: Database;
  readonly #threads: Cache<ThreadCache>;

  /** @param bounded false for a log that lives as long as one run. */
  constructor(db: Database, bounded = true) {
    this.#db = db;
    this.#threads = bounded
      ? new LRUCache<string, ThreadCache>({ maxSize: HEAD_CACHE_CHARS, sizeCalculation: ({ chars }) => chars + 500 })
      : new Map<string, ThreadCache>();
  }

  /**
   * Finds a place for a new version of a channel's value.
   * @param base ref of the version that it was made from, whose elements need no new place; undefined when there is none.
   * @param writes receives what must be stored, in the same batch as the ref.
   * @param journal of the run that writes the value.
   */
  place(
    threadId: string,
    ns: string,
    channel: string,
    value: PlacedValue,
    base: ValueRef | undefined,
    writes: Write[],
    journal?: RunJournal,
  ): ValueRef {
    if ("stored" in value) {
      if (value.stored.length <= INLINE_CHARS) return value.stored;
      const index = this.#take(threadId, ns, channel, 1, journal);
      writes.push({ key: keys.part(threadId, ns, channel, index), value: value.stored });
      return index;
    }
    const known = Array.isArray(base) ? this.#list(threadId, ns, channel, base) : { ranges: [], parts: [] };
    const { parts } = value;
    const shorter = Math.min(parts.length, known.parts.length);
    let head = 0;
    while (head < shorter && parts[head] === known.parts[head]) head++;
    let tail = 0;
    while (tail < shorter - head && parts[parts.length - 1 - tail] === known.parts[known.parts.length - 1 - tail])
      tail++;
    let ranges = this.#splice(known, head, tail, parts, threadId, ns, channel, writes, journal);
    if (ranges.length > MAX_RANGES) {
      ranges = this.#splice({ ranges: [], parts: [] }, 0, 0, parts, threadId, ns, channel, writes, journal);
    }
    this.#setHead(threadId, ns, channel, { ranges, parts, live: value.live });
    return ranges;
  }

  /** Writes the elements between a kept head and a kept tail; returns the ranges of the whole. */
  #splice(
    known: { readonly ranges: readonly [number, number][]; readonly parts: readonly string[] },
    head: number,
    tail: number,
    parts: readonly string[],
    threadId: string,
    ns: string,
    channel: string,
    writes: Write[],
    journal: RunJournal | undefined,
  ): [number, number][] {
    const ranges = cut(known.ranges, 0, head);
    const fresh = parts.length - head - tail;
    if (fresh > 0) {
      const first = this.#take(threadId, ns, channel, fresh, journal);
      for (let i = 0; i < fresh; i++) {
        writes.push({ key: keys.part(threadId, ns, channel, first + i), value: parts[head + i]! });
      }
      ranges.push([first, first + fresh]);
    }
    ranges.push(...cut(known.ranges, known.parts.length - tail, known.parts.length));
    return joinRanges(ranges);
  }

  /** The stored texts of a version: one, or one per element of a list. */
  read(
    threadId: string,
    ns: string,
    channel: string,
    ref: ValueRef,
  ): { stored: string } | { parts: readonly string[] } {
    if (typeof ref === "string") return { stored: ref };
    if (typeof ref === "number") return { stored: this.#part(threadId, ns, channel, ref) };
    return { parts: this.#list(threadId, ns, channel, ref).parts };
  }

  /** The live elements of a list version, where this process has them; they may have been changed in place since. */
  live(threadId: string, ns: string, channel: string, ref: ValueRef): readonly unknown[] | undefined {
    const head = Array.isArray(ref) ? this.#head(threadId, ns, channel) : undefined;
    return head !== undefined && sameRanges(head.ranges, ref as [number, number][]) ? head.live : undefined;
  }

  /** Keeps live elements for the next reader of this version. */
  keepLive(threadId: string, ns: string, channel: string, ref: ValueRef, live: readonly unknown[]): void {
    const head = Array.isArray(ref) ? this.#head(threadId, ns, channel) : undefined;
    if (head !== undefined && sameRanges(head.ranges, ref as [number, number][])) head.live = live;
  }

  /** Says that nothing of a thread is stored yet, so that its logs need not be looked for. */
  begin(threadId: string): void {
    this.#thread(threadId).fresh = true;
  }

  /** Forgets what is in memory of a thread, after its keys were deleted. */
  forget(threadId: string): void {
    this.#threads.delete(threadId);
  }

  /**
   * A run of this thread has ended, and another may be long in coming.
   * @returns whether what was in memory is forgotten, because it is read again as quickly.
   */
  rest(threadId: string): boolean {
    const cache = this.#threads.get(threadId);
    if (cache !== undefined && cache.chars >= KEEP_FROM_CHARS) return false;
    this.#threads.delete(threadId);
    return true;
  }

  #thread(threadId: string): ThreadCache {
    let cache = this.#threads.get(threadId);
    if (cache === undefined) {
      cache = { next: new Map(), heads: new Map(), chars: 0, counted: 0, fresh: false };
      this.#threads.set(threadId, cache);
    }
    return cache;
  }

  #head(threadId: string, ns: string, channel: string): ListHead | undefined {
    return this.#thread(threadId).heads.get(`${ns}/${channel}`);
  }

  #setHead(threadId: string, ns: string, channel: string, head: ListHead): void {
    const cache = this.#thread(threadId);
    const name = `${ns}/${channel}`;
    cache.chars += charsOf(head) - charsOf(cache.heads.get(name));
    cache.heads.set(name, head);
    if (Math.abs(cache.chars - cache.counted) < COUNT_EVERY_CHARS) return;
    // Set again, because its size is another now.
    cache.counted = cache.chars;
    this.#threads.set(threadId, cache);
  }

  #list(threadId: string, ns: string, channel: string, ranges: [number, number][]): ListHead {
    const head = this.#head(threadId, ns, channel);
    if (head !== undefined && sameRanges(head.ranges, ranges)) return head;
    const parts: string[] = [];
    for (const [from, to] of ranges) {
      const known = head === undefined ? undefined : partsOf(head, from, to);
      if (known !== undefined) {
        // Not spread into arguments: a long list overflows the stack.
        for (const part of known) parts.push(part);
        continue;
      }
      const start = keys.part(threadId, ns, channel, from);
      const end = keys.part(threadId, ns, channel, to);
      for (const [, value] of this.#db.range({ start, end })) parts.push(value);
    }
    const read: ListHead = { ranges, parts, live: undefined };
    if (head === undefined) this.#setHead(threadId, ns, channel, read);
    return read;
  }

  #part(threadId: string, ns: string, channel: string, index: number): string {
    const stored = this.#db.get(keys.part(threadId, ns, channel, index));
    if (stored === undefined) throw new Error(`channel "${channel}" of thread ${threadId}: part ${index} is missing`);
    return stored;
  }

  /** The first of `count` unused numbers of a channel's log. */
  #take(threadId: string, ns: string, channel: string, count: number, journal: RunJournal | undefined): number {
    const { next, fresh } = this.#thread(threadId);
    const name = `${ns}/${channel}`;
    let first = next.get(name);
    if (first === undefined) {
      first = 0;
      const range = { ...prefixRange(keys.parts(threadId, ns, channel)), reverse: true, limit: 1 };
      if (!fresh) for (const [key] of this.#db.range(range)) first = partIndex(key) + 1;
    }
    next.set(name, first + count);
    journal?.took(ns, channel, first);
    return first;
  }
}

function charsOf(head: ListHead | undefined): number {
  let chars = 0;
  for (const part of head?.parts ?? []) chars += part.length + 16;
  return chars;
}

/** The parts of a range, where the newest version has all of them in one piece: earlier versions mostly are a part of it. */
function partsOf({ ranges, parts }: ListHead, from: number, to: number): readonly string[] | undefined {
  let at = 0;
  for (const [start, end] of ranges) {
    if (start <= from && to <= end) return parts.slice(at + from - start, at + to - start);
    at += end - start;
  }
  return undefined;
}

/** The ranges of the elements `from` (inclusive) to `to` (exclusive) of a list. */
function cut(ranges: readonly [number, number][], from: number, to: number): [number, number][] {
  const result: [number, number][] = [];
  let at = 0;
  for (const [start, end] of ranges) {
    const length = end - start;
    const first = Math.max(from - at, 0);
    const last = Math.min(to - at, length);
    if (first < last) result.push([start + first, start + last]);
    at += length;
  }
  return result;
}

function joinRanges(ranges: readonly [number, number][]): [number, number][] {
  const result: [number, number][] = [];
  for (const [from, to] of ranges) {
    const last = result.at(-1);
    if (last !== undefined && last[1] === from) last[1] = to;
    else result.push([from, to]);
  }
  return result;
}

function sameRanges(a: readonly [number, number][], b: readonly [number, number][]): boolean {
  if (a === b) return true;
  return a.length === b.length && a.every(([from, to], i) => from === b[i]![0] && to === b[i]![1]);
}
