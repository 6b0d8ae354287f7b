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

test("a graph that cannot be drawn is empty", async () => {
  expect(await drawGraph({} as RunnableGraph)).toEqual({ nodes: [], edges: [] });
});
