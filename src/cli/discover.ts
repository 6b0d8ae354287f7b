// Which server a client command talks to: the one named, else the one that runs for this project, else the default address.
import { hostname, networkInterfaces } from "node:os";
import { dirname, join, resolve } from "node:path";
import { CliError, EXIT } from "../errors.ts";
import type { Io } from "./io.ts";

/** Where `dev` listens when nothing else is said. */
export const DEFAULT_PORT = 2024;

/** Name of the state folder beside the config. */
export const STATE_FOLDER = ".agent-server";

/** Flags that choose the server. */
export interface TargetFlags {
  readonly url?: string;
  readonly dataDir?: string;
}

/** An address without a trailing slash, and who said so. */
export interface Target {
  readonly url: string;
  readonly source: "--url" | "AGENT_SERVER_URL" | "state" | "default";
}

/** `--url`, then AGENT_SERVER_URL, then the server recorded in this project's state, then `http://localhost:2024`. */
export async function findServer(flags: TargetFlags, io: Pick<Io, "env" | "cwd">): Promise<Target> {
  if (flags.url !== undefined) return { url: parseUrl(flags.url, "--url"), source: "--url" };
  const fromEnv = io.env["AGENT_SERVER_URL"];
  if (fromEnv) return { url: parseUrl(fromEnv, "AGENT_SERVER_URL"), source: "AGENT_SERVER_URL" };
  const recorded = await recordedUrl(
    flags.dataDir === undefined ? await stateFolder(io.cwd) : resolve(io.cwd, flags.dataDir),
  );
  if (recorded) return { url: recorded, source: "state" };
  return { url: `http://localhost:${DEFAULT_PORT}`, source: "default" };
}

/** The state folder of the nearest project upward from `cwd`; of `cwd` itself when no folder has a config. */
export async function stateFolder(cwd: string): Promise<string> {
  const { findConfig } = await import("../config/find.ts");
  for (let folder = cwd; ; folder = dirname(folder)) {
    const config = await findConfig({ cwd: folder });
    if (config !== null) return join(dirname(config), STATE_FOLDER);
    if (folder === dirname(folder)) return join(cwd, STATE_FOLDER);
  }
}

async function recordedUrl(folder: string): Promise<string | null> {
  const { readInstance } = await import("../storage/instance.ts");
  const instance = readInstance(folder);
  return instance && isThisMachine(instance.url) ? instance.url.replace(/\/+$/, "") : null;
}

/** A folder can come from anywhere, a clone for example: its record must not send messages and API keys to another machine. */
function isThisMachine(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, "") : "";
  if (["localhost", "0.0.0.0", "::", "::1", hostname().toLowerCase()].includes(host) || host.startsWith("127."))
    return true;
  return Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === host));
}

function parseUrl(text: string, name: string): string {
  const url = text.includes("://") ? text : `http://${text}`;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new CliError(`${name} is not a web address: ${text}`, {
      exitCode: EXIT.usage,
      hint: `Write it like http://localhost:${DEFAULT_PORT}`,
    });
  }
  return url.replace(/\/+$/, "");
}
