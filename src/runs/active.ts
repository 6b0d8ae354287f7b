// A run that has not ended: its record, its event log, and the promise of its end.
import type { RunRecord, RunStatus } from "../resources/runs.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import { EventLog } from "./events.ts";

/** Why a run is stopped from outside. */
export type StopReason = "interrupt" | "rollback" | "park";

/** What `wait` and `join` answer with. */
export interface RunEnd {
  readonly status: RunStatus;
  /** The JSON body: final values, `__error__`, or values with `__interrupt__`. */
  readonly json: string;
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
  /** Asks the graph to stop behind the superstep that it is at. */
  drain: (() => void) | undefined;
  /** The JSON of the newest state that the graph has shown. */
  valuesNow: (() => string | undefined) | undefined;
  /** Wakes the queue when `notBefore` has come. */
  timer: NodeJS.Timeout | undefined;

  constructor(record: RunRecord, checkpoints: CheckpointStore) {
    this.record = record;
    this.checkpoints = checkpoints;
    this.log = new EventLog(record.run.kwargs.resumable);
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

  /** Stops a running execution. */
  stop(reason: StopReason): void {
    this.stopReason ??= reason;
    this.controller.abort(new Error(reason));
  }
}
