// Runs that were created while the graphs still load: what happens to them meanwhile counts, and they hold nothing up.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startServer } from "../../src/server/start.ts";
import type { RunningServer } from "../../src/server/types.ts";

const GRAPH = `
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
await globalThis[Symbol.for("loading.test")];
export const graph = new StateGraph(Annotation.Root({ n: Annotation() }))
  .addNode("one", () => ({ n: 1 })).addEdge(START, "one").addEdge("one", END).compile();
`;

let folder: string;
let server: RunningServer;
let load: () => void;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "agent-server-loading-"));
  symlinkSync(join(import.meta.dirname, "../../node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "langgraph.json"), JSON.stringify({ graphs: { late: "./graph.mjs:graph" } }));
  writeFileSync(join(folder, "graph.mjs"), GRAPH);
  (globalThis as Record<symbol, unknown>)[Symbol.for("loading.test")] = new Promise<void>((resolve) => {
    load = resolve;
  });
  server = await startServer({
    cwd: folder,
    port: 0,
    strictPort: false,
    host: "127.0.0.1",
    persist: true,
    reload: false,
    jobs: 10,
    onEvent: () => undefined,
  });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function call(method: string, path: string, body?: unknown): Promise<{ status: number; json: unknown }> {
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
  const answer = await fetch(server.url + path, init);
  const text = await answer.text();
  return { status: answer.status, json: text === "" ? null : JSON.parse(text) };
}

const RUN = { assistant_id: "late", input: { n: 0 } };

async function createRun(): Promise<string> {
  const thread = (await call("POST", "/threads", {})).json as { thread_id: string };
  const run = (await call("POST", `/threads/${thread.thread_id}/runs`, RUN)).json as { run_id: string };
  return `/threads/${thread.thread_id}/runs/${run.run_id}`;
}

test("a run that is deleted before its graph is loaded stays deleted", async () => {
  const path = await createRun();
  expect((await call("DELETE", path)).status).toBe(204);
  load();
  await server.ready;
  expect((await call("POST", "/runs/wait", RUN)).json).toEqual({ n: 1 });
  expect((await call("GET", path)).status).toBe(404);
  await server.stop();
});

test("a server whose graphs never load stops, and parks what waits for them", async () => {
  await createRun();
  expect(await server.stop()).toEqual({ finished: 0, parked: 1 });
  load();
});
