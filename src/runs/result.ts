// The JSON bodies that `wait` and `join` answer with (wire-api §3.5), and the interrupts that a thread shows.
import type { RunError } from "../resources/runs.ts";
import type { InterruptJson } from "../resources/threads.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import { wireOf } from "../storage/codec.ts";

/** The body for a failed run. */
export function errorJson({ error, message }: RunError): string {
  return JSON.stringify({ __error__: { error, message } });
}

/** Values with the interrupts beside them, when there are any. Clients look for keys in the body, so `null` becomes `{}`. */
export function withInterrupts(values: string, interrupts: readonly string[] | undefined): string {
  if (values === "null") return withInterrupts("{}", interrupts);
  if (interrupts === undefined || interrupts.length === 0 || !values.startsWith("{")) return values;
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
  const found: Record<string, InterruptJson[]> = {};
  for (const { id, record } of checkpoints.list(threadId, "")) {
    if (except !== undefined && record.d === except) continue;
    const writes = checkpoints.writes(threadId, "", id, changes);
    // A task that was resumed and has finished waits no more.
    const finished = new Set(writes.filter(({ index }) => index >= 0).map(({ taskId }) => taskId));
    for (const write of writes) {
      if (write.channel !== "__interrupt__" || finished.has(write.taskId)) continue;
      const value = JSON.parse(wireOf(write.stored)) as InterruptJson | InterruptJson[];
      (found[write.taskId] ??= []).push(...(Array.isArray(value) ? value : [value]));
    }
    break;
  }
  return found;
}
