// Time as everything that waits for it gets it, so that tests own it: a year of firings passes in milliseconds.
import { systemClock, type Clock } from "./ids.ts";

/** A clock that can wake somebody. */
export interface Timers extends Clock {
  /**
   * Calls `wake` when the time has come, soon if it is past. It does not keep the process alive.
   * @param time milliseconds since the epoch.
   * @returns a function that calls it off.
   */
  at(time: number, wake: () => void): () => void;
}

/**
 * Milliseconds after which the time is looked at again: a timer stands still while the machine sleeps, and does not see that its clock was
 * set. A cron at nine must come at nine after a night of that.
 */
const LONGEST_DELAY_MS = 30_000;

/** The clock of this machine. */
export const systemTimers: Timers = {
  now: systemClock.now,
  at(time, wake) {
    let timer: NodeJS.Timeout;
    const wait = (): void => {
      const delay = Math.max(0, time - Date.now());
      timer = setTimeout(delay > LONGEST_DELAY_MS ? wait : wake, Math.min(delay, LONGEST_DELAY_MS)).unref();
    };
    wait();
    return () => clearTimeout(timer);
  },
};

/** A clock that stands still until it is told to go on. */
export class TestClock implements Timers {
  #now: number;
  readonly #waiting = new Set<{ readonly time: number; readonly wake: () => void }>();

  /** @param start milliseconds since the epoch, or a date. */
  constructor(start: number | string | Date = 0) {
    this.#now = new Date(start).getTime();
  }

  now(): number {
    return this.#now;
  }

  at(time: number, wake: () => void): () => void {
    const entry = { time, wake };
    this.#waiting.add(entry);
    return () => void this.#waiting.delete(entry);
  }

  /**
   * Lets time pass up to a moment: everything that is due on the way is woken in its order, at its own time, and what that puts off to a
   * time that has come is woken, too. Between two moments, promises that are ready get their turn.
   */
  async advanceTo(moment: number | string | Date): Promise<void> {
    const end = new Date(moment).getTime();
    for (;;) {
      let next: { readonly time: number; readonly wake: () => void } | undefined;
      for (const entry of this.#waiting)
        if (entry.time <= end && (next === undefined || entry.time < next.time)) next = entry;
      if (next === undefined) break;
      this.#waiting.delete(next);
      this.#now = Math.max(this.#now, next.time);
      next.wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#now = Math.max(this.#now, end);
  }

  /** Lets milliseconds pass; see `advanceTo`. */
  async advance(milliseconds: number): Promise<void> {
    await this.advanceTo(this.#now + milliseconds);
  }
}
