// What `dev` says at the start: where it listens, what it serves, what is stored.
import { relative } from "node:path";
import type { RunningServer } from "../../server/types.ts";
import type { Io } from "../io.ts";
import type { Output } from "../output.ts";
import { version } from "../package.ts";
import { commandLine } from "../flags.ts";
import { bytes, count, oneLine } from "../text.ts";

/** Printed as soon as the port is open. */
export function printAddress({ note, err }: Output, server: RunningServer): void {
  note();
  note(`  ${err.bold("agent-server")} ${version}`);
  note();
  note(`  ${err.dim("url")}     ${err.cyan(server.url)}`);
  if (!server.project.http.disable_meta) note(`  ${err.dim("docs")}    ${err.cyan(`${server.url}/docs`)}`);
  if (server.auth !== null) {
    const what = server.auth === "keys" ? "an API key, in X-Api-Key" : "what auth.path says";
    note(`  ${err.dim("auth")}    ${what}`);
  } else if (!isLoopback(server.host)) {
    note(
      `  ${err.yellow("warning")} Everyone who can reach ${server.host} can run these graphs and read these threads:`,
    );
    note("          --insecure was given, so nobody has to authenticate.");
  }
}

/** Printed when the graphs are loaded, `ms` after the process began. */
export function printReady(
  { note, err }: Output,
  server: RunningServer,
  io: Pick<Io, "env" | "cwd">,
  ms: number,
): void {
  const { graphs, demo } = server.project;
  const width = Math.max(0, ...graphs.map((graph) => graph.id.length));
  for (const [index, graph] of graphs.entries()) {
    const label = index === 0 ? err.dim(graphs.length === 1 ? "graph " : "graphs") : "      ";
    const description = graph.description === null ? "" : `  ${err.dim(oneLine(graph.description, 80))}`;
    note(`  ${label}  ${graph.id.padEnd(width)}${description}`.trimEnd());
  }
  note(`  ${err.dim("state")}   ${describeState(server, io.cwd)}`);
  note();
  if (demo) {
    note(`  No langgraph.json here: this is the built-in demo agent.`);
    note(`  Start your own with: ${err.cyan(commandLine(io, {}, ["init", "my-agent"]))}`);
    note();
  }
  note(`  ${err.green("ready")} in ${ms} ms`);
  note();
}

function describeState({ dataDir, stored }: RunningServer, cwd: string): string {
  if (dataDir === null) return "in memory; gone at the end";
  const path = relative(cwd, dataDir);
  const shown = path === "" || path.startsWith("..") ? dataDir : path;
  if (stored.threads === 0 && stored.items === 0) return `${shown}, empty`;
  const parts = [count(stored.threads, "thread")];
  if (stored.items > 0) parts.push(count(stored.items, "memory item"));
  return `${shown}, ${parts.join(", ")}, ${bytes(stored.bytes)}`;
}

/** True when only this machine reaches the address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
