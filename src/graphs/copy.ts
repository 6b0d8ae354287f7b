// Copies of compiled graphs with another checkpointer or store; the user's own object is never changed.
import type { RunnableGraph } from "./types.ts";

/**
 * A shallow copy of `graph` with `fields` in place of its own.
 * `withConfig` makes it, because Pregel has private methods (`streamEvents` v3): an object made with `Object.create` cannot call them.
 */
export function copyGraph(graph: RunnableGraph, fields: Partial<RunnableGraph>): RunnableGraph {
  const { withConfig } = graph as { withConfig?: (config: object) => RunnableGraph };
  const empty = (): RunnableGraph => Object.create(Object.getPrototypeOf(graph) as object) as RunnableGraph;
  const copy = typeof withConfig === "function" ? withConfig.call(graph, {}) : empty();
  return Object.assign(copy, graph, fields);
}
