// What a thread was before its runs: its status, and the graph and assistant that it names in its metadata, which are those of the run that was
// created last. A run keeps what it found. When it leaves nothing behind, because it was rolled back or never began, the thread is that again,
// whatever was queued meanwhile.
import type { Assistant } from "../resources/assistant.ts";
import type { Json } from "../resources/json.ts";
import type { GraphIds, RunRecord } from "../resources/runs.ts";
import type { ThreadStatus } from "../resources/threads.ts";
import type { ActiveRun } from "./active.ts";

const isSame = (a: GraphIds, b: GraphIds): boolean => a.graph_id === b.graph_id && a.assistant_id === b.assistant_id;
const idsOf = ({ graphId, run }: RunRecord): GraphIds => ({ graph_id: graphId, assistant_id: run.assistant_id });
const namedBefore = (record: RunRecord): GraphIds => record.graphBefore ?? idsOf(record);

/** What a run keeps of the status that its thread has without it. */
export const beforeRun = (status: ThreadStatus): RunRecord["before"] =>
  status === "interrupted" || status === "error" ? status : undefined;

/** What a new run keeps of its thread's metadata; undefined when the thread names its graph and assistant already. */
export function graphBefore(metadata: Json, assistant: Assistant): GraphIds | undefined {
  return isSame(metadata, assistant) ? undefined : pick(metadata);
}

/** Only what is there: keys without a value would be stored. */
function pick({ graph_id, assistant_id }: GraphIds): GraphIds {
  return { ...(graph_id === undefined ? {} : { graph_id }), ...(assistant_id === undefined ? {} : { assistant_id }) };
}

/**
 * The metadata of a thread that a run has left without a trace.
 * @param others runs of the thread that have not ended, in the order of their making.
 */
export function metadataWithout(metadata: Json, record: RunRecord, others: readonly ActiveRun[]): Json {
  const last = others.at(-1);
  const isShown = last === undefined || last.id < record.run.run_id;
  // A caller may have set something else since.
  if (!isShown || !isSame(metadata, idsOf(record))) return metadata;
  const { graph_id: _graph, assistant_id: _assistant, ...rest } = metadata;
  return { ...rest, ...(last === undefined ? namedBefore(record) : idsOf(last.record)) };
}

/**
 * Tells those who wait behind a run that leaves what the thread is now without them.
 * @param others runs of the thread that have not ended, in the order of their making.
 * @param now the status that the thread has without them, and whether the run has left anything; undefined when the run takes all of it back.
 * @returns those whose records changed.
 */
export function tellOthers(
  others: readonly ActiveRun[],
  left: RunRecord | undefined,
  now: { readonly status: ThreadStatus; readonly trace: boolean } | undefined,
): ActiveRun[] {
  const next = left && nextRecord(left, others, now?.trace === true);
  return others.filter((run, i) => {
    const record = (i === 0 ? next : undefined) ?? run.record;
    const before = now === undefined ? record.before : beforeRun(now.status);
    if (record === run.record && record.before === before) return false;
    run.record = { ...record, before };
    return true;
  });
}

/** The record that the first of the others must have, so that it knows what the thread names without all of them; undefined if it has. */
function nextRecord(left: RunRecord, others: readonly ActiveRun[], trace: boolean): RunRecord | undefined {
  const [first] = others;
  // One behind another does not know more than that one.
  if (first === undefined || (!trace && first.id < left.run.run_id)) return undefined;
  const base = trace ? idsOf(left) : namedBefore(left);
  if (isSame(base, namedBefore(first.record))) return undefined;
  const { graphBefore: _before, ...record } = first.record;
  return isSame(base, idsOf(record)) ? record : { ...record, graphBefore: base };
}
