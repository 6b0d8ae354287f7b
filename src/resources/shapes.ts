// The objects that the API answers with (wire-api §1.0), as zod schemas: the API document is made of them, and a test holds real answers
// against them. The TypeScript types of the records are beside the code that makes them.
import { z } from "zod";

const json = z.record(z.string(), z.unknown());
const time = z.string().meta({ format: "date-time", description: "ISO 8601 with microseconds and offset" });
const id = z.string().meta({ format: "uuid" });

export const errorShape = z
  .object({ detail: z.string().meta({ description: "What is wrong, in one sentence." }) })
  .meta({ id: "Error" });

export const configShape = z
  .looseObject({
    tags: z.array(z.string()).optional(),
    recursion_limit: z.int().optional(),
    configurable: json.optional(),
  })
  .meta({ id: "Config" });

export const checkpointShape = z
  .object({
    thread_id: z.string().optional(),
    checkpoint_ns: z.string().optional(),
    checkpoint_id: z.string().nullish(),
    checkpoint_map: json.nullish(),
  })
  .meta({ id: "CheckpointConfig" });

export const interruptShape = z.looseObject({ id: z.string().nullish(), value: z.unknown() }).meta({ id: "Interrupt" });

export const assistantShape = z
  .object({
    assistant_id: id,
    graph_id: z.string(),
    config: configShape,
    context: json,
    created_at: time,
    updated_at: time,
    metadata: json,
    version: z.int(),
    name: z.string(),
    description: z.string().nullable(),
  })
  .meta({ id: "Assistant" });

const schema = json.nullable().meta({ description: "A JSON schema; null when it cannot be known." });
const schemas = {
  input_schema: schema,
  output_schema: schema,
  state_schema: schema,
  config_schema: schema,
  context_schema: schema,
};
export const graphSchemasShape = z.object({ graph_id: z.string(), ...schemas }).meta({ id: "GraphSchemas" });
export const subgraphSchemasShape = z.record(z.string(), z.object(schemas).meta({ id: "SubgraphSchemas" }));

export const drawingShape = z
  .object({
    nodes: z.array(z.looseObject({ id: z.union([z.string(), z.int()]) })),
    edges: z.array(z.looseObject({ source: z.string(), target: z.string() })),
  })
  .meta({ id: "GraphDrawing" });

export const ttlShape = z
  .object({
    strategy: z.enum(["delete", "keep_latest"]),
    ttl_minutes: z.number(),
    expires_at: time,
  })
  .meta({ id: "ThreadTtl" });

export const threadShape = z
  .object({
    thread_id: id,
    created_at: time,
    updated_at: time,
    state_updated_at: time,
    metadata: json,
    config: configShape,
    status: z.enum(["idle", "busy", "interrupted", "error"]),
    values: z.unknown().meta({ description: "The newest values of the state; null before the first run." }),
    interrupts: z.record(z.string(), z.array(interruptShape)),
    error: json.nullish(),
    ttl: ttlShape.nullish(),
    extracted: json.optional(),
  })
  .meta({ id: "Thread" });

const task = z.looseObject({
  id: z.string(),
  name: z.string(),
  error: z.unknown().optional(),
  interrupts: z.array(interruptShape),
  checkpoint: checkpointShape.nullish(),
  state: z.unknown().optional(),
});

export const threadStateShape = z
  .object({
    values: z.unknown(),
    next: z.array(z.string()),
    tasks: z.array(task),
    checkpoint: checkpointShape.nullable(),
    metadata: json.nullable(),
    created_at: time.nullable(),
    parent_checkpoint: checkpointShape.nullable(),
    interrupts: z.array(interruptShape),
  })
  .meta({ id: "ThreadState" });

export const runShape = z
  .object({
    run_id: id,
    thread_id: id,
    assistant_id: id,
    created_at: time,
    updated_at: time,
    status: z.enum(["pending", "running", "success", "error", "interrupted", "timeout"]),
    metadata: json,
    kwargs: json.meta({ description: "Input, command, config, context and the other settings of the run." }),
    multitask_strategy: z.enum(["enqueue", "reject", "interrupt", "rollback"]),
  })
  .meta({ id: "Run" });

/** A record of which `select` may have left out fields. */
export const selected = (shape: z.ZodObject): z.ZodType => shape.partial();

export const runValuesShape = json.meta({
  id: "RunValues",
  description:
    "The final values of the state. `__interrupt__` lists what the run waits for; `__error__` {error, message} says why it failed.",
});

export const itemShape = z
  .object({
    namespace: z.array(z.string()),
    key: z.string(),
    value: json,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Item" });

export const foundItemShape = itemShape.extend({ score: z.number().nullish() }).meta({ id: "FoundItem" });

/** Pagination headers of a search. */
export const PAGINATION_HEADERS = {
  "X-Pagination-Total": "Number of matches on all pages.",
  "X-Pagination-Next": "Offset of the next page; absent on the last one.",
} as const;

/** What a stream of events is, for the API document. */
export const eventStreamShape = z.string().meta({ description: "Server-sent events; `data` is JSON on one line." });
