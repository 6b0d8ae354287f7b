// Projects that differ from the fixture project in their config only.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { PROJECT } from "./server.ts";

/** Graphs of the fixture project, by absolute paths. */
const GRAPHS = ["echo", "gated", "failing", "approval", "tokens", "counter"];

/** A folder with a config of its own and graphs of the fixture project; gone when the test ends. */
export function projectWith(config: Record<string, unknown>): string {
  const folder = mkdtempSync(join(tmpdir(), "agent-server-project-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const graphs = Object.fromEntries(GRAPHS.map((name) => [name, `${join(PROJECT, "src", `${name}.ts`)}:graph`]));
  writeFileSync(join(folder, "langgraph.json"), JSON.stringify({ graphs, ...config }, null, 2));
  return folder;
}
