// What a caller may do with tasks, where the project's auth handlers decide: a task is seen by its owner, and only while its context is seen.
import type { z } from "zod";
import type { Access, Allows } from "../auth/access.ts";
import { isUuid } from "../ids.ts";
import { RPC, RpcFailure } from "../json-rpc.ts";
import { ApiError } from "../errors.ts";
import type { Threads } from "../resources/threads.ts";
import { admitRun, type AdmissionSources, type Admitted } from "../runs/admission.ts";
import { runBody } from "../runs/run-body.ts";
import { taskNotFound } from "./errors.ts";
import type { SendRequest } from "./model.ts";
import type { TaskRecord } from "./tasks.ts";

/** The rights of a caller; without them everything is allowed. */
export interface TaskRights {
  readonly access: Access;
  /** Which contexts it sees, by the metadata of their threads; all when undefined. */
  readonly sees: Allows | undefined;
}

/** The auth handlers of the project do not let the caller do this: over HTTP it has a status of its own. */
export class Forbidden extends RpcFailure {}

/** An answer of the auth handlers in the words of JSON-RPC. */
export const asForbidden = (error: unknown): RpcFailure | undefined =>
  error instanceof ApiError && [401, 403].includes(error.status)
    ? new Forbidden(RPC.invalidRequest, error.detail)
    : undefined;

/** Whether a caller sees what belongs to a context. */
export function seesContext(threads: Threads, rights: TaskRights | undefined, contextId: string): boolean {
  return rights?.sees === undefined || rights.sees(threads.find(contextId)?.metadata ?? {});
}

/** Asks whether a task may be changed. @throws ApiError 403; A2AFailure -32001 when the caller only sees it. */
export async function mayChange(threads: Threads, rights: TaskRights | undefined, task: TaskRecord): Promise<void> {
  if (rights === undefined) return;
  const { allows } = await rights.access.authorize("threads:update", { thread_id: task.contextId });
  if (allows?.(threads.find(task.contextId)?.metadata ?? {}) === false) throw taskNotFound(task.id);
}

/**
 * Asks whether a message may start a run.
 * @param contextId the context that it would run in. @throws ApiError 403, or what a handler throws.
 */
export async function admitSend(
  sources: AdmissionSources,
  { access }: TaskRights,
  contextId: string,
  { metadata, context }: SendRequest,
  run: Pick<z.output<typeof runBody>, "assistant_id" | "input">,
): Promise<Admitted> {
  const body = runBody.parse({ ...run, metadata, context, if_not_exists: "create" });
  // What is no id is said by whoever begins the task.
  return admitRun(sources, access, isUuid(contextId) ? contextId : undefined, body);
}
