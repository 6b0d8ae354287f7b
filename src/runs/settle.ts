// From how an execution ended to what becomes of its run: the status of run and thread, and the body that those get who wait.
import type { ActiveRun, RunEnd } from "./active.ts";
import { attempt } from "./attempt.ts";
import type { EngineOptions } from "./engine-options.ts";
import { describeError } from "./describe-error.ts";
import type { ExecutionEnd } from "./executor.ts";
import type { RunLedger } from "./ledger.ts";
import { refusedCommandWrites } from "./refused-command.ts";
import { errorJson, withInterrupts } from "./result.ts";

/** For those who wait for a run that the next start of the server goes on with. */
export const PARKED: RunEnd = {
  status: "pending",
  json: errorJson({ error: "ServerStopped", message: "The server stopped; the run goes on when it starts again." }),
};
/** For runs of which nothing is stored. */
export const CUT_OFF: RunEnd = {
  status: "error",
  json: errorJson({ error: "ServerStopped", message: "The server stopped before the run had ended." }),
};

/** Where the end of a run is stored, and who is told what went wrong. */
export interface EndingParts extends Pick<EngineOptions, "onFailure" | "onError"> {
  readonly ledger: RunLedger;
}

/**
 * Stores how a run ended, or parks it. What goes wrong on the way does not keep it from having ended.
 * @returns what those get who wait for it.
 */
export function storeEnd(run: ActiveRun, end: ExecutionEnd, parts: EndingParts): RunEnd {
  const { ledger, onFailure, onError } = parts;
  const parked = end.kind === "drained" || (end.kind === "aborted" && run.stopReason === "park");
  try {
    if (end.kind === "failed") {
      attempt(() => onFailure(run.record, end.error, end.cause), onError);
      // If events are stored, then together with the end of the run.
      run.log.push("error", JSON.stringify(end.error));
    }
    if (end.kind === "done" && end.interrupts !== undefined) attempt(() => run.observer?.paused(), onError);
    return parked ? park(run, ledger) : settle(run, end, ledger);
  } catch (error) {
    attempt(
      () => onError(error),
      () => undefined,
    );
    const failure = describeError(error);
    // What it left cannot be shown, for one.
    if (!parked && end.kind !== "failed") return storeEnd(run, { kind: "failed", error: failure, cause: error }, parts);
    // Storage fails: whoever waits must learn it, and the next start finds the run as it was stored last.
    return { status: "error", json: errorJson(failure) };
  }
}

function settle(run: ActiveRun, end: ExecutionEnd, ledger: RunLedger): RunEnd {
  const startedAt = run.begunAt === undefined ? undefined : performance.timeOrigin + run.begunAt;
  const latest = run.checkpoints.get(run.threadId, "");
  const opaque = latest !== undefined && run.checkpoints.context(run.threadId, latest.record).opaque === true;
  const left = end.kind === "drained" ? undefined : end.valuesJson;
  const values = left ?? (opaque && end.kind !== "done" ? run.valuesNow?.() : undefined);
  const waits = end.kind !== "done" || end.interrupts !== undefined;
  if (values !== undefined && (opaque || waits) && !isRefused(run, end)) {
    run.checkpoints.showValues(run.threadId, values);
  }
  if (end.kind === "failed") {
    const status = run.stopReason === "timeout" ? "timeout" : "error";
    run.update(status, end.error);
    const result = { status, json: errorJson(end.error), startedAt } as const;
    ledger.ended(run.record, "error", result, run.journal);
    return result;
  }
  const json = values ?? run.checkpoints.newestValuesJson(run.threadId) ?? "{}";
  if (end.kind === "done") {
    run.update("success");
    const result = { status: "success", json: withInterrupts(json, end.interrupts), startedAt } as const;
    ledger.ended(run.record, end.interrupts === undefined ? "idle" : "interrupted", result, run.journal);
    return result;
  }
  run.update("interrupted");
  const cutOff = end.kind === "aborted" && end.atEnd === true ? "idle" : "interrupted";
  const isOwn = latest?.record.d === run.id;
  const status = isOwn ? cutOff : ledger.statusWithout(run.record);
  const result = { status: "interrupted", json: withInterrupts(json, undefined), startedAt } as const;
  ledger.ended(run.record, status, result, run.journal, isOwn || run.journal?.changedEarlier === true);
  return result;
}

/** Whether the run failed at a command that is taken back, and shows nowhere then. */
const isRefused = ({ checkpoints, threadId, id, stopReason }: ActiveRun, { kind }: ExecutionEnd): boolean =>
  kind === "failed" && stopReason !== "timeout" && refusedCommandWrites(checkpoints, threadId, id).length > 0;

/** Leaves a run to the next start of the server: pending, from its last checkpoint, in the same attempt. */
function park(run: ActiveRun, ledger: RunLedger): RunEnd {
  run.update("pending");
  ledger.changed(run.record);
  return run.record.ephemeral ? CUT_OFF : PARKED;
}
