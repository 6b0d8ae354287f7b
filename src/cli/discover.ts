// Which server a client command talks to: the one named, else the one that runs for this project, else the default address.
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { CliError, EXIT } from "../errors.ts";
import { commandLine } from "./flags.ts";
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

/**
 * `--url` or the server of `--data-dir`, then AGENT_SERVER_URL, then the server recorded in this project's state, then
 * `http://localhost:2024`.
 * @param kind An agent's address may be that of its card, with a query.
 * @throws CliError for an address that is none, and when no server runs on the folder of `--data-dir`.
 */
export async function findServer(
  flags: TargetFlags,
  io: Pick<Io, "env" | "cwd">,
  kind: "server" | "agent" = "server",
): Promise<Target> {
  if (flags.url !== undefined) return { url: parseUrl(flags.url, "--url", kind), source: "--url" };
  if (flags.dataDir !== undefined) {
    const folder = resolve(io.cwd, flags.dataDir);
    const url = await recordedUrl(folder);
    if (url !== null) return { url, source: "state" };
    throw new CliError(`No server runs on ${folder}.`, {
      exitCode: EXIT.noServer,
      hint: `Start one in your project with: ${commandLine(io, flags, ["dev"])}`,
    });
  }
  const fromEnv = io.env["AGENT_SERVER_URL"];
  if (fromEnv) return { url: parseUrl(fromEnv, "AGENT_SERVER_URL", kind), source: "AGENT_SERVER_URL" };
  const recorded = await recordedUrl(await stateFolder(io.cwd));
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
  return instance && (await isThisMachine(instance.url)) ? instance.url.replace(/\/+$/, "") : null;
}

/** A folder can come from anywhere, a clone for example: its record must not send messages and API keys to another machine. */
async function isThisMachine(url: string): Promise<boolean> {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, "") : "";
  const { isOwnAddress } = await import("../webhooks/addresses.ts");
  return ["localhost", hostname().toLowerCase()].includes(host) || isOwnAddress(host);
}

function parseUrl(text: string, name: string, kind: "server" | "agent"): string {
  const url = text.includes("://") ? text : `http://${text}`;
  const refuse = (message: string, hint = `Write it like http://localhost:${DEFAULT_PORT}`): never => {
    throw new CliError(message, { exitCode: EXIT.usage, hint });
  };
  // What stands before an @ may be a password: it is not shown.
  const shown = text.replace(/^(.*?:\/\/)?.*@/s, "$1…@");
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return refuse(`${name} is not a web address: ${shown}`);
  const { username, password } = new URL(url);
  if (username !== "" || password !== "")
    return refuse(`${name} has a user name or a password.`, "Leave it away; keys go into AGENT_SERVER_API_KEY.");
  if (url.includes("#") || (url.includes("?") && kind === "server"))
    return refuse(`${name} has something behind the path: ${shown}`, "Leave away all from the ? or # on.");
  return url.replace(/\/+$/, "");
}
