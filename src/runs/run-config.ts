// From what a caller asked for to what LangGraph takes: the config of an invocation, and its input or command.
import type { GraphRunConfig, LangGraphRuntime, RunnableGraph } from "../graphs/types.ts";
import { isObject, type Json } from "../resources/json.ts";
import type { RunRecord } from "../resources/runs.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import { interruptsOf } from "./result.ts";

/**
 * The config of a run for LangGraph.
 * @param resumed an earlier attempt got as far as a checkpoint: the run goes on from the newest one, wherever it began.
 */
export function runConfig(
  {
    record,
    configurable,
    metadata,
  }: { readonly record: RunRecord; readonly configurable: Json; readonly metadata: Json },
  resumed: boolean,
): GraphRunConfig {
  const { config, context, checkpoint } = record.run.kwargs;
  const {
    configurable: own,
    recursion_limit,
    run_name,
    max_concurrency,
    tags,
  } = config as {
    configurable?: Json;
    recursion_limit?: number;
    run_name?: string;
    max_concurrency?: number;
    tags?: string[];
  };
  const from = resumed ? {} : checkpointConfig(checkpoint);
  const settings = mirrored(withoutInner(own), context);
  return {
    configurable: { ...settings.configurable, ...from, ...configurable },
    metadata: { ...metadata },
    ...(tags === undefined ? {} : { tags }),
    ...(settings.context === undefined ? {} : { context: settings.context }),
    ...(recursion_limit === undefined ? {} : { recursionLimit: recursion_limit }),
    ...(run_name === undefined ? {} : { runName: run_name }),
    ...(max_concurrency === undefined ? {} : { maxConcurrency: max_concurrency }),
  };
}

/** Keys of `configurable` that say where a run is and not how it is to be done. */
const PLACES: ReadonlySet<string> = new Set(["thread_id", "run_id", "graph_id", "assistant_id"]);

/**
 * Graphs read their settings from `context` or, if they are older, from `configurable`: who gives one of them reaches both kinds.
 * Where both are given, each is what it is.
 */
function mirrored(configurable: Json, context: unknown): { configurable: Json; context: unknown } {
  const given = Object.entries(configurable).filter(([key]) => !PLACES.has(key));
  if (context === undefined) {
    return { configurable, context: given.length > 0 ? Object.fromEntries(given) : undefined };
  }
  if (given.length > 0 || !isObject(context)) return { configurable, context };
  return { configurable: { ...withoutInner(context), ...configurable }, context };
}

/** A caller's configurable without the checkpoint, which has its own place, and without settings that only LangGraph or this server may make. */
function withoutInner(configurable: Json = {}): Json {
  const { checkpoint_id: _id, checkpoint_ns: _ns, checkpoint_map: _map, ...rest } = configurable;
  return Object.fromEntries(
    Object.entries(rest).filter(([key]) => !key.startsWith("__pregel") && !key.startsWith("langgraph_auth")),
  );
}

/** The parts of a checkpoint reference that LangGraph reads. */
export function checkpointConfig(checkpoint: Json | undefined): Json {
  if (checkpoint === undefined) return {};
  const { checkpoint_id, checkpoint_ns, checkpoint_map } = checkpoint;
  return {
    ...(checkpoint_id == null ? {} : { checkpoint_id }),
    ...(checkpoint_ns == null ? {} : { checkpoint_ns }),
    ...(checkpoint_map == null ? {} : { checkpoint_map }),
  };
}

/** A command that LangGraph would leave out without a word. */
export class InvalidCommandError extends Error {
  override readonly name = "InvalidCommandError";
}

/**
 * The input of a run for LangGraph: the caller's, or the command that it gave.
 * @throws InvalidCommandError when the command goes to a node that the graph does not have.
 */
export function graphInput(
  {
    record,
    runtime,
    checkpoints,
  }: {
    readonly record: RunRecord;
    readonly runtime: LangGraphRuntime;
    readonly checkpoints: CheckpointStore;
  },
  graph: RunnableGraph,
): unknown {
  const { input, command } = record.run.kwargs;
  if (command === undefined) return input ?? null;
  const { resume, update, goto } = command;
  // Clients send null for what they leave out; a command that has nothing else answers with it.
  const answers = resume !== undefined && (resume !== null || (update == null && goto == null));
  const answered = answers ? { resume: answer(resume, checkpoints, record.run.thread_id) } : {};
  return graphCommand({ ...answered, update, goto }, runtime, graph);
}

/**
 * A client's command as LangGraph takes it.
 * @throws InvalidCommandError when it goes to a node that the graph does not have.
 */
export function graphCommand(
  { update, goto, ...answered }: Json,
  runtime: LangGraphRuntime,
  graph: RunnableGraph,
): unknown {
  const Command = runtime.langgraph["Command"] as new (fields: Json) => unknown;
  return new Command({
    ...("resume" in answered ? { resume: answered["resume"] } : {}),
    ...(update == null ? {} : { update }),
    ...(goto == null ? {} : { goto: sends(goto, runtime, graph) }),
  });
}

/** LangGraph takes `false`, `0`, `""` and `null` for no answer, unless they are given to the interrupts by their ids. */
function answer(resume: unknown, checkpoints: CheckpointStore, threadId: string): unknown {
  if (resume !== false && resume !== 0 && resume !== "" && resume !== null) return resume;
  const waiting = Object.values(interruptsOf(checkpoints, threadId)).flat();
  const ids = waiting.map(({ id }) => id).filter((id) => typeof id === "string");
  return ids.length === 0 ? resume : Object.fromEntries(ids.map((id) => [id, resume]));
}

/** `{node, input}` objects among the targets of `goto` become LangGraph's Send, whose own JSON (RemoteGraph sends it) has `args` for `input`. */
function sends(goto: unknown, runtime: LangGraphRuntime, { nodes }: RunnableGraph): unknown {
  const Send = runtime.langgraph["Send"] as new (node: string, args: unknown) => unknown;
  const check = (node: string, known: boolean): string => {
    if (known || Object.hasOwn(nodes, node)) return node;
    const names = Object.keys(nodes).filter((name) => !name.startsWith("__"));
    throw new InvalidCommandError(`goto: the graph has no node "${node}"; its nodes are ${names.join(", ")}`);
  };
  const one = (target: unknown): unknown =>
    isObject(target)
      ? new Send(check(String(target["node"]), false), "input" in target ? target["input"] : target["args"])
      : check(String(target), target === "__end__");
  return Array.isArray(goto) ? goto.map(one) : one(goto);
}
