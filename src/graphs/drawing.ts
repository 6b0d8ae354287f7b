// The picture of a graph that Studio and the assistants API show: LangGraph's own drawable graph in its wire shape.
import type { RunnableGraph } from "./types.ts";

/** A node of the picture. */
export interface DrawnNode {
  readonly id: string | number;
  readonly type?: string;
  readonly data?: unknown;
}

/** An edge of the picture. */
export interface DrawnEdge {
  readonly source: string | number;
  readonly target: string | number;
  readonly data?: string;
  readonly conditional: boolean;
}

/** Nodes and edges, ready for JSON. */
export interface GraphDrawing {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}

interface Drawable {
  getGraphAsync(config: { xray: boolean | number }): Promise<{ toJSON(): unknown }>;
}

/**
 * Draws `graph`.
 * @param options.xray Draws subgraphs too, down to that depth when it is a number.
 */
export async function drawGraph(
  graph: RunnableGraph,
  options: { xray?: boolean | number } = {},
): Promise<GraphDrawing> {
  const { getGraphAsync } = graph as Partial<Drawable>;
  if (typeof getGraphAsync !== "function") return { nodes: [], edges: [] };
  const drawn = await getGraphAsync.call(graph, { xray: options.xray ?? false });
  const { nodes, edges } = drawn.toJSON() as {
    nodes: DrawnNode[];
    edges: (Omit<DrawnEdge, "conditional"> & { conditional?: boolean })[];
  };
  return { nodes, edges: edges.map((edge) => ({ ...edge, conditional: edge.conditional ?? false })) };
}
