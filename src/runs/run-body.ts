// Bodies and queries of the requests about runs (wire-api §1.3, §1.4): fields, defaults, limits.
import { z } from "zod";
import { checkpointReference, commandBody } from "../resources/state-bodies.ts";
import { isObject } from "../resources/json.ts";
import { MAX_NAMES, nameList, optional, queryFlag, queryInt, queryList, settings, uuid } from "../resources/schema.ts";
import { MAX_KEYS, settingsProblem } from "../resources/settings-size.ts";
import { STREAM_MODES } from "./chunks.ts";
import type { RunRequest } from "./request.ts";

/** Longest delay that `after_seconds` may ask for: ten years. */
const MAX_AFTER_SECONDS = 315_360_000;

const streamMode = z.enum(STREAM_MODES);
const nodes = optional(z.union([z.literal("*"), nameList])).meta({
  description: "Names of nodes, or `*` for all.",
});

const runCommand = commandBody
  .refine(
    ({ update, resume, goto }) => update != null || resume !== undefined || goto != null,
    "needs update, resume or goto",
  )
  .refine(
    ({ goto }) => [goto ?? []].flat().every((target) => !isObject(target) || typeof target["node"] === "string"),
    "an object in goto needs a node: {node, input}",
  );

/** Its keys become settings of the run, which are copied like metadata. */
const runContext = z.unknown().superRefine((value, context) => {
  const problem = isObject(value) ? settingsProblem(value) : undefined;
  if (problem !== undefined) context.addIssue({ code: "custom", message: problem, continue: false });
});

const fields = z
  .object({
    assistant_id: z.string().min(1).meta({ description: "Id of an assistant, or the name of a graph." }),
    input: z
      .unknown()
      .optional()
      .meta({ description: "Input of the graph. Without one the run goes on where the thread stands." }),
    command: optional(runCommand).meta({
      description: "In place of an input: the answer to interrupts, an update of the state, where to go on.",
    }),
    checkpoint: optional(checkpointReference).meta({
      description: "Where on the thread to start from; the newest checkpoint by default.",
    }),
    checkpoint_id: checkpointReference.shape.checkpoint_id,
    metadata: optional(settings),
    config: optional(
      z.looseObject({
        tags: optional(nameList),
        recursion_limit: optional(z.int().min(1)),
        configurable: optional(settings),
        metadata: optional(settings),
        run_name: optional(z.string()),
        max_concurrency: optional(z.int().min(1)),
      }),
    ),
    context: runContext.optional().meta({
      description: `Context of the graph's runtime. An object may have ${MAX_KEYS} keys in all, and 1 MiB.`,
    }),
    webhook: optional(z.string().min(1).max(65_536)).meta({
      description: "Is sent the run as JSON when that has ended: a URL, or a path on this server.",
    }),
    interrupt_before: nodes,
    interrupt_after: nodes,
    stream_mode: optional(z.union([streamMode, z.array(streamMode).max(MAX_NAMES)])).meta({
      default: "values",
      description: "What the events hold: one mode or several.",
    }),
    stream_subgraphs: optional(z.boolean()).meta({ description: "Events of subgraphs as well." }),
    stream_resumable: optional(z.boolean()).meta({ description: "Keep the events for readers that come later." }),
    feedback_keys: optional(nameList),
    multitask_strategy: optional(z.enum(["reject", "rollback", "interrupt", "enqueue"])).meta({
      default: "enqueue",
      description: "What happens when the thread has a run that has not ended.",
    }),
    if_not_exists: optional(z.enum(["reject", "create"])).meta({
      default: "reject",
      description: "What happens when there is no such thread.",
    }),
    after_seconds: optional(z.number().min(0).max(MAX_AFTER_SECONDS)).meta({
      description: "Seconds until the run may start.",
    }),
    checkpoint_during: optional(z.boolean()),
    durability: optional(z.enum(["sync", "async", "exit"])).meta({
      description: "When checkpoints are stored: before the next step, beside it, or at the end only.",
    }),
    on_disconnect: optional(z.enum(["cancel", "continue"])).meta({
      default: "continue",
      description: "What becomes of the run when the client that reads or waits goes away.",
    }),
    on_completion: optional(z.enum(["delete", "keep"])).meta({
      default: "delete",
      description: "Of a run without a thread: whether it and its state are deleted at its end.",
    }),
  })
  .meta({ id: "RunCreate" });

/** The body of every operation that creates a run. */
export const runBody = fields;

/** Most runs of one batch. */
const MAX_BATCH = 1000;

export const batchBody = z.array(fields).min(1).max(MAX_BATCH);

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

export const cancelQuery = z.object({
  wait: queryFlag(false),
  action: z.enum(["interrupt", "rollback"]).default("interrupt"),
});

const STATUSES = ["pending", "running", "all"] as const;

/** Which runs to stop: all of a status, or some of a thread. */
export const cancelManyBody = z
  .object({
    status: optional(z.enum(STATUSES)),
    thread_id: optional(uuid),
    run_ids: optional(z.array(uuid).min(1).max(MAX_BATCH)),
  })
  .refine(
    ({ status, thread_id, run_ids }) =>
      status === undefined
        ? thread_id !== undefined && run_ids !== undefined
        : thread_id === undefined && run_ids === undefined,
    `give either status (${STATUSES.join(", ")}) or thread_id with run_ids`,
  );

export const cancelManyQuery = cancelQuery.omit({ wait: true });
