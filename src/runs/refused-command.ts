// A command that the graph refuses (an update that its reducer throws at, for one) has done nothing. LangGraph stores a command's writes at the
// newest checkpoint before it applies them: left there, every later run would apply them again and fail the same way.
import type { CheckpointStore } from "../storage/checkpoints.ts";
import type { Write } from "../storage/database.ts";
import { NULL_TASK } from "../storage/pending-writes.ts";

/**
 * The changes that take the writes of a refused command back; none when there are none, or when a task of the run began: then the command was
 * taken, and its writes stay for the run that goes on.
 * @param runId a run that has failed.
 */
export function refusedCommandWrites(checkpoints: CheckpointStore, threadId: string, runId: string): Write[] {
  if (checkpoints.get(threadId, "")?.record.d === runId) return [];
  // A task that fails leaves its error at the checkpoint.
  const tasks = checkpoints.pending.changedTasks(threadId, runId);
  return tasks.length > 0 && tasks.every((taskId) => taskId === NULL_TASK)
    ? checkpoints.pending.undo(threadId, runId)
    : [];
}
