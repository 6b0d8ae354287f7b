// The commands that start runs: `run.start`, `input.respond`, `state.fork`. They make the same requests to the engine as REST does, with the
// same defaults, and mark the run as one whose events protocol v2 tells. What is waited for comes from storage, never from a session, so
// that a thread can be answered after a restart.
import type { z } from "zod";
import type { Access } from "../auth/access.ts";
import type { Assistants } from "../resources/assistants.ts";
import { isObject, type Json } from "../resources/json.ts";
import type { InterruptJson, ThreadRecord, Threads } from "../resources/threads.ts";
import { admitRun, type RunGrants } from "../runs/admission.ts";
import type { RunEngine } from "../runs/engine.ts";
import { checkpointOf, type RunRequest } from "../runs/request.ts";
import { interruptsOf } from "../runs/result.ts";
import { runBody, runRequest } from "../runs/run-body.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import type { respondParams, runStartParams, stateForkParams } from "./bodies.ts";
import { ProtocolError } from "./errors.ts";

type RunBody = z.output<typeof runBody>;

/** What clients that join such a run through REST may ask for; its tokens are events of protocol v2 and no message chunks. */
const STREAM_MODES = ["values", "updates", "custom", "tasks", "tools"];

export interface RunCommandsOptions {
  readonly threads: Threads;
  readonly assistants: Assistants;
  readonly engine: RunEngine;
  readonly checkpoints: CheckpointStore;
}

/** Who asks, and what comes with it. */
export interface RunCaller {
  readonly access: Access;
  /** Settings for the graph alone, from the headers of the request. */
  readonly hidden: Json | undefined;
}

export class RunCommands {
  readonly #options: RunCommandsOptions;

  constructor(options: RunCommandsOptions) {
    this.#options = options;
  }

  /** Starts a run, or resumes what waits: input for a thread that waits at an interrupt is the answer. */
  async start(
    threadId: string,
    params: z.output<typeof runStartParams>,
    caller: RunCaller,
  ): Promise<{ run_id: string }> {
    const { assistant_id, input, config, metadata, multitaskStrategy } = params;
    const body = this.#body(assistant_id, {
      ...commandIn(input),
      config,
      metadata,
      multitask_strategy: multitaskStrategy,
      if_not_exists: "create",
    });
    const { admitted, grants } = await this.#admit(threadId, body, caller);
    // Whether something waits is looked at when nothing can come between any more.
    const final = { ...admitted, ...this.#answering(threadId, admitted) };
    return { run_id: this.#create(threadId, final, grants) };
  }

  /** Answers interrupts. @throws ProtocolError invalid_argument: nothing waits; no_such_interrupt. */
  async respond(
    threadId: string,
    params: z.output<typeof respondParams>,
    thread: ThreadRecord,
    caller: RunCaller,
  ): Promise<Record<string, never>> {
    const { responses, update, goto, config, metadata } = params;
    const check = (): void => {
      const waiting = new Set(this.#waiting(threadId).map(({ id }) => id));
      if (waiting.size === 0)
        throw new ProtocolError("invalid_argument", "input.respond can only be used while the thread is interrupted.");
      for (const { interrupt_id } of responses) {
        if (!waiting.has(interrupt_id))
          throw new ProtocolError("no_such_interrupt", `No interrupt ${interrupt_id} waits for an answer.`);
      }
    };
    check();
    const resume = Object.fromEntries(responses.map(({ interrupt_id, response }) => [interrupt_id, response ?? null]));
    const body = this.#body(assistantOf(thread), { command: { resume, update, goto }, config, metadata });
    const { admitted, grants } = await this.#admit(threadId, body, caller);
    check();
    this.#create(threadId, admitted, grants);
    return {};
  }

  /** Starts a run from an earlier checkpoint. @throws ProtocolError no_such_checkpoint. */
  async fork(
    threadId: string,
    { checkpoint_id, input, config }: z.output<typeof stateForkParams>,
    thread: ThreadRecord,
    caller: RunCaller,
  ): Promise<{ run_id: string; thread_id: string }> {
    const body = this.#body(assistantOf(thread), { input, config, checkpoint_id });
    const { admitted, grants } = await this.#admit(threadId, body, caller);
    return { run_id: this.#create(threadId, admitted, grants), thread_id: threadId };
  }

  #body(assistantId: string, body: Json): RunBody {
    return runBody.parse({ ...body, assistant_id: assistantId, stream_mode: STREAM_MODES });
  }

  async #admit(
    threadId: string,
    body: RunBody,
    { access, hidden }: RunCaller,
  ): Promise<{ admitted: RunBody; grants: RunGrants }> {
    if (!access.restricted) return { admitted: body, grants: { hidden } };
    const { body: admitted, grants } = await admitRun(this.#options, access, threadId, body, hidden);
    return { admitted, grants };
  }

  #create(threadId: string, body: RunBody, grants: RunGrants): string {
    const request: RunRequest = { ...runRequest(body), ...grants, protocol: true };
    const { checkpoint_id: id, checkpoint_ns: ns } = (checkpointOf(request) ?? {}) as Record<
      string,
      string | undefined
    >;
    if (id !== undefined && this.#options.checkpoints.get(threadId, ns ?? "", id) === undefined)
      throw new ProtocolError("no_such_checkpoint", `Checkpoint ${id} not found`);
    return this.#options.engine.create(threadId, request, "background").id;
  }

  /** What a run is made of instead, if its input is the answer to what waits on the thread. */
  #answering(threadId: string, { input, command, config }: RunBody): Pick<RunBody, "input" | "command"> | undefined {
    if (command !== undefined || input === undefined || input === null) return undefined;
    const { checkpoint_id: fork } = (config?.configurable ?? {}) as { checkpoint_id?: unknown };
    // Who names a checkpoint begins anew from there.
    if (fork != null || this.#waiting(threadId).length === 0) return undefined;
    return { input: undefined, command: { resume: input } };
  }

  /** The interrupts that a thread waits at; none while a run is there that may have been started to answer them. */
  #waiting(threadId: string): InterruptJson[] {
    const { engine, checkpoints } = this.#options;
    return engine.isBusy(threadId) ? [] : Object.values(interruptsOf(checkpoints, threadId)).flat();
  }
}

/** LangGraph's RemoteGraph sends a command as the input that it is given. */
function commandIn(input: unknown): Json {
  if (!isObject(input) || input["lg_name"] !== "Command") return { input };
  const { resume, update, goto } = input;
  return { command: { resume, update, goto } };
}

/** The assistant that a thread was run with last. @throws ProtocolError no_such_run */
function assistantOf({ thread_id, metadata }: ThreadRecord): string {
  const { assistant_id, graph_id } = metadata;
  const assistant = assistant_id ?? graph_id;
  if (typeof assistant !== "string")
    throw new ProtocolError("no_such_run", `Nothing has run on thread ${thread_id} yet.`);
  return assistant;
}
