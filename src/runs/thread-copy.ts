// Copies of threads: everything of the checkpoints under a new id, range by range and without parsing, and the head last, so that
// nobody sees half a copy.
import { ApiError } from "../errors.ts";
import type { Json } from "../resources/json.ts";
import type { ThreadRecord, Threads } from "../resources/threads.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import { prefixRange, type Write } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import { slices } from "../storage/slices.ts";
import type { RunEngine } from "./engine.ts";
import { interruptsOf } from "./result.ts";

/**
 * Copies a thread as it is stored now: metadata, config, values, interrupts, and all checkpoints with what waits at them. Its runs stay
 * with the original. Of a thread that is busy, the copy has what is committed, and is not busy. A time to live is that of the
 * original, counted from now.
 * @param rights what the caller sees, by metadata, and the metadata of the copy if it is not that of the original.
 * @throws ApiError 409 when there is no such thread.
 */
export async function copyThread(
  parts: { readonly threads: Threads; readonly checkpoints: CheckpointStore; readonly engine: RunEngine },
  sourceId: string,
  rights: { readonly allows?: ((metadata: Json) => boolean) | undefined; readonly metadata?: Json | undefined } = {},
): Promise<ThreadRecord> {
  const { threads, checkpoints, engine } = parts;
  const { db } = checkpoints;
  const source = threads.find(sourceId);
  if (source === undefined || rights.allows?.(source.metadata) === false) throw nothingToCopy(sourceId);
  // Settled together with the snapshot, which is taken before anything else happens.
  const resting = engine.restingStatus(sourceId);
  const ttl = source.ttl === undefined ? undefined : { strategy: source.ttl.strategy, minutes: source.ttl.minutes };
  const draft = { ...threads.draft(undefined, rights.metadata ?? source.metadata, ttl), config: source.config };
  const copyId = draft.thread_id;
  const marker = keys.copying(copyId);
  try {
    const entries = db.range(prefixRange(keys.checkpointsOf(sourceId)));
    for await (const slice of slices(entries)) {
      const writes: Write[] = [{ key: marker, value: "" }];
      for (const [key, value] of slice) {
        const write = moved(sourceId, copyId, key, value);
        if (write !== undefined) writes.push(write);
      }
      db.write(writes);
    }
    const interrupts = interruptsOf(checkpoints, copyId);
    const waits = resting === "interrupted" || Object.keys(interrupts).length > 0;
    const copy: ThreadRecord = { ...draft, interrupts, status: waits ? "interrupted" : "idle" };
    db.write([...threads.writesOf(copy), { key: marker, value: undefined }]);
    threads.committed(copy);
    return copy;
  } catch (error) {
    try {
      db.write(leftovers(checkpoints, copyId));
    } catch {
      // Then the next start removes it.
    }
    throw error;
  }
}

/** The error for a thread that does not exist, or that the caller may not see. */
export const nothingToCopy = (threadId: string): ApiError => new ApiError(409, `Thread with ID ${threadId} not found`);

/** Removes what a crash left of copies; at start. */
export function removeUnfinishedCopies(checkpoints: CheckpointStore): void {
  const { db } = checkpoints;
  for (const [key] of db.range(prefixRange(keys.allCopying))) {
    db.write(leftovers(checkpoints, decodeURIComponent(key.slice(keys.allCopying.length))));
  }
}

const leftovers = (checkpoints: CheckpointStore, copyId: string): Write[] => [
  ...checkpoints.deletion(copyId),
  { key: keys.copying(copyId), value: undefined },
];

/** An entry of the original under the key of the copy; nothing for what belongs to a run. */
function moved(sourceId: string, copyId: string, key: string, value: string): Write | undefined {
  if (key.startsWith(keys.undos(sourceId))) return undefined;
  const place = keys.checkpointsOf(copyId) + key.slice(keys.checkpointsOf(sourceId).length);
  return { key: place, value: key.startsWith(keys.contexts(sourceId)) ? renamed(sourceId, copyId, value) : value };
}

/** A context whose metadata names the copy. */
function renamed(sourceId: string, copyId: string, text: string): string {
  const context = JSON.parse(text) as { metadata: Json };
  if (context.metadata["thread_id"] !== sourceId) return text;
  return JSON.stringify({ ...context, metadata: { ...context.metadata, thread_id: copyId } });
}
