// Stopping many runs with one request: those of a status, or some of a thread.
import type { z } from "zod";
import { ApiError } from "../errors.ts";
import type { Json } from "../resources/json.ts";
import type { RunRecord, Runs } from "../resources/runs.ts";
import { threadNotFound, type Threads } from "../resources/threads.ts";
import type { RunEngine } from "./engine.ts";
import type { cancelManyBody } from "./run-body.ts";

/**
 * Stops runs that have not ended. Of the named ones, those that are unknown or have ended are left out.
 * @param allows what the caller sees, by the metadata of the thread.
 * @returns a promise of their being stopped.
 * @throws ApiError 404 unknown thread, or nothing was found; 409 when all that were found have ended.
 */
export async function cancelMany(
  { engine, threads, runs }: { readonly engine: RunEngine; readonly threads: Threads; readonly runs: Runs },
  { status, thread_id: threadId, run_ids: ids }: z.output<typeof cancelManyBody>,
  action: "interrupt" | "rollback",
  allows?: (metadata: Json) => boolean,
): Promise<void> {
  const isSeen = ({ run }: RunRecord): boolean =>
    allows === undefined || allows(threads.find(run.thread_id)?.metadata ?? run.metadata);
  const matches = (match: (record: RunRecord) => boolean): Promise<unknown[]> =>
    engine.cancelWhere((record) => match(record) && isSeen(record), action);
  if (threadId === undefined || ids === undefined) {
    const stopped = await matches(({ run }) => status === "all" || run.status === status);
    if (stopped.length === 0) throw new ApiError(404, `No ${status === "all" ? "active" : status} runs found`);
    return;
  }
  const thread = threads.get(threadId);
  if (allows !== undefined && !allows(thread.metadata)) throw threadNotFound(threadId);
  const wanted = new Set(ids);
  const ended = ids.some((id) => runs.find(threadId, id) !== undefined);
  const stopped = await matches(({ run }) => run.thread_id === threadId && wanted.has(run.run_id));
  if (stopped.length > 0) return;
  if (ended) throw new ApiError(409, "All of these runs have ended and cannot be cancelled");
  throw new ApiError(404, `None of these runs was found on thread ${threadId}`);
}
