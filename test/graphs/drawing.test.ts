import { Annotation, StateGraph } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { drawGraph } from "../../src/graphs/drawing.ts";
import type { RunnableGraph } from "../../src/graphs/types.ts";

const State = Annotation.Root({ word: Annotation<string> });
const inner = new StateGraph(State)
  .addNode("step", () => ({}))
  .addNode("last", () => ({}))
  .addEdge("__start__", "step")
  .addEdge("step", "last")
  .addEdge("last", "__end__")
  .compile();
const graph = new StateGraph(State)
  .addNode("decide", () => ({}))
  .addNode("sub", inner)
  .addEdge("__start__", "decide")
  .addConditionalEdges("decide", () => "sub", { yes: "sub", no: "__end__" })
  .addEdge("sub", "__end__")
  .compile() as unknown as RunnableGraph;

test("draws nodes and edges in the wire shape", async () => {
  const { nodes, edges } = await drawGraph(graph);
  expect(nodes.map(({ id, type }) => [id, type])).toEqual([
    ["__start__", "schema"],
    ["decide", "runnable"],
    ["sub", "runnable"],
    ["__end__", "schema"],
  ]);
  expect(nodes[1]).toMatchObject({ data: { name: "decide" } });
  expect(edges).toHaveLength(4);
  expect(edges).toEqual(
    expect.arrayContaining([
      { source: "__start__", target: "decide", conditional: false },
      { source: "decide", target: "sub", data: "yes", conditional: true },
      { source: "decide", target: "__end__", data: "no", conditional: true },
      { source: "sub", target: "__end__", conditional: false },
    ]),
  );
});

test("draws into subgraphs with xray", async () => {
  const ids = async (xray: boolean | number) => (await drawGraph(graph, { xray })).nodes.map(({ id }) => id);
  expect(await ids(true)).toContain("sub:step");
  expect(await ids(1)).toContain("sub:step");
  expect(await ids(0)).not.toContain("sub:step");
});

test("a number draws so many levels, as LangGraph itself does", async () => {
  const outer = new StateGraph(State)
    .addNode("first", () => ({}))
    .addNode("graph", graph as unknown as typeof inner)
    .addEdge("__start__", "first")
    .addEdge("first", "graph")
    .addEdge("graph", "__end__")
    .compile();
  const ids = async (xray: boolean | number): Promise<unknown[]> =>
    (await drawGraph(outer as unknown as RunnableGraph, { xray })).nodes.map(({ id }) => id);
  const [one, two] = await Promise.all([ids(1), ids(2)]);
  expect(one).toEqual(expect.arrayContaining(["first", "graph:decide", "graph:sub"]));
  expect(two).toEqual(expect.arrayContaining(["first", "graph:decide", "graph:sub:step", "graph:sub:last"]));
  expect(two).not.toContain("graph:sub");
  for (const xray of [false, true, 0, 1, 2]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other reads better
    const { nodes } = (await outer.getGraphAsync({ xray })).toJSON() as { nodes: { id: string }[] };
    // oxlint-disable-next-line no-await-in-loop
    expect(await ids(xray)).toEqual(nodes.map(({ id }) => id));
  }
  expect(await ids(-1)).toEqual(await ids(false));
});

test("where subgraphs cannot be drawn, the graph is drawn without them", async () => {
  const getGraphAsync = async ({ xray }: { xray: boolean | number }): Promise<unknown> => {
    if (xray !== false) throw new Error("Could not extend subgraph");
    return { toJSON: () => ({ nodes: [{ id: "one" }], edges: [{ source: "one", target: "two" }] }) };
  };
  expect(await drawGraph({ getGraphAsync } as unknown as RunnableGraph, { xray: true })).toEqual({
    nodes: [{ id: "one" }],
    edges: [{ source: "one", target: "two", conditional: false }],
  });
});

test("a graph that cannot be drawn is empty", async () => {
  const nothing = { nodes: [], edges: [] };
  expect(await drawGraph({} as RunnableGraph)).toEqual(nothing);
  const broken = { getGraphAsync: () => Promise.reject(new Error("no")) } as unknown as RunnableGraph;
  expect(await drawGraph(broken, { xray: 1 })).toEqual(nothing);
});
