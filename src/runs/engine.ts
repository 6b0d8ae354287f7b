// The run engine: creates runs, lets them run, stops them, and tells everybody who waits how they ended. What is stored of that is
// in ledger.ts, who may run when in queue.ts, one execution of a graph in executor.ts.
import { ApiError } from "../errors.ts";
import type { GraphVersion, LangGraphRuntime } from "../graphs/types.ts";
import { timestamp } from "../ids.ts";
import type { Assistants } from "../resources/assistants.ts";
import { hasEnded, type RunError, type RunRecord, type Runs, type RunStatus } from "../resources/runs.ts";
import { threadNotFound, type Threads } from "../resources/threads.ts";
import { buffered, type BufferedDatabase } from "../storage/buffered.ts";
import { CheckpointStore } from "../storage/checkpoints.ts";
import type { Codec } from "../storage/codec.ts";
import { memoryDatabase } from "../storage/memory-driver.ts";
import type { SaverFactory } from "../storage/saver.ts";
import { ActiveRun, type RunEnd } from "./active.ts";
import { describeError, execute, type ExecutionEnd } from "./executor.ts";
import { FinishedLogs } from "./finished-logs.ts";
import { RunLedger } from "./ledger.ts";
import { RunQueue } from "./queue.ts";
import { recover, type Recovery } from "./recovery.ts";
import { checkpointOf, newRun, refuseBusy, runMetadata, serverConfigurable, type RunRequest } from "./request.ts";
import { errorJson, withInterrupts } from "./result.ts";
import { RunStreams } from "./streams.ts";
import type { ThreadValues } from "./values.ts";

/** The user's LangGraph, ready for use. */
export interface GraphKit {
  readonly runtime: LangGraphRuntime;
  readonly codec: Codec;
  readonly makeSaver: SaverFactory;
}

export interface EngineOptions {
  readonly db: BufferedDatabase;
  readonly threads: Threads;
  readonly runs: Runs;
  readonly assistants: Assistants;
  readonly checkpoints: CheckpointStore;
  readonly values: ThreadValues;
  /** The long-term store, handed to the nodes. */
  readonly store: unknown;
  readonly graph: (id: string) => Promise<GraphVersion>;
  readonly kit: () => Promise<GraphKit>;
  /** How many runs may run at once. */
  readonly jobs: number;
  /** Base URL of this server, for the metadata of runs. */
  readonly apiUrl: () => string;
  /** A run failed; for the terminal. */
  readonly onFailure: (record: RunRecord, error: RunError, cause: unknown) => void;
}

/** What the creator of a run does next: reads its events from the first on, waits for its result, or neither. */
export type Caller = "stream" | "wait" | "background";

const PARKED: RunEnd = {
  status: "pending",
  json: errorJson({ error: "ServerStopped", message: "The server stopped; the run goes on when it starts again." }),
};
/** For runs of which nothing is stored. */
const CUT_OFF: RunEnd = {
  status: "error",
  json: errorJson({ error: "ServerStopped", message: "The server stopped before the run had ended." }),
};

export class RunEngine {
  /** Events and results of runs. */
  readonly streams: RunStreams;
  readonly #options: EngineOptions;
  readonly #active = new Map<string, ActiveRun>();
  readonly #queue: RunQueue;
  readonly #ledger: RunLedger;
  readonly #finished = new FinishedLogs();
  /** Changes from outside that are under way, by thread. */
  readonly #updates = new Map<string, Promise<undefined>>();
  /** Graphs have been loaded: a run that is started runs at once. Before, a crash must not count as an attempt of it. */
  #loaded = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#queue = new RunQueue(options.jobs, (run) => void this.#run(run));
    this.#ledger = new RunLedger({
      ...options,
      hasOthers: (threadId, runId) => this.#queue.lane(threadId).some(({ id }) => id !== runId),
    });
    this.streams = new RunStreams({ ...options, finished: this.#finished, active: (runId) => this.#active.get(runId) });
  }

  /**
   * Creates a run on a thread, or without one. It is stored, and started if it may start, when this returns. A stateless run
   * that somebody waits for and that is deleted at its end is not stored at all.
   * @throws ApiError 404 unknown thread, assistant or checkpoint; 409 when the thread is busy and the strategy is `reject`.
   */
  create(threadId: string | undefined, request: RunRequest, caller: Caller): ActiveRun {
    const { threads, assistants } = this.#options;
    const assistant = assistants.forRun(request.assistant_id);
    if (threadId !== undefined) {
      if (request.if_not_exists !== "create") threads.get(threadId);
      this.#checkCheckpoint(threadId, request);
      this.#makeWay(threadId, request.multitask_strategy);
      // A run that was rolled back took its checkpoints with it.
      this.#checkCheckpoint(threadId, request);
    }
    const existing = threadId === undefined ? undefined : threads.find(threadId);
    const thread = existing ?? threads.draft(threadId, request.metadata);
    const stateless = threadId === undefined;
    const record = newRun(request, assistant, thread, {
      stateless,
      startsNow: this.#loaded && request.after_seconds === undefined && this.#queue.isFree(thread.thread_id),
      ephemeral: stateless && caller !== "background" && request.on_completion === "delete",
    });
    this.#ledger.created(record, thread, caller === "wait");
    return this.#add(record, caller === "stream");
  }

  #checkCheckpoint(threadId: string, request: RunRequest): void {
    const { checkpoint_id: id, checkpoint_ns: ns = "" } = (checkpointOf(request) ?? {}) as Record<
      string,
      string | undefined
    >;
    if (id === undefined || this.#options.checkpoints.get(threadId, ns, id) !== undefined) return;
    throw new ApiError(404, `Checkpoint ${id} not found`);
  }

  /** Applies the multitask strategy of a new run to those that are there. */
  #makeWay(threadId: string, strategy: RunRequest["multitask_strategy"]): void {
    const lane = this.#queue.lane(threadId);
    if (lane.length === 0 || strategy === "enqueue") return;
    if (strategy === "reject") refuseBusy();
    for (const run of lane.toReversed()) this.#stopRun(run, strategy);
  }

  #add(record: RunRecord, read = false): ActiveRun {
    const { checkpoints } = this.#options;
    const run = new ActiveRun(
      record,
      record.ephemeral ? new CheckpointStore(buffered(memoryDatabase()), true) : checkpoints,
    );
    if (read) run.log.expectReader();
    this.#active.set(run.id, run);
    this.#queue.add(run);
    return run;
  }

  async #run(run: ActiveRun): Promise<void> {
    run.log.push("metadata", JSON.stringify({ run_id: run.id, attempt: run.record.attempt }));
    let end: ExecutionEnd;
    try {
      const loading = Promise.all([this.#options.graph(run.record.graphId), this.#options.kit()]);
      // A run that is stopped meanwhile may be deleted already, and must not wait for a graph that never loads.
      const loaded = await Promise.race([run.stopped, loading]);
      if (loaded === undefined || run.controller.signal.aborted) return this.#end(run, { kind: "aborted" });
      const [version, kit] = loaded;
      this.#loaded = true;
      if (run.record.run.status !== "running") {
        this.#update(run, "running");
        this.#ledger.changed(run.record);
      }
      end = await execute({
        record: run.record,
        version,
        ...kit,
        checkpoints: run.checkpoints,
        store: this.#options.store,
        sink: run.log,
        signal: run.controller.signal,
        metadata: runMetadata(run.record, kit.runtime.version, this.#options.apiUrl()),
        configurable: serverConfigurable(run.record),
        onDrain: (drain) => {
          run.drain = drain;
        },
        onValues: (values) => {
          run.valuesNow = values;
        },
      });
    } catch (error) {
      // The graph could not be loaded.
      end = { kind: "failed", error: describeError(error), cause: error };
    }
    this.#end(run, end);
  }

  #update(run: ActiveRun, status: RunStatus, error?: RunError): void {
    const { record } = run;
    run.record = {
      ...record,
      run: { ...record.run, status, updated_at: timestamp() },
      ...(error === undefined ? {} : { error }),
    };
  }

  /** Stores how a run ended, then tells everybody who waits for it, then lets the next one run. */
  #end(run: ActiveRun, end: ExecutionEnd): void {
    // A run that was rolled back or deleted has left already.
    if (this.#active.get(run.id) !== run) return;
    let result: RunEnd | undefined;
    try {
      if (end.kind === "failed") this.#options.onFailure(run.record, end.error, end.cause);
      const parked = end.kind === "drained" || (end.kind === "aborted" && run.stopReason === "park");
      result = parked ? this.#park(run) : this.#settle(run, end);
    } catch (error) {
      // Storage fails: whoever waits must learn it, and the next start finds the run as it was stored last.
      result = { status: "error", json: errorJson(describeError(error)) };
    } finally {
      if (end.kind === "failed") run.log.push("error", JSON.stringify(end.error));
      this.#leave(run, result ?? CUT_OFF);
    }
  }

  #settle(run: ActiveRun, end: ExecutionEnd): RunEnd {
    const latest = run.checkpoints.get(run.threadId, "");
    const opaque = latest !== undefined && run.checkpoints.context(run.threadId, latest.record).opaque === true;
    const values = end.kind === "done" ? end.valuesJson : opaque ? run.valuesNow?.() : undefined;
    if (values !== undefined && (opaque || (end.kind === "done" && end.interrupts !== undefined))) {
      run.checkpoints.showValues(run.threadId, values);
    }
    if (end.kind === "failed") {
      this.#update(run, "error", end.error);
      this.#ledger.ended(run.record, "error");
      return { status: "error", json: errorJson(end.error) };
    }
    const json = values ?? run.checkpoints.newestValuesJson(run.threadId) ?? "{}";
    if (end.kind === "done") {
      this.#update(run, "success");
      this.#ledger.ended(run.record, end.interrupts === undefined ? "idle" : "interrupted");
      return { status: "success", json: withInterrupts(json, end.interrupts) };
    }
    this.#update(run, "interrupted");
    const status = latest?.record.d === run.id ? "interrupted" : this.#ledger.statusWithout(run.record);
    this.#ledger.ended(run.record, status);
    return { status: "interrupted", json: withInterrupts(json, undefined) };
  }

  #leave(run: ActiveRun, end: RunEnd): void {
    this.#active.delete(run.id);
    const { attempt, deleteAfter, ephemeral } = run.record;
    const vanishes = deleteAfter === true && ephemeral !== true;
    this.#finished.keep(run.id, { threadId: run.threadId, attempt, log: run.log, end: vanishes ? end : undefined });
    run.log.close();
    run.resolveEnd(end);
    run.checkpoints.rest(run.threadId);
    this.#queue.remove(run);
  }

  /** Leaves a run to the next start of the server: pending, from its last checkpoint, in the same attempt. */
  #park(run: ActiveRun): RunEnd {
    this.#update(run, "pending");
    this.#ledger.changed(run.record);
    return run.record.ephemeral ? CUT_OFF : PARKED;
  }

  /** Stops a run that has not ended, whether it runs or waits. */
  #stopRun(run: ActiveRun, reason: "interrupt" | "rollback"): void {
    if (reason === "rollback") {
      // Its records go at once; whatever the graph still does has nowhere to go.
      run.stop(reason);
      this.#ledger.rolledBack(run.record);
      const json = withInterrupts(this.#options.values.json(run.threadId), undefined);
      this.#leave(run, { status: "interrupted", json });
    } else if (run.started) run.stop(reason);
    else this.#end(run, { kind: "aborted" });
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

  /** Whether anything runs or waits on a thread. */
  isBusy(threadId: string): boolean {
    return this.#queue.lane(threadId).length > 0;
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
    this.#stopRun(active, action);
    return active.ended;
  }

  /** Deletes a run's record; one that has not ended is rolled back. @throws ApiError 404 */
  delete(threadId: string, runId: string): void {
    this.record(threadId, runId);
    const active = this.#active.get(runId);
    if (active === undefined) this.#ledger.deleted(threadId, runId);
    else this.#stopRun(active, "rollback");
    this.#finished.drop(runId);
  }

  /** Deletes a thread with its runs and checkpoints, in one batch; runs that have not ended are stopped. @throws ApiError 404 */
  async deleteThread(threadId: string): Promise<void> {
    await this.#updates.get(threadId);
    if (this.#options.threads.find(threadId) === undefined) throw threadNotFound(threadId);
    const lane = this.#queue.lane(threadId).toReversed();
    for (const run of lane) run.stop("rollback");
    this.#ledger.threadDeleted(threadId);
    for (const run of lane) this.#leave(run, { status: "interrupted", json: "{}" });
    this.#finished.dropThread(threadId);
  }

  /**
   * Changes a thread from outside a run: one change at a time, none while a run is there, and no run starts meanwhile.
   * @throws ApiError 404 unknown thread; 409 busy.
   */
  async update<T>(threadId: string, change: () => Promise<T>): Promise<T> {
    const before = this.#updates.get(threadId);
    const mine = (async (): Promise<T> => {
      await before;
      this.#options.threads.get(threadId);
      if (this.isBusy(threadId)) throw new ApiError(409, "Thread is busy");
      const release = this.#queue.hold(threadId);
      try {
        return await change();
      } finally {
        release();
      }
    })();
    const done = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#updates.set(threadId, done);
    void done.then(() => this.#updates.get(threadId) === done && this.#updates.delete(threadId));
    return mine;
  }

  /** Queues what had not ended when the server stopped; at start, before requests come in. */
  recover(): Recovery {
    return recover(
      { ...this.#options, ledger: this.#ledger },
      (record) => void this.#add(record),
      (record) => this.#options.onFailure(record, record.error!, undefined),
    );
  }

  /**
   * Stops the engine: runs may finish until `graceMs` is over; those that reach the end of a superstep before are parked there.
   * @returns how many runs finished meanwhile, and how many go on at the next start; runs that are not stored are cut off.
   */
  async stop(graceMs: number): Promise<{ finished: number; parked: number }> {
    this.#queue.stop();
    const runs = [...this.#active.values()];
    const running = runs.filter((run) => run.started);
    // One that is not stored cannot go on later, so it is left to finish.
    for (const run of running) if (run.record.ephemeral !== true) run.drain?.();
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([Promise.all(running.map((run) => run.ended)), grace]);
    clearTimeout(timer);
    for (const run of running) if (this.#active.has(run.id)) run.stop("park");
    for (const run of this.#active.values())
      if (!run.started) this.#leave(run, run.record.ephemeral ? CUT_OFF : PARKED);
    const all = await Promise.all(runs.map((run) => run.ended));
    const count = (end: (end: RunEnd) => boolean): number => all.filter(end).length;
    return { finished: count((end) => end !== PARKED && end !== CUT_OFF), parked: count((end) => end === PARKED) };
  }
}
