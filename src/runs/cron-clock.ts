// Fires crons. Each one's next moment is computed from the moment that it was to fire at, not from when it did, so nothing drifts; it is
// stored in the batch that stores the run, so that a crash neither repeats nor loses a firing. One timer, for the earliest.
import { ApiError } from "../errors.ts";
import { timestampOf } from "../ids.ts";
import type { Timers } from "../clock.ts";
import type { Cron, Crons } from "../resources/crons.ts";
import type { Write } from "../storage/database.ts";
import type { NextDate } from "./cron-schedule.ts";

/** A firing that comes so many milliseconds late was missed: the machine slept, or the server was down. */
const LATE_MS = 60_000;
/** Milliseconds until crons are looked at again when storage failed. */
const RETRY_MS = 60_000;

export interface CronClockOptions {
  readonly crons: Crons;
  readonly clock: Timers;
  readonly schedules: () => Promise<NextDate>;
  /** What happens to a firing that was missed: it is left out, or made once, late. */
  readonly catchUp: "skip" | "once";
  /** Creates the run of a cron, with `write` in the same batch. @throws ApiError */
  readonly fire: (cron: Cron, write: Write) => void;
  /** Something that a person should know. */
  readonly onWarning: (message: string) => void;
}

export class CronClock {
  readonly #options: CronClockOptions;
  #cancelTimer: () => void = () => undefined;
  #stopped = false;
  #catchUp: "skip" | "once";

  constructor(options: CronClockOptions) {
    this.#options = options;
    this.#catchUp = options.catchUp;
  }

  /** Takes up the stored schedule; at start, after runs were recovered. */
  async start(): Promise<void> {
    for (const { enabled } of this.#options.crons.all()) {
      if (!enabled) continue;
      await this.#fireDue();
      return;
    }
  }

  /** A storage that fails for a while must not end all crons for good. */
  #fireSoon(): void {
    this.#fireDue().catch((error: unknown) => {
      this.#options.onWarning(`Crons are tried again in a minute: ${reasonOf(error)}`);
      this.#cancelTimer();
      this.#cancelTimer = this.#options.clock.at(this.#options.clock.now() + RETRY_MS, () => this.#fireSoon());
    });
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
    this.#cancelTimer();
    if (this.#stopped) return;
    let earliest = Infinity;
    for (const { next_run_date: date } of this.#options.crons.all()) {
      if (date !== null) earliest = Math.min(earliest, Date.parse(date));
    }
    if (earliest < Infinity) this.#cancelTimer = this.#options.clock.at(earliest, () => this.#fireSoon());
  }

  /** Fires everything whose time has come. What is wrong with one cron stops no other. */
  async #fireDue(): Promise<void> {
    const next = await this.#options.schedules();
    if (this.#stopped) return;
    const now = this.#options.clock.now();
    const due = [...this.#options.crons.all()].filter(
      ({ next_run_date: date }) => date !== null && Date.parse(date) <= now,
    );
    for (const cron of due.toSorted((a, b) => (a.next_run_date! < b.next_run_date! ? -1 : 1))) {
      try {
        this.#fireOne(cron, next, now);
      } catch (error) {
        this.#options.onWarning(`Cron ${cron.cron_id} was disabled: ${reasonOf(error)}`);
        this.#options.crons.put({ ...cron, enabled: false, next_run_date: null });
      }
    }
    this.changed();
  }

  #fireOne(cron: Cron, next: NextDate, now: number): void {
    const { crons, fire, onWarning } = this.#options;
    const planned = Date.parse(cron.next_run_date!);
    const late = now - planned > LATE_MS;
    // From the planned moment; but what was missed is not made up for one by one.
    const date = nextDate(cron, next(cron.schedule, cron.timezone, late ? now : planned));
    const after: Cron = { ...cron, next_run_date: date };
    const over = cron.end_time !== null && Date.parse(cron.end_time) < planned;
    if (over || (late && this.#catchUp === "skip")) {
      if (!over)
        onWarning(
          `Cron ${cron.cron_id} was to run at ${cron.next_run_date}; it was left out (agent_server.crons.catch_up).`,
        );
      crons.put(after);
      return;
    }
    try {
      fire(after, crons.writeOf(after));
      crons.committed(after);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // The thread is gone for good; an assistant or a free thread may come back.
      if (error.status === 404 && cron.thread_id !== null && error.message.startsWith("Thread")) throw error;
      onWarning(`Cron ${cron.cron_id} could not run: ${error.detail}`);
      crons.put(after);
    }
  }
}

function nextDate({ enabled, end_time }: Pick<Cron, "enabled" | "end_time">, next: number): string | null {
  if (!enabled || (end_time !== null && next > Date.parse(end_time))) return null;
  return timestampOf(next);
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
