// Chance that can be repeated: the same seed makes the same choices, so that a failure of the fuzz test comes again when it is run again.

/** Numbers that look random, from a seed (the algorithm is mulberry32). */
export class Random {
  #state: number;

  /** @param seed any text; the same text gives the same numbers. */
  constructor(seed: string) {
    let hash = 2_166_136_261;
    for (const letter of seed) hash = Math.imul(hash ^ letter.codePointAt(0)!, 16_777_619);
    this.#state = hash >>> 0;
  }

  /** At least 0 and less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** At least 0 and less than `below`. */
  int(below: number): number {
    return Math.floor(this.next() * below);
  }

  /** True so often of 100 times. */
  percent(often: number): boolean {
    return this.next() * 100 < often;
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error("there is nothing to choose from");
    return list[this.int(list.length)]!;
  }

  /** Some of them, in their order. */
  some<T>(list: readonly T[], often: number): T[] {
    return list.filter(() => this.percent(often));
  }
}
