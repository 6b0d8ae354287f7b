// The end of an engine: what runs may finish or is parked for the next start, what waits is parked, and nothing is waited for without limit.
import type { ActiveRun, RunEnd } from "./active.ts";
import type { ThreadChanges } from "./changes.ts";
import type { RunQueue } from "./queue.ts";
import { CUT_OFF, PARKED } from "./settle.ts";

export interface ShutdownParts {
  readonly queue: RunQueue;
  readonly changes: ThreadChanges;
  readonly active: ReadonlyMap<string, ActiveRun>;
  readonly leave: (run: ActiveRun, end: RunEnd) => void;
}

/**
 * Stops runs and changes.
 * @param graceMs milliseconds in which they may finish.
 * @returns how many runs finished meanwhile, and how many go on at the next start; runs that are not stored are cut off.
 */
export async function shutDown(
  { queue, changes, active, leave }: ShutdownParts,
  graceMs: number,
): Promise<{ finished: number; parked: number }> {
  queue.stop();
  const runs = [...active.values()];
  const running = runs.filter((run) => run.started);
  // One that is not stored cannot go on later, so it is left to finish.
  for (const run of running) if (run.record.ephemeral !== true) run.drain?.();
  let timer: NodeJS.Timeout | undefined;
  const grace = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, graceMs);
  });
  await Promise.race([Promise.all([...running.map((run) => run.ended), changes.settled()]), grace]);
  clearTimeout(timer);
  changes.stop();
  for (const run of running) if (active.has(run.id)) run.stop("park");
  for (const run of active.values()) if (!run.started) leave(run, run.record.ephemeral ? CUT_OFF : PARKED);
  const all = await Promise.all(runs.map((run) => run.ended));
  const count = (end: (end: RunEnd) => boolean): number => all.filter(end).length;
  return { finished: count((end) => end !== PARKED && end !== CUT_OFF), parked: count((end) => end === PARKED) };
}
