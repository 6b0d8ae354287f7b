// Writes that wait for one commit: whoever works on a staged database sees them, and nobody else does until they are all stored, or none of
// them is. For work that calls the user's code in between, which may fail or never come back.
import type { BufferedDatabase } from "./buffered.ts";
import { checkKeys, type Range, type Write } from "./database.ts";

type Entry = readonly [key: string, value: string];

export class StagedDatabase implements BufferedDatabase {
  readonly #base: BufferedDatabase;
  readonly #staged = new Map<string, string | undefined>();

  constructor(base: BufferedDatabase) {
    this.#base = base;
  }

  /** Everything that was written, for one batch. */
  get writes(): Write[] {
    return Array.from(this.#staged, ([key, value]) => ({ key, value }));
  }

  get(key: string): string | undefined {
    return this.#staged.has(key) ? this.#staged.get(key) : this.#base.get(key);
  }

  write(writes: readonly Write[]): void {
    checkKeys(writes);
    for (const { key, value } of writes) this.#staged.set(key, value);
  }

  writeSoon(writes: readonly Write[]): void {
    this.write(writes);
  }

  flush(): void {}

  *range(range: Range): Iterable<Entry> {
    const own = this.#stagedIn(range.start, range.end);
    if (own.length === 0) return yield* this.#base.range(range);
    const { limit = Infinity, reverse = false, ...all } = range;
    own.sort(([a], [b]) => (a < b !== reverse ? -1 : 1));
    let left = limit;
    for (const [key, value] of merged(this.#base.range({ ...all, reverse }), own, reverse)) {
      if (left-- <= 0) return;
      yield [key, value];
    }
  }

  count(start: string, end: string): number {
    let count = this.#base.count(start, end);
    for (const [key, value] of this.#stagedIn(start, end)) {
      const before = this.#base.get(key) !== undefined;
      count += Number(value !== undefined) - Number(before);
    }
    return count;
  }

  size(): number {
    return this.#base.size();
  }

  async close(): Promise<void> {}

  #stagedIn(start: string, end: string): [key: string, value: string | undefined][] {
    return [...this.#staged].filter(([key]) => key >= start && key < end);
  }
}

/** Entries of both in their order; one of `own` takes the place of a stored one, or removes it. */
function* merged(
  stored: Iterable<Entry>,
  own: readonly (readonly [key: string, value: string | undefined])[],
  reverse: boolean,
): Iterable<Entry> {
  let i = 0;
  for (const entry of stored) {
    for (; i < own.length && own[i]![0] < entry[0] !== reverse && own[i]![0] !== entry[0]; i++) {
      const [key, value] = own[i]!;
      if (value !== undefined) yield [key, value];
    }
    if (own[i]?.[0] !== entry[0]) yield entry;
  }
  for (; i < own.length; i++) {
    const [key, value] = own[i]!;
    if (value !== undefined) yield [key, value];
  }
}
