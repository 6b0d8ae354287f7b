// The operations of A2A over tasks, in no generation's words: send, stream, get, list, cancel, subscribe. No transport, no JSON.
import { RPC, RpcFailure } from "../json-rpc.ts";
import { uuid4 } from "../ids.ts";
import type { Assistant } from "../resources/assistant.ts";
import type { Assistants } from "../resources/assistants.ts";
import type { Deliveries } from "../resources/deliveries.ts";
import type { Runs } from "../resources/runs.ts";
import type { Threads } from "../resources/threads.ts";
import type { RunEngine } from "../runs/engine.ts";
import type { RunFollower } from "../runs/follower.ts";
import type { ThreadValues } from "../runs/values.ts";
import type { BufferedDatabase } from "../storage/buffered.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import type { Write } from "../storage/database.ts";
import { TaskBegin } from "./begin.ts";
import type { EventChannel } from "./channel.ts";
import { A2AFailure, taskNotFound } from "./errors.ts";
import type { TaskFeed } from "./feed.ts";
import { TaskFeeds } from "./feeds.ts";
import { checkModes, modesOf, type InputShape } from "./input.ts";
import { listTasks, type TaskPage, type TaskQuery } from "./list.ts";
import { isTerminal, type Addressed, type SendRequest, type Task } from "./model.ts";
import { TaskPlans, type Prepared } from "./plan.ts";
import { TaskPushes } from "./pushes.ts";
import { admitToTask } from "./rights.ts";
import { TaskEnds } from "./settle.ts";
import { TaskStates, type TaskNow } from "./states.ts";
import { Tasks, type TaskRecord } from "./tasks.ts";
import { TaskViews } from "./views.ts";

export interface A2AOptions {
  readonly db: BufferedDatabase;
  readonly threads: Threads;
  readonly assistants: Assistants;
  readonly runs: Runs;
  readonly values: ThreadValues;
  readonly checkpoints: CheckpointStore;
  readonly deliveries: Deliveries;
  readonly engine: () => RunEngine;
  /** What the input of an assistant's graph has. */
  readonly shapeOf: (assistant: Assistant) => Promise<InputShape>;
  /** Whether notifications may be asked for. */
  readonly pushes: () => boolean;
  /** @throws ApiError when a notification must not be sent there. */
  readonly checkUrl: (url: string) => Promise<void>;
  /** The JSON of a notification in a generation's words. */
  readonly pushBody: (generation: string, task: Task) => string;
}

/** Which task, and how much of its history. */
export interface TaskQueryById {
  readonly id: string;
  /** Where it must belong to, if given. */
  readonly contextId?: string | undefined;
  readonly historyLength?: number | undefined;
}

export class A2AService {
  /** Follows the runs of tasks. */
  readonly follower: RunFollower;
  /** Where notifications of tasks go. */
  readonly pushes: TaskPushes;
  readonly #options: A2AOptions;
  readonly #tasks: Tasks;
  readonly #feeds: TaskFeeds;
  readonly #ends: TaskEnds;
  readonly #states: TaskStates;
  readonly #views: TaskViews;
  readonly #plans: TaskPlans;
  readonly #begin: TaskBegin;

  constructor(options: A2AOptions) {
    this.#options = options;
    this.#tasks = new Tasks(options.db);
    this.#feeds = new TaskFeeds((feed) => this.#runLeft(feed));
    const parts = { ...options, tasks: this.#tasks, feeds: this.#feeds };
    this.#ends = new TaskEnds(parts);
    this.#states = new TaskStates({ ...parts, ends: this.#ends });
    this.#views = new TaskViews({ ...parts, states: this.#states });
    this.#plans = new TaskPlans({ ...parts, states: this.#states });
    const made = { states: this.#states, views: this.#views, plans: this.#plans };
    this.#begin = new TaskBegin({ ...parts, ...made });
    this.pushes = new TaskPushes({ ...parts, find: (id, to) => this.#plans.find(id, to).task });
    this.follower = this.#ends.follower;
  }

  /** Sends a message; answers when the task stops, or at once. @throws RpcFailure */
  async send(send: SendRequest, to: Addressed): Promise<Task> {
    const prepared = await this.#prepare(send, to);
    const task = await this.#begin.begin(prepared, send.blocking ? "wait" : "background");
    this.#follow(task);
    if (send.blocking) await this.#stopped(task.id);
    return this.#shown(task.id, send.historyLength);
  }

  /** Sends a message and follows the task. The channel's first event is the task. @throws RpcFailure */
  async stream(send: SendRequest, to: Addressed): Promise<EventChannel> {
    const prepared = await this.#prepare(send, to);
    const task = await this.#begin.begin(prepared, "stream");
    const feed = this.#feeds.open(task);
    const channel = feed.subscribe({
      type: "task",
      task: this.#views.view(task, task.status, { history: send.historyLength }),
    });
    this.#follow(task);
    // It may have ended already.
    if (this.#states.activeRuns(task).length === 0) this.#runLeft(feed);
    return channel;
  }

  /** @throws RpcFailure -32001, or -32602 when the context is another one. */
  async get({ id, contextId, historyLength }: TaskQueryById, to: Addressed): Promise<Task> {
    const { task, status } = await this.#admitted(id, to, "threads:read");
    if (contextId !== undefined && contextId.toLowerCase() !== task.contextId) {
      throw new RpcFailure(
        RPC.invalidParams,
        `Invalid params: task ${id} does not belong to the context ${contextId.slice(0, 100)}`,
      );
    }
    return this.#views.view(task, status, { history: historyLength });
  }

  /** Tasks of an agent, the last changed first. @throws RpcFailure -32602 for a page token that is none. */
  list(query: TaskQuery, to: Addressed): Promise<TaskPage> {
    const { threads } = this.#options;
    return listTasks({ tasks: this.#tasks, states: this.#states, views: this.#views, threads }, query, to);
  }

  /** Stops a task, and answers when it has stopped. @throws RpcFailure -32001; -32002 when it has ended. */
  async cancel({ id }: { readonly id: string }, to: Addressed): Promise<Task> {
    const { task, status } = await this.#admitted(id, to, "threads:update");
    const active = this.#states.activeRuns(task);
    if (!isTerminal(status.state) && active.length > 0) {
      // Those that wait first: they must not begin when the others stop.
      await Promise.all(
        active.toReversed().map((run) => this.#options.engine().cancel(run.threadId, run.id, "interrupt")),
      );
    } else if (status.state === "input-required") {
      const { writes, committed } = this.#ends.canceled(task);
      this.#options.db.write(writes);
      committed();
    } else throw notCancelable(id, status.state);
    const after = this.#shown(id, undefined);
    if (after.status.state !== "canceled") throw notCancelable(id, after.status.state);
    return after;
  }

  /**
   * Follows a task. The channel's first event is the task.
   * @param ended what becomes of one that has ended: it is told and the stream ends, or refused. @throws RpcFailure
   */
  async subscribe(id: string, ended: "tell" | "refuse", to: Addressed): Promise<EventChannel> {
    const { task, status } = await this.#admitted(id, to, "threads:read");
    const terminal = isTerminal(status.state);
    if (terminal && ended === "refuse") {
      const text = `Task ${id} has ended (${status.state}) and cannot be subscribed to`;
      throw new A2AFailure("UNSUPPORTED_OPERATION", text, { taskId: id });
    }
    const feed = this.#feeds.open(task);
    // First, so that all who come from now on hear the same.
    this.#follow(task);
    const now = this.#states.look(task) ?? status;
    const channel = feed.subscribe({ type: "task", task: this.#views.view(task, now) });
    if (terminal) feed.stopped({ ...task, artifacts: [] });
    return channel;
  }

  /** The changes that delete what belongs to a thread. */
  deletionOf(threadId: string): Write[] {
    return this.#tasks.deletionOf(threadId);
  }

  /** A thread was deleted. */
  threadDeleted(threadId: string): void {
    this.#tasks.threadDeleted(threadId);
    this.#feeds.threadDeleted(threadId);
  }

  async #prepare(send: SendRequest, to: Addressed): Promise<Prepared> {
    checkModes(send, modesOf(to.assistant.metadata));
    if (send.push !== undefined) await this.pushes.check(send.push);
    // What is wrong with the task is said before a graph is asked for anything.
    if (send.message.taskId !== undefined) this.#plans.find(send.message.taskId, to);
    const shape = await this.#options.shapeOf(to.assistant);
    return { send, ...to, shape, freshContext: uuid4(), unique: uuid4() };
  }

  /** A task and what it is now, if the caller may look at it or change it. */
  async #admitted(id: string, to: Addressed, event: "threads:read" | "threads:update"): Promise<TaskNow> {
    await admitToTask(this.#options.threads, to.access, event, this.#plans.find(id, to).task);
    return this.#plans.find(id, to);
  }

  #shown(id: string, history: number | undefined): Task {
    const now = this.#states.find(id);
    if (now === undefined) throw taskNotFound(id);
    return this.#views.view(now.task, now.status, { history });
  }

  /** Resolves when a task works no more: it has ended, waits for an answer, or is left to the next start of the server. */
  async #stopped(id: string): Promise<void> {
    for (;;) {
      const task = this.#tasks.find(id);
      const [run] = task === undefined ? [] : this.#states.activeRuns(task);
      if (run === undefined) return;
      await run.ended;
    }
  }

  /** Lets those who look at a task hear of the run that works on it now. */
  #follow(task: TaskRecord): void {
    const [run] = this.#states.activeRuns(task);
    if (run !== undefined) this.#feeds.find(task.id)?.follow(run);
  }

  /** A run has ended and its task has not stopped: another one follows, the server stops, or the run was taken back. */
  #runLeft(feed: TaskFeed): void {
    const now = this.#states.find(feed.id);
    if (now === undefined) return feed.end(taskNotFound(feed.id));
    const { task, status } = now;
    const [next] = this.#states.activeRuns(task);
    if (next !== undefined) return feed.follow(next);
    if (status.state === "submitted") return feed.end();
    feed.stopped({ ...task, status });
  }
}

function notCancelable(id: string, state: string): A2AFailure {
  return new A2AFailure("TASK_NOT_CANCELABLE", `Task ${id} cannot be canceled: it is ${state}`, { taskId: id });
}
