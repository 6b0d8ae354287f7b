// The run engine: creates runs, lets them run, ends them, and picks them up again after a crash. Every change of a run and of the
// thread that shows it is one storage batch, and nobody hears of a change before it is stored.
import { ApiError } from "../errors.ts";
import type { GraphVersion, LangGraphRuntime } from "../graphs/types.ts";
import { timestamp } from "../ids.ts";
import type { Assistants } from "../resources/assistants.ts";
import type { Json } from "../resources/json.ts";
import { hasEnded, runNotFound, type RunError, type RunRecord, type Runs, type RunStatus } from "../resources/runs.ts";
import { threadNotFound, type ThreadRecord, type Threads, type ThreadStatus } from "../resources/threads.ts";
import { CheckpointStore } from "../storage/checkpoints.ts";
import type { Codec } from "../storage/codec.ts";
import type { Database, Write } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import { memoryDatabase } from "../storage/memory-driver.ts";
import type { SaverFactory } from "../storage/saver.ts";
import { ActiveRun, type RunEnd } from "./active.ts";
import { EventLog, type LogReader, type ReadFrom } from "./events.ts";
import { execute, type ExecutionEnd } from "./executor.ts";
import { FinishedLogs } from "./finished-logs.ts";
import { RunQueue } from "./queue.ts";
import { newRun, refuseBusy, serverConfigurable, type RunRequest } from "./request.ts";
import { errorJson, interruptsOf, withInterrupts } from "./result.ts";
import { rollbackWrites } from "./rollback.ts";
import type { ThreadValues } from "./values.ts";

/** Executions of a run that died with the server, before it is given up. */
export const MAX_ATTEMPTS = 3;

/** The user's LangGraph, ready for use. */
export interface GraphKit {
  readonly runtime: LangGraphRuntime;
  readonly codec: Codec;
  readonly makeSaver: SaverFactory;
}

export interface EngineOptions {
  readonly db: Database;
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
  /** A graph raised an error; for the terminal. */
  readonly onFailure: (record: RunRecord, error: RunError, cause: unknown) => void;
}

/** What `recover` found. */
export interface Recovery {
  readonly pending: number;
  readonly resumed: number;
  readonly failed: number;
}

export class RunEngine {
  readonly #options: EngineOptions;
  readonly #active = new Map<string, ActiveRun>();
  readonly #queue: RunQueue;
  readonly #finished = new FinishedLogs();

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#queue = new RunQueue(options.jobs, (run) => void this.#run(run));
  }

  /** Number of runs that have not ended. */
  get unfinished(): number {
    return this.#active.size;
  }

  /**
   * Creates a run on a thread, or without one. It is stored, and started if it may start, when this returns.
   * @param caller what the caller does next: `stream` reads events from the first on, `wait` wants the result. A stateless run
   * that somebody waits for keeps its checkpoints in memory.
   * @throws ApiError 404 unknown thread, assistant or checkpoint; 409 when the thread is busy and the strategy is `reject`.
   */
  create(threadId: string | undefined, request: RunRequest, caller: "stream" | "wait" | "background"): ActiveRun {
    const { threads, runs, assistants, db, checkpoints } = this.#options;
    const assistant = assistants.forRun(request.assistant_id);
    const stateless = threadId === undefined;
    let thread = stateless ? undefined : threads.find(threadId);
    if (!stateless && thread === undefined && request.if_not_exists !== "create") throw threadNotFound(threadId);
    const checkpointId = (request.checkpoint?.["checkpoint_id"] ?? request.checkpoint_id) as string | undefined;
    if (threadId !== undefined && checkpointId !== undefined && checkpointId !== null) {
      const ns = (request.checkpoint?.["checkpoint_ns"] as string | undefined) ?? "";
      if (checkpoints.get(threadId, ns, checkpointId) === undefined)
        throw new ApiError(404, `Checkpoint ${checkpointId} not found`);
    }
    if (!stateless) this.#makeWay(threadId, request.multitask_strategy);
    // Rolling back an earlier run may have changed the thread.
    thread = (stateless ? undefined : threads.find(threadId)) ?? threads.draft(threadId, request.metadata ?? {});
    const startsNow = request.after_seconds === undefined && this.#queue.isFree(thread.thread_id);
    const ephemeral = stateless && caller !== "background" && request.on_completion === "delete";
    const record = newRun(request, assistant, thread, { stateless, ephemeral, startsNow });
    const busy: ThreadRecord = {
      ...thread,
      status: "busy",
      updated_at: timestamp(),
      metadata: { ...thread.metadata, graph_id: assistant.graph_id, assistant_id: assistant.assistant_id },
    };
    db.write([
      threads.writeOf(busy),
      runs.writeOf(record),
      { key: keys.queued(record.run.run_id), value: busy.thread_id },
    ]);
    threads.committed(busy);
    return this.#add(record, caller === "stream");
  }

  /** Applies the multitask strategy of a new run to those that are there. */
  #makeWay(threadId: string, strategy: RunRequest["multitask_strategy"]): void {
    const lane = this.#queue.lane(threadId);
    if (lane.length === 0 || strategy === "enqueue") return;
    if (strategy === "reject") refuseBusy();
    for (const run of lane.toReversed()) this.#stopRun(run, strategy);
  }

  #add(record: RunRecord, read = false): ActiveRun {
    const checkpoints = record.ephemeral ? new CheckpointStore(memoryDatabase(), true) : this.#options.checkpoints;
    const run = new ActiveRun(record, checkpoints);
    if (read) run.log.expectReader();
    this.#active.set(run.id, run);
    this.#queue.add(run);
    return run;
  }

  async #run(run: ActiveRun): Promise<void> {
    const { runs, db } = this.#options;
    if (run.record.run.status !== "running") {
      this.#update(run, "running");
      db.write([runs.writeOf(run.record)]);
    }
    run.log.push("metadata", JSON.stringify({ run_id: run.id, attempt: run.record.attempt }));
    let end: ExecutionEnd;
    try {
      const [version, kit] = await Promise.all([this.#options.graph(run.record.graphId), this.#options.kit()]);
      end = await execute({
        record: run.record,
        version,
        ...kit,
        checkpoints: run.checkpoints,
        store: this.#options.store,
        sink: run.log,
        signal: run.controller.signal,
        metadata: this.#metadata(run, kit),
        configurable: serverConfigurable(run.record),
        onDrain: (drain) => {
          run.drain = drain;
        },
      });
    } catch (error) {
      // The graph could not be loaded.
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      end = { kind: "failed", error: { error: name, message }, cause: error };
    }
    this.#end(run, end);
  }

  #metadata({ record }: ActiveRun, kit: GraphKit): Json {
    return {
      ...record.run.metadata,
      run_id: record.run.run_id,
      thread_id: record.run.thread_id,
      run_attempt: record.attempt,
      langgraph_version: kit.runtime.version,
      langgraph_plan: "developer",
      langgraph_host: "self-hosted",
      langgraph_api_url: this.#options.apiUrl(),
    };
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
    if (this.#active.get(run.id) !== run) return;
    if (end.kind === "drained" || (end.kind === "aborted" && run.stopReason === "park")) return this.#park(run);
    if (end.kind === "failed") {
      run.log.push("error", JSON.stringify(end.error));
      this.#options.onFailure(run.record, end.error, end.cause);
    }
    const latest = run.checkpoints.get(run.threadId, "");
    const stored = latest === undefined ? undefined : () => run.checkpoints.valuesJson(latest);
    let result: RunEnd;
    if (end.kind === "failed") result = { status: "error", json: errorJson(end.error) };
    else if (end.kind === "done") {
      result = { status: "success", json: withInterrupts(end.valuesJson ?? stored?.() ?? "{}", end.interrupts) };
    } else result = { status: "interrupted", json: stored?.() ?? "{}" };
    this.#update(run, result.status, end.kind === "failed" ? end.error : undefined);

    const unfinished = end.kind === "aborted" && latest?.record.d === run.id;
    const stopped = (end.kind === "done" && end.interrupts !== undefined) || unfinished;
    this.#store(run, end.kind === "failed" ? "error" : stopped ? "interrupted" : "idle");
    this.#leave(run, result);
  }

  /** One batch: the run's end, and the thread as it is now; or nothing of both, for a run that leaves nothing. */
  #store(run: ActiveRun, status: ThreadStatus): void {
    const { db, runs, threads, checkpoints } = this.#options;
    if (run.record.deleteAfter) {
      db.write(this.#deletion(run));
      threads.removed(run.threadId);
      if (!run.record.ephemeral) checkpoints.forget(run.threadId);
      return;
    }
    const writes: Write[] = [runs.writeOf(run.record), { key: keys.queued(run.id), value: undefined }];
    const thread = threads.find(run.threadId);
    if (thread !== undefined) {
      const now = timestamp();
      const { error: _error, ...head } = thread;
      const after: ThreadRecord = {
        ...head,
        status: this.#queue.lane(run.threadId).length > 1 ? "busy" : status,
        updated_at: now,
        state_updated_at: now,
        interrupts: status === "interrupted" ? interruptsOf(checkpoints, run.threadId) : {},
        ...(run.record.error === undefined ? {} : { error: { ...run.record.error } }),
      };
      writes.push(threads.writeOf(after));
      db.write(writes);
      threads.committed(after);
    } else db.write(writes);
  }

  #deletion(run: ActiveRun): Write[] {
    const { runs, checkpoints } = this.#options;
    const head = [...runs.deletion(run.threadId, run.id), { key: keys.thread(run.threadId), value: undefined }];
    return run.record.ephemeral ? head : [...head, ...checkpoints.deletion(run.threadId)];
  }

  #leave(run: ActiveRun, end: RunEnd): void {
    this.#active.delete(run.id);
    run.log.close();
    if (run.log.resumable) this.#finished.keep(run.threadId, run.id, run.log);
    run.resolveEnd(end);
    this.#queue.remove(run);
  }

  /** Leaves a run to the next start of the server: pending, from its last checkpoint, in the same attempt. */
  #park(run: ActiveRun): void {
    const { runs, db } = this.#options;
    this.#update(run, "pending");
    db.write([runs.writeOf(run.record)]);
    this.#leave(run, {
      status: "pending",
      json: errorJson({ error: "ServerStopped", message: "The server stopped; the run goes on when it starts again." }),
    });
  }

  /** Stops a run that has not ended, whether it runs or waits. */
  #stopRun(run: ActiveRun, reason: "interrupt" | "rollback"): void {
    if (reason === "rollback") {
      // Its records go at once; whatever the graph still does has nowhere to go.
      run.stop(reason);
      this.#rollback(run);
      this.#leave(run, {
        status: "interrupted",
        json: withInterrupts(this.#options.values.json(run.threadId), undefined),
      });
    } else if (run.started) run.stop(reason);
    else this.#end(run, { kind: "aborted" });
  }

  #rollback(run: ActiveRun): void {
    const { db, runs, threads, checkpoints } = this.#options;
    if (run.record.stateless) {
      db.write(this.#deletion(run));
      threads.removed(run.threadId);
      checkpoints.forget(run.threadId);
      return;
    }
    const writes = [...runs.deletion(run.threadId, run.id), ...rollbackWrites(checkpoints, run.threadId, run.id)];
    const thread = threads.get(run.threadId);
    const now = timestamp();
    const interrupts = interruptsOf(checkpoints, run.threadId, run.id);
    const waiting = this.#queue.lane(run.threadId).length > 1;
    const after: ThreadRecord = {
      ...thread,
      status: waiting ? "busy" : Object.keys(interrupts).length > 0 ? "interrupted" : "idle",
      interrupts,
      updated_at: now,
      state_updated_at: now,
    };
    db.write([...writes, threads.writeOf(after)]);
    threads.committed(after);
    checkpoints.forget(run.threadId);
  }

  /** The record of a run. @throws ApiError 404 */
  record(threadId: string, runId: string): RunRecord {
    const active = this.#active.get(runId);
    if (active !== undefined && active.threadId === threadId) return active.record;
    return this.#options.runs.get(threadId, runId);
  }

  /** A stateless run that has not ended, or whose log is kept. */
  threadOf(runId: string): string {
    const threadId = this.#active.get(runId)?.threadId ?? this.#finished.threadOf(runId);
    if (threadId === undefined) throw runNotFound();
    return threadId;
  }

  /** Whether anything runs or waits on a thread. */
  isBusy(threadId: string): boolean {
    return this.#queue.lane(threadId).length > 0;
  }

  /** How a run ends, or ended. @throws ApiError 404 */
  async join(threadId: string, runId: string): Promise<RunEnd> {
    const active = this.#active.get(runId);
    if (active !== undefined && active.threadId === threadId) return active.ended;
    const { run, error } = this.#options.runs.get(threadId, runId);
    if (error !== undefined) return { status: run.status, json: errorJson(error) };
    const thread = this.#options.threads.find(threadId);
    const waiting = Object.values(thread?.interrupts ?? {}).flat();
    const interrupts = waiting.length > 0 ? waiting.map((interrupt) => JSON.stringify(interrupt)) : undefined;
    return { status: run.status, json: withInterrupts(this.#options.values.json(threadId), interrupts) };
  }

  /** A reader of a run's events. @throws ApiError 404 */
  read(threadId: string, runId: string, from: ReadFrom, modes?: ReadonlySet<string>): LogReader {
    const active = this.#active.get(runId);
    if (active !== undefined && active.threadId === threadId) return active.log.reader(from, modes);
    const kept = this.#finished.find(threadId, runId);
    if (kept !== undefined) return kept.reader(from, modes);
    this.#options.runs.get(threadId, runId);
    const nothing = new EventLog(false);
    nothing.close();
    return nothing.reader("now");
  }

  /** The run that has not ended with this id, if there is one. */
  active(runId: string): ActiveRun | undefined {
    return this.#active.get(runId);
  }

  /**
   * Stops a run.
   * @returns a promise of its being stopped. @throws ApiError 404 unknown; 409 when it has ended.
   */
  cancel(threadId: string, runId: string, action: "interrupt" | "rollback"): Promise<void> {
    const { run } = this.record(threadId, runId);
    const active = this.#active.get(runId);
    if (active === undefined || hasEnded(run.status)) {
      throw new ApiError(409, `Run ${runId} has ended with status "${run.status}" and cannot be cancelled`);
    }
    const ended = active.ended.then(() => undefined);
    this.#stopRun(active, action);
    return ended;
  }

  /** Deletes a run's record; one that has not ended is stopped first. @throws ApiError 404 */
  delete(threadId: string, runId: string): void {
    this.record(threadId, runId);
    const active = this.#active.get(runId);
    if (active !== undefined) this.#stopRun(active, "rollback");
    else this.#options.db.write(this.#options.runs.deletion(threadId, runId));
    this.#finished.drop(runId);
  }

  /** Deletes a thread with its runs and checkpoints, in one batch; runs that have not ended are stopped. @throws ApiError 404 */
  deleteThread(threadId: string): void {
    const { db, runs, threads, checkpoints } = this.#options;
    threads.get(threadId);
    const lane = this.#queue.lane(threadId).toReversed();
    db.write([
      { key: keys.thread(threadId), value: undefined },
      ...runs.deletionOf(threadId),
      ...checkpoints.deletion(threadId),
    ]);
    threads.removed(threadId);
    for (const run of lane) {
      run.stop("rollback");
      this.#leave(run, { status: "interrupted", json: "{}" });
    }
    checkpoints.forget(threadId);
    this.#finished.dropThread(threadId);
  }

  /** Queues what had not ended when the server stopped; at start, before requests come in. */
  recover(): Recovery {
    const { db, runs, threads } = this.#options;
    const found = { pending: 0, resumed: 0, failed: 0 };
    for (const { record, runId, threadId } of runs.unfinished()) {
      if (record === undefined || threads.find(threadId) === undefined) {
        db.write([{ key: keys.queued(runId), value: undefined }]);
        continue;
      }
      const wasRunning = record.run.status === "running";
      const next: RunRecord = {
        ...record,
        run: { ...record.run, status: "pending" },
        attempt: record.attempt + (wasRunning ? 1 : 0),
      };
      if (next.attempt > MAX_ATTEMPTS) {
        found.failed++;
        this.#giveUp(record);
        continue;
      }
      if (wasRunning) {
        found.resumed++;
        db.write([runs.writeOf(next)]);
      } else found.pending++;
      this.#add(next);
    }
    return found;
  }

  /** Ends a run that took the server down with it every time. */
  #giveUp(record: RunRecord): void {
    const message = `The server stopped in the middle of this run ${MAX_ATTEMPTS} times; it is not tried again.`;
    const run = new ActiveRun(record, this.#options.checkpoints);
    const error = { error: "RunAttemptsExceeded", message };
    this.#update(run, "error", error);
    this.#store(run, "error");
    this.#options.onFailure(run.record, error, undefined);
  }

  /**
   * Stops the engine: runs may finish until `graceMs` is over; those that reach the end of a superstep before are parked there.
   * @returns how many runs finished meanwhile, and how many go on at the next start.
   */
  async stop(graceMs: number): Promise<{ finished: number; parked: number }> {
    this.#queue.stop();
    const running = [...this.#active.values()].filter((run) => run.started);
    for (const run of running) run.drain?.();
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    const ends = Promise.all(running.map((run) => run.ended));
    await Promise.race([ends, grace]);
    clearTimeout(timer);
    for (const run of running) if (this.#active.has(run.id)) run.stop("park");
    const all = await ends;
    const waiting = [...this.#active.values()];
    for (const run of waiting) this.#leave(run, { status: "pending", json: "{}" });
    const finished = all.filter(({ status }) => status !== "pending").length;
    return { finished, parked: all.length - finished + waiting.length };
  }
}
