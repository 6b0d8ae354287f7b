// One server per data folder: two of them would run the same queued runs twice. The claim is a file, `server.json`, that also tells
// the other commands where the server is. A file left by SIGKILL is taken over, by one starter only.

import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { CliError } from "../errors.ts";
import { placeExclusively, readText } from "./exclusive-file.ts";
import { currentProcess, isRunning, type ProcessIdentity } from "./process-identity.ts";

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is a file",
  EEXIST: "there is a file of that name",
};

/** `server.json`. */
interface InstanceRecord extends ProcessIdentity {
  readonly host: string;
  /** Null until the server listens. */
  readonly port: number | null;
  readonly url: string | null;
  /** ISO 8601. */
  readonly started_at: string;
  readonly token: string;
}

/** A running, listening server. */
export interface Instance {
  readonly pid: number;
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** 32 hex digits that only the server and whoever may read its folder know. */
  readonly token: string;
}

/** The right to use a data folder until it is released. */
export interface Claim {
  /** Absolute path of the folder. */
  readonly dir: string;
  /** See Instance. */
  readonly token: string;
  /** Says where the server listens. @throws CliError when the folder cannot be written. */
  update(where: { readonly port: number; readonly url: string }): void;
  /** Gives the folder free; more than once is fine. Never throws: a server that stops has nobody to tell. */
  release(): void;
}

/**
 * Claims a data folder for this process, creating it with a `.gitignore` of its own.
 * @throws CliError when a running server has it, or when it cannot be written.
 */
export async function claimDataDir(dir: string, info: { readonly host: string }): Promise<Claim> {
  const folder = resolve(dir);
  const record: InstanceRecord = {
    ...currentProcess(),
    host: info.host,
    port: null,
    url: null,
    started_at: new Date().toISOString(),
    token: randomBytes(16).toString("hex"),
  };
  return writing(folder, () => {
    mkdirSync(folder, { recursive: true });
    const ignore = join(folder, ".gitignore");
    // A user's own rules stay.
    if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
    const temporary = writeTemporary(folder, record);
    try {
      placeExclusively(temporary, recordFile(folder), (path) => refuseIfRunning(folder, path));
    } finally {
      rmSync(temporary, { force: true });
    }
    return claimOf(folder, record);
  });
}

/** The server that uses a data folder; null when none runs there or it does not listen yet. Never throws. */
export function readInstance(dir: string): Instance | null {
  const record = readRecord(recordFile(dir));
  if (record === undefined || !isProven(record) || !isRunning(record)) return null;
  const { pid, host, port, url, token } = record;
  return typeof port !== "number" || typeof url !== "string" ? null : { pid, host, port, url, token };
}

/**
 * Whether a record can only be of a process that was here. A folder may come from elsewhere with a record that names the pid of any process,
 * such as 1, and leaves out what would tell whose it is.
 */
function isProven({ pid, process_start }: InstanceRecord): boolean {
  return process_start !== null || (pid > 1 && currentProcess().process_start === null);
}

/** Who claims a data folder, running or not; null when nobody does. Never throws. */
export function readOwner(
  dir: string,
): { readonly pid: number; readonly url: string | null; readonly isRunning: boolean } | null {
  const record = readRecord(recordFile(dir));
  return record === undefined ? null : { pid: record.pid, url: record.url, isRunning: isRunning(record) };
}

function claimOf(folder: string, record: InstanceRecord): Claim {
  const file = recordFile(folder);
  return {
    dir: folder,
    token: record.token,
    update({ port, url }) {
      writing(folder, () => renameSync(writeTemporary(folder, { ...record, port, url }), file));
    },
    release() {
      try {
        if (readRecord(file)?.token === record.token) rmSync(file, { force: true });
      } catch {
        // A record that stays is of a process that is gone, so the next start takes it over.
      }
    },
  };
}

function refuseIfRunning(folder: string, file: string): void {
  const record = readRecord(file);
  if (record === undefined || !isRunning(record)) return;
  const where = typeof record.port !== "number" ? "it does not listen yet" : `port ${record.port}`;
  throw new CliError(`A server already runs for this project (pid ${record.pid}, ${where}).`, {
    hint: `Use it${record.url === null ? "" : ` at ${record.url}`}, stop it, or choose another data folder than ${folder} with --data-dir.`,
  });
}

function writeTemporary(folder: string, record: InstanceRecord): string {
  const temporary = `${recordFile(folder)}.${record.token}.tmp`;
  // Only for the owner: the token is in it.
  writeFileSync(temporary, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  return temporary;
}

function recordFile(folder: string): string {
  return join(folder, "server.json");
}

function readRecord(file: string): InstanceRecord | undefined {
  try {
    const record = JSON.parse(readText(file) ?? "") as Partial<InstanceRecord> | null;
    // Any other number would make a question about a group of processes out of the one about this.
    if (!Number.isInteger(record?.pid) || (record?.pid ?? 0) <= 0) return undefined;
    return { ...(record as InstanceRecord), process_start: record?.process_start ?? null };
  } catch {
    return undefined;
  }
}

/** Turns what the file system says into one sentence for the person at the terminal. */
function writing<T>(folder: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CliError(`Cannot write to the data folder ${folder}: ${REASONS[code ?? ""] ?? message}.`, {
      hint: "Make it writable, or choose another one with --data-dir.",
      cause: error,
    });
  }
}
