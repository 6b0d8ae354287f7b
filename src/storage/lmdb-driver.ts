// Our lmdb driver: the Database that everything durable goes through, and the unstorage driver over the same file.
// lmdb is opened without fsync per commit: a commit is in the operating system's hands when it returns (about 10 µs), so SIGKILL
// loses nothing; a background fsync follows within SYNC_DELAY_MS, so a power cut can cost at most about that much.
import { closeSync, existsSync, fsync, mkdirSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import type { Driver } from "unstorage";
import { defineDriver } from "unstorage";
import type { Database, Range, Write } from "./database.ts";

/** Milliseconds between a commit and the fsync that makes it survive a power cut. */
const SYNC_DELAY_MS = 500;
/** LMDB refuses longer keys. */
const MAX_KEY_BYTES = 1978;
/** First bytes of an LMDB data file: page 0 is a meta page with this magic number at offset 16 (little endian). */
const LMDB_MAGIC = 0xbeefc0de;
const LMDB_MAGIC_OFFSET = 16;

/** The data file is not one that LMDB can open. */
export class DamagedStorageError extends Error {
  override readonly name = "DamagedStorageError";
}

/** Path of the data file inside a data folder. */
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
  if (existsSync(file)) checkHeader(file);
  let root: RootDatabase<string, string>;
  try {
    root = open<string, string>({ path: file, encoding: "string", noSync: true, maxDbs: 1 });
  } catch (error) {
    throw new DamagedStorageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
  const syncer = backgroundSync(file);
  let closed = false;

  return {
    get: (key) => root.get(key),
    write(writes: readonly Write[]) {
      if (closed) throw new Error("the database is closed");
      for (const { key } of writes) {
        if (key.length > MAX_KEY_BYTES / 3 && Buffer.byteLength(key) > MAX_KEY_BYTES) {
          throw new RangeError(`storage key longer than ${MAX_KEY_BYTES} bytes`);
        }
      }
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

/** Refuses a file whose first page is not LMDB's, because lmdb itself may crash the process on one. */
function checkHeader(file: string): void {
  const size = statSync(file).size;
  if (size === 0) return;
  const head = Buffer.alloc(LMDB_MAGIC_OFFSET + 4);
  const fd = openSync(file, "r");
  try {
    const read = readSync(fd, head, 0, head.length, 0);
    if (read < head.length || head.readUInt32LE(LMDB_MAGIC_OFFSET) !== LMDB_MAGIC) {
      throw new DamagedStorageError("the data file does not begin like a database");
    }
  } finally {
    closeSync(fd);
  }
}

/** Flushes the file off the event loop, at most once per SYNC_DELAY_MS, and only after a change. */
function backgroundSync(file: string): { dirty(): void; finish(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined;
  let fd: number | undefined;
  const flush = () =>
    new Promise<void>((resolve) => {
      timer = undefined;
      fd ??= openSync(file, "r+");
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
      if (fd !== undefined) closeSync(fd);
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
