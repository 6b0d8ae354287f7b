// A user's graph with the server's checkpointer and store in it, for one run or one look at a state.
import { copyGraph } from "../graphs/copy.ts";
import type { RunnableGraph } from "../graphs/types.ts";

/** LangGraph's inner method that settles the options of an invocation, as of 1.x: a tuple whose places are named below. */
type Defaults = (config: Record<string, unknown>) => unknown[];
const REST_OF_CONFIG = 4;
const STORE = 8;

/**
 * A shallow copy of `graph` that uses `checkpointer` and `store`.
 *
 * LangGraph wraps the store of a run into a batching one, whose loop wakes every millisecond for as long as the run lasts. Our
 * store answers at once and gains nothing from batches, so it is handed to the nodes as it is. Where a LangGraph release settles
 * options in another way, the store goes the usual way.
 */
export function bindGraph(graph: RunnableGraph, checkpointer: unknown, store: unknown): RunnableGraph {
  const bound = copyGraph(graph, { checkpointer, store }) as RunnableGraph & { _defaults?: Defaults };
  const defaults = bound._defaults;
  if (typeof defaults !== "function") return bound;
  bound._defaults = function (this: unknown, config) {
    const settled = defaults.call(this, config);
    const rest = settled[REST_OF_CONFIG];
    if (settled[STORE] !== store || typeof rest !== "object" || rest === null) return settled;
    settled[STORE] = undefined;
    settled[REST_OF_CONFIG] = { ...rest, store };
    return settled;
  };
  return bound;
}
