// The JSON bodies that `wait` and `join` answer with (wire-api §3.5), and the interrupts that a thread shows.
import type { RunError, RunRecord } from "../resources/runs.ts";
import type { InterruptJson, Threads } from "../resources/threads.ts";
import type { CheckpointStore, StoredCheckpoint } from "../storage/checkpoints.ts";
import { wireOf } from "../storage/codec.ts";
import type { RunEnd } from "./active.ts";
import { nameValues } from "./interrupts.ts";
import type { ThreadValues } from "./values.ts";

/** Checkpoints behind a run that has ended among which its own are looked for. */
const MAX_SCAN = 1000;

/** The body for a failed run. */
export function errorJson({ error, message }: RunError): string {
  return JSON.stringify({ __error__: { error, message } });
}

/**
 * The body for a result in JSON. The official JS client looks for a key in it (`"__error__" in run`), which fails for a text, a number or a
 * truth value: they become `{"output": …}`, the name that LangChain's tracers have for results that are no objects. Lists stay lists. No
 * public source says what the platform does; the reference dev server sends the bare value, and the client throws.
 */
export const waitBody = (json: string): string => (json === "" || /^[{[]/.test(json) ? json : inOutput(json));

const inOutput = (json: string): string => `{"output":${json}}`;

/** Values with the interrupts beside them, when there are any. Clients look for keys in the body, so `null` becomes `{}`. */
export function withInterrupts(values: string, interrupts: readonly string[] | undefined): string {
  if (values === "null") return withInterrupts("{}", interrupts);
  if (interrupts === undefined || interrupts.length === 0) return values;
  if (!values.startsWith("{")) return withInterrupts(inOutput(values), interrupts);
  const separator = values === "{}" ? "" : ",";
  return `${values.slice(0, -1)}${separator}"__interrupt__":[${interrupts.join(",")}]}`;
}

/**
 * The interrupts that the newest checkpoint of a thread waits at, by task.
 * @param except leaves out checkpoints that this run wrote: what is left when they are gone.
 */
export function interruptsOf(
  checkpoints: CheckpointStore,
  threadId: string,
  except?: string,
  changes?: ReadonlyMap<string, string | undefined>,
): Record<string, InterruptJson[]> {
  for (const checkpoint of checkpoints.list(threadId, "")) {
    if (except === undefined || checkpoint.record.d !== except) return interruptsAt(checkpoints, checkpoint, changes);
  }
  return {};
}

function interruptsAt(
  checkpoints: CheckpointStore,
  { threadId, id }: StoredCheckpoint,
  changes?: ReadonlyMap<string, string | undefined>,
): Record<string, InterruptJson[]> {
  const found: Record<string, InterruptJson[]> = {};
  const writes = checkpoints.pending.at(threadId, "", id, changes);
  // A task that was resumed and has finished waits no more.
  const finished = new Set(writes.filter(({ index }) => index >= 0).map(({ taskId }) => taskId));
  for (const write of writes) {
    if (write.channel !== "__interrupt__" || finished.has(write.taskId)) continue;
    const value = JSON.parse(wireOf(write.stored)) as InterruptJson | InterruptJson[];
    const asked = Array.isArray(value) ? value : [value];
    nameValues(asked);
    (found[write.taskId] ??= []).push(...asked);
  }
  return found;
}

/** What those get who join a run that has ended: its error, or the state that it left, which may not be the thread's newest. */
export function endOf(
  { run, error }: RunRecord,
  parts: { readonly checkpoints: CheckpointStore; readonly values: ThreadValues; readonly threads: Threads },
): RunEnd {
  const { checkpoints, values, threads } = parts;
  const { status, thread_id: threadId } = run;
  if (error !== undefined) return { status, json: errorJson(error) };
  const last = lastOf(checkpoints, threadId, run.run_id);
  const interrupts = last === undefined ? threads.find(threadId)?.interrupts : interruptsAt(checkpoints, last);
  const json = last === undefined ? values.json(threadId) : checkpoints.valuesJson(last);
  const waiting = Object.values(interrupts ?? {}).flat();
  return {
    status,
    json: withInterrupts(
      json,
      waiting.map((interrupt) => JSON.stringify(interrupt)),
    ),
  };
}

/** The last checkpoint of a run behind which others have written; undefined when its state is the thread's newest, or unknown. */
function lastOf(checkpoints: CheckpointStore, threadId: string, runId: string): StoredCheckpoint | undefined {
  if (checkpoints.get(threadId, "")?.record.d === runId) return undefined;
  for (const checkpoint of checkpoints.list(threadId, "", { limit: MAX_SCAN })) {
    if (checkpoint.record.d !== runId) continue;
    return checkpoints.context(threadId, checkpoint.record).opaque === true ? undefined : checkpoint;
  }
  return undefined;
}
