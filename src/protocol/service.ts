// Protocol v2 without a transport: commands and event streams of threads. HTTP and WebSocket both end here, so that a command means the same
// on either.
import type { z } from "zod";
import { UNRESTRICTED, type Access } from "../auth/access.ts";
import type { Assistants } from "../resources/assistants.ts";
import { isObject, type Json } from "../resources/json.ts";
import type { Runs } from "../resources/runs.ts";
import { issuesText, validated } from "../resources/schema.ts";
import { threadNotFound, type ThreadRecord, type Threads } from "../resources/threads.ts";
import type { RunEngine } from "../runs/engine.ts";
import type { GraphKit } from "../runs/engine-options.ts";
import { canObserve, OBSERVABLE_SINCE } from "../runs/observation.ts";
import type { LogReader } from "../runs/log-reader.ts";
import type { ThreadStates } from "../runs/states.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import {
  commandEnvelope,
  getTreeParams,
  listCheckpointsParams,
  respondParams,
  runStartParams,
  stateForkParams,
  stateGetParams,
  type CommandEnvelope,
  type eventsBody,
} from "./bodies.ts";
import { asProtocolError, ProtocolError, type ErrorCode } from "./errors.ts";
import type { EventFilter } from "./filter.ts";
import { RunCommands } from "./run-commands.ts";
import type { ThreadSession } from "./session.ts";
import type { ProtocolSessions } from "./sessions.ts";
import { StateCommands } from "./state-commands.ts";
import { treeOf } from "./tree-command.ts";

/** The answer to a command. */
export type CommandResponse =
  | { readonly type: "success"; readonly id: number; readonly result: unknown; readonly meta: ResponseMeta }
  | {
      readonly type: "error";
      readonly id: number | null;
      readonly error: ErrorCode;
      readonly message: string;
      readonly meta?: ResponseMeta;
    };

/** Where the events of the thread stood when the command was taken: what it causes has greater numbers. */
export interface ResponseMeta {
  readonly thread_id: string;
  readonly applied_through_seq: number;
}

/** What comes with a command besides itself. */
export interface CommandContext {
  /** What the caller may do; everything by default. */
  readonly access?: Access;
  /** Settings for the graph alone, from the headers of the request. */
  readonly hidden?: Json | undefined;
  /** Commands that only one transport has. */
  readonly commands?: Readonly<Record<string, (params: Json) => unknown>>;
}

/** What a connection needs that is open for long. */
export interface ConnectionRights {
  readonly access: Access;
  /** Whether the thread is still one that the caller sees; always when undefined. */
  readonly isSeen: (() => boolean) | undefined;
}

export interface ProtocolOptions {
  readonly threads: Threads;
  readonly assistants: Assistants;
  readonly runs: Runs;
  readonly engine: RunEngine;
  readonly states: ThreadStates;
  readonly checkpoints: CheckpointStore;
  readonly sessions: ProtocolSessions;
  readonly kit: () => Promise<GraphKit>;
  /** Told of errors that are ours, where no HTTP answer can tell them. */
  readonly report: (error: unknown) => void;
}

const NOT_SUPPORTED: Readonly<Record<string, string>> = {
  "input.inject": "input.inject is not supported; start a run with run.start, which waits for the one that runs.",
  "subscription.reconnect":
    "subscription.reconnect is not supported; subscribe again, and what was missed comes again.",
  "subscription.subscribe":
    "Subscriptions belong to a WebSocket; over HTTP open POST /threads/{thread_id}/stream/events with the same filter.",
  "subscription.unsubscribe": "Subscriptions belong to a WebSocket; over HTTP close the event stream.",
};

export class ProtocolService {
  readonly report: ProtocolOptions["report"];
  readonly #options: ProtocolOptions;
  readonly #runs: RunCommands;
  readonly #states: StateCommands;

  constructor(options: ProtocolOptions) {
    this.#options = options;
    this.report = options.report;
    this.#runs = new RunCommands(options);
    this.#states = new StateCommands(options);
  }

  /**
   * Carries out a command.
   * @param payload the command as it came, parsed from JSON.
   * @returns the response, and its HTTP status. What is our own fault is thrown.
   */
  async command(
    threadId: string,
    payload: unknown,
    context: CommandContext = {},
  ): Promise<{ response: CommandResponse; status: number }> {
    const envelope = commandEnvelope.safeParse(payload);
    if (!envelope.success) {
      const id = commandEnvelope.shape.id.safeParse(isObject(payload) ? payload["id"] : undefined).data ?? null;
      const message = `This is no command: ${issuesText(envelope.error)}`;
      return { response: { type: "error", id, error: "invalid_argument", message }, status: 400 };
    }
    const { id } = envelope.data;
    const meta = { thread_id: threadId, applied_through_seq: this.#options.sessions.lastSeq(threadId) };
    try {
      const result = await this.#dispatch(threadId, envelope.data, context);
      return { response: { type: "success", id, result, meta }, status: 200 };
    } catch (error) {
      const known = asProtocolError(error);
      if (known === undefined) throw error;
      const { code, message, status } = known;
      return { response: { type: "error", id, error: code, message, meta }, status };
    }
  }

  async #dispatch(
    threadId: string,
    { method, params = {} }: CommandEnvelope,
    { access = UNRESTRICTED, hidden, commands = {} }: CommandContext,
  ): Promise<unknown> {
    const { thread } = await this.#enter(threadId, access);
    const own = Object.hasOwn(commands, method) ? commands[method] : undefined;
    if (own !== undefined) return own(params);
    if (Object.hasOwn(NOT_SUPPORTED, method)) throw new ProtocolError("not_supported", NOT_SUPPORTED[method]!);
    switch (method) {
      case "run.start": {
        const start = validated(runStartParams, params);
        await this.supported();
        return this.#runs.start(threadId, start, { access, hidden });
      }
      case "input.respond": {
        const answers = parsed(respondParams, params, "input.respond takes interrupt_id and response, or responses.");
        await this.supported();
        return this.#runs.respond(threadId, answers, existing(thread, threadId), { access, hidden });
      }
      case "state.fork": {
        const fork = validated(stateForkParams, params);
        await this.supported();
        return this.#runs.fork(threadId, fork, existing(thread, threadId), { access, hidden });
      }
      case "state.get":
        return this.#states.get(existing(thread, threadId).thread_id, validated(stateGetParams, params));
      case "state.listCheckpoints":
        return this.#states.list(existing(thread, threadId).thread_id, validated(listCheckpointsParams, params));
      case "agent.getTree":
        return { tree: treeOf(this.#options, existing(thread, threadId), validated(getTreeParams, params).run_id) };
      default:
        throw new ProtocolError("unknown_command", `Unknown command "${method}"`);
    }
  }

  /** The server stops: all streams end. */
  close(): void {
    this.#options.sessions.close();
  }

  /** A reader of a thread's events: what is kept of them, then what comes. The thread may be one that the first run will make. */
  async events(threadId: string, body: z.output<typeof eventsBody>, access: Access = UNRESTRICTED): Promise<LogReader> {
    const { isSeen } = await this.#enter(threadId, access);
    await this.supported();
    return this.#options.sessions.openToRead(threadId).reader(filterOf(body), body.since, isSeen);
  }

  /** Asks whether a connection may be opened. @returns what it needs. @throws ProtocolError */
  async connection(threadId: string, access: Access): Promise<ConnectionRights> {
    const { isSeen } = await this.#enter(threadId, access);
    return { access, isSeen };
  }

  /** The session of a thread for a connection that subscribes later, and was asked for by `connection`. */
  session(threadId: string): ThreadSession {
    return this.#options.sessions.openToRead(threadId);
  }

  /**
   * Every command and every stream comes through here, whatever the transport and however long a connection has been open: this is
   * where it is decided whether a thread may be spoken with. Commands that start runs are asked about once more, with what they start.
   * @returns the thread, if there is one, and whether it is seen from now on: one that does not exist yet may become somebody else's.
   * @throws ProtocolError for one that the caller must not see, as if it did not exist.
   */
  async #enter(
    threadId: string,
    access: Access,
  ): Promise<{ thread: ThreadRecord | undefined; isSeen: (() => boolean) | undefined }> {
    const { threads } = this.#options;
    if (!access.restricted) return { thread: threads.find(threadId), isSeen: undefined };
    const { allows } = await access.authorize("threads:read", { thread_id: threadId });
    const isSeen =
      allows &&
      ((): boolean => {
        const thread = threads.find(threadId);
        return thread === undefined || allows(thread.metadata);
      });
    if (isSeen?.() === false) throw noThread(threadId);
    return { thread: threads.find(threadId), isSeen };
  }

  /** @throws ProtocolError not_supported when the project's LangGraph is too old. */
  async supported(): Promise<void> {
    // One that cannot be loaded at all fails the run, with the reason.
    const kit = await this.#options.kit().catch(() => undefined);
    if (kit === undefined || canObserve(kit.runtime)) return;
    throw new ProtocolError(
      "not_supported",
      `Event streaming needs @langchain/langgraph ${OBSERVABLE_SINCE} or newer; the project has ${kit.runtime.version}.`,
    );
  }
}

/** The filter of a request. */
export function filterOf(body: {
  readonly channels: readonly string[];
  readonly namespaces?: readonly (readonly string[])[] | undefined;
  readonly depth?: number | undefined;
}): EventFilter {
  return { channels: new Set(body.channels), namespaces: body.namespaces, depth: body.depth };
}

/** Params of a union, whose own messages tell nothing. */
function parsed<T extends z.ZodType>(schema: T, params: Json, message: string): z.output<T> {
  const result = schema.safeParse(params);
  if (!result.success) throw new ProtocolError("invalid_argument", message);
  return result.data;
}

function existing(thread: ThreadRecord | undefined, threadId: string): ThreadRecord {
  if (thread !== undefined) return thread;
  throw noThread(threadId);
}

const noThread = (threadId: string): ProtocolError =>
  new ProtocolError("invalid_argument", threadNotFound(threadId).detail, 404);
