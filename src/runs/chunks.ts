// From what LangGraph streams to the events of the wire (wire-api §4): names, payloads, and the older `messages` mode, which
// LangGraph itself no longer has.
import type { Codec } from "../storage/codec.ts";
import { isMessage } from "../storage/messages.ts";
import type { Json } from "../resources/json.ts";
import { nameValues } from "./interrupts.ts";

/** Modes that a client may ask for. */
export const STREAM_MODES = [
  "values",
  "updates",
  "messages",
  "messages-tuple",
  "custom",
  "events",
  "debug",
  "tasks",
  "checkpoints",
  "tools",
] as const;
export type StreamMode = (typeof STREAM_MODES)[number];

/** Where events go. `mode` is the client's name of the mode. */
export interface EventSink {
  readonly wanted: boolean;
  push(name: string, data: string, mode: string): void;
  skip(): void;
}

/** What a message chunk can do in `@langchain/core`. */
interface Chunk {
  id?: string;
  concat?(other: unknown): Chunk;
}

/** The modes to ask LangGraph for. `values` is always among them: it shows the result of the run, and interrupts. */
export function graphModes(modes: readonly string[]): string[] {
  const asked = new Set(["values"]);
  for (const mode of modes) {
    if (mode === "messages-tuple") asked.add("messages");
    else if (mode !== "events") asked.add(mode);
  }
  return [...asked];
}

/** Turns the chunks of one run into events. */
export class ChunkEvents {
  readonly #sink: EventSink;
  readonly #codec: Codec;
  readonly #modes: ReadonlySet<string>;
  /** Settings that are for the graph alone. */
  readonly #hidden: readonly string[];
  readonly #partial = new Map<string, Chunk>();
  readonly #complete = new Set<string>();
  #metadata: unknown;
  #metadataJson = "";
  /** The newest state of the root graph, as LangGraph shows it; undefined as long as there was none. */
  values: unknown;
  /** The interrupts that the run stopped at; an empty list for `interrupt_before` and `interrupt_after`. */
  interrupts: unknown[] | undefined;

  /** @param hidden names of settings that no event may show. */
  constructor(sink: EventSink, codec: Codec, modes: readonly string[], hidden: readonly string[] = []) {
    this.#sink = sink;
    this.#codec = codec;
    this.#modes = new Set(modes);
    this.#hidden = hidden;
  }

  /** One chunk: the namespace of the (sub)graph, LangGraph's mode, its payload. */
  chunk(ns: readonly string[], mode: string, payload: unknown): void {
    const asks = (mode === "values" || mode === "updates") && isInterrupt(payload);
    if (asks) nameValues(payload.__interrupt__);
    if (mode === "values" && ns.length === 0) {
      if (asks) this.interrupts = [...(this.interrupts ?? []), ...payload.__interrupt__];
      else this.values = payload;
    }
    if (mode === "messages") return this.#messages(ns, payload as [unknown, unknown]);
    if (mode === "values" && this.#modes.has("messages") && ns.length === 0) this.#completeMessages(payload);
    if (!this.#modes.has(mode)) return;
    if (!this.#sink.wanted) return this.#sink.skip();
    this.#sink.push(this.#name(mode, ns), this.#json(mode, payload), mode);
  }

  /** One event of LangChain's own event stream. */
  event(event: Json): void {
    if (!this.#modes.has("events") || hidden(event)) return;
    if (!this.#sink.wanted) return this.#sink.skip();
    const { metadata } = event;
    const shown = this.#hidden.length === 0 ? event : { ...event, metadata: without(metadata, this.#hidden) };
    this.#sink.push("events", this.#codec.wire(shown), "events");
  }

  #name(mode: string, ns: readonly string[]): string {
    return ns.length === 0 ? mode : `${mode}|${ns.join("|")}`;
  }

  #json(mode: string, payload: unknown): string {
    if (mode === "checkpoints") return this.#codec.wire(checkpointPayload(payload as Json, this.#hidden));
    if (mode === "debug") {
      const { type, payload: inner } = payload as { type: string; payload: Json };
      nameValues(inner["interrupts"]);
      if (type === "checkpoint") {
        return this.#codec.wire({ ...(payload as Json), payload: checkpointPayload(inner, this.#hidden) });
      }
    }
    if (mode === "tasks") nameValues((payload as Json)["interrupts"]);
    return this.#codec.wire(payload);
  }

  #messages(ns: readonly string[], [message, metadata]: [unknown, unknown]): void {
    if (this.#modes.has("messages-tuple")) {
      if (!this.#sink.wanted) this.#sink.skip();
      else {
        const data = `[${this.#codec.wireOnce(message)},${this.#metadataWire(metadata)}]`;
        this.#sink.push(this.#name("messages", ns), data, "messages-tuple");
      }
    }
    if (this.#modes.has("messages")) this.#partialMessage(message as Chunk, metadata);
  }

  /** All tokens of a model call share one metadata object. */
  #metadataWire(metadata: unknown): string {
    if (metadata !== this.#metadata) {
      this.#metadata = metadata;
      this.#metadataJson = this.#codec.wire(without(metadata, this.#hidden));
    }
    return this.#metadataJson;
  }

  #partialMessage(message: Chunk, metadata: unknown): void {
    const { id } = message;
    if (id === undefined || this.#complete.has(id)) return;
    const before = this.#partial.get(id);
    if (before === undefined)
      this.#push("messages/metadata", `{${JSON.stringify(id)}:{"metadata":${this.#metadataWire(metadata)}}}`);
    const whole = before?.concat === undefined ? message : before.concat(message);
    this.#partial.set(id, whole);
    this.#push("messages/partial", `[${this.#codec.wireOnce(whole)}]`);
  }

  /** Messages of the state that were not there before. */
  #completeMessages(values: unknown): void {
    const messages = (values as { messages?: unknown } | null)?.messages;
    if (!Array.isArray(messages)) return;
    const fresh = messages.filter((message) => isMessage(message) && !this.#complete.has(String(message["id"])));
    for (const message of fresh) {
      this.#complete.add(String((message as Chunk).id));
      this.#partial.delete(String((message as Chunk).id));
    }
    if (fresh.length > 0) this.#push("messages/complete", this.#codec.wire(fresh));
  }

  #push(name: string, data: string): void {
    if (this.#sink.wanted) this.#sink.push(name, data, "messages");
    else this.#sink.skip();
  }
}

function isInterrupt(payload: unknown): payload is { __interrupt__: unknown[] } {
  return typeof payload === "object" && payload !== null && Array.isArray((payload as Json)["__interrupt__"]);
}

const hidden = (event: Json): boolean => Array.isArray(event["tags"]) && event["tags"].includes("langsmith:hidden");

/** A checkpoint as `debug` and `checkpoints` show it: the wire's names, and none of LangGraph's inner `__` settings. */
function checkpointPayload({ parentConfig, config, tasks, ...rest }: Json, hiddenNames: readonly string[]): Json {
  const parent = cleanConfig(parentConfig, hiddenNames);
  const own = cleanConfig(config, hiddenNames);
  return {
    config: own,
    checkpoint: checkpointOf(own),
    parent_config: parent,
    parent_checkpoint: checkpointOf(parent),
    ...rest,
    tasks: Array.isArray(tasks) ? tasks.map((task) => debugTask(task as Json)) : tasks,
  };
}

function debugTask({ state, ...task }: Json): Json {
  nameValues(task["interrupts"]);
  if (state === undefined) return task;
  const configurable = (state as Json)["configurable"];
  return configurable === undefined ? { ...task, state } : { ...task, checkpoint: configurable };
}

function cleanConfig(config: unknown, hiddenNames: readonly string[]): Json | null {
  if (typeof config !== "object" || config === null) return null;
  const { configurable, callbacks: _callbacks, ...rest } = config as Json;
  const settings = without(configurable ?? {}, hiddenNames) as Json;
  const metadata = "metadata" in rest ? { metadata: without(rest["metadata"], hiddenNames) } : {};
  return { ...rest, ...metadata, configurable: withoutInner(settings) };
}

/** A copy without the named fields, if there are names and fields. */
function without(value: unknown, names: readonly string[]): unknown {
  if (names.length === 0 || typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

/** Configurable without LangGraph's inner settings and without what the server puts there for the graph alone. */
function withoutInner(configurable: Json): Json {
  return Object.fromEntries(
    Object.entries(configurable).filter(([key]) => !key.startsWith("__") && !key.startsWith("langgraph_auth")),
  );
}

function checkpointOf(config: Json | null): Json | null {
  const configurable = config?.["configurable"] as Json | undefined;
  if (configurable === undefined) return null;
  const { thread_id, checkpoint_ns = "", checkpoint_id, checkpoint_map } = configurable;
  return { thread_id, checkpoint_ns, checkpoint_id, ...(checkpoint_map === undefined ? {} : { checkpoint_map }) };
}
