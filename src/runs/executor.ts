// Runs one graph once: builds its config, streams it, turns what it streams into events, and says how it ended.
// It knows no queue, no thread records and no HTTP; what goes in and what comes out is plain data.
import type { GraphVersion, LangGraphRuntime, RunnableGraph } from "../graphs/types.ts";
import type { Json } from "../resources/json.ts";
import type { RunError, RunRecord } from "../resources/runs.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import type { Codec } from "../storage/codec.ts";
import type { RunJournal } from "../storage/journal.ts";
import type { SaverFactory } from "../storage/saver.ts";
import { reachedBefore } from "./beginning.ts";
import { bindGraph } from "./bind.ts";
import { standsAtBreakpoint } from "./breakpoint.ts";
import { ChunkEvents, graphModes, type EventSink } from "./chunks.ts";
import { describeError } from "./describe-error.ts";
import { drains, runControl } from "./drain.ts";
import { leftovers } from "./leftovers.ts";
import { canObserve, Observation } from "./observation.ts";
import type { RunObserver } from "./observer.ts";
import { graphInput, runConfig } from "./run-config.ts";
import { visibleChannels } from "./visible.ts";

/** What an execution works with. */
export interface Execution {
  readonly record: RunRecord;
  readonly version: GraphVersion;
  readonly runtime: LangGraphRuntime;
  readonly codec: Codec;
  readonly makeSaver: SaverFactory;
  readonly checkpoints: CheckpointStore;
  /** Where it is noted what the run writes. */
  readonly journal: RunJournal | undefined;
  readonly store: unknown;
  readonly sink: EventSink;
  /** Who watches the run as a series of protocol v2 events, if anybody does. */
  readonly observer?: RunObserver | undefined;
  readonly signal: AbortSignal;
  /** Asked when the signal was aborted: whether it matters how far the graph had come by then. */
  readonly wantsRest: () => boolean;
  /** Metadata that every part of the run carries. */
  readonly metadata: Json;
  /** Settings that every part of the run carries: ids of run, thread, graph and assistant among them. */
  readonly configurable: Json;
  /** Called with a function that asks the graph to stop behind the superstep that it is at. */
  readonly onDrain: (drain: () => void) => void;
  /** Called with a function that gives the JSON of the newest state that the graph has shown, for runs that do not end well. */
  readonly onValues: (values: () => string | undefined) => void;
}

/** How an execution ended. */
export type ExecutionEnd =
  | {
      readonly kind: "done";
      readonly valuesJson: string | undefined;
      readonly interrupts: readonly string[] | undefined;
    }
  | {
      readonly kind: "failed";
      readonly error: RunError;
      readonly cause: unknown;
      /** What the thread shows, where that is more than its newest checkpoint. */
      readonly valuesJson?: string | undefined;
    }
  | {
      readonly kind: "aborted";
      /** It was stopped behind its last step: nothing was left to do. */
      readonly atEnd?: boolean;
      /** As that of a failed one. */
      readonly valuesJson?: string | undefined;
    }
  /** It stopped behind a step because the server asked it to. */
  | { readonly kind: "drained" };

/** Executes the run; never rejects. It returns as soon as the signal aborts, even if the graph does not heed it. */
export async function execute(execution: Execution): Promise<ExecutionEnd> {
  const { signal } = execution;
  if (signal.aborted) return { kind: "aborted" };
  let abandoned = false;
  const aborted = new Promise<ExecutionEnd>((resolve) => {
    signal.addEventListener("abort", () => resolve({ kind: "aborted" }), { once: true });
  });
  const watch: Watch = { isAbandoned: () => abandoned || signal.aborted, bound: undefined };
  const end = await Promise.race([stream(execution, watch), aborted]);
  abandoned = true;
  if (!signal.aborted) return end;
  return { kind: "aborted", ...(execution.wantsRest() ? await leftovers(execution, watch.bound, true) : {}) };
}

/** What is known of an execution outside of it. */
interface Watch {
  readonly isAbandoned: () => boolean;
  /** The graph, as soon as there is one. */
  bound: RunnableGraph | undefined;
}

async function stream(execution: Execution, watch: Watch): Promise<ExecutionEnd> {
  const { isAbandoned } = watch;
  const { record, codec, runtime, sink, signal } = execution;
  const { kwargs } = record.run;
  let observation: Observation | undefined;
  /** The graph may ask for a drain, too: then the run ends. */
  let serverDrains = false;
  try {
    const reached = reachedBefore(execution);
    const resumed = reached !== undefined;
    const config = runConfig(execution, resumed);
    const graph = await execution.version.resolve(config);
    const saver = execution.makeSaver({
      store: execution.checkpoints,
      codec,
      sync: kwargs.durability === "sync",
      writer: {
        run: { id: record.run.run_id, attempt: record.attempt },
        context: { metadata: sharedMetadata(execution.metadata), ...visibleChannels(graph, codec) },
      },
      journal: execution.journal,
      isAbandoned,
    });
    const control = runControl(runtime);
    if (control !== undefined) {
      execution.onDrain(() => {
        serverDrains = true;
        control.requestDrain();
      });
    }
    const bound = (watch.bound = bindGraph(graph, saver, execution.store));
    if (resumed && (await standsAtBreakpoint(bound, kwargs, reached))) {
      return { kind: "done", valuesJson: undefined, interrupts: [] };
    }
    const options = {
      ...config,
      ...(control === undefined ? {} : { control }),
      runId: record.run.run_id,
      signal,
      streamMode: graphModes(kwargs.stream_mode),
      subgraphs: kwargs.subgraphs,
      durability: kwargs.durability ?? (record.ephemeral ? "exit" : "async"),
      ...(kwargs.interrupt_before === undefined ? {} : { interruptBefore: kwargs.interrupt_before }),
      ...(kwargs.interrupt_after === undefined ? {} : { interruptAfter: kwargs.interrupt_after }),
    };
    const input = resumed ? null : graphInput(execution, graph);
    const events = new ChunkEvents(sink, codec, kwargs.stream_mode, Object.keys(record.hidden ?? {}));
    const values = (): string | undefined => (events.values === undefined ? undefined : codec.wire(events.values));
    execution.onValues(values);
    if (execution.observer !== undefined && canObserve(runtime))
      observation = new Observation(bound, runtime, codec, execution.observer);
    const streamed = observation?.options(options) ?? options;
    const take = (chunk: unknown): void => {
      takeChunk(
        events,
        observation === undefined ? chunk : observation.chunk(chunk, kwargs.subgraphs),
        kwargs.subgraphs,
      );
    };
    const pull = async (): Promise<void> => {
      if (kwargs.stream_mode.includes("events")) {
        for await (const event of bound.streamEvents(input, { ...streamed, version: "v2" })) {
          if (isAbandoned()) break;
          if (event["event"] === "on_chain_stream" && event["run_id"] === record.run.run_id) {
            const { chunk } = event["data"] as { chunk: unknown };
            take(chunk);
          } else events.event(event);
        }
      } else {
        for await (const chunk of await streamOf(bound, input, streamed)) {
          if (isAbandoned()) break;
          take(chunk);
        }
      }
    };
    const isDrained = await drains(pull);
    if (isDrained && serverDrains) return { kind: "drained" };
    if (!isAbandoned()) await observation?.end();
    // A graph that has drained itself waits to be gone on with, as one that stands at a breakpoint.
    const interrupts = events.interrupts ?? (isDrained ? [] : undefined);
    return {
      kind: "done",
      valuesJson: values(),
      interrupts: interrupts?.map((interrupt) => codec.wire(interrupt)),
    };
  } catch (error) {
    if (!isAbandoned()) await observation?.end({ error });
    const { valuesJson } = await leftovers(execution, watch.bound, false);
    return { kind: "failed", error: describeError(error), cause: error, valuesJson };
  }
}

/**
 * The chunks of a run. `graph.stream` hands what its iterator yields through two web streams, which costs a sixth of a small run;
 * the iterator itself is LangGraph's inner method, so where a release has it no more, the stream serves.
 */
function streamOf(
  graph: RunnableGraph,
  input: unknown,
  options: Record<string, unknown>,
): AsyncIterable<unknown> | Promise<AsyncIterable<unknown>> {
  const { _streamIterator: iterate } = graph as {
    _streamIterator?: (input: unknown, options: Record<string, unknown>) => AsyncIterable<unknown>;
  };
  return typeof iterate === "function" ? iterate.call(graph, input, options) : graph.stream(input, options);
}

/** A chunk of `graph.stream` with several modes: `[mode, payload]`, or `[namespace, mode, payload]` with subgraphs. */
function takeChunk(events: ChunkEvents, chunk: unknown, subgraphs: boolean): void {
  if (!Array.isArray(chunk)) return;
  if (subgraphs) events.chunk((chunk[0] ?? []) as string[], chunk[1] as string, chunk[2]);
  else events.chunk([], chunk[0] as string, chunk[1]);
}

/** The metadata that all runs like this one have. */
function sharedMetadata({ run_id: _run, run_attempt: _attempt, ...shared }: Json): Json {
  return shared;
}
