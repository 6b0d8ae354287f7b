// The parts of a thread state in the names and forms of the wire (wire-api §1.0).
import type { GraphRunConfig, GraphStateSnapshot, GraphStateTask } from "../graphs/types.ts";
import { withOffset } from "../ids.ts";
import type { Json } from "../resources/json.ts";
import { nameValues } from "./interrupts.ts";
import { checkpointConfig } from "./run-config.ts";

/** A task of a state. */
export function taskJson({ id, name, path, error, interrupts, state, result }: GraphStateTask): Json {
  nameValues(interrupts);
  const snapshot = state !== undefined && "values" in state ? (state as GraphStateSnapshot) : undefined;
  return {
    id,
    name,
    ...(path === undefined ? {} : { path }),
    error: error === undefined || error === null ? null : errorText(error),
    interrupts,
    checkpoint: state === undefined ? null : checkpointReference(snapshot?.config ?? (state as GraphRunConfig)),
    state: snapshot === undefined ? null : snapshotJson(snapshot),
    ...(result === undefined ? {} : { result }),
  };
}

/** The state of a subgraph inside a task. */
function snapshotJson({ values, next, tasks, metadata, config, createdAt, parentConfig }: GraphStateSnapshot): Json {
  return {
    values: values ?? {},
    next,
    tasks: tasks.map(taskJson),
    metadata: metadata ?? null,
    checkpoint: checkpointReference(config),
    created_at: createdAt === undefined ? null : withOffset(createdAt),
    parent_checkpoint: parentConfig === undefined ? null : checkpointReference(parentConfig),
    interrupts: tasks.flatMap((task) => task.interrupts),
  };
}

function checkpointReference({ configurable }: GraphRunConfig): Json {
  const { thread_id, checkpoint_ns = "", ...rest } = configurable ?? {};
  return { thread_id, checkpoint_ns, ...checkpointConfig(rest) };
}

function errorText(error: unknown): string {
  if (typeof error === "string") return error;
  const { name, message } = error as { name?: string; message?: string };
  return message === undefined ? JSON.stringify(error) : name === undefined ? message : `${name}: ${message}`;
}
