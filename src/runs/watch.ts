// When somebody watches a run, and what of: the few moments at which the engine tells observers.
import type { RunRecord } from "../resources/runs.ts";
import type { ActiveRun, RunEnd } from "./active.ts";
import type { RunObserver, RunObservers } from "./observer.ts";

/** The run begins to execute. @returns who watches it. */
export function watchFromNow(run: ActiveRun, observers: RunObservers | undefined): RunObserver | undefined {
  run.executing = true;
  run.observer ??= observers?.observe(run.record);
  run.observer?.started();
  return run.observer;
}

/** Lets somebody watch a run that may have begun before anybody did; nothing if it waits, or if it is watched. */
export function watchLate(run: ActiveRun | undefined, observe: (record: RunRecord) => RunObserver): void {
  if (run === undefined || !run.executing || run.observer !== undefined) return;
  run.observer = observe(run.record);
  run.observer.started();
}

/** The run has ended, and what it left is stored. One that never came to execute is reported too: somebody may wait for it. */
export function watchedEnd(run: ActiveRun, end: RunEnd, observers: RunObservers | undefined): void {
  const observer = run.observer ?? (run.started ? observers?.observe(run.record) : undefined);
  observer?.ended({ status: end.status, error: run.record.error, superseded: run.superseded });
}
