// Bodies of the requests about threads (wire-api §1.2), but for those about their states.
import { z } from "zod";
import { jsonObject, limit, offset, optional, sortOrder, uuid } from "./schema.ts";
import { commandBody } from "./state-bodies.ts";

const threadStatus = z.enum(["idle", "busy", "interrupted", "error"]);

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
          .array(z.object({ values: z.unknown().optional(), command: optional(commandBody), as_node: z.string() }))
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
