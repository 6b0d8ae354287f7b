// Opens a data folder: claims it for this process, opens the database in it, and moves a damaged one aside instead of losing it.
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { createStorage, type Storage } from "unstorage";
import { CliError } from "../errors.ts";
import { buffered, type BufferedDatabase } from "./buffered.ts";
import { prefixRange, type Database } from "./database.ts";
import { claimDataDir, type Claim } from "./instance.ts";
import { keys } from "./keys.ts";
import { DamagedStorageError, databaseDriver, lmdbDatabase } from "./lmdb-driver.ts";
import { memoryDatabase } from "./memory-driver.ts";

/** Layout of what is stored (keys.ts and the records); counts up when an older server could not read it. */
export const FORMAT = 1;
/** Folder of the database inside the data folder. */
export const STATE = "state";

/** Open storage. */
export interface OpenStorage {
  readonly database: BufferedDatabase;
  /** The same data through unstorage: to look at it, to copy it, to close it. */
  readonly storage: Storage;
  /** The claim on the data folder; null in memory. */
  readonly claim: Claim | null;
}

/** A damaged database that was moved aside. */
export interface MovedAside {
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

/**
 * Opens the storage of a server.
 * @param folder the data folder; null keeps everything in memory.
 * @throws CliError when another server has the folder, it cannot be written, or a newer version wrote it.
 */
export async function openStorage(
  folder: string | null,
  options: {
    readonly host: string;
    readonly onMovedAside: (moved: MovedAside) => void;
    /** A commit failed that nobody waits for. */
    readonly onError: (error: unknown) => void;
  },
): Promise<OpenStorage> {
  const wrap = (bare: Database, name: string, claim: Claim | null): OpenStorage => {
    const database = buffered(bare, options.onError);
    return { database, claim, storage: createStorage({ driver: databaseDriver({ database, name }) }) };
  };
  if (folder === null) return wrap(memoryDatabase(), "memory", null);
  const claim = await claimDataDir(folder, { host: options.host });
  try {
    return wrap(openOrMoveAside(claim.dir, options.onMovedAside), "lmdb", claim);
  } catch (error) {
    claim.release();
    throw error;
  }
}

function openOrMoveAside(folder: string, onMovedAside: (moved: MovedAside) => void): Database {
  const state = join(folder, STATE);
  try {
    return openChecked(state);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const to = freeName(join(folder, `damaged-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}`));
    renameSync(state, to);
    onMovedAside({ from: state, to, reason });
    return openChecked(state);
  }
}

/** Opens a database and reads enough of it to know that it is one of ours. */
function openChecked(state: string): Database {
  const database = lmdbDatabase(state);
  try {
    const format = database.get(keys.format);
    if (format === undefined) database.write([{ key: keys.format, value: String(FORMAT) }]);
    else if (!/^\d+$/.test(format)) throw new DamagedStorageError(`unknown storage format "${format.slice(0, 20)}"`);
    else if (Number(format) > FORMAT) {
      throw new CliError(`The state in ${state} was written by a newer agent-server (storage format ${format}).`, {
        hint: "npm install agent-server@latest",
      });
    }
    for (const prefix of [keys.threads, keys.queue]) {
      for (const [, value] of database.range({ ...prefixRange(prefix), limit: 1 })) void value;
    }
    return database;
  } catch (error) {
    void database.close();
    throw error;
  }
}

function freeName(wanted: string): string {
  let name = wanted;
  for (let i = 2; existsSync(name); i++) name = `${wanted}-${i}`;
  return name;
}
