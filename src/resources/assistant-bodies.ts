// Bodies and queries of the requests about assistants (wire-api §1.1).
import { z } from "zod";
import type { Json } from "./json.ts";
import {
  containedFilter,
  limit,
  nameList,
  offset,
  optional,
  queryFlag,
  selection,
  settings,
  sortOrder,
  uuid,
} from "./schema.ts";

/** Characters of an assistant's name. */
const MAX_NAME = 1000;

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

/** The config of an assistant; keys that nobody knows stay. */
export const assistantConfig = z
  .looseObject({
    tags: optional(nameList),
    recursion_limit: optional(z.int().min(1)),
    configurable: optional(settings),
    metadata: optional(settings),
    run_name: optional(z.string()),
    max_concurrency: optional(z.int().min(1)),
  })
  .transform((config): Json => Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)));

const fields = {
  config: optional(assistantConfig),
  context: optional(settings),
  metadata: optional(settings),
  name: optional(z.string().max(MAX_NAME)),
  description: optional(z.string()),
};

export const createAssistantBody = z.object({
  assistant_id: optional(uuid),
  graph_id: z.string().min(1),
  if_exists: optional(z.enum(["raise", "do_nothing"])),
  ...fields,
});

export const patchAssistantBody = z.object({ graph_id: optional(z.string().min(1)), ...fields });

export const deleteAssistantQuery = z.object({ delete_threads: queryFlag(false) });

const filter = {
  metadata: optional(containedFilter),
  graph_id: optional(z.string()),
  name: optional(z.string()),
};

export const searchAssistantsBody = z.object({
  ...filter,
  limit: limit(),
  offset,
  sort_by: optional(z.enum(["assistant_id", "created_at", "updated_at", "name", "graph_id"])),
  sort_order: sortOrder,
  select: selection(ASSISTANT_FIELDS),
});

export const countAssistantsBody = z.object(filter);

export const versionsBody = z.object({ metadata: optional(containedFilter), limit: limit(), offset });

export const latestBody = z.object({ version: optional(z.int().min(1)) });

/** The hosted server documents the version as a parameter of the query; clients send it in the body. */
export const latestQuery = z.object({ version: z.coerce.number().int().min(1).optional() });

export const drawQuery = z.object({
  xray: z
    .string()
    .regex(/^(?:true|false|\d{1,3})$/, "must be true, false or a depth")
    .optional()
    .transform((value) => (value === undefined || value === "false" ? false : value === "true" ? true : Number(value))),
});

export const subgraphsQuery = z.object({ recurse: queryFlag(false) });
