// Bodies of the requests about threads, states and assistants (wire-api §1.1, §1.2). Runs have theirs in run-body.ts.
import { z } from "zod";
import { jsonObject, limit, offset, optional, queryFlag, queryInt } from "./schema.ts";

const threadStatus = z.enum(["idle", "busy", "interrupted", "error"]);
const sortOrder = optional(z.enum(["asc", "desc"]));
const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i, "must be a UUID")
  .transform((id) => id.toLowerCase());

/** Characters of a checkpoint id or namespace in the spelling of storage keys. */
const MAX_REFERENCE_CHARS = 1500;

/** An id or namespace of checkpoints, which becomes a part of a storage key. */
const reference = z
  .string()
  .refine(
    (text) => text.isWellFormed() && encodeURIComponent(text).length <= MAX_REFERENCE_CHARS,
    "is not a checkpoint reference",
  );

export const checkpointReference = z.object({
  thread_id: optional(z.string()),
  checkpoint_ns: optional(reference),
  checkpoint_id: optional(reference),
  checkpoint_map: optional(jsonObject),
});

const command = z.object({
  update: z.union([jsonObject, z.array(z.tuple([z.string(), z.unknown()]))]).nullish(),
  resume: z.unknown().optional(),
  goto: z.union([z.string(), jsonObject, z.array(z.union([z.string(), jsonObject]))]).nullish(),
});
export const commandBody = command;

/** Refused, because it would not act. */
const noTtl = z
  .unknown()
  .optional()
  .refine(
    (value) => value === undefined || value === null,
    "threads with a time to live are not available in this version",
  );

export const createThreadBody = z.object({
  thread_id: optional(uuid),
  metadata: optional(jsonObject),
  if_exists: optional(z.enum(["raise", "do_nothing"])),
  ttl: noTtl,
  supersteps: optional(
    z.array(
      z.object({
        updates: z
          .array(z.object({ values: z.unknown().optional(), command: optional(command), as_node: z.string() }))
          .min(1),
      }),
    ),
  ),
});

export const patchThreadBody = z.object({ metadata: optional(jsonObject), ttl: noTtl });

export const THREAD_FIELDS = [
  "thread_id",
  "created_at",
  "updated_at",
  "state_updated_at",
  "metadata",
  "config",
  "status",
  "values",
  "interrupts",
] as const;

export const searchThreadsBody = z.object({
  ids: optional(z.array(uuid)),
  metadata: optional(jsonObject),
  values: optional(jsonObject),
  status: optional(threadStatus),
  limit: limit(),
  offset,
  sort_by: optional(z.enum(["thread_id", "status", "created_at", "updated_at", "state_updated_at"])),
  sort_order: sortOrder,
  select: optional(z.array(z.enum(THREAD_FIELDS))),
});

export const countThreadsBody = z.object({
  metadata: optional(jsonObject),
  values: optional(jsonObject),
  status: optional(threadStatus),
});

export const stateQuery = z.object({ subgraphs: queryFlag(false) });

export const stateAtBody = z.object({ checkpoint: checkpointReference, subgraphs: optional(z.boolean()) });

export const updateStateBody = z.object({
  values: z.unknown().optional(),
  as_node: optional(z.string()),
  checkpoint: optional(checkpointReference),
  checkpoint_id: optional(reference),
});

/** `before` comes as an id, as a checkpoint reference, or as a config that holds one. */
const before = z
  .union([z.string(), jsonObject])
  .nullish()
  .transform((value) => {
    if (value === null || value === undefined || typeof value === "string") return value ?? undefined;
    const { configurable, checkpoint_id } = value as {
      configurable?: { checkpoint_id?: unknown };
      checkpoint_id?: unknown;
    };
    const id = checkpoint_id ?? configurable?.checkpoint_id;
    return typeof id === "string" ? id : undefined;
  })
  .transform((id) => id || undefined)
  .pipe(reference.optional());

export const historyBody = z.object({
  limit: limit(),
  before,
  metadata: optional(jsonObject),
  checkpoint: optional(checkpointReference),
});

export const historyQuery = z.object({
  limit: queryInt(1, 1000, 10),
  before: reference.optional().transform((id) => id || undefined),
});

/** The checkpoint id in a path. */
export const checkpointParam = reference;

export const ASSISTANT_FIELDS = [
  "assistant_id",
  "graph_id",
  "name",
  "description",
  "config",
  "context",
  "created_at",
  "updated_at",
  "metadata",
  "version",
] as const;

export const searchAssistantsBody = z.object({
  metadata: optional(jsonObject),
  graph_id: optional(z.string()),
  name: optional(z.string()),
  limit: limit(),
  offset,
  sort_by: optional(z.enum(["assistant_id", "created_at", "updated_at", "name", "graph_id"])),
  sort_order: sortOrder,
  select: optional(z.array(z.enum(ASSISTANT_FIELDS))),
});

export const countAssistantsBody = z.object({
  metadata: optional(jsonObject),
  graph_id: optional(z.string()),
  name: optional(z.string()),
});

export const drawQuery = z.object({
  xray: z
    .string()
    .regex(/^(?:true|false|\d{1,3})$/, "must be true, false or a depth")
    .optional()
    .transform((value) => (value === undefined || value === "false" ? false : value === "true" ? true : Number(value))),
});
