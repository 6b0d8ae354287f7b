// From a request to a new run: which assistant and thread it is for, whether the thread is free for it, and how it will be kept.
import { ApiError } from "../errors.ts";
import type { Clock } from "../ids.ts";
import type { Assistants } from "../resources/assistants.ts";
import type { RunRecord } from "../resources/runs.ts";
import { threadNotFound, type ThreadRecord, type Threads } from "../resources/threads.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import type { Write } from "../storage/database.ts";
import type { ActiveRun } from "./active.ts";
import type { Caller } from "./engine-options.ts";
import type { RunQueue } from "./queue.ts";
import { checkpointOf, newRun, refuseBusy, type RunRequest, type RunRights } from "./request.ts";
import { beforeRun, graphBefore } from "./thread-before.ts";

export interface MakerOptions {
  readonly threads: Threads;
  readonly assistants: Assistants;
  readonly checkpoints: CheckpointStore;
  readonly queue: RunQueue;
  readonly clock: Clock;
  /** Whether graphs have been loaded, so that a run that is started runs at once. */
  readonly loaded: () => boolean;
  /** Stops runs in favour of a new one. */
  readonly supersede: (runs: readonly ActiveRun[], action: "interrupt" | "rollback") => void;
}

/** A run that is not stored yet, and its thread as it is without it. */
export interface MadeRun {
  readonly record: RunRecord;
  readonly thread: ThreadRecord;
  /** What is to be stored with it. */
  readonly alongside: readonly Write[];
}

export class RunMaker {
  readonly #options: MakerOptions;

  constructor(options: MakerOptions) {
    this.#options = options;
  }

  /**
   * Makes a run, and stops those that it supersedes.
   * @param threadId undefined for a run without a thread, which gets a hidden one.
   * @throws ApiError 404 unknown thread, assistant or checkpoint; 409 when the thread is busy and the strategy is `reject`.
   */
  make(threadId: string | undefined, request: RunRequest, caller: Caller | "batch"): MadeRun {
    const { threads, assistants, queue, clock, loaded } = this.#options;
    const { mayUse } = request;
    const assistant = assistants.forRun(request.assistant_id, mayUse?.assistant);
    if (threadId !== undefined) {
      if (request.if_not_exists !== "create") threads.get(threadId);
      if (mayUse !== undefined) this.#checkThread(threadId, mayUse);
      this.#checkCheckpoint(threadId, request);
      this.#makeWay(threadId, request.multitask_strategy);
      // A run that was rolled back took its checkpoints with it.
      this.#checkCheckpoint(threadId, request);
    }
    const existing = threadId === undefined ? undefined : threads.find(threadId);
    const isNew = threadId !== undefined && mayUse !== undefined;
    const thread = existing ?? threads.draft(threadId, isNew ? mayUse.newThread : request.metadata);
    const [ahead] = queue.lane(thread.thread_id);
    const record = newRun(request, assistant, thread, {
      stateless: threadId === undefined,
      before: ahead === undefined ? beforeRun(thread.status) : ahead.record.before,
      graphBefore: threadId === undefined ? undefined : graphBefore(thread.metadata, assistant),
      now: clock.now(),
      // Not all of a batch may find a place.
      startsNow:
        caller !== "batch" && loaded() && request.after_seconds === undefined && queue.isFree(thread.thread_id),
      ephemeral: threadId === undefined && (caller === "stream" || caller === "wait") && leavesNothing(request),
    });
    return { record, thread, alongside: request.alongside?.(record) ?? [] };
  }

  /** A thread that the caller must not see, or must not make, is one that does not exist. */
  #checkThread(threadId: string, { thread: allows, newThread }: RunRights): void {
    const thread = this.#options.threads.find(threadId);
    const isAllowed = thread === undefined ? newThread !== undefined : allows === undefined || allows(thread.metadata);
    if (!isAllowed) throw threadNotFound(threadId);
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
    const lane = this.#options.queue.lane(threadId);
    if (lane.length === 0 || strategy === "enqueue") return;
    if (strategy === "reject") refuseBusy();
    for (const run of lane) run.superseded = true;
    this.#options.supersede(lane.toReversed(), strategy);
  }
}

/** Whether nothing of a run without a thread is of use after its end. */
function leavesNothing(request: RunRequest): boolean {
  return (
    request.on_completion === "delete" &&
    request.once === undefined &&
    request.webhook === undefined &&
    request.alongside === undefined &&
    !request.stream_resumable
  );
}
