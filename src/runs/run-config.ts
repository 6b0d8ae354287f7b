// From what a caller asked for to what LangGraph takes: the config of an invocation, and its input or command.
import type { GraphRunConfig, LangGraphRuntime } from "../graphs/types.ts";
import type { Json } from "../resources/json.ts";
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
  return {
    configurable: { ...withoutInner(own), ...from, ...configurable },
    metadata: { ...metadata },
    ...(tags === undefined ? {} : { tags }),
    ...(context === undefined ? {} : { context }),
    ...(recursion_limit === undefined ? {} : { recursionLimit: recursion_limit }),
    ...(run_name === undefined ? {} : { runName: run_name }),
    ...(max_concurrency === undefined ? {} : { maxConcurrency: max_concurrency }),
  };
}

/** A caller's configurable without the checkpoint, which has its own place, and without settings that only LangGraph may make. */
function withoutInner(configurable: Json = {}): Json {
  const { checkpoint_id: _id, checkpoint_ns: _ns, checkpoint_map: _map, ...rest } = configurable;
  return Object.fromEntries(Object.entries(rest).filter(([key]) => !key.startsWith("__pregel")));
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

/** The input of a run for LangGraph: the caller's, or the command that it gave. */
export function graphInput({
  record,
  runtime,
  checkpoints,
}: {
  readonly record: RunRecord;
  readonly runtime: LangGraphRuntime;
  readonly checkpoints: CheckpointStore;
}): unknown {
  const { input, command } = record.run.kwargs;
  if (command === undefined) return input ?? null;
  const Command = runtime.langgraph["Command"] as new (fields: Json) => unknown;
  const { resume, update, goto } = command;
  return new Command({
    ...(resume === undefined ? {} : { resume: answer(resume, checkpoints, record.run.thread_id) }),
    ...(update == null ? {} : { update }),
    ...(goto == null ? {} : { goto: sends(goto, runtime) }),
  });
}

/** LangGraph takes `false`, `0` and `""` for no answer, unless they are given to the interrupts by their ids. */
function answer(resume: unknown, checkpoints: CheckpointStore, threadId: string): unknown {
  if (resume !== false && resume !== 0 && resume !== "") return resume;
  const waiting = Object.values(interruptsOf(checkpoints, threadId)).flat();
  const ids = waiting.map(({ id }) => id).filter((id) => typeof id === "string");
  return ids.length === 0 ? resume : Object.fromEntries(ids.map((id) => [id, resume]));
}

/** `{node, input}` objects among the targets of `goto` become LangGraph's Send. */
function sends(goto: unknown, runtime: LangGraphRuntime): unknown {
  const Send = runtime.langgraph["Send"] as new (node: string, args: unknown) => unknown;
  const one = (target: unknown): unknown =>
    typeof target === "object" && target !== null
      ? new Send(String((target as Json)["node"]), (target as Json)["input"])
      : target;
  return Array.isArray(goto) ? goto.map(one) : one(goto);
}
