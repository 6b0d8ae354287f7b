// Bodies and queries of the requests about assistants (wire-api §1.1).
import { z } from "zod";
import { jsonObject, limit, offset, optional, sortOrder } from "./schema.ts";

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
