// The graph of a thread outside of a run: to look at a state, or to change one.
import type { GraphRunConfig, GraphVersion, RunnableGraph } from "../graphs/types.ts";
import type { Json } from "../resources/json.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import { bindGraph } from "./bind.ts";
import type { GraphKit } from "./engine-options.ts";
import { visibleChannels } from "./visible.ts";

export interface StateGraphOptions {
  readonly checkpoints: CheckpointStore;
  /** The long-term store, which a graph may look into. */
  readonly store: unknown;
  readonly kit: () => Promise<GraphKit>;
}

/**
 * A graph bound to the stored states.
 * @param how.shallow leaves out the values of channels: enough to find out which tasks come next.
 * @param how.metadata what checkpoints that it writes carry; without it, it must not write any.
 */
export async function stateGraph(
  options: StateGraphOptions,
  version: GraphVersion,
  config: GraphRunConfig,
  how: { readonly shallow?: boolean; readonly metadata?: Json },
): Promise<RunnableGraph> {
  return boundTo(options, await version.resolve(config), how);
}

/** The same for a graph that was made already. */
export async function boundTo(
  { checkpoints, store, kit }: StateGraphOptions,
  graph: RunnableGraph,
  how: { readonly shallow?: boolean; readonly metadata?: Json },
): Promise<RunnableGraph> {
  const { codec, makeSaver } = await kit();
  const { shallow = false, metadata } = how;
  const writer = metadata === undefined ? {} : { writer: { context: { metadata, ...visibleChannels(graph, codec) } } };
  return bindGraph(graph, makeSaver({ store: checkpoints, codec, shallow, ...writer }), store);
}
