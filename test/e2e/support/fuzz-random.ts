// Chance that can be repeated, by a seed of any text, with the choices that fuzzing needs.
import { seeded } from "../../storage/seeded.ts";

/** Draws that are the same ones for the same seed. */
export class Random {
  readonly #next: () => number;

  constructor(seed: string) {
    let hash = 2_166_136_261;
    for (const letter of seed) hash = Math.imul(hash ^ letter.codePointAt(0)!, 16_777_619);
    this.#next = seeded(hash);
  }

  /** At least 0 and less than `below`. */
  int(below: number): number {
    return Math.floor(this.#next() * below);
  }

  /** True so often of 100 times. */
  percent(often: number): boolean {
    return this.#next() * 100 < often;
  }

  /** @throws Error for an empty list. */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error("there is nothing to choose from");
    return list[this.int(list.length)]!;
  }
}
