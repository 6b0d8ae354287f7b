// The graphs inside a graph, by the names that LangGraph gives them.
import type { RunnableGraph } from "./types.ts";

const MAX_NESTING = 10;

interface Parent {
  getSubgraphsAsync(): AsyncIterable<[name: string, graph: RunnableGraph]>;
}

/**
 * Finds the graphs inside `graph`: `node`, and with `recurse` also `node|inner`. Of several in one node the first counts. A graph that
 * cannot tell has none.
 */
export async function nestedGraphs(graph: RunnableGraph, recurse: boolean): Promise<Map<string, RunnableGraph>> {
  const found = new Map<string, RunnableGraph>();
  await collect(graph, "", recurse ? MAX_NESTING : 1, found);
  return found;
}

async function collect(
  graph: RunnableGraph,
  prefix: string,
  levels: number,
  found: Map<string, RunnableGraph>,
): Promise<void> {
  const { getSubgraphsAsync } = graph as Partial<Parent>;
  // A remote graph would ask its server.
  if (levels === 0 || typeof getSubgraphsAsync !== "function" || typeof graph.nodes !== "object") return;
  const children: [string, RunnableGraph][] = [];
  try {
    for await (const child of getSubgraphsAsync.call(graph)) children.push(child);
  } catch {
    return;
  }
  for (const [name, inner] of children) {
    if (found.has(prefix + name)) continue;
    found.set(prefix + name, inner);
    // oxlint-disable-next-line no-await-in-loop -- in the order of the nodes
    await collect(inner, `${prefix}${name}|`, levels - 1, found);
  }
}
