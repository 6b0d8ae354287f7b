// Whether a caller may start a run, asked in one way for all doors (REST, protocol v2, A2A, MCP, crons): the project's auth handlers see
// what is to run, and their filters go with the request into the engine, which applies them in the moment in which the run is made.
import type { z } from "zod";
import { changedMetadata, type Access } from "../auth/access.ts";
import type { Assistants } from "../resources/assistants.ts";
import { isObject, type Json } from "../resources/json.ts";
import type { Threads } from "../resources/threads.ts";
import type { RunRequest } from "./request.ts";
import { runBody } from "./run-body.ts";

type RunBody = z.output<typeof runBody>;

/** What a request gets of the rights of its caller. */
export type RunGrants = Pick<RunRequest, "hidden" | "mayUse">;

/** A body as the auth handlers have left it, and the rights. */
export interface Admitted {
  readonly body: RunBody;
  readonly grants: RunGrants;
}

/** What of a body is the run's own business; handlers find it in `kwargs`. */
const KWARGS = [
  "input",
  "command",
  "checkpoint",
  "checkpoint_id",
  "config",
  "context",
  "webhook",
  "interrupt_before",
  "interrupt_after",
  "stream_mode",
  "stream_subgraphs",
  "stream_resumable",
  "feedback_keys",
  "durability",
  "on_completion",
] as const;

/** Where records are. */
export interface AdmissionSources {
  readonly threads: Threads;
  readonly assistants: Assistants;
}

/**
 * Asks whether a run may be started: `threads:create_run`, then `assistants:read` for its assistant and `threads:create` for a thread
 * that it would make. What the handler of the first does to `metadata` and `kwargs` is done.
 * @param threadId undefined for a run without a thread. @param hidden settings for the graph alone, from the headers of the request.
 * @throws ApiError 403, or what a handler throws.
 */
export async function admitRun(
  sources: AdmissionSources,
  access: Access,
  threadId: string | undefined,
  body: RunBody,
  hidden?: Json,
): Promise<Admitted> {
  if (!access.restricted) return { body, grants: hidden === undefined ? {} : { hidden } };
  const run = await access.authorize("threads:create_run", valueOf(threadId, body));
  const admitted = withChanges(body, run.value);
  const assistant = await admitAssistant(sources.assistants, access, body.assistant_id);
  const isNew =
    threadId !== undefined && body.if_not_exists === "create" && sources.threads.find(threadId) === undefined;
  const newThread = isNew ? await admitThread(access, threadId, admitted.metadata) : undefined;
  return {
    body: admitted,
    grants: { hidden: { ...hidden, ...access.settings }, mayUse: { thread: run.allows, assistant, newThread } },
  };
}

/** Asks whether an assistant may be run or used by a cron. @returns which assistants the caller sees. */
export async function admitAssistant(
  assistants: Assistants,
  access: Access,
  idOrGraph: string,
): Promise<((metadata: Json) => boolean) | undefined> {
  const assistant_id = assistants.find(idOrGraph)?.assistant_id ?? idOrGraph;
  return (await access.authorize("assistants:read", { assistant_id })).allows;
}

/** @returns the metadata of the thread that the run makes. */
async function admitThread(access: Access, threadId: string, metadata: Json = {}): Promise<Json> {
  const { value } = await access.authorize("threads:create", {
    thread_id: threadId,
    if_exists: "do_nothing",
    metadata: { ...metadata },
  });
  return changedMetadata(value);
}

function valueOf(threadId: string | undefined, body: RunBody): Json {
  const kwargs = Object.fromEntries(KWARGS.filter((key) => body[key] !== undefined).map((key) => [key, body[key]]));
  return {
    ...(threadId === undefined ? {} : { thread_id: threadId }),
    assistant_id: body.assistant_id,
    status: "pending",
    metadata: body.metadata ?? {},
    multitask_strategy: body.multitask_strategy ?? "enqueue",
    prevent_insert_if_inflight: body.multitask_strategy === "reject",
    if_not_exists: body.if_not_exists ?? "reject",
    after_seconds: body.after_seconds ?? 0,
    kwargs,
  };
}

/** @throws ZodError when a handler has made something of it that no run takes. */
function withChanges(body: RunBody, value: Json): RunBody {
  const { kwargs } = value;
  const changed = isObject(kwargs) ? Object.fromEntries(KWARGS.map((key) => [key, kwargs[key]])) : {};
  return runBody.parse({ ...body, ...changed, metadata: changedMetadata(value) });
}
