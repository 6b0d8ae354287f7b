// How much of the storage a thread takes, and what takes it: a long conversation, many checkpoints, or one large value.
import { unpackCheckpoint } from "../storage/checkpoint-record.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import { prefixRange } from "../storage/database.ts";
import { dec, keys, lastId } from "../storage/keys.ts";
import { slices } from "../storage/slices.ts";

/** Bytes are those of the keys and values as they are stored. */
export interface ThreadStorage {
  readonly thread_id: string;
  /** The sum of the three below. */
  readonly total_bytes: number;
  /** Checkpoints without channel values, and what they share. */
  readonly checkpoints: { readonly count: number; readonly bytes: number };
  readonly channel_values: {
    /** Versions of all channels. */
    readonly count: number;
    readonly bytes: number;
    /** The largest first. */
    readonly by_channel: Readonly<Record<string, { readonly versions: number; readonly bytes: number }>>;
  };
  /** What tasks have written since the checkpoints that they began at. */
  readonly pending_writes: { readonly count: number; readonly bytes: number };
}

/** Measures what is stored of a thread's states, those of subgraphs included. */
export async function threadStorage(checkpoints: CheckpointStore, threadId: string): Promise<ThreadStorage> {
  const prefix = keys.checkpointsOf(threadId);
  const heads = { count: 0, bytes: 0 };
  const writes = { count: 0, bytes: 0 };
  const channels = new Map<string, { readonly versions: Set<string>; bytes: number }>();
  const channel = (name: string): { readonly versions: Set<string>; bytes: number } => {
    let found = channels.get(name);
    if (found === undefined) channels.set(name, (found = { versions: new Set(), bytes: 0 }));
    return found;
  };
  for await (const slice of slices(checkpoints.db.range(prefixRange(prefix)))) {
    for (const [key, value] of slice) {
      const bytes = Buffer.byteLength(key) + Buffer.byteLength(value);
      const [section, ns = "", name = ""] = key.slice(prefix.length).split("/");
      if (section === "p") channel(dec(name)).bytes += bytes;
      else if (section === "w") {
        writes.count += value.split("\n").length;
        writes.bytes += bytes;
      } else heads.bytes += bytes;
      if (section !== "c") continue;
      heads.count++;
      const { r: refs, cv: versions } = unpackCheckpoint(lastId(key), value);
      for (const [of, ref] of Object.entries(refs)) {
        const found = channel(of);
        found.versions.add(`${ns}/${versions[of]}`);
        if (typeof ref !== "string") continue;
        // A short value stands in the checkpoint itself.
        const own = Buffer.byteLength(JSON.stringify(ref));
        found.bytes += own;
        heads.bytes -= own;
      }
    }
  }
  const sizes = Array.from(channels, ([name, { versions, bytes }]) => ({ name, versions: versions.size, bytes }));
  sizes.sort((a, b) => b.bytes - a.bytes);
  const sum = (of: (size: (typeof sizes)[number]) => number): number =>
    sizes.reduce((total, size) => total + of(size), 0);
  const values = { count: sum(({ versions }) => versions), bytes: sum(({ bytes }) => bytes) };
  return {
    thread_id: threadId,
    total_bytes: heads.bytes + values.bytes + writes.bytes,
    checkpoints: heads,
    channel_values: {
      ...values,
      by_channel: Object.fromEntries(sizes.map(({ name, versions, bytes }) => [name, { versions, bytes }])),
    },
    pending_writes: writes,
  };
}
