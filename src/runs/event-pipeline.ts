// LangGraph's way from the chunks of a run to protocol v2 events. Its own pipeline (`createGraphRunStream`, what `streamEvents` v3 consists
// of) keeps every event until the run ends, so it serves only graphs that bring stream transformers, which must see the events there; for
// the others the two parts of it that matter are put together here and keep nothing.
import type { LangGraphRuntime, RunnableGraph } from "../graphs/types.ts";
import { PushIterator } from "./push-iterator.ts";

/** A chunk of `graph.stream` with several modes and subgraphs. */
export type Chunk = [namespace: string[], mode: string, payload: unknown];

/** An event as LangGraph makes it. */
export interface PipelineEvent {
  readonly method: string;
  readonly params: {
    readonly namespace: readonly string[];
    readonly timestamp: number;
    readonly node?: string;
    readonly data: unknown;
  };
}

/** Takes chunks and tells events. */
export interface EventPipeline {
  push(chunk: Chunk): void;
  /** The run has ended, or failed with this error. Resolves when all events are told. */
  end(failure?: { readonly error: unknown }): Promise<void>;
}

type Tell = (event: PipelineEvent) => void;

/** The pipeline for a run of `graph`. */
export function eventPipeline(graph: RunnableGraph, { langgraph }: LangGraphRuntime, tell: Tell): EventPipeline {
  const { streamTransformers: transformers = [] } = graph as { streamTransformers?: readonly unknown[] };
  const { createLifecycleTransformer, convertToProtocolEvent, createGraphRunStream } = langgraph;
  if (transformers.length === 0 && typeof createLifecycleTransformer === "function") {
    return new DirectPipeline(
      (createLifecycleTransformer as () => Lifecycle)(),
      convertToProtocolEvent as Convert,
      tell,
    );
  }
  return new GraphPipeline(createGraphRunStream as CreateStream, transformers, tell);
}

/** LangGraph's transformer that tells of the beginning and end of every graph and node. */
interface Lifecycle {
  init(): unknown;
  onRegister(emitter: { push(namespace: string[], event: PipelineEvent): void }): void;
  /** @returns whether the event is to be told. */
  process(event: PipelineEvent): boolean;
  finalize(): unknown;
  fail(error: unknown): void;
}
type Convert = (chunk: { namespace: string[]; mode: string; payload: unknown; seq: number }) => PipelineEvent[];

class DirectPipeline implements EventPipeline {
  readonly #lifecycle: Lifecycle;
  readonly #convert: Convert;
  readonly #tell: Tell;

  constructor(lifecycle: Lifecycle, convert: Convert, tell: Tell) {
    this.#lifecycle = lifecycle;
    this.#convert = convert;
    this.#tell = tell;
    lifecycle.init();
    lifecycle.onRegister({ push: (_namespace, event) => tell(event) });
  }

  push([namespace, mode, payload]: Chunk): void {
    for (const event of this.#convert({ namespace, mode, payload, seq: 0 }))
      if (this.#lifecycle.process(event)) this.#tell(event);
  }

  async end(failure?: { readonly error: unknown }): Promise<void> {
    if (failure === undefined) await this.#lifecycle.finalize();
    else this.#lifecycle.fail(failure.error);
  }
}

interface GraphStream extends AsyncIterable<PipelineEvent> {
  readonly extensions?: Readonly<Record<string, unknown>>;
}
type CreateStream = (source: AsyncIterable<Chunk>, transformers: readonly unknown[]) => GraphStream;

class GraphPipeline implements EventPipeline {
  readonly #source = new PushIterator<Chunk>();
  readonly #told: Promise<void>;

  constructor(create: CreateStream, transformers: readonly unknown[], tell: Tell) {
    const stream = create(this.#source, transformers);
    // What a transformer promises is asked for only when the run ends well; that nobody listens must not take the server down.
    for (const value of Object.values(stream.extensions ?? {}))
      if (isThenable(value)) value.then(undefined, () => undefined);
    this.#told = tellAll(stream, tell);
  }

  push(chunk: Chunk): void {
    this.#source.push(chunk);
  }

  async end(failure?: { readonly error: unknown }): Promise<void> {
    if (failure === undefined) this.#source.end();
    else this.#source.fail(failure.error);
    await this.#told;
  }
}

async function tellAll(events: AsyncIterable<PipelineEvent>, tell: Tell): Promise<void> {
  try {
    for await (const event of events) tell(event);
  } catch {
    // The error of the run, which its end tells of; or one of a transformer's, which ends the events and not the run.
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
