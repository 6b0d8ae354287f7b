// Looks at a data folder without a server and without changing what is stored: whether it is whole, who wrote it, how new it is. For a folder
// that no server has: the pages of a running one change while they are read.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import { prefixRange } from "./database.ts";
import { keys } from "./keys.ts";
import { dataFile } from "./lmdb-driver.ts";
import { findDamage } from "./lmdb-pages.ts";
import { FORMAT, STATE } from "./open.ts";

/** Threads that are asked for their times. */
const THREADS_READ = 5000;

/** What a database holds. */
export interface Inspected {
  /** What is wrong with the file; null when it is whole. Nothing else is known of a damaged one. */
  readonly damage: string | null;
  /** Layout in which it was written, and the newest that this version reads; null when it says none. */
  readonly format: string | null;
  readonly knownFormat: number;
  readonly threads: number;
  /** Milliseconds since 1970 of the newest change that was found; null without threads. */
  readonly newest: number | null;
}

/**
 * Looks into the database of a data folder; null when it has none yet.
 * @throws Error of the file system, or of LMDB.
 */
export async function inspectDatabase(folder: string): Promise<Inspected | null> {
  const file = dataFile(join(folder, STATE));
  if (!existsSync(file) || statSync(file).size === 0) return null;
  const damage = findDamage(file) ?? null;
  const nothing = { damage, format: null, knownFormat: FORMAT, threads: 0, newest: null };
  if (damage !== null) return nothing;
  const database = open<string, string>({ path: file, encoding: "string", readOnly: true, maxDbs: 1 });
  try {
    const threads = prefixRange(keys.threads);
    let newest: number | null = null;
    for (const { value } of database.getRange({ ...threads, limit: THREADS_READ })) {
      const time = Date.parse(/"updated_at":"([^"]+)"/.exec(value)?.[1] ?? "");
      if (time > (newest ?? 0)) newest = time;
    }
    return {
      ...nothing,
      format: database.get(keys.format) ?? null,
      threads: database.getKeysCount(threads),
      newest,
    };
  } finally {
    await database.close();
  }
}

/** Bytes of all files below `folder`; those that vanish meanwhile count nothing. */
export function folderBytes(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    bytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}
