// The commands that start runs: `run.start`, `input.respond`, `state.fork`. They make the same requests to the engine as REST does, with the
// same defaults, and mark the run as one whose events protocol v2 tells. What is waited for comes from storage, never from a session, so
// that a thread can be answered after a restart.
import type { z } from "zod";
import { isObject, type Json } from "../resources/json.ts";
import type { InterruptJson, ThreadRecord } from "../resources/threads.ts";
import type { RunEngine } from "../runs/engine.ts";
import { checkpointOf, type RunRequest } from "../runs/request.ts";
import { interruptsOf } from "../runs/result.ts";
import { runBody, runRequest } from "../runs/run-body.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import type { respondParams, runStartParams, stateForkParams } from "./bodies.ts";
import { ProtocolError } from "./errors.ts";

/** What clients that join such a run through REST may ask for; its tokens are events of protocol v2 and no message chunks. */
const STREAM_MODES = ["values", "updates", "custom", "tasks", "tools"];

export interface RunCommandsOptions {
  readonly engine: RunEngine;
  readonly checkpoints: CheckpointStore;
}

export class RunCommands {
  readonly #options: RunCommandsOptions;

  constructor(options: RunCommandsOptions) {
    this.#options = options;
  }

  /** Starts a run, or resumes what waits: input for a thread that waits at an interrupt is the answer. */
  start(
    threadId: string,
    params: z.output<typeof runStartParams>,
    thread: ThreadRecord | undefined,
    hidden: Json | undefined,
  ): { run_id: string } {
    const { assistant_id, input, config, metadata, multitaskStrategy } = params;
    const request = this.#request(assistant_id, {
      ...this.#inputOf(threadId, input, config, thread),
      config,
      metadata,
      multitask_strategy: multitaskStrategy,
      if_not_exists: "create",
    });
    return { run_id: this.#create(threadId, { ...request, hidden }) };
  }

  /** Answers interrupts. @throws ProtocolError invalid_argument: nothing waits; no_such_interrupt. */
  respond(
    threadId: string,
    params: z.output<typeof respondParams>,
    thread: ThreadRecord,
    hidden: Json | undefined,
  ): Record<string, never> {
    const { responses, update, goto, config, metadata } = params;
    const waiting = new Set(this.#waiting(threadId).map(({ id }) => id));
    if (waiting.size === 0)
      throw new ProtocolError("invalid_argument", "input.respond can only be used while the thread is interrupted.");
    for (const { interrupt_id } of responses) {
      if (!waiting.has(interrupt_id))
        throw new ProtocolError("no_such_interrupt", `No interrupt ${interrupt_id} waits for an answer.`);
    }
    const resume = Object.fromEntries(responses.map(({ interrupt_id, response }) => [interrupt_id, response ?? null]));
    const request = this.#request(assistantOf(thread), { command: { resume, update, goto }, config, metadata });
    this.#create(threadId, { ...request, hidden });
    return {};
  }

  /** Starts a run from an earlier checkpoint. @throws ProtocolError no_such_checkpoint. */
  fork(
    threadId: string,
    { checkpoint_id, input, config }: z.output<typeof stateForkParams>,
    thread: ThreadRecord,
    hidden: Json | undefined,
  ): { run_id: string; thread_id: string } {
    const request = this.#request(assistantOf(thread), { input, config, checkpoint_id });
    return { run_id: this.#create(threadId, { ...request, hidden }), thread_id: threadId };
  }

  #request(assistantId: string, body: Json): RunRequest {
    const parsed = runBody.parse({ ...body, assistant_id: assistantId, stream_mode: STREAM_MODES });
    return { ...runRequest(parsed), protocol: true };
  }

  #create(threadId: string, request: RunRequest): string {
    const { checkpoint_id: id, checkpoint_ns: ns } = (checkpointOf(request) ?? {}) as Record<
      string,
      string | undefined
    >;
    if (id !== undefined && this.#options.checkpoints.get(threadId, ns ?? "", id) === undefined)
      throw new ProtocolError("no_such_checkpoint", `Checkpoint ${id} not found`);
    return this.#options.engine.create(threadId, request, "background").id;
  }

  #inputOf(threadId: string, input: unknown, config: Json | undefined, thread: ThreadRecord | undefined): Json {
    // LangGraph's RemoteGraph sends a command as the input that it is given.
    if (isObject(input) && input["lg_name"] === "Command") {
      const { resume, update, goto } = input;
      return { command: { resume, update, goto } };
    }
    if (input === undefined || input === null || thread === undefined) return { input };
    const { checkpoint_id: fork } = (config?.["configurable"] ?? {}) as { checkpoint_id?: unknown };
    // Who names a checkpoint begins anew from there.
    return fork == null && this.#waiting(threadId).length > 0 ? { command: { resume: input } } : { input };
  }

  /** The interrupts that a thread waits at; none while a run is there that may have been started to answer them. */
  #waiting(threadId: string): InterruptJson[] {
    const { engine, checkpoints } = this.#options;
    return engine.isBusy(threadId) ? [] : Object.values(interruptsOf(checkpoints, threadId)).flat();
  }
}

/** The assistant that a thread was run with last. @throws ProtocolError no_such_run */
function assistantOf({ thread_id, metadata }: ThreadRecord): string {
  const { assistant_id, graph_id } = metadata;
  const assistant = assistant_id ?? graph_id;
  if (typeof assistant !== "string")
    throw new ProtocolError("no_such_run", `Nothing has run on thread ${thread_id} yet.`);
  return assistant;
}
