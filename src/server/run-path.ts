// Where a run is found, and what happens to it when its client goes away; for all routes that start or join runs.
import type { ActiveRun } from "../runs/active.ts";
import type { RunEngine } from "../runs/engine.ts";
import type { Context } from "./context.ts";

/** Path of a run; clients find its id at the end of it. A stateless one is found without its hidden thread. */
export const runPath = (threadId: string | undefined, runId: string): string =>
  threadId === undefined ? `/runs/${runId}` : `/threads/${threadId}/runs/${runId}`;

/**
 * Where a client goes on that loses the connection to a stream of this run. An id of an event that it has seen counts in any case.
 * @param whole the stream begins with the run's first event: a client that has seen none yet is to get that, too.
 */
export const locationOf = (path: string, whole: boolean): string => `${path}/stream${whole ? "?after=-1" : ""}`;

/** Interrupts a run when the client leaves before the answer is complete, if that is wanted. */
export function cancelWhenGone(context: Context, engine: RunEngine, run: ActiveRun, wanted: boolean): void {
  if (!wanted) return;
  context.onDisconnect(() => {
    // It may have ended in the same moment.
    if (engine.active(run.id) === run) void engine.cancel(run.threadId, run.id, "interrupt");
  });
}
