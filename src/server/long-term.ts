// The settings of the long-term store as the config has them: ttl, and semantic search with what embeds in the user's project.
import type { Diagnostic, ProjectConfig } from "../config/types.ts";
import { ProjectEmbedder } from "../graphs/embeddings.ts";
import type { GraphHost } from "../graphs/host.ts";
import type { StoreSettings } from "../storage/long-term-store.ts";
import type { ServerEvent } from "./types.ts";

/** The settings of a project. What embeds is loaded when it is needed, or by `check` of the store. */
export function storeSettings(
  { root, store }: ProjectConfig,
  graphs: GraphHost,
  onEvent: (event: ServerEvent) => void,
): StoreSettings {
  if (store === undefined) return {};
  const { ttl, index } = store;
  const settings: StoreSettings = {
    defaultTtl: ttl.defaultMinutes,
    refreshOnRead: ttl.refreshOnRead,
    sweepMinutes: ttl.sweepMinutes,
  };
  if (index === undefined) return settings;
  const onProblem = (diagnostic: Diagnostic): void => onEvent({ type: "diagnostic", diagnostic });
  const embedder = new ProjectEmbedder({ index, root, graphs, onProblem });
  return { ...settings, index: { dims: index.dims, fields: index.fields, model: index.embed, embedder } };
}
