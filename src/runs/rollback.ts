// What rolling a run back deletes: every checkpoint that it wrote, in every namespace, with the writes that wait at them, the values that only
// these had, and the contexts.
import type { CheckpointStore } from "../storage/checkpoints.ts";
import { prefixRange, type Write } from "../storage/database.ts";
import type { RunJournal, WrittenParts } from "../storage/journal.ts";
import { keys } from "../storage/keys.ts";
import type { ValueRef } from "../storage/value-log.ts";

/** What a run has left on its thread. */
type Left = Pick<RunJournal, "checkpoints" | "contexts"> & { readonly parts: Iterable<WrittenParts> };

/**
 * The changes that leave a thread as it was before the run.
 * @param journal what the run has written; undefined when an earlier server began it, so that its thread must be read.
 */
export function rollbackWrites(
  checkpoints: CheckpointStore,
  threadId: string,
  runId: string,
  journal: RunJournal | undefined,
): Write[] {
  const writes: Write[] = journal?.changedEarlier === false ? [] : checkpoints.pending.undo(threadId, runId);
  const remove = (range: { start: string; end: string }): void => {
    for (const [key] of checkpoints.db.range(range)) writes.push({ key, value: undefined });
  };
  const left = journal === undefined || journal.overflown ? leftBy(checkpoints, threadId, runId) : journal;
  for (const { ns, id } of left.checkpoints) {
    writes.push({ key: keys.checkpoint(threadId, ns, id), value: undefined });
    remove(prefixRange(keys.writesOf(threadId, ns, id)));
  }
  for (const { ns, channel, first } of left.parts) {
    const { end } = prefixRange(keys.parts(threadId, ns, channel));
    remove({ start: keys.part(threadId, ns, channel, first), end });
  }
  for (const id of left.contexts) writes.push({ key: keys.context(threadId, id), value: undefined });
  return writes;
}

/** What a run has left, by what stands in storage: its own checkpoints, and of values and contexts what no other checkpoint has. */
function leftBy(checkpoints: CheckpointStore, threadId: string, runId: string): Left {
  const own: { ns: string; id: string }[] = [];
  const parts: WrittenParts[] = [];
  const [contexts, otherContexts] = [new Set<string>(), new Set<string>()];
  for (const ns of checkpoints.namespaces(threadId)) {
    const channels = new Set<string>();
    /** Channel → the first part behind all that others have. */
    const behind = new Map<string, number>();
    for (const { id, record } of checkpoints.list(threadId, ns)) {
      const isOwn = record.d === runId;
      if (isOwn) own.push({ ns, id });
      if (record.x !== undefined) (isOwn ? contexts : otherContexts).add(record.x);
      for (const [channel, ref] of Object.entries(record.r)) {
        if (isOwn) channels.add(channel);
        else behind.set(channel, Math.max(behind.get(channel) ?? 0, endOf(ref)));
      }
    }
    for (const channel of channels) parts.push({ ns, channel, first: behind.get(channel) ?? 0 });
  }
  return { checkpoints: own, parts, contexts: [...contexts].filter((id) => !otherContexts.has(id)) };
}

/** The first number behind the parts of a value. */
function endOf(ref: ValueRef): number {
  if (typeof ref === "string") return 0;
  return typeof ref === "number" ? ref + 1 : Math.max(...ref.map(([, to]) => to));
}
