// The one timer of the long-term store: deletes expired items that nobody meets. It runs only when an interval is set and while there
// are items that can expire; readers never see an expired item, swept or not.
import type { Timers } from "../clock.ts";

/** Calls `sweep` now and then, as long as there is something to wait for. */
export class Sweeper {
  readonly #clock: Timers;
  readonly #sweep: () => boolean;
  #intervalMs: number | undefined;
  #cancel: (() => void) | undefined;
  #stopped = false;

  /** @param sweep deletes what has expired, gives whether more will expire, and never throws. */
  constructor(clock: Timers, sweep: () => boolean) {
    this.#clock = clock;
    this.#sweep = sweep;
  }

  /** @param minutes between two sweeps; undefined ends them. The timer starts with the next `arm`. */
  set interval(minutes: number | undefined) {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#intervalMs = minutes === undefined ? undefined : minutes * 60_000;
  }

  /** To be called when there are items that can expire; more often does no harm. */
  arm(): void {
    if (this.#cancel !== undefined || this.#intervalMs === undefined || this.#stopped) return;
    this.#cancel = this.#clock.at(this.#clock.now() + this.#intervalMs, () => {
      const more = this.#sweep();
      this.#cancel = undefined;
      if (more) this.arm();
    });
  }

  /** For good. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }
}
