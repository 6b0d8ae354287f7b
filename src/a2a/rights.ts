// What a caller may do with tasks, where the project's auth handlers decide. A task is its owner's; beyond that each method asks what the
// REST API asks for the same: sends as `runs/wait`, the others as what reads or changes the thread.
import type { Access, Allows, AuthEvent } from "../auth/access.ts";
import { RPC, RpcFailure } from "../json-rpc.ts";
import { ApiError } from "../errors.ts";
import type { Threads } from "../resources/threads.ts";
import { taskNotFound } from "./errors.ts";
import type { TaskRecord } from "./tasks.ts";

/** The auth handlers of the project do not let the caller do this: over HTTP it has a status of its own. */
export class Forbidden extends RpcFailure {}

/** An answer of the auth handlers in the words of JSON-RPC. */
export const asForbidden = (error: unknown): RpcFailure | undefined =>
  error instanceof ApiError && [401, 403].includes(error.status)
    ? new Forbidden(RPC.invalidRequest, error.detail)
    : undefined;

/** Whether a caller who sees this much sees what belongs to a context. */
export const seesContext = (threads: Threads, allows: Allows | undefined, contextId: string): boolean =>
  allows === undefined || allows(threads.find(contextId)?.metadata ?? {});

/**
 * Asks whether a task may be looked at or changed.
 * @throws ApiError 403, or what a handler throws; A2AFailure -32001 when the caller does not see it.
 */
export async function admitToTask(
  threads: Threads,
  access: Access | undefined,
  event: Extract<AuthEvent, "threads:read" | "threads:update">,
  { id, contextId }: Pick<TaskRecord, "id" | "contextId">,
): Promise<void> {
  if (access === undefined) return;
  const { allows } = await access.authorize(event, { thread_id: contextId });
  if (!seesContext(threads, allows, contextId)) throw taskNotFound(id);
}
