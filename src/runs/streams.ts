// What callers learn of runs and threads by looking at them: events, and how runs end or ended. The engine makes runs and says here
// what becomes of them; here they are only looked at.
import type { Timers } from "../clock.ts";
import type { Json } from "../resources/json.ts";
import { runNotFound, type RunRecord, type Runs } from "../resources/runs.ts";
import type { Threads } from "../resources/threads.ts";
import type { BufferedDatabase } from "../storage/buffered.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import type { ActiveRun, RunEnd } from "./active.ts";
import { EventLog, type ReadFrom } from "./events.ts";
import { FinishedLogs } from "./finished-logs.ts";
import type { LogReader } from "./log-reader.ts";
import { endOf } from "./result.ts";
import { CUT_OFF, PARKED } from "./settle.ts";
import { StoredLogs } from "./stored-logs.ts";
import { headOf, metadataJson, runDoneJson } from "./thread-events.ts";
import { ThreadFeeds } from "./thread-feeds.ts";
import type { ThreadValues } from "./values.ts";

export interface StreamsOptions {
  readonly db: BufferedDatabase;
  readonly threads: Threads;
  readonly runs: Runs;
  readonly values: ThreadValues;
  readonly checkpoints: CheckpointStore;
  /** Milliseconds that the events of a resumable run are kept behind its end. */
  readonly keepEventsMs: number;
  /** The JSON of a thread's newest state, for those who follow the thread. */
  readonly stateOf: (threadId: string) => Promise<string>;
  readonly clock: Timers;
  /** The run with this id, if it has not ended. */
  readonly active: (runId: string) => ActiveRun | undefined;
  /** Runs of a thread that have not ended, the running one first. */
  readonly lane: (threadId: string) => readonly ActiveRun[];
}

/** What a client has seen of a run: nothing, everything up to an id, or it asks for all that is kept of a resumable run. */
export type Seen = number | "kept" | undefined;

/** A client that joins a run or a thread. */
export interface Joined {
  readonly reader: LogReader;
  /** Data of the first event of the run that is under way, for a client that joins when it has been sent already. */
  readonly metadata: string | undefined;
}

const CUT_OFF_EVENT = JSON.stringify((JSON.parse(CUT_OFF.json) as { __error__: unknown }).__error__);

/** Whether the hidden thread of a run goes with it. */
export function vanishes({ record, stopReason }: ActiveRun, end: RunEnd): boolean {
  if (record.stateless !== true || record.ephemeral === true || end === PARKED) return false;
  return record.deleteAfter === true || stopReason === "rollback";
}

export class RunStreams {
  /** Events of resumable runs. */
  readonly logs: StoredLogs;
  /** What happens on threads. */
  readonly feeds: ThreadFeeds;
  readonly #options: StreamsOptions;
  readonly #finished: FinishedLogs;

  constructor(options: StreamsOptions) {
    this.#options = options;
    this.#finished = new FinishedLogs(options.clock);
    this.logs = new StoredLogs(options.db, options.keepEventsMs, options.clock);
    this.feeds = new ThreadFeeds({ ...options, logs: this.logs });
  }

  /** The log for a run that is about to be queued. */
  log(record: RunRecord): EventLog {
    const log = record.run.kwargs.resumable ? this.logs.open(record) : new EventLog();
    log.tap = this.feeds.find(record.run.thread_id);
    return log;
  }

  /** A run has left the engine: those who read hear of it, and what they may come back for is kept. */
  ended(run: ActiveRun, end: RunEnd): void {
    const { log, record, threadId } = run;
    if (end === PARKED) return log.close(false);
    // Nobody can come back for it, so they must not take this for its end.
    if (end === CUT_OFF && log.wanted) log.push("error", CUT_OFF_EVENT);
    const isTakenBack = run.stopReason === "rollback";
    const kept = record.deleteAfter === true && record.ephemeral !== true ? end : undefined;
    // Nothing is left of a run that was taken back: who comes for it later finds none.
    if (!isTakenBack) this.#finished.keep(run.id, { threadId, metadata: record.run.metadata, log, end: kept });
    log.done(() => runDoneJson(record, end.status, isTakenBack));
    log.close();
    log.tap?.changed();
  }

  /** A run was deleted. */
  dropped(runId: string): void {
    this.#finished.drop(runId);
  }

  /** A thread was deleted, and nothing of its runs is to be had any more. */
  threadDropped(threadId: string): void {
    this.#finished.dropThread(threadId);
  }

  /** No more events come, and those who read end. */
  stop(): void {
    this.feeds.stop();
    this.logs.stop();
  }

  #activeOn(threadId: string, runId: string): ActiveRun | undefined {
    const active = this.#options.active(runId);
    return active?.threadId === threadId ? active : undefined;
  }

  #threadOfLog(runId: string): string | undefined {
    return this.#options.active(runId)?.threadId ?? this.logs.threadOf(runId) ?? this.#finished.threadOf(runId);
  }

  #findThread(runId: string): string | undefined {
    return this.#threadOfLog(runId) ?? this.#options.runs.threadOf(runId);
  }

  /** The hidden thread of a stateless run that has not ended, or of which something is kept. @throws ApiError 404 */
  threadOf(runId: string): string {
    const threadId = this.#findThread(runId);
    if (threadId === undefined) throw runNotFound();
    return threadId;
  }

  /**
   * What decides who may see a run that has not ended or of which something is kept: the metadata of its thread, or its own when there
   * is no thread; undefined for other runs.
   */
  metadataOf(runId: string): Json | undefined {
    const threadId = this.#findThread(runId);
    if (threadId === undefined) return undefined;
    const thread = this.#options.threads.find(threadId);
    if (thread !== undefined) return thread.metadata;
    return this.#options.active(runId)?.record.run.metadata ?? this.#finished.metadataOf(runId) ?? {};
  }

  /** Whether events of a run can be read: it has not ended, or its log is kept. */
  hasLog(runId: string): boolean {
    return this.#threadOfLog(runId) !== undefined;
  }

  /** How a run ends, or ended. @throws ApiError 404 */
  async join(threadId: string, runId: string): Promise<RunEnd> {
    const active = this.#activeOn(threadId, runId);
    if (active !== undefined) return active.ended;
    const kept = this.#finished.find(threadId, runId)?.end;
    if (kept !== undefined) return kept;
    return endOf(this.#options.runs.get(threadId, runId), this.#options);
  }

  #log(threadId: string, runId: string): EventLog {
    const active = this.#activeOn(threadId, runId);
    const log = active?.log ?? this.logs.find(threadId, runId) ?? this.#finished.find(threadId, runId)?.log;
    if (log !== undefined) return log;
    this.#options.runs.get(threadId, runId);
    const nothing = new EventLog();
    nothing.close();
    return nothing;
  }

  /** A reader of a run's events. @throws ApiError 404 */
  read(threadId: string, runId: string, from: ReadFrom, modes?: ReadonlySet<string>): LogReader {
    return this.#log(threadId, runId).reader(from, modes);
  }

  /** A reader for a client that joins a run or comes back to it. @throws ApiError 404 */
  follow(threadId: string, runId: string, seen: Seen, modes?: ReadonlySet<string>): Joined {
    const log = this.#log(threadId, runId);
    if (typeof seen === "number") return { reader: log.reader({ after: seen }, modes), metadata: undefined };
    if (seen === "kept" && log.resumable) return { reader: log.reader("start", modes), metadata: undefined };
    const active = log.begun ? this.#activeOn(threadId, runId) : undefined;
    const metadata = active === undefined ? undefined : metadataJson(headOf(active.record));
    return { reader: log.reader("now", modes), metadata };
  }
}
