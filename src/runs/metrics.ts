// Counts what becomes of runs, for /metrics: plain numbers, so that a run pays a few additions for them and nothing else.
import type { RunStatus } from "../resources/runs.ts";

/** How a run may end. */
export type EndStatus = Exclude<RunStatus, "pending" | "running">;

/** Upper bounds of the buckets of run durations, in seconds. */
export const DURATION_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800] as const;

/** Durations of runs, in seconds. */
export interface Durations {
  /** How many took at most as long as the bound of DURATION_BUCKETS at this index; they include those of the bounds below. */
  readonly atMost: readonly number[];
  readonly count: number;
  readonly sum: number;
}

export class RunMetrics {
  readonly #ended: Record<EndStatus, number> = { success: 0, error: 0, interrupted: 0, timeout: 0 };
  /** By bucket; the last one is for those that took longer than every bound. */
  readonly #buckets: number[] = Array.from({ length: DURATION_BUCKETS.length + 1 }, () => 0);
  #seconds = 0;

  /**
   * A run has left the engine; one that goes on when the server starts again counts then.
   * @param begunAt `performance.now()` when it began; undefined when it never did.
   */
  left(status: RunStatus, begunAt: number | undefined): void {
    if (status === "pending" || status === "running") return;
    this.#ended[status]++;
    if (begunAt === undefined) return;
    const seconds = (performance.now() - begunAt) / 1000;
    this.#seconds += seconds;
    let bucket = 0;
    while (bucket < DURATION_BUCKETS.length && seconds > DURATION_BUCKETS[bucket]!) bucket++;
    this.#buckets[bucket]!++;
  }

  /** Runs that ended since the server started, by status. */
  get byStatus(): Readonly<Record<EndStatus, number>> {
    return this.#ended;
  }

  /** How long the runs took that had begun. */
  get durations(): Durations {
    let count = 0;
    const sums = this.#buckets.map((more) => (count += more));
    return { atMost: sums.slice(0, -1), count, sum: this.#seconds };
  }
}
