// Lets a message do its work: it begins a task, answers one that waits, or joins one that is under way. Everything between looking at the task
// and storing it with its run happens in one go, so that no other message comes between.
import { isUuid } from "../ids.ts";
import { RPC, RpcFailure } from "../json-rpc.ts";
import { ApiError } from "../errors.ts";
import type { Json } from "../resources/json.ts";
import type { RunRecord } from "../resources/runs.ts";
import type { InterruptJson, Threads } from "../resources/threads.ts";
import type { ActiveRun } from "../runs/active.ts";
import type { RunEngine } from "../runs/engine.ts";
import type { Admitted } from "../runs/admission.ts";
import { runBody, runRequest } from "../runs/run-body.ts";
import type { Write } from "../storage/database.ts";
import { A2AFailure, taskNotFound } from "./errors.ts";
import { humanMessage, inputOf, resumeOf, type InputShape } from "./input.ts";
import { isTerminal, type Addressed, type Message, type Part, type SendRequest, type TaskStatus } from "./model.ts";
import { seesContext } from "./rights.ts";
import type { TaskEnds } from "./settle.ts";
import type { Exchange, TaskRecord, Tasks } from "./tasks.ts";
import { now } from "./times.ts";
import type { TaskViews } from "./views.ts";

/** Runs that a task remembers. */
const MAX_RUNS = 100;
/** Answers that a task remembers. */
const MAX_EXCHANGES = 50;
/** Where notifications of one task go. */
export const MAX_PUSH = 20;

export interface BeginOptions {
  readonly tasks: Tasks;
  readonly views: TaskViews;
  readonly ends: TaskEnds;
  readonly threads: Threads;
  readonly engine: () => RunEngine;
}

/** A message that was found to be in order. */
export interface Prepared extends Addressed {
  readonly send: SendRequest;
  readonly shape: InputShape;
  /** The context of a first message that names none. */
  readonly freshContext: string;
  /** What the auth handlers have made of it; undefined when there are none. */
  readonly admitted: Admitted | undefined;
}

/** A task with the run that a message has made. */
export interface Begun {
  readonly task: TaskRecord;
  readonly run: ActiveRun;
}

/** What a run is asked to do. */
type Work = { readonly input: unknown } | { readonly command: Json };

const invalid = (message: string): RpcFailure => new RpcFailure(RPC.invalidParams, message);

export class TaskBegin {
  readonly #options: BeginOptions;

  constructor(options: BeginOptions) {
    this.#options = options;
  }

  /** @param caller what its sender does next. @throws RpcFailure */
  begin(prepared: Prepared, caller: "stream" | "wait" | "background"): Begun {
    const { message, finished } = prepared.send;
    const found = message.taskId === undefined ? undefined : this.find(message.taskId, prepared);
    if (found === undefined) return this.#first(prepared, message.contextId ?? prepared.freshContext, caller);
    const { task, status } = found;
    if (message.contextId !== undefined && message.contextId.toLowerCase() !== task.contextId) {
      throw invalid(
        `Invalid params: task ${task.id} does not belong to the context ${message.contextId.slice(0, 100)}`,
      );
    }
    if (status.state === "input-required") return this.#answer(prepared, task, status, caller);
    if (!isTerminal(status.state)) return this.#join(prepared, task, caller);
    if (finished === "restart") return this.#first(prepared, task.contextId, caller);
    const text = `Task ${task.id} has ended (${status.state}) and takes no more messages; send the contextId alone to go on with the conversation`;
    throw new A2AFailure("UNSUPPORTED_OPERATION", text, { taskId: task.id });
  }

  /** A task and what it is now. @throws A2AFailure -32001 also for those of other agents and owners. */
  find(
    id: string,
    { assistant, owner, rights }: Addressed,
  ): { readonly task: TaskRecord; readonly status: TaskStatus } {
    const task = this.#options.tasks.find(id);
    const status = task === undefined ? undefined : this.#options.views.status(task);
    if (
      task === undefined ||
      status === undefined ||
      task.assistantId !== assistant.assistant_id ||
      task.owner !== owner
    ) {
      throw taskNotFound(id);
    }
    if (!seesContext(this.#options.threads, rights, task.contextId)) throw taskNotFound(id);
    return { task, status };
  }

  #first({ send, assistant, shape, owner, admitted }: Prepared, contextId: string, caller: Caller): Begun {
    if (!isUuid(contextId))
      throw invalid(
        `Failed to create run: Invalid thread ID: contextId must be a UUID, got "${contextId.slice(0, 100)}"`,
      );
    const { message } = send;
    const waiting = this.#options.tasks.waitingIn(contextId.toLowerCase());
    const aside = waiting === undefined ? undefined : this.#options.ends.superseded(waiting);
    const make = (record: RunRecord): TaskRecord => ({
      id: record.run.run_id,
      contextId: record.run.thread_id,
      assistantId: assistant.assistant_id,
      owner,
      status: { state: "submitted", timestamp: now() },
      runs: [record.run.run_id],
      artifacts: [],
      // A thread without messages does not tell what was said.
      exchanges: shape.messages ? [] : [exchange(0, { ...message, contextId, taskId: record.run.run_id })],
      push: send.push === undefined ? [] : [{ ...send.push, id: send.push.id || record.run.run_id }],
    });
    const work = { input: inputOf(message, shape) };
    const begun = this.#run(
      contextId.toLowerCase(),
      work,
      { send, assistant, admitted, caller },
      undefined,
      make,
      aside?.writes,
    );
    aside?.committed();
    return begun;
  }

  #answer({ send, assistant, admitted }: Prepared, task: TaskRecord, status: TaskStatus, caller: Caller): Begun {
    const { message } = send;
    const { contextId } = task;
    const { threads, engine, views } = this.#options;
    const thread = threads.find(contextId);
    if (thread?.status !== "interrupted" || engine().isBusy(contextId)) {
      const text = `Task ${task.id} cannot be answered now: its context is ${thread?.status ?? "gone"}`;
      throw new A2AFailure("UNSUPPORTED_OPERATION", text, { taskId: task.id });
    }
    const interrupts = Object.values(thread.interrupts).flat();
    const said = [
      ...(status.message === undefined ? [] : [status.message]),
      { ...message, contextId, taskId: task.id },
    ];
    const make = (record: RunRecord): TaskRecord => ({
      ...withPush(task, send),
      status: { state: "submitted", timestamp: now() },
      before: status,
      runs: [...task.runs, record.run.run_id].slice(-MAX_RUNS),
      exchanges: [...task.exchanges, exchange(views.countMessages(contextId), ...said)].slice(-MAX_EXCHANGES),
    });
    return this.#run(contextId, answerOf(message, interrupts), { send, assistant, admitted, caller }, task, make);
  }

  /** A message to a task that works: its run waits behind the others. */
  #join({ send, assistant, shape, admitted }: Prepared, task: TaskRecord, caller: Caller): Begun {
    const make = (record: RunRecord): TaskRecord => ({
      ...withPush(task, send),
      runs: [...task.runs, record.run.run_id].slice(-MAX_RUNS),
    });
    const work = { input: inputOf(send.message, shape) };
    return this.#run(task.contextId, work, { send, assistant, admitted, caller }, task, make);
  }

  #run(
    contextId: string,
    work: Work,
    {
      send,
      assistant,
      admitted,
      caller,
    }: Pick<Prepared, "send" | "assistant" | "admitted"> & { readonly caller: Caller },
    before: TaskRecord | undefined,
    make: (record: RunRecord) => TaskRecord,
    more: readonly Write[] = [],
  ): Begun {
    const { tasks, engine } = this.#options;
    const changed = admitted?.body;
    const body = runBody.parse({
      assistant_id: assistant.assistant_id,
      ...("input" in work && changed !== undefined ? { input: changed.input } : work),
      metadata: changed === undefined ? send.metadata : changed.metadata,
      context: changed === undefined ? send.context : changed.context,
      config: changed?.config,
      // Somebody who waits for the end reads no tokens, and the model need not stream for it.
      stream_mode: caller === "wait" ? "values" : "messages-tuple",
      if_not_exists: "create",
    });
    let task: TaskRecord | undefined;
    try {
      const run = engine().create(
        contextId,
        {
          ...runRequest(body),
          ...admitted?.grants,
          task: before?.id ?? true,
          alongside(record) {
            task = make(record);
            return [...more, ...tasks.writesOf(task, before)];
          },
        },
        caller,
      );
      tasks.committed(task!);
      return { task: task!, run };
    } catch (error) {
      if (error instanceof ApiError) throw invalid(`Failed to create run: ${error.detail}`);
      throw error;
    }
  }
}

type Caller = "stream" | "wait" | "background";

/** The work of an answer. At a breakpoint there is no question: the graph goes on, and hears what was said if it has messages. */
function answerOf(message: Message, interrupts: readonly InterruptJson[]): Work {
  if (interrupts.length > 0) return { command: { resume: resumeOf(message, interrupts) } };
  const said = message.parts.filter(({ kind }) => kind !== "data");
  return said.length === 0
    ? { input: null }
    : { command: { update: { messages: [humanMessage(message.messageId, said)] } } };
}

function withPush(task: TaskRecord, { push }: SendRequest): TaskRecord {
  if (push === undefined) return task;
  const config = { ...push, id: push.id || task.id };
  return { ...task, push: [...task.push.filter(({ id }) => id !== config.id), config].slice(-MAX_PUSH) };
}

/** What was said, as it is kept: without the bytes of files. */
function exchange(at: number, ...messages: readonly Message[]): Exchange {
  return { at, messages: messages.map((message) => ({ ...message, parts: message.parts.map(withoutBytes) })) };
}

function withoutBytes(part: Part): Part {
  if (part.kind !== "file" || part.bytes === undefined) return part;
  return { kind: "text", text: `[file ${part.name ?? part.mediaType ?? ""}]` };
}
