// Assistants over restarts: records and versions stay, those of the config come back and follow it, LANGGRAPH_CONFIG gives them settings.
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@langchain/langgraph-sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { clientOf, complaints, PROJECT, startTestServer, temporaryFolder, type TestServer } from "./support/server.ts";

type Graph = string | { readonly path: string; readonly description?: string };

let folder: string;
let running: TestServer | undefined;

beforeEach(() => {
  folder = temporaryFolder();
  symlinkSync(join(PROJECT, "..", "..", "..", "node_modules"), join(folder, "node_modules"));
  symlinkSync(join(PROJECT, "src"), join(folder, "src"));
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const ECHO = "./src/echo.ts:graph";
const MIRROR = "./src/mirror.ts:graph";
const COUNTER = "./src/counter.ts:graph";

/** Stops the server that runs, and starts one with these graphs over the same state. */
async function start(graphs: Record<string, Graph>, env: Record<string, string> = {}): Promise<Client> {
  await running?.stop();
  writeFileSync(join(folder, "langgraph.json"), JSON.stringify({ graphs, env }));
  running = await startTestServer({ cwd: folder, dataDir: join(folder, "state") });
  return clientOf(running.url);
}

/** Starts it again as it was. */
async function restart(): Promise<Client> {
  await running!.stop();
  running = await startTestServer({ cwd: folder, dataDir: join(folder, "state") });
  return clientOf(running.url);
}

test("records, versions and the latest version survive a restart", async () => {
  let { assistants } = await start({ echo: ECHO, mirror: MIRROR });
  const { assistant_id: id } = await assistants.create({ graphId: "echo", context: { model: "a" }, name: "One" });
  await assistants.update(id, { graphId: "mirror", name: "Two", metadata: { n: 2 } });
  await assistants.update(id, { name: "Three" });
  const latest = await assistants.setLatest(id, 2);
  const versions = await assistants.getVersions(id);
  await assistants.update("echo", { name: "My echo", metadata: { mine: true } });
  const all = await assistants.search();
  const gone = await assistants.create({ graphId: "echo" });
  await assistants.delete(gone.assistant_id);

  const client = await restart();
  ({ assistants } = client);
  expect(await assistants.get(id)).toEqual(latest);
  expect(await assistants.getVersions(id)).toEqual(versions);
  expect(await assistants.search()).toEqual(all);
  expect(await assistants.get("echo")).toMatchObject({ name: "My echo", version: 2, metadata: { mine: true } });
  await expect(assistants.get(gone.assistant_id)).rejects.toMatchObject({ status: 404 });
  expect(await client.runs.wait(null, id, { input: {} })).toMatchObject({ seen: { context: { model: "a" } } });
  expect(await assistants.update(id, {})).toMatchObject({ version: 4, name: "Two" });
  expect(complaints(running!.events)).toEqual([]);
});

test("the assistant of a graph that was deleted comes back at the next start, as new", async () => {
  let client = await start({ echo: ECHO, counter: COUNTER });
  const before = await client.assistants.update("counter", { name: "Patched" });
  await client.assistants.delete("counter");
  const reason = /was deleted, and comes back when the server starts again or the config changes/;
  await expect(client.assistants.get("counter")).rejects.toThrow(reason);
  await expect(client.runs.wait(null, "counter", { input: {} })).rejects.toMatchObject({
    status: 404,
    message: expect.stringMatching(reason),
  });
  expect((await client.assistants.search()).map(({ name }) => name)).toEqual(["echo"]);
  client = await restart();
  const after = await client.assistants.get("counter");
  expect(after).toMatchObject({ assistant_id: before.assistant_id, name: "counter", version: 1 });
  expect(await client.assistants.getVersions("counter")).toHaveLength(1);
  expect(await client.runs.wait(null, "counter", { input: {} })).toMatchObject({ total: 111 });
});

test("a changed description is followed, and a patched one is kept", async () => {
  const graphs = (description: string): Record<string, Graph> => ({
    echo: { path: ECHO, description },
    mirror: { path: MIRROR, description },
  });
  let { assistants } = await start(graphs("old"));
  await assistants.update("mirror", { description: "mine", metadata: { mine: true } });
  ({ assistants } = await start(graphs("new")));
  expect(await assistants.get("echo")).toMatchObject({ description: "new", version: 1 });
  expect(await assistants.get("mirror")).toMatchObject({ description: "mine", version: 2, metadata: { mine: true } });
});

test("runs of assistants whose graph left the config are refused with the reason", async () => {
  let client = await start({ echo: ECHO, mirror: MIRROR });
  const mine = await client.assistants.create({ graphId: "mirror", name: "Mine" });
  const thread = await client.threads.create();
  client = await start({ echo: ECHO });
  expect(await client.assistants.get(mine.assistant_id)).toEqual(mine);
  for (const run of [
    () => client.runs.wait(null, mine.assistant_id, { input: {} }),
    () => client.runs.create(thread.thread_id, mine.assistant_id, { input: {} }),
  ]) {
    await expect(run()).rejects.toMatchObject({
      status: 404,
      message: expect.stringMatching(/the graph \\"mirror\\", which is not in the config \(graphs here: echo\)/),
    });
  }
  expect(await client.runs.list(thread.thread_id)).toEqual([]);
  await expect(client.assistants.getSchemas(mine.assistant_id)).rejects.toMatchObject({ status: 404 });
  await expect(client.assistants.getGraph(mine.assistant_id)).rejects.toMatchObject({ status: 404 });
  await expect(client.assistants.create({ graphId: "mirror" })).rejects.toMatchObject({ status: 404 });
  // The graph's own assistant is hidden meanwhile.
  await expect(client.assistants.get("mirror")).rejects.toMatchObject({ status: 404 });
  expect((await client.assistants.search()).map(({ name }) => name)).toEqual(["Mine", "echo"]);
  client = await start({ echo: ECHO, mirror: MIRROR });
  expect(await client.runs.wait(null, mine.assistant_id, { input: {} })).toHaveProperty("seen");
  expect(await client.runs.wait(null, "mirror", { input: {} })).toHaveProperty("seen");
});

describe("LANGGRAPH_CONFIG", () => {
  test("gives config and context to the assistants of the graphs", async () => {
    const LANGGRAPH_CONFIG = JSON.stringify({
      mirror: { tags: ["env"], recursion_limit: 7, context: { tenant: "t1" } },
    });
    let client = await start({ echo: ECHO, mirror: MIRROR }, { LANGGRAPH_CONFIG });
    expect(complaints(running!.events)).toEqual([]);
    expect(await client.assistants.get("mirror")).toMatchObject({
      config: { tags: ["env"], recursion_limit: 7, configurable: { tenant: "t1" } },
      context: { tenant: "t1" },
      version: 1,
    });
    expect(await client.assistants.get("echo")).toMatchObject({ config: {}, context: {} });
    expect(await client.runs.wait(null, "mirror", { input: {} })).toMatchObject({
      seen: { context: { tenant: "t1" }, recursionLimit: 7, tags: expect.arrayContaining(["env"]) },
    });
    // Without it, what it gave is gone.
    client = await start({ echo: ECHO, mirror: MIRROR });
    expect(await client.assistants.get("mirror")).toMatchObject({ config: {}, context: {} });
  });

  test.each([
    ["{nope", "LANGGRAPH_CONFIG is ignored, because it is not valid JSON"],
    ['{"nobody":{}}', 'LANGGRAPH_CONFIG: "nobody" is ignored: there is no such graph (graphs here: echo)'],
    ['{"echo":{"tags":7}}', 'LANGGRAPH_CONFIG: "echo" is ignored: tags: '],
  ])("that is wrong (%s) is a warning, and the server serves", async (LANGGRAPH_CONFIG, warning) => {
    const client = await start({ echo: ECHO }, { LANGGRAPH_CONFIG });
    expect(complaints(running!.events)).toEqual([{ type: "warning", message: expect.stringContaining(warning) }]);
    expect(await client.assistants.get("echo")).toMatchObject({ config: {}, context: {} });
  });
});
