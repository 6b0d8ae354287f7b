// What a message will do, before it is done: begin a task, answer one that waits, or join one that is under way. The auth handlers are shown
// what is to run, which may take them a while; so it is looked at again behind that, and nothing here changes anything.
import { isUuid } from "../ids.ts";
import { RPC, RpcFailure } from "../json-rpc.ts";
import { isObject, type Json } from "../resources/json.ts";
import type { RunRecord } from "../resources/runs.ts";
import type { InterruptJson, Threads } from "../resources/threads.ts";
import type { RunEngine } from "../runs/engine.ts";
import type { ThreadValues } from "../runs/values.ts";
import { A2AFailure, taskNotFound } from "./errors.ts";
import { humanMessage, inputOf, resumeOf, type InputShape } from "./input.ts";
import { idAgain } from "./message-ids.ts";
import { isTerminal, type Addressed, type Message, type PushConfig, type SendRequest } from "./model.ts";
import { messagesIn } from "./output.ts";
import type { TaskNow, TaskStates } from "./states.ts";
import type { TaskRecord } from "./tasks.ts";

/** Runs that a task remembers, and that may work on it at once. */
export const MAX_RUNS = 100;
/** Where notifications of one task go. */
export const MAX_PUSH = 20;

/** A message that was found to be in order. */
export interface Prepared extends Addressed {
  readonly send: SendRequest;
  readonly shape: InputShape;
  /** The context of a first message that names none. */
  readonly freshContext: string;
  /** Makes another id of one that is used. */
  readonly unique: string;
}

/** What a run is asked to do. */
export type Work = { readonly input: unknown } | { readonly command: Json };

/** What a message will do. */
export interface Plan {
  readonly kind: "first" | "answer" | "join";
  readonly contextId: string;
  readonly work: Work;
  /** The message, with the id that it has in the thread. */
  readonly message: Message;
  /** What the message is for; undefined when it begins a task. */
  readonly now: TaskNow | undefined;
  /** Where notifications go then. Those without an id get the task's. */
  readonly push: readonly PushConfig[];
}

export interface PlanOptions {
  readonly states: TaskStates;
  readonly threads: Threads;
  readonly values: ThreadValues;
  readonly engine: () => RunEngine;
}

export const invalid = (message: string): RpcFailure => new RpcFailure(RPC.invalidParams, message);

export class TaskPlans {
  readonly #options: PlanOptions;

  constructor(options: PlanOptions) {
    this.#options = options;
  }

  /** A task and what it is now. @throws A2AFailure -32001 also for those of other agents and owners. */
  find(id: string, { assistant, owner }: Addressed): TaskNow {
    const now = this.#options.states.find(id);
    if (now === undefined || now.task.assistantId !== assistant.assistant_id || now.task.owner !== owner)
      throw taskNotFound(id);
    return now;
  }

  /** @throws RpcFailure when the message can do nothing. */
  plan(prepared: Prepared): Plan {
    const { message, finished } = prepared.send;
    if (message.taskId === undefined) return this.#first(prepared, message.contextId ?? prepared.freshContext);
    const now = this.find(message.taskId, prepared);
    const { task, status } = now;
    if (message.contextId !== undefined && message.contextId.toLowerCase() !== task.contextId) {
      throw invalid(
        `Invalid params: task ${task.id} does not belong to the context ${message.contextId.slice(0, 100)}`,
      );
    }
    if (status.state === "input-required") return this.#answer(prepared, now);
    if (!isTerminal(status.state)) return this.#join(prepared, now);
    if (finished === "restart") return this.#first(prepared, task.contextId);
    const text = `Task ${task.id} has ended (${status.state}) and takes no more messages; send the contextId alone to go on with the conversation`;
    throw new A2AFailure("UNSUPPORTED_OPERATION", text, { taskId: task.id });
  }

  #first(prepared: Prepared, named: string): Plan {
    if (!isUuid(named))
      throw invalid(`Failed to create run: Invalid thread ID: contextId must be a UUID, got "${named.slice(0, 100)}"`);
    const contextId = named.toLowerCase();
    const message = this.#fresh(prepared, contextId);
    const { push } = prepared.send;
    return {
      kind: "first",
      contextId,
      work: { input: inputOf(message, prepared.shape) },
      message,
      now: undefined,
      push: push === undefined ? [] : [push],
    };
  }

  #answer(prepared: Prepared, now: TaskNow): Plan {
    const { id, contextId } = now.task;
    const thread = this.#options.threads.find(contextId);
    if (thread?.status !== "interrupted" || this.#options.engine().isBusy(contextId)) {
      const text = `Task ${id} cannot be answered now: its context is ${thread?.status ?? "gone"}`;
      throw new A2AFailure("UNSUPPORTED_OPERATION", text, { taskId: id });
    }
    const message = this.#fresh(prepared, contextId);
    const work = answerOf(message, Object.values(thread.interrupts).flat());
    return { kind: "answer", contextId, work, message, now, push: pushOf(now.task, prepared.send) };
  }

  /** A message to a task that works: its run waits behind the others. */
  #join(prepared: Prepared, now: TaskNow): Plan {
    const { id, contextId } = now.task;
    if (this.#options.states.activeRuns(now.task).length >= MAX_RUNS) {
      const text = `Task ${id} takes no more messages now: ${MAX_RUNS} of them wait for it already`;
      throw new A2AFailure("UNSUPPORTED_OPERATION", text, { taskId: id });
    }
    const message = this.#fresh(prepared, contextId);
    const work = { input: inputOf(message, prepared.shape) };
    return { kind: "join", contextId, work, message, now, push: pushOf(now.task, prepared.send) };
  }

  /** The message, with another id if the thread has one of its id. */
  #fresh({ send: { message }, unique }: Prepared, contextId: string): Message {
    const { threads, values, engine } = this.#options;
    const { messageId } = message;
    if (threads.find(contextId) === undefined) return message;
    const runs = (["running", "pending"] as const).flatMap((status) => engine().unfinished(contextId, status));
    if (!isUsed(messageId, values.json(contextId), runs)) return message;
    return { ...message, messageId: idAgain(messageId, unique) };
  }
}

/** The work of an answer. At a breakpoint there is no question: the graph goes on, and hears what was said if it has messages. */
function answerOf(message: Message, interrupts: readonly InterruptJson[]): Work {
  if (interrupts.length > 0) return { command: { resume: resumeOf(message, interrupts) } };
  const said = message.parts.filter(({ kind }) => kind !== "data");
  return said.length === 0
    ? { input: null }
    : { command: { update: { messages: [humanMessage(message.messageId, said)] } } };
}

/** Where notifications of a task go with those that a message asks for. @throws RpcFailure -32602 when they are too many. */
function pushOf({ id, push }: TaskRecord, { push: asked }: SendRequest): readonly PushConfig[] {
  return asked === undefined ? push : withPush(push, { ...asked, id: asked.id || id });
}

/** The configs of a task with another one, or with another of its id. @throws RpcFailure -32602 when they are too many. */
export function withPush(push: readonly PushConfig[], config: PushConfig): readonly PushConfig[] {
  const others = push.filter(({ id }) => id !== config.id);
  if (others.length >= MAX_PUSH)
    throw invalid(`Invalid params: a task has at most ${MAX_PUSH} push notification configs`);
  return [...others, config];
}

/** Whether a message of this id is in a thread, or comes into it with a run. @param json the values of the thread. */
function isUsed(id: string, json: string, runs: readonly RunRecord[]): boolean {
  // Most ids are new, which the text tells without being parsed.
  if (json.includes(JSON.stringify(id)) && hasMessage(JSON.parse(json), id)) return true;
  return runs.some(({ run: { kwargs } }) => {
    const update = kwargs.command?.["update"];
    return hasMessage(kwargs.input, id) || (isObject(update) && hasMessage(update, id));
  });
}

const hasMessage = (values: unknown, id: string): boolean => messagesIn(values).some((message) => message["id"] === id);
