// What stands on the thread of a run that did not come to its end. Tasks beside the one that failed, or was stopped, may have finished: what
// they returned waits at the newest checkpoint, and LangGraph counts it in when it is asked for the state.
import type { RunnableGraph } from "../graphs/types.ts";
import type { RunRecord } from "../resources/runs.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import type { Codec } from "../storage/codec.ts";

export interface Leftovers {
  /** The run's last step was done: nothing comes next. */
  readonly atEnd: boolean;
  /** The values of the state, where they are not those of the newest checkpoint. */
  readonly valuesJson: string | undefined;
}

const NOTHING: Leftovers = { atEnd: false, valuesJson: undefined };

/**
 * Looks at what a run has left; never rejects. The graph is asked only where its answer matters.
 * @param graph undefined when the run never got one.
 * @param wasStopped the run was stopped, so that its last step may be done.
 */
export async function leftovers(
  {
    record,
    checkpoints,
    codec,
  }: { readonly record: RunRecord; readonly checkpoints: CheckpointStore; readonly codec: Codec },
  graph: RunnableGraph | undefined,
  wasStopped: boolean,
): Promise<Leftovers> {
  const { thread_id, run_id } = record.run;
  const newest = checkpoints.get(thread_id, "");
  if (graph === undefined || newest === undefined || (record.ephemeral === true && !wasStopped)) return NOTHING;
  const waiting = checkpoints.pending.at(thread_id, "", newest.id).some(({ index }) => index >= 0);
  const isOwn = wasStopped && newest.record.d === run_id;
  if (!waiting && !isOwn) return NOTHING;
  try {
    const { next, values } = await graph.getState({ configurable: { thread_id } });
    return { atEnd: isOwn && next.length === 0, valuesJson: waiting ? codec.wire(values) : undefined };
  } catch {
    // A channel of the user's own may fail, or the reducer that the run failed at.
    return NOTHING;
  }
}
