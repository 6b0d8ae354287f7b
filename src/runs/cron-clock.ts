// Fires crons. Each one's next moment is computed from the moment that it was to fire at, not from when it did, so nothing drifts; it is
// stored in the batch that stores the run, so that a crash neither repeats nor loses a firing. One timer, for the earliest.
import { ZodError } from "zod";
import { ApiError } from "../errors.ts";
import { timestampOf } from "../ids.ts";
import type { Timers } from "../clock.ts";
import type { Cron, Crons } from "../resources/crons.ts";
import { issuesText } from "../resources/schema.ts";
import type { Write } from "../storage/database.ts";
import type { NextDate } from "./cron-schedule.ts";

/** A firing that comes so many milliseconds late was missed: the machine slept, or the server was down. */
const LATE_MS = 60_000;
/** Milliseconds until crons are looked at again when storage failed. */
const RETRY_MS = 60_000;

/** Crons that are fired in one go before others get their turn. */
const SLICE = 20;

export interface CronClockOptions {
  readonly crons: Crons;
  readonly clock: Timers;
  readonly schedules: () => Promise<NextDate>;
  /** What happens to a firing that was missed: it is left out, or made once, late. */
  readonly catchUp: "skip" | "once";
  /** Creates the run of a cron, with `write` in the same batch. @throws ApiError; ZodError when the cron's body is none. */
  readonly fire: (cron: Cron, write: Write) => void;
  /** Whether a thread is there. */
  readonly hasThread: (threadId: string) => boolean;
  /** Something that a person should know. */
  readonly onWarning: (message: string) => void;
}

/** Fires crons at their time, until `stop`. */
export class CronClock {
  readonly #options: CronClockOptions;
  #cancelTimer: () => void = () => undefined;
  #stopped = false;
  #firing = false;
  #catchUp: "skip" | "once";

  constructor(options: CronClockOptions) {
    this.#options = options;
    this.#catchUp = options.catchUp;
  }

  /** Takes up the stored schedule; at start, after runs were recovered. */
  async start(): Promise<void> {
    for (const { enabled } of this.#options.crons.all()) if (enabled) return this.#fireDue();
  }

  /** From the next missed firing on. */
  reconfigure(catchUp: "skip" | "once"): void {
    this.#catchUp = catchUp;
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTimer();
  }

  /** The moment at which a cron fires next; null when it does not. @throws ApiError 422 */
  async next(cron: Pick<Cron, "schedule" | "timezone" | "end_time" | "enabled">): Promise<string | null> {
    const next = await this.#options.schedules();
    return nextDate(cron, next(cron.schedule, cron.timezone, this.#options.clock.now()));
  }

  /** Says that crons were made, changed or deleted. */
  changed(): void {
    // Who fires looks again at the end.
    if (this.#firing) return;
    let earliest = Infinity;
    for (const { next_run_date: date } of this.#options.crons.all()) {
      if (date !== null) earliest = Math.min(earliest, Date.parse(date));
    }
    this.#wakeAt(earliest);
  }

  #wakeAt(time: number): void {
    this.#cancelTimer();
    if (this.#stopped || time === Infinity) return;
    this.#cancelTimer = this.#options.clock.at(time, () => void this.#fireDue());
  }

  /** Fires everything whose time has come. What is wrong with one cron stops no other; a storage that fails is tried again. */
  async #fireDue(): Promise<void> {
    if (this.#firing) return;
    this.#firing = true;
    let failure: unknown;
    try {
      const next = await this.#options.schedules();
      const now = this.#options.clock.now();
      for (const [i, id] of this.#due(now).entries()) {
        if (i % SLICE === SLICE - 1) await new Promise((resolve) => setImmediate(resolve));
        if (this.#stopped) break;
        // It may have been changed or deleted meanwhile.
        const cron = this.#options.crons.find(id);
        if (cron === undefined || !isDue(cron, now)) continue;
        try {
          this.#fireOne(cron, next, now);
        } catch (error) {
          failure = error;
        }
      }
    } catch (error) {
      failure = error;
    }
    this.#firing = false;
    if (failure === undefined) return this.changed();
    this.#options.onWarning(`Crons are tried again in a minute: ${reasonOf(failure)}`);
    this.#wakeAt(this.#options.clock.now() + RETRY_MS);
  }

  /** Ids of the crons whose time has come, the first to fire first. */
  #due(now: number): string[] {
    const due = [...this.#options.crons.all()].filter((cron) => isDue(cron, now));
    return due.toSorted((a, b) => (a.next_run_date! < b.next_run_date! ? -1 : 1)).map(({ cron_id }) => cron_id);
  }

  #fireOne(cron: Cron, next: NextDate, now: number): void {
    const { crons, fire, hasThread, onWarning } = this.#options;
    const planned = Date.parse(cron.next_run_date!);
    const late = now - planned > LATE_MS;
    let after: Cron;
    try {
      // From the planned moment; but what was missed is not made up for one by one.
      after = { ...cron, next_run_date: nextDate(cron, next(cron.schedule, cron.timezone, late ? now : planned)) };
    } catch (error) {
      return this.#disable(cron, error);
    }
    const over = cron.end_time !== null && Date.parse(cron.end_time) < (late ? now : planned);
    if (over || (late && this.#catchUp === "skip")) {
      const missed = `Cron ${cron.cron_id} was to run at ${cron.next_run_date}`;
      if (!over) onWarning(`${missed}; it was left out (agent_server.crons.catch_up).`);
      crons.put(after);
      return;
    }
    try {
      fire(after, crons.writeOf(after));
      crons.committed(after);
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof ZodError)) throw error;
      // The thread is gone for good, and a body does not mend itself; an assistant or a busy thread may come back.
      const gone = cron.thread_id !== null && !hasThread(cron.thread_id);
      if (gone || error instanceof ZodError) return this.#disable(cron, error);
      onWarning(`Cron ${cron.cron_id} could not run: ${error.detail}`);
      crons.put(after);
    }
  }

  #disable(cron: Cron, why: unknown): void {
    this.#options.crons.put({ ...cron, enabled: false, next_run_date: null });
    this.#options.onWarning(`Cron ${cron.cron_id} was disabled: ${reasonOf(why)}`);
  }
}

const isDue = ({ next_run_date: date }: Cron, now: number): boolean => date !== null && Date.parse(date) <= now;

function nextDate({ enabled, end_time }: Pick<Cron, "enabled" | "end_time">, next: number): string | null {
  if (!enabled || (end_time !== null && next > Date.parse(end_time))) return null;
  return timestampOf(next);
}

function reasonOf(error: unknown): string {
  if (error instanceof ZodError) return issuesText(error);
  return error instanceof Error ? error.message : String(error);
}
