// With which settings a project's factory makes the graph of a thread outside of runs: those of the run that wrote the state, because a graph
// that was made otherwise may have other nodes; else those of the thread's assistant.
import type { GraphRunConfig } from "../graphs/types.ts";
import type { Assistants } from "../resources/assistants.ts";
import type { Json } from "../resources/json.ts";
import type { Runs } from "../resources/runs.ts";
import type { ThreadRecord } from "../resources/threads.ts";
import type { CheckpointStore, StoredCheckpoint } from "../storage/checkpoints.ts";
import { runConfig } from "./run-config.ts";

export interface SettingsSources {
  readonly runs: Runs;
  readonly assistants: Assistants;
  readonly checkpoints: CheckpointStore;
}

export interface StateSettings {
  /** What the factory gets. */
  readonly config: GraphRunConfig;
  /** Names where the settings are from: as long as it is the same, they are. */
  readonly from: string;
  /** The run that wrote the state has no record any more (it was deleted, or the thread is a copy): it may have had others. */
  readonly guessed?: true;
}

/** Changes from outside, one upon another, behind which the run that wrote the state is looked for. */
const MAX_CHANGES = 20;

/**
 * The settings for the graph of a thread.
 * @param stored the state that it is about; undefined when the thread has none.
 * @param place where the thread stands: ids for `configurable`.
 * @param caller settings that only the server may make, such as who calls.
 */
export function stateSettings(
  sources: SettingsSources,
  { metadata }: Pick<ThreadRecord, "metadata">,
  stored: StoredCheckpoint | undefined,
  place: Json,
  caller?: Json,
): StateSettings {
  const { assistants } = sources;
  const { graph_id, assistant_id } = metadata;
  const runId = stored && writerOf(sources, stored);
  const record = runId === undefined ? undefined : sources.runs.find(stored!.threadId, runId);
  if (record !== undefined && record.graphId === graph_id) {
    const ids = { graph_id, assistant_id: record.run.assistant_id };
    const configurable = { ...caller, ...ids, ...place };
    return {
      config: runConfig({ record, configurable, metadata: record.run.metadata }, true),
      from: record.run.run_id,
    };
  }
  const [named, own] = [assistant_id, graph_id].map((id) => (typeof id === "string" ? assistants.find(id) : undefined));
  const assistant = named?.graph_id === graph_id ? named : own;
  const { config = {}, context, version = 0 } = assistant ?? {};
  const settings = config["configurable"] as Json | undefined;
  const ids = { graph_id, ...(assistant === undefined ? {} : { assistant_id: assistant.assistant_id }) };
  return {
    config: {
      ...config,
      ...(context === undefined ? {} : { context }),
      configurable: { ...settings, ...caller, ...ids, ...place },
    },
    from: `${assistant?.assistant_id}:${version}`,
    ...(runId !== undefined && record === undefined ? { guessed: true } : {}),
  };
}

/** Id of the run that wrote a checkpoint, or of the one that changes from outside were made to. */
function writerOf({ checkpoints }: SettingsSources, stored: StoredCheckpoint): string | undefined {
  const { threadId, ns } = stored;
  let at: StoredCheckpoint | undefined = stored;
  for (let i = 0; i < MAX_CHANGES && at !== undefined; i++) {
    const { d: runId, p: parent }: StoredCheckpoint["record"] = at.record;
    if (runId !== undefined) return runId;
    at = parent === undefined ? undefined : checkpoints.get(threadId, ns, parent);
  }
  return undefined;
}
