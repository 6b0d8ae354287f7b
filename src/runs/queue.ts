// Which run may run: one at a time per thread, in the order of receipt among those that are due, and so many at once over all
// threads.
// Nothing polls: a place that becomes free, and a time that has come, wake exactly the runs that waited for it.
import type { Timers } from "../clock.ts";
import type { ActiveRun } from "./active.ts";

export class RunQueue {
  readonly #lanes = new Map<string, ActiveRun[]>();
  readonly #jobs: number;
  readonly #start: (run: ActiveRun) => void;
  readonly #clock: Timers;
  /** Threads on which a run is ready but found no place, those that wait longest first. */
  readonly #ready = new Set<string>();
  #running = 0;
  #stopped = false;
  /** Threads on which no run may start for now. */
  readonly #held = new Set<string>();

  /** @param jobs how many runs may run at once. @param start begins a run; it must call `ended` some time. */
  constructor(jobs: number, start: (run: ActiveRun) => void, clock: Timers) {
    this.#jobs = jobs;
    this.#start = start;
    this.#clock = clock;
  }

  /** How many runs run now, and how many may. */
  get load(): { readonly running: number; readonly capacity: number } {
    return { running: this.#running, capacity: this.#jobs };
  }

  /** Runs of a thread that have not ended, the running one first. */
  lane(threadId: string): readonly ActiveRun[] {
    return this.#lanes.get(threadId) ?? [];
  }

  /** Whether a run that is added to this thread now would start at once. */
  isFree(threadId: string): boolean {
    return !this.#stopped && this.#running < this.#jobs && !this.#lanes.has(threadId) && !this.#held.has(threadId);
  }

  /** Adds a run behind those of its thread and starts it if it may. */
  add(run: ActiveRun): void {
    const lane = this.#lanes.get(run.threadId);
    if (lane === undefined) this.#lanes.set(run.threadId, [run]);
    else lane.push(run);
    this.#wake(run.threadId);
  }

  /** Takes a run out, because it ended or must not start. */
  remove(run: ActiveRun): void {
    run.callOff?.();
    const lane = this.#lanes.get(run.threadId);
    const at = lane?.indexOf(run) ?? -1;
    if (lane === undefined || at < 0) return;
    lane.splice(at, 1);
    if (lane.length === 0) {
      this.#lanes.delete(run.threadId);
      this.#ready.delete(run.threadId);
    }
    if (run.started) {
      this.#running--;
      this.#fill();
    }
    this.#wake(run.threadId);
  }

  /** Starts nothing any more. */
  stop(): void {
    this.#stopped = true;
    for (const lane of this.#lanes.values()) for (const run of lane) run.callOff?.();
  }

  /** Lets no run start on a thread until the answer is called. */
  hold(threadId: string): () => void {
    this.#held.add(threadId);
    return () => {
      this.#held.delete(threadId);
      this.#wake(threadId);
    };
  }

  #wake(threadId: string): void {
    const next = this.#next(threadId);
    if (next === undefined) return;
    const { notBefore } = next.record;
    if (notBefore !== undefined && notBefore > this.#clock.now()) {
      next.callOff?.();
      next.callOff = this.#clock.at(notBefore, () => this.#wake(threadId));
    } else if (this.#running < this.#jobs) this.#begin(next);
    else this.#ready.add(threadId);
  }

  /** The run that is to start next on a thread: the first that is due, else the one that is due first. */
  #next(threadId: string): ActiveRun | undefined {
    const lane = this.lane(threadId);
    if (this.#stopped || this.#held.has(threadId) || lane.some(({ started }) => started)) return undefined;
    const now = this.#clock.now();
    const due = lane.find(({ record }) => (record.notBefore ?? 0) <= now);
    return due ?? lane.toSorted((a, b) => a.record.notBefore! - b.record.notBefore!)[0];
  }

  /** Gives free places to those that waited longest. */
  #fill(): void {
    for (const threadId of this.#ready) {
      if (this.#running >= this.#jobs || this.#stopped) return;
      this.#ready.delete(threadId);
      // What was ready may have been taken out, and another of the thread have become due.
      const next = this.#next(threadId);
      if (next !== undefined && (next.record.notBefore ?? 0) <= this.#clock.now()) this.#begin(next);
    }
  }

  #begin(run: ActiveRun): void {
    run.started = true;
    run.begunAt = performance.now();
    this.#running++;
    this.#start(run);
  }
}
