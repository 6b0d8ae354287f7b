// Which channels of a graph make up the `values` of its states, and what those show that were never written.
import type { RunnableGraph } from "../graphs/types.ts";
import type { CheckpointContext } from "../storage/checkpoint-contexts.ts";
import type { Codec } from "../storage/codec.ts";

type Visible = Omit<CheckpointContext, "metadata">;

/** What we call of LangGraph's channels. */
interface Channel {
  readonly lc_graph_name?: string;
  fromCheckpoint(value: undefined): { get(): unknown };
}

/** By the graph's channels, which all copies of a graph share. */
const known = new WeakMap<object, Visible>();

/** The visible channels of a graph, for the contexts of its checkpoints. */
export function visibleChannels(graph: RunnableGraph, codec: Codec): Visible {
  let visible = known.get(graph.channels);
  if (visible === undefined) {
    visible = describe(graph, codec);
    known.set(graph.channels, visible);
  }
  return visible;
}

function describe(graph: RunnableGraph, codec: Codec): Visible {
  const { streamChannelsAsIs: names } = graph as { streamChannelsAsIs?: unknown };
  const visible = typeof names === "string" || Array.isArray(names) ? (names as string | string[]) : null;
  const channels = graph.channels as Record<string, Channel>;
  const defaults: Record<string, string> = {};
  for (const name of [visible ?? []].flat()) {
    try {
      const value = channels[name]?.fromCheckpoint(undefined).get();
      if (value !== undefined) defaults[name] = codec.wire(value);
    } catch {
      // A channel without a default is empty until it is written.
    }
  }
  const opaque = Object.values(channels).some((channel) => channel.lc_graph_name === "DeltaChannel");
  return {
    visible,
    ...(Object.keys(defaults).length > 0 ? { defaults } : {}),
    ...(opaque ? { opaque } : {}),
  };
}
