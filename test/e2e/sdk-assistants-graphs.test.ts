// Schemas, subgraphs and drawings of assistants, through the official client. The schemas themselves are tested in test/graphs.
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call } from "./support/http.ts";
import { clientOf, complaints, PROJECT, startTestServer, temporaryFolder, type TestServer } from "./support/server.ts";

const GRAPH = `
import { START, StateGraph } from "@langchain/langgraph";
import { z } from "zod";

const chain = (state, name, node) => new StateGraph({ state }).addNode(name, node).addEdge(START, name);
// A drawing opens subgraphs of two nodes or more.
const two = (state, name, node) => chain(state, name, node).addNode("then", () => ({ leaf: "y" })).addEdge(name, "then");
const leaf = two(z.object({ leaf: z.string() }), "work", () => ({ leaf: "x" })).compile();
const middle = two(z.object({ leaf: z.string(), middle: z.number() }), "deep", leaf).compile();
const State = z.object({ leaf: z.string(), middle: z.number(), outer: z.boolean() });

export const nested = chain(State, "first", middle).addNode("second", leaf).addEdge("first", "second").compile();
export const make = (config) => {
  const { depth } = config.context ?? {};
  return depth === config.configurable.depth && depth === "deep" ? nested : leaf;
};
`;

let folder: string;
let server: TestServer;
let client: Client;

beforeAll(async () => {
  folder = temporaryFolder();
  symlinkSync(join(PROJECT, "..", "..", "..", "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "graph.mjs"), GRAPH);
  const graphs = { nested: "./graph.mjs:nested", made: "./graph.mjs:make" };
  writeFileSync(join(folder, "langgraph.json"), JSON.stringify({ graphs }));
  server = await startTestServer({ cwd: folder });
  client = clientOf(server.url);
});
afterAll(async () => {
  await server.stop();
  expect(complaints(server.events)).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
});

const SCHEMAS = ["config_schema", "context_schema", "input_schema", "output_schema", "state_schema"];

/** The names of the fields of the state of every subgraph. */
async function fields(id: string, options: { namespace?: string; recurse?: boolean } = {}): Promise<unknown> {
  const found = await client.assistants.getSubgraphs(id, options);
  return Object.fromEntries(
    Object.entries(found).map(([name, schemas]) => {
      // §8.24: not `state`, `input`, `output`, `config`.
      expect(Object.keys(schemas).toSorted()).toEqual(SCHEMAS);
      return [name, Object.keys(schemas.state_schema!.properties!)];
    }),
  );
}

test("§8.24: the schemas of subgraphs have the names that clients know", async () => {
  expect(await fields("nested")).toEqual({ first: ["leaf", "middle"], second: ["leaf"] });
  expect(await fields("nested", { recurse: false })).toEqual({ first: ["leaf", "middle"], second: ["leaf"] });
  expect(await fields("nested", { recurse: true })).toEqual({
    first: ["leaf", "middle"],
    "first|deep": ["leaf"],
    second: ["leaf"],
  });
});

test("one subgraph is found by its name", async () => {
  expect(await fields("nested", { namespace: "second" })).toEqual({ second: ["leaf"] });
  expect(await fields("nested", { namespace: "first|deep", recurse: true })).toEqual({ "first|deep": ["leaf"] });
  expect(await fields("nested", { namespace: "third" })).toEqual({});
});

test("schemas carry the id of the graph, also for an assistant of another name", async () => {
  const { assistant_id: id } = await client.assistants.create({ graphId: "nested", name: "Something else" });
  const { graph_id, ...schemas } = await client.assistants.getSchemas(id);
  expect(graph_id).toBe("nested");
  expect(Object.keys(schemas).toSorted()).toEqual(SCHEMAS);
  expect(Object.keys(schemas.state_schema!.properties!)).toEqual(["leaf", "middle", "outer"]);
});

test("a graph that is made by a function is made with the settings of the assistant, here too", async () => {
  const { assistant_id: id } = await client.assistants.create({ graphId: "made", context: { depth: "deep" } });
  expect(await fields("made")).toEqual({});
  expect(await fields(id)).toEqual({ first: ["leaf", "middle"], second: ["leaf"] });
  expect(Object.keys((await client.assistants.getSchemas(id)).state_schema!.properties!)).toContain("outer");
});

test("xray opens subgraphs: none, all, or down to a depth", async () => {
  const ids = async (query: string): Promise<string[]> => {
    const answer = await call(server.url, "GET", `/assistants/nested/graph${query}`);
    expect(answer.status).toBe(200);
    return (answer.json as { nodes: { id: string }[] }).nodes
      .map(({ id }) => id)
      .filter((id) => !id.startsWith("__"))
      .toSorted();
  };
  const closed = ["first", "second"];
  const OPEN = ["first:deep:then", "first:deep:work", "first:then", "second:then", "second:work"];
  for (const query of ["", "?xray=false", "?xray=0"]) expect(await ids(query)).toEqual(closed);
  expect(await ids("?xray=1")).toEqual(["first:deep", "first:then", "second:then", "second:work"]);
  expect(await ids("?xray=true")).toEqual(OPEN);
  expect(await ids("?xray=2")).toEqual(OPEN);
  for (const query of ["?xray=deep", "?xray=-1", "?xray=1.5"])
    expect((await call(server.url, "GET", `/assistants/nested/graph${query}`)).status).toBe(422);
});

test.each(["graph", "schemas", "subgraphs", "subgraphs/first"])("%s of what does not exist is 404", async (path) => {
  for (const id of ["nobody", crypto.randomUUID()]) {
    const answer = await call(server.url, "GET", `/assistants/${id}/${path}`);
    expect(answer.status).toBe(404);
    expect(answer.json).toEqual({ detail: expect.stringContaining(id) });
  }
});

test("an unknown value of recurse is refused", async () => {
  expect((await call(server.url, "GET", "/assistants/nested/subgraphs?recurse=deep")).status).toBe(422);
});
