// What rolling a run back deletes: every checkpoint that it wrote, in every namespace, with the writes that wait at them.
import type { CheckpointStore } from "../storage/checkpoints.ts";
import { prefixRange, type Write } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";

/** The changes that leave a thread as it was before the run. */
export function rollbackWrites(checkpoints: CheckpointStore, threadId: string, runId: string): Write[] {
  const writes: Write[] = [...checkpoints.undo(threadId, runId)];
  for (const ns of checkpoints.namespaces(threadId)) {
    for (const { id, record } of checkpoints.list(threadId, ns)) {
      if (record.d !== runId) continue;
      writes.push({ key: keys.checkpoint(threadId, ns, id), value: undefined });
      for (const [key] of checkpoints.db.range(prefixRange(keys.writesOf(threadId, ns, id)))) {
        writes.push({ key, value: undefined });
      }
    }
  }
  return writes;
}
