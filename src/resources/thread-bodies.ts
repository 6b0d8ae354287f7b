// Bodies and queries of the requests about threads (wire-api §1.2), but for those about their states.
import { z } from "zod";
import {
  containedFilter,
  jsonObject,
  limit,
  MAX_IDS,
  MAX_STEPS,
  offset,
  optional,
  queryList,
  selection,
  settings,
  sortOrder,
  uuid,
} from "./schema.ts";
import { commandBody } from "./state-bodies.ts";
import { parsePath, PATH_FORM, type ExtractPath } from "./thread-extract.ts";
import type { ThreadTtl } from "./thread-ttl.ts";

const threadStatus = z.enum(["idle", "busy", "interrupted", "error"]);
const strategy = z.enum(["delete", "keep_latest"]);

/** A hundred years: dates go no further than some thousand times that. */
const MAX_TTL_MINUTES = 100 * 366 * 24 * 60;
/** Values that one search takes out of each thread. */
const MAX_ALIASES = 10;

const minutes = z.number().positive().max(MAX_TTL_MINUTES);

/** A time to live: minutes, or minutes with what is to become of the thread. */
const ttl = z
  .union([minutes, z.object({ ttl: minutes, strategy: optional(strategy) })], {
    error: "must be a number of minutes greater than 0, or an object {ttl: minutes, strategy: delete or keep_latest}",
  })
  .nullish()
  .transform((value): ThreadTtl | undefined => {
    if (value === null || value === undefined) return undefined;
    if (typeof value === "number") return { strategy: "delete", minutes: value };
    return { strategy: value.strategy ?? "delete", minutes: value.ttl };
  });

export const createThreadBody = z.object({
  thread_id: optional(uuid),
  metadata: optional(settings),
  if_exists: optional(z.enum(["raise", "do_nothing"])),
  ttl,
  supersteps: optional(
    z
      .array(
        z.object({
          updates: z
            .array(z.object({ values: z.unknown().optional(), command: optional(commandBody), as_node: z.string() }))
            .min(1)
            .max(MAX_STEPS),
        }),
      )
      .max(MAX_STEPS),
  ),
});

export const patchThreadBody = z.object({ metadata: optional(settings), ttl });

/** `?include=`: names in a list, or one by one. */
export const getThreadQuery = z.object({
  include: queryList
    .transform((names) => names?.flatMap((name) => name.split(",").map((part) => part.trim())).filter(Boolean))
    .pipe(z.array(z.enum(["ttl"])).optional())
    .meta({ description: "What else to show, separated by commas: `ttl`." }),
});

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

/** Aliases and the paths that they stand for, parsed. Not z.record: that drops `__proto__` keys. */
const extractPaths = jsonObject.transform((paths, context): [alias: string, path: ExtractPath][] => {
  const entries = Object.entries(paths);
  if (entries.length > MAX_ALIASES) {
    context.addIssue({ code: "custom", message: `must have at most ${MAX_ALIASES} aliases, has ${entries.length}` });
    return z.NEVER;
  }
  return entries.flatMap(([alias, text]) => {
    const path = typeof text === "string" ? parsePath(text) : undefined;
    if (path !== undefined) return [[alias, path] as [string, ExtractPath]];
    context.addIssue({ code: "custom", path: [alias], message: `must be ${PATH_FORM}` });
    return [];
  });
});

const filters = {
  metadata: optional(containedFilter),
  values: optional(containedFilter),
  status: optional(threadStatus),
};

export const searchThreadsBody = z.object({
  ids: optional(z.array(uuid).max(MAX_IDS)),
  ...filters,
  limit: limit(),
  offset,
  sort_by: optional(z.enum(["thread_id", "status", "created_at", "updated_at", "state_updated_at"])),
  sort_order: sortOrder,
  select: selection(THREAD_FIELDS),
  extract: optional(extractPaths),
});

export const countThreadsBody = z.object(filters);

export const pruneThreadsBody = z.object({
  thread_ids: z.array(uuid).max(MAX_IDS),
  strategy: optional(strategy).transform((value) => value ?? "delete"),
});
