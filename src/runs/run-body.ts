// Bodies and queries of the requests about runs (wire-api §1.3, §1.4): fields, defaults, limits.
import { z } from "zod";
import { checkpointReference, commandBody } from "../resources/state-bodies.ts";
import { jsonObject, optional, queryFlag, queryInt, queryList } from "../resources/schema.ts";
import { STREAM_MODES } from "./chunks.ts";
import type { RunRequest } from "./request.ts";

/** Longest delay that `after_seconds` may ask for: ten years. */
const MAX_AFTER_SECONDS = 315_360_000;

const streamMode = z.enum(STREAM_MODES);
const nodes = optional(z.union([z.literal("*"), z.array(z.string())]));

const fields = z.object({
  assistant_id: z.string().min(1),
  input: z.unknown().optional(),
  command: optional(commandBody),
  checkpoint: optional(checkpointReference),
  checkpoint_id: checkpointReference.shape.checkpoint_id,
  metadata: optional(jsonObject),
  config: optional(
    z.looseObject({
      tags: optional(z.array(z.string())),
      recursion_limit: optional(z.int().min(1)),
      configurable: optional(jsonObject),
      metadata: optional(jsonObject),
      run_name: optional(z.string()),
      max_concurrency: optional(z.int().min(1)),
    }),
  ),
  context: z.unknown().optional(),
  webhook: z
    .unknown()
    .optional()
    .refine((value) => value === undefined || value === null, "this version of agent-server sends no webhooks"),
  interrupt_before: nodes,
  interrupt_after: nodes,
  stream_mode: optional(z.union([streamMode, z.array(streamMode)])),
  stream_subgraphs: optional(z.boolean()),
  stream_resumable: optional(z.boolean()),
  feedback_keys: optional(z.array(z.string())),
  multitask_strategy: optional(z.enum(["reject", "rollback", "interrupt", "enqueue"])),
  if_not_exists: optional(z.enum(["reject", "create"])),
  after_seconds: optional(z.number().min(0).max(MAX_AFTER_SECONDS)),
  checkpoint_during: optional(z.boolean()),
  durability: optional(z.enum(["sync", "async", "exit"])),
  on_disconnect: optional(z.enum(["cancel", "continue"])),
  on_completion: optional(z.enum(["delete", "keep"])),
});

/** The body of every operation that creates a run. */
export const runBody = fields;

/** The engine's request for a body, with the documented defaults. */
export function runRequest(body: z.infer<typeof fields>): RunRequest {
  const { command, config, stream_mode, stream_subgraphs, stream_resumable, checkpoint_during, ...rest } = body;
  const modes = stream_mode === undefined ? ["values"] : [stream_mode].flat();
  const durability = rest.durability ?? (checkpoint_during === false ? "exit" : undefined);
  return {
    ...rest,
    // A command has the last word: the input beside it does not count.
    input: command === undefined ? (rest.input ?? undefined) : undefined,
    command: command as RunRequest["command"],
    checkpoint: withoutUndefined(rest.checkpoint),
    config: withoutUndefined(config),
    context: rest.context ?? undefined,
    stream_mode: modes.length === 0 ? ["values"] : modes,
    stream_subgraphs: stream_subgraphs ?? false,
    stream_resumable: stream_resumable ?? false,
    multitask_strategy: rest.multitask_strategy ?? "enqueue",
    if_not_exists: rest.if_not_exists ?? "reject",
    on_completion: rest.on_completion ?? "delete",
    durability,
  };
}

function withoutUndefined<T extends object>(value: T | undefined): Record<string, unknown> | undefined {
  if (value === undefined) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));
}

const RUN_FIELDS = [
  "run_id",
  "thread_id",
  "assistant_id",
  "created_at",
  "updated_at",
  "status",
  "metadata",
  "kwargs",
  "multitask_strategy",
] as const;

export const listRunsQuery = z.object({
  limit: queryInt(1, 1000, 10),
  offset: queryInt(0, Number.MAX_SAFE_INTEGER, 0),
  status: z.enum(["pending", "running", "success", "error", "interrupted", "timeout"]).optional(),
  select: queryList.pipe(z.array(z.enum([...RUN_FIELDS, "langsmith_session_name"])).optional()),
});

export const joinQuery = z.object({ cancel_on_disconnect: queryFlag(false) });

export const joinStreamQuery = z.object({
  cancel_on_disconnect: queryFlag(false),
  stream_mode: queryList.pipe(z.array(streamMode).optional()),
});

export const cancelQuery = z.object({
  wait: queryFlag(false),
  action: z.enum(["interrupt", "rollback"]).default("interrupt"),
});
