// Turns the stream of one run into protocol v2 events, for runs that somebody watches. What the run's ordinary stream is asked for besides
// is told apart again, so that its readers get the same from the same execution.
import type { LangGraphRuntime, RunnableGraph } from "../graphs/types.ts";
import { isObject, type Json } from "../resources/json.ts";
import type { Codec } from "../storage/codec.ts";
import { eventPipeline, type Chunk, type EventPipeline, type PipelineEvent } from "./event-pipeline.ts";
import { MessageEvents } from "./message-events.ts";
import type { ObservedStep, RunObserver } from "./observer.ts";

/** The first LangGraph with `streamEvents` v3. */
export const OBSERVABLE_SINCE = "1.4";

/** What LangGraph makes events of; its `STREAM_EVENTS_V3_MODES`. */
const MODES = ["values", "updates", "messages", "tools", "custom", "tasks"];
/** Modes whose chunks come from every depth of the graph, whether subgraphs are streamed or not. */
const DEPTHLESS = new Set(["messages", "custom", "tools"]);

/** Whether this LangGraph can make protocol v2 events. */
export const canObserve = ({ langgraph }: LangGraphRuntime): boolean =>
  typeof langgraph["createGraphRunStream"] === "function";

export class Observation {
  readonly #observer: RunObserver;
  readonly #codec: Codec;
  readonly #isEnvelope: (payload: unknown) => boolean;
  readonly #pipeline: EventPipeline;
  /** For runs whose tokens come as message chunks; LangGraph's v3 makes the events itself. */
  readonly #messages: MessageEvents | undefined;
  readonly #asked = new Set<string>();

  constructor(graph: RunnableGraph, runtime: LangGraphRuntime, codec: Codec, observer: RunObserver) {
    this.#observer = observer;
    this.#codec = codec;
    this.#isEnvelope = runtime.langgraph["isCheckpointEnvelope"] as (payload: unknown) => boolean;
    this.#messages = observer.native ? undefined : new MessageEvents();
    this.#pipeline = eventPipeline(graph, runtime, (event) => this.#tell(event));
  }

  /** The options of the run's stream, changed so that all that is to be observed comes. */
  options<T extends Json>(options: T): T {
    const modes = new Set([...(options["streamMode"] as string[]), ...MODES]);
    // LangGraph sends the envelopes of checkpoints only where a version of its event streams is named.
    return { ...options, streamMode: [...modes], subgraphs: true, version: this.#observer.native ? "v3" : "v2" };
  }

  /**
   * Takes a chunk of the run.
   * @returns what readers of the run's ordinary stream get of it, in the shape that they asked for; undefined for nothing.
   */
  chunk(chunk: unknown, subgraphs: boolean): unknown {
    if (!Array.isArray(chunk)) return undefined;
    const [namespace, mode, payload] = chunk as Chunk;
    if (this.#messages === undefined) this.#pipeline.push(chunk as Chunk);
    else for (const made of this.#messages.chunks(chunk as Chunk)) this.#pipeline.push(made);
    if (mode === "checkpoints" && this.#isEnvelope(payload)) return undefined;
    if (mode === "messages" && this.#messages === undefined) return undefined;
    if (subgraphs) return chunk;
    return namespace.length === 0 || DEPTHLESS.has(mode) ? [mode, payload] : undefined;
  }

  /** The run has come to its end, or failed. Resolves when all events are told. */
  async end(failure?: { readonly error: unknown }): Promise<void> {
    for (const chunk of this.#messages?.rest() ?? []) this.#pipeline.push(chunk);
    await this.#pipeline.end(failure);
  }

  #tell({ method, params }: PipelineEvent): void {
    const { namespace, timestamp, node, data } = params;
    const at = { namespace, timestamp };
    switch (method) {
      case "lifecycle":
        // The root's is told by who knows how the run was stored.
        if (namespace.length > 0) this.#observer.step(stepOf(namespace, data), this.#codec.wireOnce(data), timestamp);
        return;
      case "values":
        return this.#values(data, at);
      case "updates": {
        const { values } = data as { values: unknown };
        if (node === "__interrupt__") return this.#ask(values, at);
        return this.#observer.event({ ...at, method, node, data: this.#codec.wire(values) });
      }
      case "messages":
        return this.#observer.event({ ...at, method, node, data: this.#codec.wireOnce(data) });
      case "custom": {
        const { name } = data as { name?: unknown };
        const named = typeof name === "string" ? name : undefined;
        return this.#observer.event({ ...at, method, name: named, data: this.#codec.wire(data) });
      }
      default: {
        // What a transformer sends on a channel of its own.
        const name = method.startsWith("custom:") ? method.slice("custom:".length) : undefined;
        if (name === undefined) return this.#observer.event({ ...at, method, data: this.#codec.wire(data) });
        const named = this.#codec.wire({ name, payload: data });
        return this.#observer.event({ ...at, method: "custom", name, data: named });
      }
    }
  }

  #values(data: unknown, at: { namespace: readonly string[]; timestamp: number }): void {
    let shown = data;
    if (isObject(data) && "__interrupt__" in data) {
      const { __interrupt__: interrupts, ...values } = data;
      this.#ask(interrupts, at);
      if (Object.keys(values).length === 0) return;
      shown = values;
    }
    this.#observer.event({ ...at, method: "values", data: this.#codec.wire(shown) });
  }

  /** Tells of interrupts, each once: those of a subgraph show in every graph above it. */
  #ask(interrupts: unknown, at: { namespace: readonly string[]; timestamp: number }): void {
    for (const interrupt of Array.isArray(interrupts) ? interrupts : []) {
      const { id, value } = interrupt as { id?: unknown; value?: unknown };
      if (typeof id !== "string" || this.#asked.has(id)) continue;
      this.#asked.add(id);
      const data = `{"interrupt_id":${JSON.stringify(id)},"payload":${this.#codec.wire(value ?? null)}}`;
      this.#observer.event({ ...at, method: "input.requested", data });
    }
  }
}

function stepOf(namespace: readonly string[], data: unknown): ObservedStep {
  const { event, graph_name } = data as { event: ObservedStep["status"]; graph_name?: unknown };
  return { namespace, status: event, graphName: typeof graph_name === "string" ? graph_name : namespace.at(-1)! };
}
