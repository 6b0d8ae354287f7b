// Where on its thread a run begins: at the checkpoint that an earlier execution of it got to, at one that was asked for, or at the newest.
import type { RunRecord } from "../resources/runs.ts";
import type { CheckpointStore, StoredCheckpoint } from "../storage/checkpoints.ts";

interface Place {
  readonly record: RunRecord;
  readonly checkpoints: CheckpointStore;
}

/** The checkpoint that was to be the first is gone. */
class CheckpointNotFoundError extends Error {
  override readonly name = "CheckpointNotFoundError";
}

/**
 * The checkpoint that an earlier execution of a run got to: it goes on from there and takes no input again.
 * @throws CheckpointNotFoundError when it is to begin at a checkpoint that is gone. While it waited, the run may have been rolled back that
 * wrote it; LangGraph would begin with an empty state then, and the thread's own would be lost.
 */
export function reachedBefore({ record, checkpoints }: Place): StoredCheckpoint | undefined {
  const { thread_id, run_id, kwargs } = record.run;
  const latest = checkpoints.get(thread_id, "");
  if (latest?.record.d === run_id) return latest;
  const { checkpoint_id: id, checkpoint_ns: ns } = (kwargs.checkpoint ?? {}) as Record<string, string | null>;
  // A run without a thread finds no checkpoints, and begins empty whatever it names.
  if (id == null || record.stateless || checkpoints.get(thread_id, ns ?? "", id) !== undefined) return undefined;
  throw new CheckpointNotFoundError(`Checkpoint ${id} is not there any more: the run that wrote it was rolled back`);
}
