// Pruning: of a thread's checkpoints only the latest stays, with all that it needs. The state, what waits in it and where a run would go
// on are the same afterwards; the history is gone.
import { ApiError } from "../errors.ts";
import type { Threads } from "../resources/threads.ts";
import { packCheckpoint, type CheckpointRecord } from "../storage/checkpoint-record.ts";
import type { CheckpointStore, StoredCheckpoint } from "../storage/checkpoints.ts";
import { prefixRange, type Write } from "../storage/database.ts";
import { keys, partIndex } from "../storage/keys.ts";
import { slices } from "../storage/slices.ts";
import type { RunEngine } from "./engine.ts";

/** Threads that are pruned in one go before others get their turn. */
const SLICE = 20;

/** Checkpoints from before this format have their next tasks among the writes of their parents. */
const FORMAT_WITH_TASKS = 4;

/**
 * Prunes threads, or deletes them. Unknown ids are left out; so are, for `keep_latest`, threads that are busy.
 * @returns how many threads were not left out.
 */
export async function pruneThreads(
  parts: { readonly threads: Threads; readonly checkpoints: CheckpointStore; readonly engine: RunEngine },
  threadIds: readonly string[],
  strategy: "delete" | "keep_latest",
): Promise<number> {
  const { threads, checkpoints, engine } = parts;
  let pruned = 0;
  for (const [i, threadId] of [...new Set(threadIds)].entries()) {
    if (i > 0 && i % SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
    if (threads.peek(threadId) === undefined) continue;
    try {
      if (strategy === "delete") await engine.deleteThread(threadId);
      else await engine.update(threadId, (signal) => pruneThread(checkpoints, threadId, signal));
      pruned++;
    } catch (error) {
      // Busy, or deleted by somebody else meanwhile.
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return pruned;
}

/**
 * Prunes a thread. Nothing else may write to it meanwhile (RunEngine.update). A crash in between leaves a thread that is whole, with more
 * than it needs.
 * @param signal ends it in between: the thread may be gone, and another one have its id.
 */
export async function pruneThread(checkpoints: CheckpointStore, threadId: string, signal: AbortSignal): Promise<void> {
  const { db } = checkpoints;
  const kept = new Kept();
  for (const ns of checkpoints.namespaces(threadId)) {
    const newest = checkpoints.get(threadId, ns);
    if (newest !== undefined && isLive(checkpoints, newest)) kept.add(needed(checkpoints, newest));
  }
  if (kept.rewritten.length > 0) db.write(kept.rewritten);
  for await (const slice of slices(db.range(prefixRange(keys.checkpointsOf(threadId))))) {
    signal.throwIfAborted();
    const writes = slice.filter(([key]) => !kept.has(threadId, key)).map(([key]) => ({ key, value: undefined }));
    if (writes.length > 0) db.write(writes);
  }
  checkpoints.forget(threadId);
}

/** Whether the newest checkpoint of a namespace may be read again. */
function isLive(checkpoints: CheckpointStore, { threadId, ns, record }: StoredCheckpoint): boolean {
  // The root graph, and subgraphs that remember from run to run, have no task in their namespace.
  if (!ns.includes(":")) return true;
  // A subgraph whose task has not finished belongs to the latest checkpoint of the root.
  const parents = record.m["parents"] as Record<string, string> | undefined;
  return parents?.[""] !== undefined && parents[""] === checkpoints.get(threadId, "")?.id;
}

/**
 * A checkpoint and the ancestors that it cannot do without. Only delta channels have such: their values are put together from what was
 * written since the ancestor that has a value of the channel.
 */
function needed(checkpoints: CheckpointStore, newest: StoredCheckpoint): StoredCheckpoint[] {
  const { threadId, ns } = newest;
  let delta = checkpoints.context(threadId, newest.record).opaque === true;
  // A context says of the root graph only whether it has some.
  if (!delta && ns === "") return [newest];
  const line = [newest];
  const missing = new Set(Object.keys(newest.record.cv).filter((name) => !isInternal(name)));
  for (let last = newest; ;) {
    delta ||= "counters_since_delta_snapshot" in last.record.m;
    for (const channel of Object.keys(last.record.r)) missing.delete(channel);
    const parent = last.record.p === undefined ? undefined : checkpoints.get(threadId, ns, last.record.p);
    if (missing.size === 0 || parent === undefined) return delta ? line : [newest];
    line.push(parent);
    last = parent;
  }
}

/** Channels of LangGraph's own, whose values do not last. */
const isInternal = (channel: string): boolean => channel.startsWith("__") || channel.includes(":");

/** What stays of a thread. */
class Kept {
  /** Checkpoints that lose their parents. */
  readonly rewritten: Write[] = [];
  readonly #keys = new Set<string>();
  /** Beginnings of the keys of pending writes. */
  readonly #writes = new Set<string>();
  /** Beginning of the keys of a channel's parts → ranges of their numbers. */
  readonly #parts = new Map<string, [from: number, to: number][]>();

  /** Takes a checkpoint and its ancestors, the newest first. */
  add(line: readonly StoredCheckpoint[]): void {
    for (const [i, { threadId, ns, id, record }] of line.entries()) {
      const key = keys.checkpoint(threadId, ns, id);
      this.#keys.add(key);
      this.#writes.add(keys.writesOf(threadId, ns, id));
      if (record.x !== undefined) this.#keys.add(keys.context(threadId, record.x));
      this.#addParts(threadId, ns, record);
      const { p: parent, ...rest } = record;
      if (parent === undefined || i < line.length - 1) continue;
      if (record.v < FORMAT_WITH_TASKS) this.#writes.add(keys.writesOf(threadId, ns, parent));
      else this.rewritten.push({ key, value: packCheckpoint(id, rest) });
    }
  }

  #addParts(threadId: string, ns: string, { r: refs }: CheckpointRecord): void {
    for (const [channel, ref] of Object.entries(refs)) {
      if (typeof ref === "string") continue;
      const prefix = keys.parts(threadId, ns, channel);
      const ranges = this.#parts.get(prefix) ?? [];
      ranges.push(...(typeof ref === "number" ? [[ref, ref + 1] as [number, number]] : ref));
      this.#parts.set(prefix, ranges);
    }
  }

  /** Whether an entry of the thread stays. */
  has(threadId: string, key: string): boolean {
    if (this.#keys.has(key)) return true;
    const parent = key.slice(0, key.lastIndexOf("/") + 1);
    // What the latest checkpoint is shown with, and what a run may have to undo.
    if (parent === keys.checkpointsOf(threadId) || key.startsWith(keys.undos(threadId))) return true;
    if (this.#writes.has(parent)) return true;
    const index = partIndex(key);
    return this.#parts.get(parent)?.some(([from, to]) => from <= index && index < to) === true;
  }
}
