// The Database that lives in this process only: for `--no-persist` and for tests.
// Keys are kept sorted in short chunks, so that an insert moves at most one chunk however many keys there are, and a range read
// starts with two binary searches. Values are looked up in a Map beside it.

import type { Database, Range, Write } from "./database.ts";

/** A chunk that grows past this is split: large enough for few chunks, small enough that `splice` stays in the cache. */
const MAX_CHUNK = 512;

/**
 * A new, empty, ordered Database in memory. `size()` is 0. `close()` keeps the contents, so that a test can restart a server on it.
 * Keys are ordered by UTF-16 code units, as `<` compares strings. A range's snapshot is taken when its iteration starts.
 */
export function memoryDatabase(): Database {
  const values = new Map<string, string>();
  const keys = new SortedKeys();
  const cursors = new Set<Cursor>();

  return {
    get: (key) => values.get(key),
    write(writes: readonly Write[]) {
      if (writes.length === 0) return;
      // Readers that are under way keep what they had: copying on the first write makes all other range reads free of copies.
      for (const cursor of cursors) cursor.detach();
      cursors.clear();
      for (const { key, value } of writes) {
        if (value === undefined) {
          if (values.delete(key)) keys.remove(key);
        } else {
          if (!values.has(key)) keys.add(key);
          values.set(key, value);
        }
      }
    },
    range: (range) => ({ [Symbol.iterator]: () => new Cursor(keys, values, cursors, range) }),
    count: (start, end) => keys.count(start, end),
    size: () => 0,
    close: async () => {},
  };
}

/** Where a key is, or would be. */
interface Position {
  readonly chunk: number;
  readonly index: number;
}

class SortedKeys {
  /** Never empty chunks, except that there is always at least one. */
  readonly chunks: string[][] = [[]];

  add(key: string): void {
    const { chunk, index } = this.lowerBound(key);
    // Between two chunks the left one takes the key: so an increasing sequence is a plain push.
    const at = index === 0 && chunk > 0 ? chunk - 1 : chunk;
    const list = this.chunks[at] as string[];
    if (at === chunk) list.splice(index, 0, key);
    else list.push(key);
    if (list.length <= MAX_CHUNK) return;
    // After an append only the new key moves on: chunks of a growing log stay full.
    const keep = list[list.length - 1] === key && at === this.chunks.length - 1 ? MAX_CHUNK : MAX_CHUNK >> 1;
    this.chunks.splice(at + 1, 0, list.splice(keep));
  }

  remove(key: string): void {
    const { chunk, index } = this.lowerBound(key);
    const list = this.chunks[chunk] as string[];
    list.splice(index, 1);
    if (list.length === 0 && this.chunks.length > 1) this.chunks.splice(chunk, 1);
  }

  count(start: string, end: string): number {
    if (start >= end) return 0;
    const from = this.lowerBound(start);
    const to = this.lowerBound(end);
    let total = to.index - from.index;
    for (let chunk = from.chunk; chunk < to.chunk; chunk++) total += (this.chunks[chunk] as string[]).length;
    return total;
  }

  /** The first key that is not less than `key`; one past the last key of the last chunk when there is none. */
  lowerBound(key: string): Position {
    const { chunks } = this;
    const last = chunks.length - 1;
    const chunk = firstIndex(last, (i) => (chunks[i]?.at(-1) as string) >= key);
    const list = chunks[chunk] as string[];
    return { chunk, index: firstIndex(list.length, (i) => (list[i] as string) >= key) };
  }
}

/** The first of 0…length-1 for which the monotonic `test` holds, or `length`. */
function firstIndex(length: number, test: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

type Entry = readonly [key: string, value: string];

/** One iteration over a range. It reads the live keys until the first write, which makes it take a copy of the rest. */
class Cursor implements IterableIterator<Entry, undefined> {
  readonly #keys: SortedKeys;
  readonly #values: ReadonlyMap<string, string>;
  readonly #cursors: Set<Cursor>;
  readonly #step: 1 | -1;
  #chunk: number;
  #index: number;
  #left: number;
  #copy: Entry[] | undefined;
  #copied = 0;

  constructor(keys: SortedKeys, values: ReadonlyMap<string, string>, cursors: Set<Cursor>, range: Range) {
    this.#keys = keys;
    this.#values = values;
    this.#cursors = cursors;
    this.#step = range.reverse === true ? -1 : 1;
    const first = keys.lowerBound(this.#step === 1 ? range.start : range.end);
    this.#chunk = first.chunk;
    this.#index = this.#step === 1 ? first.index : first.index - 1;
    this.#left = Math.min(keys.count(range.start, range.end), range.limit ?? Infinity);
    if (this.#left > 0) cursors.add(this);
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<Entry, undefined> {
    const value = this.#copy === undefined ? this.#read() : this.#copy[this.#copied++];
    if (value !== undefined) return { done: false, value };
    return this.return();
  }

  return(): IteratorReturnResult<undefined> {
    this.#cursors.delete(this);
    this.#copy = [];
    return { done: true, value: undefined };
  }

  detach(): void {
    const rest: Entry[] = [];
    for (let entry = this.#read(); entry !== undefined; entry = this.#read()) rest.push(entry);
    this.#copy = rest;
  }

  #read(): Entry | undefined {
    if (this.#left <= 0) return undefined;
    this.#left--;
    const { chunks } = this.#keys;
    if (this.#index < 0) this.#index = (chunks[--this.#chunk] as string[]).length - 1;
    else if (this.#index >= (chunks[this.#chunk] as string[]).length) {
      this.#chunk++;
      this.#index = 0;
    }
    const key = chunks[this.#chunk]?.[this.#index] as string;
    this.#index += this.#step;
    return [key, this.#values.get(key) as string];
  }
}
