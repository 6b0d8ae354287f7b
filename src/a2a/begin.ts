// Lets a message do what was planned. Everything between looking at the task and storing it with its run happens in one go, so that no other
// message comes between; where auth handlers are asked, the task is looked at again behind them.
import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../errors.ts";
import type { Assistants } from "../resources/assistants.ts";
import type { RunRecord } from "../resources/runs.ts";
import type { Threads } from "../resources/threads.ts";
import type { ActiveRun } from "../runs/active.ts";
import { admitRun, type Admitted } from "../runs/admission.ts";
import type { RunEngine } from "../runs/engine.ts";
import { runBody, runRequest } from "../runs/run-body.ts";
import { A2AFailure, taskNotFound } from "./errors.ts";
import { parse } from "./generation.ts";
import type { Message, Part, TaskStatus } from "./model.ts";
import { invalid, MAX_RUNS, type Plan, type Prepared, type TaskPlans } from "./plan.ts";
import { seesContext } from "./rights.ts";
import type { TaskStates } from "./states.ts";
import type { Exchange, TaskRecord, Tasks } from "./tasks.ts";
import { now } from "./times.ts";
import type { TaskViews } from "./views.ts";

/** Answers that a task remembers. */
const MAX_EXCHANGES = 50;
/** How often the auth handlers are asked anew because what they were asked about has changed meanwhile. */
const MAX_TRIES = 3;

export interface BeginOptions {
  readonly tasks: Tasks;
  readonly plans: TaskPlans;
  readonly states: TaskStates;
  readonly views: TaskViews;
  readonly threads: Threads;
  readonly assistants: Assistants;
  readonly engine: () => RunEngine;
  /** @throws ApiError when a webhook must not be sent there. */
  readonly checkUrl: (url: string) => Promise<void>;
}

/** What its sender does next. */
export type Caller = "stream" | "wait" | "background";

type RunBody = Admitted["body"];

export class TaskBegin {
  readonly #options: BeginOptions;

  constructor(options: BeginOptions) {
    this.#options = options;
  }

  /** Begins what a message asks for. @throws RpcFailure; ApiError 403, or what an auth handler throws. */
  async begin(prepared: Prepared, caller: Caller): Promise<TaskRecord> {
    const { plans } = this.#options;
    const { access, hidden } = prepared;
    let plan = plans.plan(prepared);
    if (access === undefined)
      return this.#run(prepared, plan, { body: bodyOf(prepared, plan, caller), grants: { hidden } }, caller);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const body = bodyOf(prepared, plan, caller);
      const admitted = await admitRun(this.#options, access, plan.contextId, body, hidden);
      const { thread } = admitted.grants.mayUse ?? {};
      const { task } = plan.now ?? {};
      if (task !== undefined && !seesContext(this.#options.threads, thread, plan.contextId))
        throw taskNotFound(task.id);
      if (admitted.body.webhook !== undefined) await this.#options.checkUrl(admitted.body.webhook);
      const asked = plan;
      plan = plans.plan(prepared);
      if (isSame(asked, plan)) return this.#run(prepared, plan, admitted, caller);
    }
    const text = "The conversation goes on too fast for this message: send it again";
    throw new A2AFailure("UNSUPPORTED_OPERATION", text);
  }

  #run(prepared: Prepared, plan: Plan, { body, grants }: Admitted, caller: Caller): TaskRecord {
    const { tasks, engine } = this.#options;
    const before = plan.now?.task;
    let task: TaskRecord | undefined;
    let run: ActiveRun;
    try {
      run = engine().create(
        plan.contextId,
        {
          ...runRequest({ ...body, stream_mode: modeFor(caller) }),
          ...grants,
          task: before?.id ?? true,
          alongside: (record) => {
            task = this.#task(prepared, plan, record);
            return tasks.writesOf(task, before);
          },
        },
        caller,
      );
    } catch (error) {
      if (error instanceof ApiError) throw invalid(`Failed to create run: ${error.detail}`);
      throw error;
    }
    tasks.committed(task!);
    void this.#left(task!.id, run);
    return task!;
  }

  /** Looks at a task when a run of it is gone: of one that was taken back nobody else tells. */
  async #left(id: string, run: ActiveRun): Promise<void> {
    await run.ended;
    try {
      this.#options.states.find(id);
    } catch {
      // The storage fails; whoever looks next will find it.
    }
  }

  /** The task as it is with a new run. */
  #task({ assistant, owner, shape }: Prepared, plan: Plan, { run: { run_id, thread_id } }: RunRecord): TaskRecord {
    const { message } = plan;
    if (plan.now === undefined) {
      return {
        id: run_id,
        contextId: thread_id,
        assistantId: assistant.assistant_id,
        owner,
        status: { state: "submitted", timestamp: now() },
        runs: [run_id],
        artifacts: [],
        // A thread without messages does not tell what was said.
        exchanges: shape.messages ? [] : [exchange(0, { ...message, contextId: thread_id, taskId: run_id })],
        push: plan.push.map((config) => ({ ...config, id: config.id || run_id })),
      };
    }
    const { task, status } = plan.now;
    const joined = { ...task, push: plan.push, runs: this.#withRun(task, run_id) };
    return plan.kind === "join" ? joined : this.#answered(joined, status, message, run_id);
  }

  #answered(task: TaskRecord, before: TaskStatus, message: Message, turn: string): TaskRecord {
    const { id, contextId } = task;
    const said = [...(before.message === undefined ? [] : [before.message]), { ...message, contextId, taskId: id }];
    const at = this.#options.views.countMessages(contextId);
    return {
      ...task,
      status: { state: "submitted", timestamp: now() },
      before,
      turn,
      exchanges: [...task.exchanges, exchange(at, ...said)].slice(-MAX_EXCHANGES),
    };
  }

  /** The runs of a task with another one. Those that have ended make place for it. */
  #withRun(task: TaskRecord, runId: string): readonly string[] {
    if (task.runs.length < MAX_RUNS) return [...task.runs, runId];
    const active = new Set(this.#options.states.activeRuns(task).map(({ id }) => id));
    const oldest = task.runs.findIndex((id) => !active.has(id));
    return [...task.runs.toSpliced(oldest, 1), runId];
  }
}

/** What is to run, as the auth handlers see it. @throws RpcFailure -32602 when its settings are too large. */
function bodyOf({ send, assistant }: Prepared, { work }: Plan, caller: Caller): RunBody {
  return parse(runBody, {
    assistant_id: assistant.assistant_id,
    ...work,
    metadata: send.metadata,
    context: send.context,
    stream_mode: modeFor(caller),
    if_not_exists: "create",
  });
}

/** Somebody who waits for the end reads no tokens, and the model need not stream for it. */
const modeFor = (caller: Caller): "values" | "messages-tuple" => (caller === "wait" ? "values" : "messages-tuple");

/** Whether two plans are about the same. */
function isSame(one: Plan, other: Plan): boolean {
  return one.kind === other.kind && one.contextId === other.contextId && isDeepStrictEqual(one.work, other.work);
}

/** What was said, as it is kept: without the bytes of files. */
function exchange(at: number, ...messages: readonly Message[]): Exchange {
  return { at, messages: messages.map((message) => ({ ...message, parts: message.parts.map(withoutBytes) })) };
}

function withoutBytes(part: Part): Part {
  if (part.kind !== "file" || part.bytes === undefined) return part;
  return { kind: "text", text: `[file ${part.name ?? part.mediaType ?? ""}]` };
}
