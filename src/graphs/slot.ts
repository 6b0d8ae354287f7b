// What the host keeps of one graph: its good version, its last error, the files that it is made of, and who is loading it right now.
import type { GraphSpec } from "../config/types.ts";
import type { GraphLoadError } from "./errors.ts";
import type { GraphVersion } from "./types.ts";

/** How an attempt to load a graph ended. */
export type Outcome = "loaded" | "failed" | "superseded";

/** The state of one graph of the config. */
export class Slot {
  spec: GraphSpec;
  /** The version that new runs get; stays when a later one cannot be loaded. */
  current: GraphVersion | null = null;
  /** Why the last attempt failed. */
  error: GraphLoadError | null = null;
  /** Files whose change means a reload. */
  files: ReadonlySet<string>;
  /** Files to evaluate again although they did not change: they import something that was missing. */
  retry: readonly string[] = [];
  /** Resolves with the end of the first attempt. */
  readonly settled: Promise<void>;
  settle: () => void = () => {};
  #turn = 0;
  #supersede: () => void = () => {};

  constructor(spec: GraphSpec) {
    this.spec = spec;
    this.files = new Set([spec.file]);
    this.settled = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  /**
   * Runs `work` as the newest attempt. An attempt that is overtaken by a newer one ends at once, even when its module never finishes
   * to evaluate; `isNewest` tells `work` whether its result still counts.
   */
  attempt(work: (isNewest: () => boolean) => Promise<Outcome>): Promise<Outcome> {
    this.cancel();
    const turn = this.#turn;
    const overtaken = new Promise<Outcome>((resolve) => {
      this.#supersede = () => resolve("superseded");
    });
    return Promise.race([work(() => turn === this.#turn), overtaken]);
  }

  /** Makes the running attempt, if any, count for nothing. */
  cancel(): void {
    this.#turn++;
    this.#supersede();
  }
}
