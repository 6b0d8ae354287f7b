// The objects that the API answers with (wire-api §1.0), as zod schemas: the API document is made of them, and a test holds real answers
// against them. The TypeScript types of the records are beside the code that makes them.
import { z } from "zod";

const json = z.record(z.string(), z.unknown());
const time = z.string().meta({ format: "date-time", description: "ISO 8601 with microseconds and offset" });
const id = z.string().meta({ format: "uuid" });

export const errorShape = z
  .object({ detail: z.string().meta({ description: "What is wrong, in one sentence." }) })
  .meta({ id: "Error" });

/** What JSON-RPC answers with when it refuses. */
export const rpcErrorShape = z
  .object({
    jsonrpc: z.literal("2.0"),
    id: z.union([z.string(), z.number()]).nullable(),
    error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
  })
  .meta({ id: "JsonRpcError" });

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

const size = { count: z.int(), bytes: z.int() };
export const threadStorageShape = z
  .object({
    thread_id: id,
    total_bytes: z.int(),
    checkpoints: z.object(size),
    channel_values: z.object({
      ...size,
      by_channel: z.record(z.string(), z.object({ versions: z.int(), bytes: z.int() })),
    }),
    pending_writes: z.object(size),
  })
  .meta({ id: "ThreadStorage" });

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

export const cronShape = z
  .object({
    cron_id: id,
    assistant_id: id,
    thread_id: id.nullable(),
    on_run_completed: z.enum(["delete", "keep"]).nullable(),
    end_time: time.nullable(),
    schedule: z.string(),
    timezone: z.string().nullable(),
    created_at: time,
    updated_at: time,
    user_id: z.string().nullable(),
    payload: json.meta({ description: "The body of its runs." }),
    next_run_date: time.nullable(),
    metadata: json,
    enabled: z.boolean(),
  })
  .meta({ id: "Cron" });

export const deliveryShape = z
  .object({
    delivery_id: id,
    run_id: id,
    thread_id: id,
    assistant_id: id,
    run_status: z.string(),
    url: z.string(),
    status: z.enum(["pending", "delivered", "failed"]),
    created_at: time,
    updated_at: time,
    next_attempt_at: time.nullable(),
    attempts: z.array(
      z.object({
        at: time,
        duration_ms: z.int(),
        status: z.int().nullable(),
        error: z.string().nullable(),
        answer: z.string().meta({ description: "The beginning of the receiver's answer." }),
      }),
    ),
    attempt_count: z.int(),
    replay_of: id.optional(),
    push: z
      .literal(true)
      .optional()
      .meta({ description: "It tells of an A2A task: the body is sent as it is, with headers of its receiver's own." }),
  })
  .meta({ id: "WebhookDelivery" });

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

export const rootShape = z
  .object({
    name: z.literal("agent-server"),
    version: z.string(),
    docs: z.string(),
    openapi: z.string(),
    info: z.string(),
    metrics: z.string(),
    ok: z.string(),
  })
  .meta({ id: "Root" });

export const infoShape = z
  .object({
    version: z.string(),
    langgraph_js_version: z.string().nullable().meta({ description: "Of the project's LangGraph; null without one." }),
    context: z.literal("js"),
    flags: z.record(z.string(), z.boolean()).meta({ description: "Which parts this server has." }),
    metadata: json,
  })
  .meta({ id: "ServerInfo" });

const labels = z.record(z.string(), z.string());
export const metricsShape = z
  .record(
    z.string(),
    z.union([
      z.object({
        type: z.enum(["gauge", "counter"]),
        help: z.string(),
        values: z.array(z.object({ labels, value: z.number() })),
      }),
      z.object({
        type: z.literal("histogram"),
        help: z.string(),
        buckets: z.array(z.object({ le: z.number(), count: z.int() })),
        sum: z.number(),
        count: z.int(),
      }),
    ]),
  )
  .meta({ id: "Metrics", description: "By name." });

/** Pagination headers of a search. */
export const PAGINATION_HEADERS = {
  "X-Pagination-Total": "Number of matches on all pages.",
  "X-Pagination-Next": "Offset of the next page; absent on the last one.",
} as const;

/** What a stream of events is, for the API document. */
export const eventStreamShape = z.string().meta({ description: "Server-sent events; `data` is JSON on one line." });
