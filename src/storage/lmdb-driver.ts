// Our lmdb driver: the Database that everything durable goes through, and the unstorage driver over the same file.
// lmdb is opened without fsync per commit: a commit is in the operating system's hands when it returns, so SIGKILL loses nothing.
// A background fsync follows within SYNC_DELAY_MS. A power cut (or a crash of the operating system) in between can cost the writes
// since then and, if the disk reorders them, damage the file, which the next start moves aside.
import { closeSync, existsSync, fsync, mkdirSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import type { Driver } from "unstorage";
import { defineDriver } from "unstorage";
import type { Database, Range, Write } from "./database.ts";
import { findDamage } from "./lmdb-pages.ts";

/** Milliseconds between a commit and the fsync that makes it survive a power cut. */
const SYNC_DELAY_MS = 500;
/**
 * Address space that is set aside for the map of the file at once. lmdb would grow the map step by step and keep the earlier ones,
 * which count as memory of this process. Not on Windows, where a map makes the file as large.
 */
const MAP_BYTES = 16 * 1024 ** 3;
/** The data file is not one that LMDB can open. */
export class DamagedStorageError extends Error {
  override readonly name = "DamagedStorageError";
}

/** Path of the data file inside the folder of a database. */
export function dataFile(folder: string): string {
  return join(folder, "data.mdb");
}

/**
 * Opens (creating if need be) the LMDB database in `folder`.
 * @throws DamagedStorageError when there is a file that is not a readable LMDB database.
 */
export function lmdbDatabase(folder: string): Database {
  mkdirSync(folder, { recursive: true });
  const file = dataFile(folder);
  if (existsSync(file)) {
    const damage = findDamage(file);
    if (damage !== undefined) throw new DamagedStorageError(damage);
  }
  let root: RootDatabase<string, string>;
  try {
    root = open<string, string>({
      path: file,
      encoding: "string",
      noSync: true,
      maxDbs: 1,
      ...(process.platform === "win32" ? {} : { mapSize: MAP_BYTES }),
    });
  } catch (error) {
    throw new DamagedStorageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
  const syncer = backgroundSync(file);
  let closed = false;

  return {
    get: (key) => root.get(key),
    write(writes: readonly Write[]) {
      if (closed) throw new Error("the database is closed");
      root.transactionSync(() => {
        for (const { key, value } of writes) {
          if (value === undefined) root.removeSync(key);
          else root.putSync(key, value);
        }
      });
      syncer.dirty();
    },
    *range({ start, end, reverse, limit }: Range) {
      const bounds = reverse
        ? { start: end, end: start, reverse: true, exclusiveStart: true, inclusiveEnd: true }
        : { start, end };
      for (const { key, value } of root.getRange(limit === undefined ? bounds : { ...bounds, limit })) {
        yield [key, value] as const;
      }
    },
    count: (start, end) => root.getKeysCount({ start, end }),
    size: () => (existsSync(file) ? statSync(file).size : 0),
    async close() {
      if (closed) return;
      closed = true;
      await root.close();
      await syncer.finish();
    },
  };
}

/** Flushes the file off the event loop, at most once per SYNC_DELAY_MS, and only after a change. */
function backgroundSync(file: string): { dirty(): void; finish(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined;
  // Opened now and not in the timer, where nobody could catch it that the folder was removed meanwhile.
  const fd = openSync(file, "r+");
  const flush = () =>
    new Promise<void>((resolve) => {
      timer = undefined;
      // A failing fsync (a disk that is full or gone) must not take the server down: the data is still in the page cache.
      fsync(fd, () => resolve());
    });
  return {
    dirty() {
      timer ??= setTimeout(() => void flush(), SYNC_DELAY_MS).unref();
    },
    async finish() {
      clearTimeout(timer);
      if (timer) await flush();
      closeSync(fd);
    },
  };
}

/** unstorage separates key parts with `:`; our keys use `/`, which unstorage would fold into `:` itself. */
const toDb = (key: string): string => key.replaceAll(":", "/");
const fromDb = (key: string): string => key.replaceAll("/", ":");

/** The unstorage driver over an open database: for reading, listing and backing up what the server stored. */
export const databaseDriver: (options: { database: Database; name: string }) => Driver = defineDriver(
  ({ database, name }: { database: Database; name: string }): Driver => ({
    name,
    options: {},
    hasItem: (key) => database.get(toDb(key)) !== undefined,
    getItem: (key) => database.get(toDb(key)) ?? null,
    setItem: (key, value) => database.write([{ key: toDb(key), value }]),
    setItems: (items) => database.write(items.map(({ key, value }) => ({ key: toDb(key), value }))),
    removeItem: (key) => database.write([{ key: toDb(key), value: undefined }]),
    getKeys(base) {
      const start = toDb(base);
      return Array.from(database.range({ start, end: start + "\uffff" }), ([key]) => fromDb(key));
    },
    clear(base) {
      const start = toDb(base);
      database.write(
        Array.from(database.range({ start, end: start + "\uffff" }), ([key]) => ({ key, value: undefined })),
      );
    },
    dispose: () => database.close(),
  }),
);
