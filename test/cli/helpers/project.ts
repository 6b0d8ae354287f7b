// A project in a temporary folder that finds LangGraph, and a real server for it in this process.
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { startServer } from "../../../src/server/start.ts";
import type { RunningServer, ServerEvent } from "../../../src/server/types.ts";

const root = join(import.meta.dirname, "..", "..", "..");

/** A folder with these files; gone with the test. */
export function folderWith(files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "agent-server-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** A project with these files that has LangGraph installed. */
export function projectWith(files: Record<string, string> = {}): string {
  const folder = folderWith(files);
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(join(root, "node_modules", "@langchain"), join(folder, "node_modules", "@langchain"));
  return folder;
}

/** Copies a template's sources into a project. */
export function addTemplate(project: string, template: string): void {
  cpSync(join(root, "templates", template, "src"), join(project, "src"), { recursive: true });
}

/** Serves a project from this process, on any port, until the test ends. */
export async function serve(cwd: string): Promise<{ server: RunningServer; events: ServerEvent[] }> {
  const events: ServerEvent[] = [];
  const server = await startServer({
    cwd,
    port: 0,
    strictPort: false,
    host: "127.0.0.1",
    persist: true,
    reload: false,
    jobs: 100,
    onEvent: (event) => events.push(event),
  });
  onTestFinished(async () => {
    await server.stop();
  });
  await server.ready;
  return { server, events };
}
