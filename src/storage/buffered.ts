// Group commit: what need not be stored before its caller goes on is collected and committed together, within one turn of the event
// loop or with the next write that must be stored at once, whichever comes first. The order of all writes is kept.
import { checkKeys, type Database, type Range, type Write } from "./database.ts";

/** A database that can also store a little later. */
export interface BufferedDatabase extends Database {
  /**
   * Stores within this turn of the event loop, in one commit with whatever else is written meanwhile. Reads see it at once.
   * A later `write` commits it too, so a record written by `write` never survives without those that were written before it.
   */
  writeSoon(writes: readonly Write[]): void;
  /** Commits what waits. @throws Error when that fails; it goes on waiting then. */
  flush(): void;
}

/**
 * @param onError told when a deferred commit fails (a full disk); what was to be stored stays in line for the next one, whose
 * caller then gets the error if it fails too.
 */
export function buffered(database: Database, onError: (error: unknown) => void = () => undefined): BufferedDatabase {
  const pending = new Map<string, string | undefined>();
  let scheduled = false;

  const commit = (more: readonly Write[]): void => {
    checkKeys(more);
    if (pending.size === 0) return database.write(more);
    // In a copy: what cannot be written must not stand in the way of what comes after it.
    const merged = new Map(pending);
    for (const { key, value } of more) merged.set(key, value);
    database.write(Array.from(merged, ([key, value]) => ({ key, value })));
    pending.clear();
  };
  const flush = (): void => {
    if (pending.size > 0) commit([]);
  };
  const flushLater = (): void => {
    scheduled = false;
    try {
      flush();
    } catch (error) {
      onError(error);
    }
  };

  return {
    get: (key) => (pending.has(key) ? pending.get(key) : database.get(key)),
    write: commit,
    writeSoon(writes) {
      checkKeys(writes);
      for (const { key, value } of writes) pending.set(key, value);
      if (scheduled) return;
      scheduled = true;
      setImmediate(flushLater);
    },
    flush,
    range(range: Range) {
      flush();
      return database.range(range);
    },
    count(start, end) {
      flush();
      return database.count(start, end);
    },
    size: () => database.size(),
    async close() {
      flushLater();
      await database.close();
    },
  };
}
