// The port that `dev` takes: free, this project's own, or somebody else's.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { get } from "node:http";
import { createServer } from "node:net";
import { isBlockedPort } from "../../blocked-ports.ts";
import { readInstance } from "../../storage/instance.ts";
import { isRecord } from "../json.ts";
import { findingsOf, type Finding, type Patient } from "./finding.ts";

const HOST = "127.0.0.1";
/** Milliseconds for the one who has the port to say who it is. */
const ANSWER_MS = 1000;
/** Characters that its answer may have. */
const MAX_ANSWER = 100_000;
/** State of a listening socket in /proc/net/tcp. */
const LISTENING = "0A";

/** Looks who has the port. */
export async function checkPort({ port, dataDir }: Patient): Promise<Finding[]> {
  const { ok, warn, fail } = findingsOf("port");
  if (isBlockedPort(port)) {
    const message = `${port} belongs to another protocol: browsers and Node's fetch never connect to it`;
    return [fail(message, "Choose another one with --port.")];
  }
  const code = await tryPort(port);
  if (code === undefined) return [ok(`${port} is free`)];
  if (code !== "EADDRINUSE")
    return [fail(`${port} cannot be listened on (${code})`, "Choose another one with --port.")];
  const instance = dataDir === null ? null : readInstance(dataDir);
  if (instance?.port === port)
    return [ok(`${port} is this project's own server (pid ${instance.pid}, ${instance.url})`)];
  const [server, owner] = [await serverAt(port), ownerOf(port)];
  const who = [server, owner].filter((part) => part !== undefined).join(", ");
  return [
    warn(`${port} is taken${who === "" ? "" : ` (${who})`}`, "dev takes the next free one; --port chooses another."),
  ];
}

/** Undefined when the port can be listened on, else the reason of the system. */
function tryPort(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen(port, HOST, () => probe.close(() => resolve(undefined)));
  });
}

/** What answers there, if it speaks as an agent server does. Not by fetch, which may wait for ever when the other side hangs up. */
function serverAt(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const asked = get({ host: HOST, port, path: "/info", timeout: ANSWER_MS, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (more: string) => {
        text += more;
        if (text.length > MAX_ANSWER) asked.destroy();
      });
      response.on("end", () => resolve(describe(text)));
    });
    // A timeout only tells of silence; this ends it.
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => {});
    asked.on("close", () => resolve(undefined));
  });
}

function describe(text: string): string | undefined {
  try {
    const info: unknown = JSON.parse(text);
    const isServer =
      isRecord(info) && ["langgraph_js_version", "langgraph_py_version", "flags"].some((name) => name in info);
    return isServer ? `an agent server, version ${String(info["version"])}` : undefined;
  } catch {
    return undefined;
  }
}

/** The process that listens there; undefined where /proc does not tell. */
function ownerOf(port: number): string | undefined {
  try {
    const sockets = new Set(["tcp", "tcp6"].flatMap((table) => inodesOf(table, port)));
    if (sockets.size === 0) return undefined;
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      if (!holds(pid, sockets)) continue;
      return `process ${pid}, ${readFileSync(`/proc/${pid}/comm`, "utf8").trim()}`;
    }
  } catch {
    // Not Linux.
  }
  return undefined;
}

function inodesOf(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const [, ...lines] = readFileSync(`/proc/net/${table}`, "latin1").split("\n");
  return lines.flatMap((line) => {
    const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
    return local.endsWith(suffix) && state === LISTENING && inode !== undefined ? [`socket:[${inode}]`] : [];
  });
}

function holds(pid: string, sockets: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => sockets.has(link(`/proc/${pid}/fd/${fd}`)));
  } catch {
    // Of another user, or gone.
    return false;
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
