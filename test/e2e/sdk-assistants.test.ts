// Assistants through the official client: one per configured graph, under the ids that every Agent Server gives them.
import { expect, test } from "vitest";
import { call } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer();

const AGENT_ID = "fe096781-5601-53d2-b2f6-0d3403f7e9ca";
const GRAPHS = [
  "agent",
  "approval",
  "counter",
  "echo",
  "factory",
  "failing",
  "gated",
  "memory",
  "mirror",
  "odd",
  "pair",
  "subgraph",
  "tokens",
  "zod",
];
const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/;

test("every configured graph has a system assistant", async () => {
  const found = await server.client.assistants.search({ limit: 100, sortBy: "name", sortOrder: "asc" });
  expect(found.map((assistant) => assistant.graph_id)).toEqual(GRAPHS);
  for (const assistant of found) {
    expect(assistant).toEqual({
      assistant_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      graph_id: assistant.name,
      config: {},
      context: {},
      created_at: expect.stringMatching(STAMP),
      updated_at: expect.stringMatching(STAMP),
      metadata: { created_by: "system" },
      version: 1,
      name: assistant.name,
      description: assistant.name === "agent" ? "Answers, and asks before it acts" : null,
    });
  }
});

test("an assistant is found by the graph's name and by the id that every server gives it", async () => {
  const byName = await server.client.assistants.get("agent");
  expect(byName.assistant_id).toBe(AGENT_ID);
  expect(await server.client.assistants.get(AGENT_ID)).toEqual(byName);
  expect(await server.client.assistants.get(AGENT_ID.toUpperCase())).toEqual(byName);
  await expect(server.client.assistants.get("missing")).rejects.toMatchObject({ status: 404 });
  await expect(server.client.assistants.get(crypto.randomUUID())).rejects.toMatchObject({ status: 404 });
});

test("a run may name its assistant by id", async () => {
  const input = { messages: [{ role: "user", content: "hi" }] };
  const run = await server.client.runs.create(null, AGENT_ID, { input });
  expect(run.assistant_id).toBe(AGENT_ID);
  const values = (await server.client.runs.wait(null, AGENT_ID, { input })) as { messages: { content: string }[] };
  expect(values.messages.at(-1)!.content).toBe("You said: hi");
});

test("search filters by graph, name and metadata", async () => {
  const { assistants } = server.client;
  const names = async (query: Parameters<typeof assistants.search>[0]): Promise<string[]> =>
    (await assistants.search({ ...query, sortBy: "name", sortOrder: "asc" })).map(({ name }) => name);
  expect(await names({ graphId: "echo" })).toEqual(["echo"]);
  expect(await names({ graphId: "nothing" })).toEqual([]);
  expect(await names({ name: "AP" })).toEqual(["approval", "subgraph"]);
  expect(await names({ metadata: { created_by: "system" }, limit: 2, offset: 1 })).toEqual(["approval", "counter"]);
  expect(await names({ metadata: { created_by: "me" } })).toEqual([]);
  expect(await assistants.count({})).toBe(GRAPHS.length);
  expect(await assistants.count({ name: "ap" })).toBe(2);
});

test("search sorts, selects and pages", async () => {
  const { assistants } = server.client;
  const search = { limit: 5, sortBy: "graph_id", sortOrder: "asc", select: ["graph_id"] } as const;
  const first = await assistants.search({ ...search, select: ["graph_id"], includePagination: true });
  expect(first.assistants).toEqual(GRAPHS.slice(0, 5).map((graph_id) => ({ graph_id })));
  expect(first.next).toBe("5");
  const last = await assistants.search({ ...search, select: ["graph_id"], offset: 10, includePagination: true });
  expect(last.assistants).toEqual(GRAPHS.slice(10).map((graph_id) => ({ graph_id })));
  expect(last.next).toBeNull();

  const page = await call(server.url, "POST", "/assistants/search", { body: { limit: 3 } });
  expect(page.headers["x-pagination-total"]).toBe(String(GRAPHS.length));
  expect(page.headers["x-pagination-next"]).toBe("3");
  // Exactly the last page: there is no next one.
  const exact = await call(server.url, "POST", "/assistants/search", { body: { limit: GRAPHS.length } });
  expect(exact.headers["x-pagination-next"]).toBeUndefined();
});

test("schemas of a graph described by zod", async () => {
  const schemas = await server.client.assistants.getSchemas("zod");
  expect(schemas.graph_id).toBe("zod");
  expect(schemas.input_schema).toMatchObject({
    type: "object",
    properties: { name: { type: "string", description: "Who comes" } },
  });
  expect(schemas.output_schema).toMatchObject({ properties: { greeting: { type: "string" } }, required: ["greeting"] });
  expect(Object.keys(schemas.state_schema!.properties!).toSorted()).toEqual(["greeting", "messages", "name", "visits"]);
  expect(schemas.context_schema).toMatchObject({ properties: { politeness: { enum: ["low", "high"] } } });
});

test("schemas of graphs described by annotations, and of factories", async () => {
  const agent = await server.client.assistants.getSchemas(AGENT_ID);
  expect(agent.graph_id).toBe("agent");
  expect(agent.input_schema).toMatchObject({ type: "object", properties: { messages: { type: "array" } } });
  expect((await server.client.assistants.getSchemas("counter")).state_schema).toMatchObject({
    properties: { total: {}, trail: {} },
  });
  expect((await server.client.assistants.getSchemas("factory")).state_schema).toMatchObject({
    properties: { said: {} },
  });
  await expect(server.client.assistants.getSchemas("missing")).rejects.toMatchObject({ status: 404 });
});

test("the drawing of a graph", async () => {
  const drawn = await server.client.assistants.getGraph("agent");
  expect(drawn.nodes.map((node) => [node.id, (node as { type?: string }).type])).toEqual([
    ["__start__", "schema"],
    ["model", "runnable"],
    ["tools", "runnable"],
    ["__end__", "schema"],
  ]);
  expect(drawn.edges).toContainEqual({ source: "tools", target: "model", conditional: false });
  expect(drawn.edges).toContainEqual({ source: "model", target: "tools", conditional: true });
  expect(drawn.edges).toContainEqual({ source: "model", target: "__end__", conditional: true });
});

test("the drawing shows subgraphs when asked to", async () => {
  const ids = async (xray?: boolean | number): Promise<string[]> => {
    const drawn = await server.client.assistants.getGraph("subgraph", xray === undefined ? {} : { xray });
    return drawn.nodes.map((node) => String(node.id)).toSorted();
  };
  const closed = ["__end__", "__start__", "after", "before", "inner"];
  const opened = ["__end__", "__start__", "after", "before", "inner:check", "inner:work"];
  expect(await ids()).toEqual(closed);
  expect(await ids(false)).toEqual(closed);
  expect(await ids(true)).toEqual(opened);
  expect(await ids(1)).toEqual(opened);
  const factory = await server.client.assistants.getGraph("factory");
  expect(factory.nodes.map((node) => node.id)).toEqual(["__start__", "speak_plain", "__end__"]);
  const bad = await call(server.url, "GET", "/assistants/subgraph/graph?xray=deep");
  expect(bad.status).toBe(422);
});
