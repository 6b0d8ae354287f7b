// Projects with a web app of their own, and servers for them that a test can wait for: for an event, and not for the clock.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { startServer } from "../../../src/server/start.ts";
import type { RunningServer, ServerEvent, StartOptions } from "../../../src/server/types.ts";
import { PROJECT } from "./server.ts";

const MODULES = join(import.meta.dirname, "..", "..", "..", "node_modules");
/** Graphs of the fixture project, by absolute paths. */
const GRAPHS = ["echo", "gated", "failing", "counter", "mirror"];

export interface HttpProject {
  readonly folder: string;
  /** Writes a file. */
  save(path: string, text: string): void;
  /** Writes langgraph.json anew. */
  configure(config: Record<string, unknown>): void;
}

/** A folder with these files, a config, and hono, h3 and LangGraph installed; gone with the test. */
export function httpProject(config: Record<string, unknown>, files: Record<string, string> = {}): HttpProject {
  const folder = mkdtempSync(join(tmpdir(), "agent-server-http-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const project: HttpProject = {
    folder,
    save(path, text) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    },
    configure(values) {
      const graphs = Object.fromEntries(GRAPHS.map((name) => [name, `${join(PROJECT, "src", `${name}.ts`)}:graph`]));
      project.save("langgraph.json", JSON.stringify({ graphs, ...values }, null, 2));
    },
  };
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["@langchain", "hono", "h3", "srvx", "rou3"])
    symlinkSync(join(MODULES, name), join(folder, "node_modules", name));
  for (const [path, text] of Object.entries(files)) project.save(path, text);
  project.configure(config);
  return project;
}

export interface HttpServer {
  readonly url: string;
  readonly running: RunningServer;
  readonly events: readonly ServerEvent[];
  /** The first event that fits, of those that come from now on. */
  next(fits: (event: ServerEvent) => boolean): Promise<ServerEvent>;
}

/** Serves a project in this process until the test ends. */
export async function serve(cwd: string, options: Partial<StartOptions> = {}): Promise<HttpServer> {
  const events: ServerEvent[] = [];
  const waiting = new Set<{ fits: (event: ServerEvent) => boolean; resolve: (event: ServerEvent) => void }>();
  const running = await startServer({
    cwd,
    port: 0,
    strictPort: false,
    host: "127.0.0.1",
    persist: false,
    reload: false,
    jobs: 100,
    ...options,
    onEvent(event) {
      events.push(event);
      for (const waiter of waiting) {
        if (!waiter.fits(event)) continue;
        waiting.delete(waiter);
        waiter.resolve(event);
      }
    },
  });
  onTestFinished(async () => void (await running.stop()));
  await running.ready;
  return {
    get url() {
      return running.url;
    },
    running,
    events,
    next: (fits) => new Promise((resolve) => void waiting.add({ fits, resolve })),
  };
}
