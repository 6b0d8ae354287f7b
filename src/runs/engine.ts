// The run engine: creates runs, lets them run, stops them, and tells everybody who waits how they ended. What is stored of that is
// in ledger.ts, who may run when in queue.ts, one execution of a graph in executor.ts.
import { ApiError } from "../errors.ts";
import { hasEnded, type RunRecord } from "../resources/runs.ts";
import { threadNotFound, type ThreadStatus } from "../resources/threads.ts";
import { buffered } from "../storage/buffered.ts";
import { CheckpointStore } from "../storage/checkpoints.ts";
import { memoryDatabase } from "../storage/memory-driver.ts";
import { ActiveRun, type RunEnd } from "./active.ts";
import { attempt } from "./attempt.ts";
import { type BoundedWork, ThreadChanges } from "./changes.ts";
import type { Caller, EngineOptions } from "./engine-options.ts";
import { describeError } from "./describe-error.ts";
import { execute, type ExecutionEnd } from "./executor.ts";
import { RunLedger, type StateChange } from "./ledger.ts";
import { RunMaker } from "./making.ts";
import { RunMetrics } from "./metrics.ts";
import type { RunObserver } from "./observer.ts";
import { RunQueue } from "./queue.ts";
import { recover, type Recovery } from "./recovery.ts";
import { graphConfigurable, runMetadata, type RunRequest } from "./request.ts";
import { withInterrupts } from "./result.ts";
import { CUT_OFF, type EndingParts, storeEnd } from "./settle.ts";
import { RunStreams, vanishes } from "./streams.ts";
import { shutDown } from "./shutdown.ts";
import { headOf } from "./thread-events.ts";
import { limitTime, timedOut } from "./timeout.ts";
import { watchedEnd, watchFromNow, watchLate } from "./watch.ts";

export class RunEngine {
  /** Events and results of runs. */
  readonly streams: RunStreams;
  readonly metrics = new RunMetrics();
  /** Changes of threads from outside of runs; see `update`. */
  readonly changes: ThreadChanges;
  readonly #options: EngineOptions;
  readonly #active = new Map<string, ActiveRun>();
  readonly #queue: RunQueue;
  readonly #ledger: RunLedger;
  readonly #maker: RunMaker;
  readonly #ending: EndingParts;
  /** Graphs have been loaded: a run that is started runs at once. Before, a crash must not count as an attempt of it. */
  #loaded = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#queue = new RunQueue(options.jobs, (run) => void this.#run(run), options.clock);
    this.changes = new ThreadChanges({ ...options, queue: this.#queue });
    this.streams = new RunStreams({
      ...options,
      active: (runId) => this.#active.get(runId),
      lane: (threadId) => this.#queue.lane(threadId),
    });
    this.#maker = new RunMaker({
      ...options,
      queue: this.#queue,
      loaded: () => this.#loaded,
      supersede: (stopped, action) => this.#stopRuns(stopped, action),
    });
    this.#ledger = new RunLedger({
      ...options,
      logs: this.streams.logs,
      followers: options.followers ?? [],
      others: (threadId, runId) =>
        this.#queue.lane(threadId).filter(({ id, stopReason }) => id !== runId && stopReason !== "rollback"),
    });
    const { onFailure, onError } = options;
    this.#ending = { ledger: this.#ledger, onFailure, onError };
  }

  /**
   * Creates a run on a thread, or without one. It is stored, and started if it may start, when this returns. A stateless run
   * that somebody waits for and that is deleted at its end is not stored at all.
   * @throws ApiError 404 unknown thread, assistant or checkpoint; 409 when the thread is busy and the strategy is `reject`.
   */
  create(threadId: string | undefined, request: RunRequest, caller: Caller): ActiveRun {
    const made = this.#maker.make(threadId, request, caller);
    this.#ledger.created([made], caller === "wait");
    return this.#add(made.record, caller === "stream");
  }

  /** Creates stateless runs in the background, in one batch: all of them, or none. @throws ApiError 404 unknown assistant. */
  createBatch(requests: readonly RunRequest[]): ActiveRun[] {
    const made = requests.map((request) => this.#maker.make(undefined, request, "batch"));
    this.#ledger.created(made, false);
    return made.map(({ record }) => this.#add(record));
  }

  #add(record: RunRecord, read = false, isNew = true): ActiveRun {
    const { checkpoints } = this.#options;
    const run = new ActiveRun(
      record,
      record.ephemeral ? new CheckpointStore(buffered(memoryDatabase()), true) : checkpoints,
      this.streams.log(record),
      isNew,
    );
    if (read) run.log.expectReader();
    this.#active.set(run.id, run);
    this.#queue.add(run);
    return run;
  }

  async #run(run: ActiveRun): Promise<void> {
    run.log.begin(headOf(run.record));
    let end: ExecutionEnd;
    try {
      const loading = Promise.all([this.#options.graph(run.record.graphId), this.#options.kit()]);
      // A run that is stopped meanwhile may be deleted already, and must not wait for a graph that never loads.
      const loaded = await Promise.race([run.stopped, loading]);
      if (loaded === undefined || run.controller.signal.aborted) return this.#end(run, { kind: "aborted" });
      const [version, kit] = loaded;
      this.#loaded = true;
      if (run.record.run.status !== "running") {
        run.update("running");
        this.#ledger.changed(run.record);
      }
      const { timeoutMs, clock } = this.#options;
      const inTime = limitTime(run, timeoutMs, clock);
      end = await execute({
        record: run.record,
        version,
        ...kit,
        checkpoints: run.checkpoints,
        journal: run.journal,
        store: this.#options.store,
        sink: run.log,
        observer: watchFromNow(run, this.#options.observers),
        signal: run.controller.signal,
        wantsRest: () => run.stopReason === "interrupt" || run.stopReason === "timeout",
        metadata: runMetadata(run.record, kit.runtime.version, this.#options.apiUrl()),
        configurable: graphConfigurable(run.record),
        onDrain: (drain) => {
          run.drain = drain;
        },
        onValues: (values) => {
          run.valuesNow = values;
        },
      });
      inTime();
      if (end.kind === "aborted" && run.stopReason === "timeout") end = timedOut(timeoutMs, end.valuesJson);
    } catch (error) {
      // The graph could not be loaded.
      end = { kind: "failed", error: describeError(error), cause: error };
    }
    this.#end(run, end);
  }

  /** Stores how a run ended, then tells everybody who waits for it, then lets the next one run. */
  #end(run: ActiveRun, end: ExecutionEnd): void {
    // A run that was rolled back or deleted has left already.
    if (this.#active.get(run.id) !== run) return;
    let result = CUT_OFF;
    try {
      result = storeEnd(run, end, this.#ending);
    } finally {
      this.#leave(run, result);
    }
  }

  #leave(run: ActiveRun, end: RunEnd): void {
    const { observers, onError } = this.#options;
    this.#active.delete(run.id);
    this.metrics.left(end.status, run.begunAt);
    attempt(() => this.streams.ended(run, end), onError);
    attempt(() => watchedEnd(run, end, observers), onError);
    if (vanishes(run, end)) this.#threadGone(run.threadId);
    run.resolveEnd(end);
    attempt(() => run.checkpoints.rest(run.threadId), onError);
    this.#queue.remove(run);
  }

  /** A thread is not there any more: nobody follows it. */
  #threadGone(threadId: string): void {
    const { observers, belongings, onError } = this.#options;
    attempt(() => this.streams.feeds.end(threadId), onError);
    attempt(() => observers?.threadDeleted(threadId), onError);
    attempt(() => belongings?.threadDeleted(threadId), onError);
  }

  /** Stops runs that have not ended, whether they run or wait. */
  #stopRuns(runs: readonly ActiveRun[], reason: "interrupt" | "rollback"): void {
    // Those that wait first: a place that becomes free must not start one that is to be stopped as well.
    const all = runs.toSorted((a, b) => Number(a.started) - Number(b.started));
    if (reason === "rollback") return this.#rollBack(all);
    for (const run of all) {
      if (run.started) run.stop(reason);
      else this.#end(run, { kind: "aborted" });
    }
  }

  /** Takes runs back. Their records go at once; whatever their graphs still do has nowhere to go. */
  #rollBack(runs: readonly ActiveRun[]): void {
    const left: ActiveRun[] = [];
    try {
      for (const run of runs) {
        run.stop("rollback");
        // It may be stopping for another reason already.
        run.stopReason = "rollback";
        this.#ledger.rolledBack(run.record, run.journal);
        left.push(run);
      }
    } finally {
      // Those who wait get what is there without any of them.
      for (const run of left) {
        const json = withInterrupts(this.#options.values.json(run.threadId), undefined);
        this.#leave(run, { status: "interrupted", json });
      }
    }
  }

  /** The record of a run. @throws ApiError 404 */
  record(threadId: string, runId: string): RunRecord {
    return this.#activeOn(threadId, runId)?.record ?? this.#options.runs.get(threadId, runId);
  }

  #activeOn(threadId: string, runId: string): ActiveRun | undefined {
    const active = this.#active.get(runId);
    return active?.threadId === threadId ? active : undefined;
  }

  /** The run with this id, if it has not ended. */
  active(runId: string): ActiveRun | undefined {
    return this.#active.get(runId);
  }

  /** How many runs wait, how many run, and how many may run at once. */
  get load(): { readonly pending: number; readonly running: number; readonly capacity: number } {
    const { running, capacity } = this.#queue.load;
    return { pending: this.#active.size - running, running, capacity };
  }

  /** Runs of a thread in this status, the newest first. */
  unfinished(threadId: string, status: "pending" | "running"): RunRecord[] {
    const records = this.#queue.lane(threadId).map(({ record }) => record);
    return records.filter(({ run }) => run.status === status).toReversed();
  }

  /** Whether anything runs or waits on a thread. */
  isBusy(threadId: string): boolean {
    return this.#queue.lane(threadId).length > 0;
  }

  /** Lets somebody watch what runs on a thread now, if nobody does yet. */
  watch(threadId: string, observe: (record: RunRecord) => RunObserver): void {
    watchLate(
      this.#queue.lane(threadId).find(({ started }) => started),
      observe,
    );
  }

  /**
   * Stops a run.
   * @returns a promise of its being stopped. @throws ApiError 404 unknown; 409 when it has ended.
   */
  cancel(threadId: string, runId: string, action: "interrupt" | "rollback"): Promise<RunEnd> {
    const { run } = this.record(threadId, runId);
    const active = this.#active.get(runId);
    if (active === undefined || hasEnded(run.status)) {
      throw new ApiError(409, `Run ${runId} has ended with status "${run.status}" and cannot be cancelled`);
    }
    this.#stopRuns([active], action);
    return active.ended;
  }

  /**
   * Stops every run that has not ended and that matches.
   * @returns a promise of how they ended; empty when none matches.
   */
  cancelWhere(match: (record: RunRecord) => boolean, action: "interrupt" | "rollback"): Promise<RunEnd[]> {
    const runs = [...this.#active.values()].filter(({ record }) => match(record));
    this.#stopRuns(runs, action);
    return Promise.all(runs.map(({ ended }) => ended));
  }

  /** Deletes a run's record; one that has not ended is rolled back. @throws ApiError 404 */
  delete(threadId: string, runId: string): void {
    this.record(threadId, runId);
    const active = this.#active.get(runId);
    if (active === undefined) this.#ledger.deleted(threadId, runId);
    else this.#stopRuns([active], "rollback");
    this.streams.dropped(runId);
  }

  /** What a thread is, or would be if its runs were stopped now. @throws ApiError 404 */
  restingStatus(threadId: string): ThreadStatus {
    const lane = this.#queue.lane(threadId);
    const { status } = this.#options.threads.get(threadId);
    if (lane[0] === undefined) return status;
    const writer = this.#options.checkpoints.get(threadId, "")?.record.d;
    return lane.some(({ id }) => id === writer) ? "interrupted" : this.#ledger.statusWithout(lane[0].record);
  }

  /**
   * Deletes a thread with its runs and checkpoints, in one batch; runs that have not ended are stopped, changes given up.
   * @throws ApiError 404
   */
  async deleteThread(threadId: string): Promise<void> {
    if (this.#options.threads.find(threadId) === undefined) throw threadNotFound(threadId);
    const lane = this.#queue.lane(threadId).toReversed();
    for (const run of lane) run.stop("rollback");
    this.#ledger.threadDeleted(threadId);
    for (const run of lane) this.#leave(run, { status: "interrupted", json: "{}" });
    this.changes.giveUp(threadId);
    this.streams.threadDropped(threadId);
    this.#threadGone(threadId);
  }

  /**
   * Changes a thread from outside a run: one change at a time, none while a run is there, and no run starts meanwhile.
   * @param change is given up when its signal is aborted, and must store nothing then: its time is over, or the thread is deleted.
   * @throws ApiError 404 unknown thread; 409 busy; 422 its time is over; 503 the server stops.
   */
  async update<T>(threadId: string, change: BoundedWork<T>): Promise<T> {
    const made = await this.changes.make(threadId, change);
    this.streams.feeds.changed(threadId);
    return made;
  }

  /** Stores a change of a thread's state; inside `update`. */
  stateChanged(threadId: string, change: StateChange): void {
    this.#ledger.stateChanged(threadId, change);
  }

  /** Queues what had not ended when the server stopped; at start, before requests come in. */
  recover(): Recovery {
    this.#options.idempotency.load();
    const { logs } = this.streams;
    logs.load();
    const found = recover(
      { ...this.#options, ledger: this.#ledger },
      (record) => void this.#add(record, false, false),
      (record) => {
        this.#options.onFailure(record, record.error!, undefined);
        logs.givenUp(record);
      },
    );
    logs.settle((runId) => this.#active.has(runId));
    return found;
  }

  /**
   * Stops the engine: runs may finish until `graceMs` is over; those that reach the end of a superstep before are parked there.
   * @returns how many runs finished meanwhile, and how many go on at the next start; runs that are not stored are cut off.
   */
  async stop(graceMs: number): Promise<{ finished: number; parked: number }> {
    const swept = this.#options.idempotency.stop();
    const leave = (run: ActiveRun, end: RunEnd): void => this.#leave(run, end);
    const counts = await shutDown({ queue: this.#queue, changes: this.changes, active: this.#active, leave }, graceMs);
    this.streams.stop();
    await swept;
    return counts;
  }
}
