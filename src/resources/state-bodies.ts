// Bodies and queries of the requests about thread states (wire-api §1.2): the newest, at a checkpoint, the history, updates.
import { z } from "zod";
import { containedFilter, jsonObject, limit, MAX_STEPS, optional, queryFlag, queryInt, settings } from "./schema.ts";

/** Characters of a checkpoint id or namespace in the spelling of storage keys. */
const MAX_REFERENCE_CHARS = 1500;

/** An id or namespace of checkpoints, which becomes a part of a storage key. */
const reference = z
  .string()
  .refine(
    (text) => text.isWellFormed() && encodeURIComponent(text).length <= MAX_REFERENCE_CHARS,
    "is not a checkpoint reference",
  );

/** A checkpoint of a thread; without an id the newest of the namespace. */
export const checkpointReference = z.object({
  thread_id: optional(z.string()),
  checkpoint_ns: optional(reference),
  checkpoint_id: optional(reference),
  checkpoint_map: optional(jsonObject),
});

/** A command to a graph: state updates, the answer to interrupts, where to go. */
export const commandBody = z.object({
  update: z.union([jsonObject, z.array(z.tuple([z.string(), z.unknown()])).max(MAX_STEPS)]).nullish(),
  resume: z.unknown().optional(),
  goto: z.union([z.string(), jsonObject, z.array(z.union([z.string(), jsonObject])).max(MAX_STEPS)]).nullish(),
});

export const stateQuery = z.object({ subgraphs: queryFlag(false) });

export const stateAtBody = z.object({ checkpoint: checkpointReference, subgraphs: optional(z.boolean()) });

export const updateStateBody = z.object({
  values: z.unknown().optional(),
  as_node: optional(z.string()),
  checkpoint: optional(checkpointReference),
  checkpoint_id: optional(reference),
});

/** Metadata to merge into that of the newest checkpoint. */
export const patchStateBody = z.object({ metadata: settings });

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
  metadata: optional(containedFilter),
  checkpoint: optional(checkpointReference),
});

export const historyQuery = z.object({
  limit: queryInt(1, 1000, 10),
  before: reference.optional().transform((id) => id || undefined),
});

/** The checkpoint id in a path. */
export const checkpointParam = reference;
