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
 * Draws `graph`; empty when it cannot be drawn.
 * @param options.xray Draws subgraphs too; a number says how many levels of them, and from 0 down none. Where LangGraph fails at that,
 *   the graph is drawn without them.
 */
export async function drawGraph(
  graph: RunnableGraph,
  options: { xray?: boolean | number } = {},
): Promise<GraphDrawing> {
  const { xray = false } = options;
  // LangGraph counts down to 0, which it never meets from below.
  const levels = typeof xray === "number" && !(xray > 0) ? false : xray;
  const drawn = (await attempt(graph, levels)) ?? (levels === false ? undefined : await attempt(graph, false));
  const { nodes, edges } = (drawn ?? { nodes: [], edges: [] }) as {
    nodes: DrawnNode[];
    edges: (Omit<DrawnEdge, "conditional"> & { conditional?: boolean })[];
  };
  return { nodes, edges: edges.map((edge) => ({ ...edge, conditional: edge.conditional ?? false })) };
}

async function attempt(graph: RunnableGraph, xray: boolean | number): Promise<unknown> {
  const { getGraphAsync } = graph as Partial<Drawable>;
  try {
    return (await getGraphAsync?.call(graph, { xray }))?.toJSON();
  } catch {
    return undefined;
  }
}
