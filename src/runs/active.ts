// A run that has not ended: its record, its event log, and the promise of its end.
import { timestamp } from "../ids.ts";
import type { RunError, RunRecord, RunStatus } from "../resources/runs.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import { RunJournal } from "../storage/journal.ts";
import type { EventLog } from "./events.ts";
import type { RunObserver } from "./observer.ts";

/** Why a run is stopped from outside. */
export type StopReason = "interrupt" | "rollback" | "timeout" | "park";

/** What `wait` and `join` answer with. */
export interface RunEnd {
  readonly status: RunStatus;
  /** The JSON body: final values, `__error__`, or values with `__interrupt__`. */
  readonly json: string;
  /** When it began, in milliseconds since the epoch; undefined when it never did. */
  readonly startedAt?: number | undefined;
}

export class ActiveRun {
  record: RunRecord;
  readonly log: EventLog;
  /** Where its checkpoints go: the server's, or one in memory that goes with the run. */
  readonly checkpoints: CheckpointStore;
  readonly controller = new AbortController();
  /** Resolves when the run is stopped from outside, whatever it waits for. */
  readonly stopped: Promise<undefined>;
  readonly ended: Promise<RunEnd>;
  resolveEnd!: (end: RunEnd) => void;
  stopReason: StopReason | undefined;
  started = false;
  /** The graph is being run: what it does from now on can be watched, but not what it did. */
  executing = false;
  /** Who watches it as a series of protocol v2 events. */
  observer: RunObserver | undefined;
  /** A new run takes its place. */
  superseded = false;
  /** `performance.now()` when it was started. */
  begunAt: number | undefined;
  /** Asks the graph to stop behind the superstep that it is at. */
  drain: (() => void) | undefined;
  /** The JSON of the newest state that the graph has shown. */
  valuesNow: (() => string | undefined) | undefined;
  /** Calls off what wakes the queue when `notBefore` has come. */
  callOff: (() => void) | undefined;
  /** What it has written; undefined when nobody has to know, or it began before the server did. */
  readonly journal: RunJournal | undefined;

  /** @param isNew whether nothing of it was executed by an earlier server. */
  constructor(record: RunRecord, checkpoints: CheckpointStore, log: EventLog, isNew = true) {
    this.record = record;
    this.checkpoints = checkpoints;
    this.log = log;
    this.journal = isNew && record.ephemeral !== true ? new RunJournal(record.run.thread_id) : undefined;
    this.stopped = new Promise((resolve) => {
      this.controller.signal.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    this.ended = new Promise((resolve) => {
      this.resolveEnd = resolve;
    });
  }

  get id(): string {
    return this.record.run.run_id;
  }

  get threadId(): string {
    return this.record.run.thread_id;
  }

  /** Gives the record another status, and a failed run its error. */
  update(status: RunStatus, error?: RunError): void {
    const { record } = this;
    this.record = {
      ...record,
      run: { ...record.run, status, updated_at: timestamp() },
      ...(error === undefined ? {} : { error }),
    };
  }

  /** Stops a running execution. */
  stop(reason: StopReason): void {
    this.stopReason ??= reason;
    this.controller.abort(new Error(reason));
  }
}
