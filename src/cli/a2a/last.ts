// The last conversation, so that `--continue` need not be told which. It is kept in the state folder of the project, or in the person's cache
// when another server was talked to: a folder can come from anywhere, and must not say where messages and keys go.
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { CliError, EXIT } from "../../errors.ts";
import type { SayFlags } from "../commands/a2a.ts";
import { stateFolder } from "../discover.ts";
import type { Io } from "../io.ts";
import { isRecord } from "../json.ts";

const FILE = "a2a-last.json";

/** Where a conversation stands. */
export interface Last {
  /** Only in the person's own cache. */
  readonly url?: string;
  readonly assistant?: string;
  readonly v03?: boolean;
  readonly context: string;
  /** The task, if it takes another message. */
  readonly task?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Keeps a conversation. That it cannot be kept is no reason to fail. */
export async function keepLast(io: Io, flags: SayFlags, last: Omit<Last, "at" | "url">): Promise<void> {
  const file = (flags.url === undefined ? await projectFile(io, flags) : undefined) ?? cacheFile(io);
  const record: Last = { ...last, ...(flags.url === undefined ? {} : { url: flags.url }), at: io.now() };
  try {
    mkdirSync(dirname(file), { recursive: true });
    const fresh = `${file}.${randomUUID()}`;
    writeFileSync(fresh, JSON.stringify(record), { mode: 0o600, flag: "wx" });
    renameSync(fresh, file);
  } catch {
    // A folder that cannot be written to.
  }
}

/** The flags with what the last conversation adds to them. @throws CliError when there was none. */
export async function withLast(io: Io, flags: SayFlags): Promise<SayFlags> {
  if (flags.continue !== true) return flags;
  const inProject = read(await projectFile(io, flags));
  const inCache = read(cacheFile(io));
  const found = [
    ...(inProject === undefined ? [] : [{ ...inProject, url: undefined }]),
    ...(inCache === undefined ? [] : [inCache]),
  ].filter(({ url }) => flags.url === undefined || flags.url === url);
  const [last] = found.toSorted((a, b) => b.at - a.at);
  if (last === undefined) {
    throw new CliError("There is no conversation to continue.", {
      exitCode: EXIT.usage,
      hint: "Begin one with: agent-server a2a send <message>",
    });
  }
  const { url, assistant, v03, context, task } = last;
  return {
    ...flags,
    context,
    ...(task === undefined ? {} : { task }),
    ...(url === undefined ? {} : { url }),
    ...(flags.assistant === undefined && assistant !== undefined ? { assistant } : {}),
    ...(flags.v03 === undefined && v03 === true ? { v03 } : {}),
  };
}

/** In the state folder, if there is one. */
async function projectFile(io: Io, flags: SayFlags): Promise<string | undefined> {
  const folder = flags.dataDir === undefined ? await stateFolder(io.cwd) : resolve(io.cwd, flags.dataDir);
  return existsSync(folder) ? join(folder, FILE) : undefined;
}

function cacheFile({ env }: Io): string {
  const named = env["XDG_CACHE_HOME"] ?? "";
  return join(isAbsolute(named) ? named : join(homedir(), ".cache"), "agent-server", FILE);
}

function read(file: string | undefined): Last | undefined {
  if (file === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (!isRecord(value) || typeof value["context"] !== "string" || typeof value["at"] !== "number") return undefined;
    const text = (name: string): Record<string, string> =>
      typeof value[name] === "string" ? { [name]: value[name] } : {};
    return {
      ...text("url"),
      ...text("assistant"),
      ...text("task"),
      v03: value["v03"] === true,
      context: value["context"],
      at: value["at"],
    };
  } catch {
    return undefined;
  }
}
