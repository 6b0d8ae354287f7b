// What a caller asks for when it creates a run, and the record that comes of it.
import { ApiError } from "../errors.ts";
import { timestamp, uuid7 } from "../ids.ts";
import { checkpointReference } from "../resources/state-bodies.ts";
import type { Assistant } from "../resources/assistant.ts";
import { overridden } from "../resources/assistant-settings.ts";
import { isObject, type Json } from "../resources/json.ts";
import type { MultitaskStrategy, RequestMark, RunJson, RunKwargs, RunRecord } from "../resources/runs.ts";
import type { ThreadRecord } from "../resources/threads.ts";
import type { Write } from "../storage/database.ts";

/** A run to create; absent fields have their defaults. */
export interface RunRequest {
  readonly assistant_id: string;
  readonly input?: unknown;
  readonly command?: Json | undefined;
  readonly checkpoint?: Json | undefined;
  readonly checkpoint_id?: string | undefined;
  readonly metadata?: Json | undefined;
  readonly config?: Json | undefined;
  readonly context?: unknown;
  readonly interrupt_before?: "*" | readonly string[] | undefined;
  readonly interrupt_after?: "*" | readonly string[] | undefined;
  readonly stream_mode: readonly string[];
  readonly stream_subgraphs: boolean;
  readonly stream_resumable: boolean;
  readonly multitask_strategy: MultitaskStrategy;
  readonly if_not_exists: "reject" | "create";
  /** Seconds to wait before the run may start. */
  readonly after_seconds?: number | undefined;
  readonly durability?: "sync" | "async" | "exit" | undefined;
  readonly on_completion: "delete" | "keep";
  readonly feedback_keys?: readonly string[] | undefined;
  /** Settings for the graph alone, such as request headers: they reach its `configurable` and are never shown. */
  readonly hidden?: Json | undefined;
  /** What the caller may use; everything when absent. */
  readonly mayUse?: RunRights | undefined;
  /** It came through protocol v2, whose readers get the events of LangGraph's own event stream. */
  readonly protocol?: true;
  /** Given when the request may come again and must not make a second run. */
  readonly once?: RequestMark | undefined;
  /** Told of where the run ends. */
  readonly webhook?: string | undefined;
  /** The A2A task that it works on; true for a new one. */
  readonly task?: string | true | undefined;
  /** What is stored in the batch of the new run. */
  readonly alongside?: (record: RunRecord) => readonly Write[];
}

/** What a caller may use for a run. Predicates are on metadata, and let everything through when undefined. */
export interface RunRights {
  readonly thread: ((metadata: Json) => boolean) | undefined;
  readonly assistant: ((metadata: Json) => boolean) | undefined;
  /** The metadata of the thread that the run makes if it does not exist; undefined when it must make none. */
  readonly newThread: Json | undefined;
}

/** Metadata keys that the server owns. */
const SERVER_KEYS = [
  "run_id",
  "thread_id",
  "run_attempt",
  "langgraph_version",
  "langgraph_plan",
  "langgraph_host",
  "langgraph_api_url",
];

/** The record of a new run. */
export function newRun(
  request: RunRequest,
  assistant: Assistant,
  thread: ThreadRecord,
  place: {
    readonly stateless: boolean;
    readonly ephemeral: boolean;
    readonly startsNow: boolean;
    /** What the thread is without the run, if it is not idle. */
    readonly before: RunRecord["before"];
    readonly graphBefore: RunRecord["graphBefore"];
    /** Now, in milliseconds since the epoch, by the clock of the queue. */
    readonly now: number;
  },
): RunRecord {
  const now = timestamp();
  const metadata: Json = {
    ...assistant.metadata,
    ...(assistant.config["metadata"] as Json | undefined),
    ...thread.metadata,
    ...(request.config?.["metadata"] as Json | undefined),
    ...request.metadata,
    graph_id: assistant.graph_id,
    assistant_id: assistant.assistant_id,
  };
  for (const key of SERVER_KEYS) if (key in metadata) delete metadata[key];
  const checkpoint = checkpointOf(request);
  const kwargs: RunKwargs = {
    ...(request.input === undefined ? {} : { input: request.input }),
    ...(request.command === undefined ? {} : { command: request.command }),
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...ofCaller(request, {
      config: mergeConfigs(assistant.config, thread.config, overriding(assistant, request), request.config),
      ...contextOf(
        { ...assistant.context, ...overridden(assistant.context, request.config?.["configurable"]) },
        request.context,
      ),
    }),
    stream_mode: request.stream_mode,
    ...(request.interrupt_before === undefined ? {} : { interrupt_before: request.interrupt_before }),
    ...(request.interrupt_after === undefined ? {} : { interrupt_after: request.interrupt_after }),
    subgraphs: request.stream_subgraphs,
    resumable: request.stream_resumable,
    temporary: place.stateless && request.on_completion === "delete",
    ...(request.durability === undefined ? {} : { durability: request.durability }),
    ...(request.feedback_keys === undefined ? {} : { feedback_keys: request.feedback_keys }),
    ...(request.webhook === undefined ? {} : { webhook: request.webhook }),
  };
  return {
    run: {
      run_id: uuid7(),
      thread_id: thread.thread_id,
      assistant_id: assistant.assistant_id,
      created_at: now,
      updated_at: now,
      status: place.startsNow ? "running" : "pending",
      metadata,
      kwargs,
      multitask_strategy: request.multitask_strategy,
    },
    graphId: assistant.graph_id,
    attempt: 1,
    ...(place.stateless ? { stateless: true } : {}),
    ...(kwargs.temporary ? { deleteAfter: true } : {}),
    ...(place.ephemeral ? { ephemeral: true } : {}),
    ...(place.before === undefined ? {} : { before: place.before }),
    ...(place.graphBefore === undefined ? {} : { graphBefore: place.graphBefore }),
    ...(request.hidden === undefined ? {} : { hidden: request.hidden }),
    ...(request.once === undefined ? {} : { once: request.once }),
    ...(request.protocol === true ? { protocol: true } : {}),
    ...(request.task === undefined ? {} : { task: request.task }),
    ...(request.after_seconds === undefined ? {} : { notBefore: place.now + request.after_seconds * 1000 }),
  };
}

/** The checkpoint to start from: the whole reference, the older single id, or what the config names. */
export function checkpointOf({ checkpoint, checkpoint_id, config }: RunRequest): Json | undefined {
  if (checkpoint !== undefined && Object.keys(checkpoint).length > 0) return checkpoint;
  if (checkpoint_id !== undefined) return { checkpoint_id };
  const named = checkpointReference.safeParse((config?.["configurable"] as Json | undefined) ?? {}).data;
  return named?.checkpoint_id === undefined ? undefined : (named as Json);
}

/** Later configs win, key by key; `configurable` and `tags` are merged. */
function mergeConfigs(...configs: (Json | undefined)[]): Json {
  const merged: Json = {};
  let configurable: Json = {};
  let tags: unknown[] = [];
  for (const config of configs) {
    if (config === undefined) continue;
    Object.assign(merged, config);
    configurable = { ...configurable, ...withoutAuth(config["configurable"] as Json | undefined) };
    if (Array.isArray(config["tags"])) tags = [...tags, ...(config["tags"] as unknown[])];
  }
  return {
    ...merged,
    ...(Object.keys(configurable).length > 0 ? { configurable } : {}),
    ...(tags.length > 0 ? { tags: [...new Set(tags)] } : {}),
  };
}

/** Who the caller is, only the server says. */
function withoutAuth(configurable: Json = {}): Json {
  const names = Object.keys(configurable);
  if (!names.some((name) => name.startsWith("langgraph_auth"))) return configurable;
  return Object.fromEntries(Object.entries(configurable).filter(([name]) => !name.startsWith("langgraph_auth")));
}

/** Graphs that look for `user_id` find who the caller is, where that is known, and never what the caller or an assistant says. */
function ofCaller(
  { hidden }: RunRequest,
  settings: { readonly config: Json; readonly context?: unknown },
): { readonly config: Json; readonly context?: unknown } {
  const user_id = hidden?.["user_id"];
  if (user_id === undefined || hidden?.["langgraph_auth_user_id"] !== user_id) return settings;
  const { config, context } = settings;
  const { configurable } = config;
  const says = (given: unknown): given is Json => isObject(given) && "user_id" in given;
  return {
    ...settings,
    ...(says(configurable) ? { config: { ...config, configurable: { ...configurable, user_id } } } : {}),
    ...(says(context) ? { context: { ...context, user_id } } : {}),
  };
}

/** A setting of the assistant that the run gives in its context is one in `configurable` too. */
function overriding({ context }: Assistant, request: RunRequest): Json | undefined {
  const configurable = overridden(context, request.context);
  return configurable === undefined ? undefined : { configurable };
}

function contextOf(assistant: Json, request: unknown): { context?: unknown } {
  if (request === undefined) return Object.keys(assistant).length > 0 ? { context: assistant } : {};
  if (typeof request !== "object" || request === null || Array.isArray(request)) return { context: request };
  return { context: { ...assistant, ...(request as Json) } };
}

/** What the server puts into a run's configurable. */
export function graphConfigurable(record: RunRecord): Json {
  return { ...record.hidden, ...serverConfigurable(record) };
}

/** The ids that the server puts into a run's configurable; everybody may see them. */
function serverConfigurable(record: RunRecord): Json {
  const { run_id, thread_id, assistant_id } = record.run;
  return { run_id, thread_id, graph_id: record.graphId, assistant_id };
}

/** The metadata that everything of a run carries: tokens, tasks, checkpoints (wire-api §3.11). */
export function runMetadata({ run, attempt }: RunRecord, langgraphVersion: string, apiUrl: string): Json {
  return {
    ...run.metadata,
    run_id: run.run_id,
    thread_id: run.thread_id,
    run_attempt: attempt,
    langgraph_version: langgraphVersion,
    langgraph_plan: "developer",
    langgraph_host: "self-hosted",
    langgraph_api_url: apiUrl,
  };
}

/** The run as clients see it: `kwargs.config` as the graph gets it. */
export function publicRun(record: RunRecord): RunJson {
  const { run } = record;
  const { config } = run.kwargs;
  return {
    ...run,
    kwargs: {
      ...run.kwargs,
      config: {
        ...config,
        metadata: run.metadata,
        configurable: { ...(config["configurable"] as Json | undefined), ...serverConfigurable(record) },
      },
    },
  };
}

/** @throws ApiError 409 */
export function refuseBusy(): never {
  throw new ApiError(
    409,
    "Thread is already running a task. Wait for it to finish or choose a different multitask strategy.",
  );
}
