// The time that a run may take. A run that hangs would hold its thread and its place among those that run for ever.
import type { Timers } from "../clock.ts";
import type { ActiveRun } from "./active.ts";
import type { ExecutionEnd } from "./executor.ts";

/** Seconds that a run may take, unless BG_JOB_TIMEOUT_SECS says otherwise; the hosted server's default. */
const DEFAULT_SECONDS = 3600;
/** setTimeout takes no longer delays: 24 days. */
const MAX_SECONDS = Math.floor((2 ** 31 - 1) / 1000);

/**
 * The limit that `text` (BG_JOB_TIMEOUT_SECS) asks for.
 * @returns milliseconds, and what is wrong with the text when the default stands in for it.
 */
export function runTimeout(text: string | undefined): { readonly ms: number; readonly warning?: string } {
  const trimmed = text?.trim() ?? "";
  if (trimmed === "") return { ms: DEFAULT_SECONDS * 1000 };
  const seconds = Number(trimmed);
  if (seconds > 0 && seconds <= MAX_SECONDS) return { ms: Math.ceil(seconds * 1000) };
  const warning = `BG_JOB_TIMEOUT_SECS must be a number of seconds above 0 and up to ${MAX_SECONDS}, got "${trimmed.slice(0, 40)}"; runs may take ${DEFAULT_SECONDS} seconds`;
  return { ms: DEFAULT_SECONDS * 1000, warning };
}

/** Stops a run when its time is over. @returns a function that ends the watch. */
export function limitTime(run: ActiveRun, ms: number, clock: Timers): () => void {
  return clock.at(clock.now() + ms, () => run.stop("timeout"));
}

/** How a run ends whose time was over. @param valuesJson what it has left on its thread, if that is known. */
export function timedOut(ms: number, valuesJson?: string): ExecutionEnd {
  const message = `The run took longer than ${ms / 1000} s (BG_JOB_TIMEOUT_SECS).`;
  return { kind: "failed", error: { error: "TimeoutError", message }, cause: undefined, valuesJson };
}
