// Tells what a module exports: a compiled graph, a builder, or an agent around a graph. By shape and never with `instanceof`, because
// the user's LangGraph is not ours and may be there twice.
import { copyGraph } from "./copy.ts";
import type { GraphRunConfig, RunnableGraph } from "./types.ts";

/** The compiled graph that `value` is or makes; null when it is something else. */
export function toRunnable(value: unknown): RunnableGraph | null {
  if (typeof value !== "object" || value === null) return null;
  if (isCompiled(value)) return value;
  const { graph, compile } = value as { graph?: unknown; compile?: unknown };
  if (isCompiled(graph)) return unwrapAgent(value, graph);
  if (typeof compile !== "function") return null;
  const compiled: unknown = compile.call(value);
  return isCompiled(compiled) ? compiled : null;
}

/** Names the kind of `value` for a message: `a string`, `null`, `an object of class Foo`. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value !== "object") return `a ${typeof value}`;
  const name = (value as object).constructor?.name;
  return name === undefined || name === "Object" ? "a plain object" : `an object of class ${name}`;
}

function isCompiled(value: unknown): value is RunnableGraph {
  if (typeof value !== "object" || value === null) return false;
  const graph = value as Partial<Record<keyof RunnableGraph, unknown>> & { lg_is_pregel?: unknown };
  const runs = [graph.stream, graph.streamEvents, graph.getState].every((method) => typeof method === "function");
  return (
    runs && ((typeof graph.nodes === "object" && typeof graph.channels === "object") || graph.lg_is_pregel === true)
  );
}

// `createAgent` of langchain gives an agent that keeps its graph in `.graph` and its `withConfig` defaults (a recursion limit, tags) in
// a private field. The graph is called with them in `streamEvents`; there they can be read.
function unwrapAgent(agent: object, graph: RunnableGraph): RunnableGraph {
  const { streamEvents } = agent as { streamEvents?: unknown };
  if (typeof streamEvents !== "function") return graph;
  let defaults: GraphRunConfig | undefined;
  const own = Object.getOwnPropertyDescriptor(graph, "streamEvents");
  try {
    Object.defineProperty(graph, "streamEvents", {
      configurable: true,
      value(_input: unknown, { version: _version, ...config }: GraphRunConfig) {
        defaults = config;
      },
    });
    streamEvents.call(agent, null, { version: "v2" });
  } catch {
    // An agent of another kind: it is served without its defaults.
  } finally {
    if (own) Object.defineProperty(graph, "streamEvents", own);
    else Reflect.deleteProperty(graph, "streamEvents");
  }
  const { withConfig } = graph as { withConfig?: (config: object) => RunnableGraph };
  if (defaults === undefined || typeof withConfig !== "function") return graph;
  return copyGraph(graph, { config: withConfig.call(graph, defaults).config });
}
