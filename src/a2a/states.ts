// What a task is now. Mostly that is what is stored; but its last run may have been taken back or deleted, and its question may have been
// settled by a change of the thread's state, of which no run tells. Who looks finds it, and it is stored then.
import type { Runs } from "../resources/runs.ts";
import { hasEnded, type RunRecord } from "../resources/runs.ts";
import type { Threads } from "../resources/threads.ts";
import type { ActiveRun } from "../runs/active.ts";
import type { RunEngine } from "../runs/engine.ts";
import { withInterrupts } from "../runs/result.ts";
import type { ThreadValues } from "../runs/values.ts";
import type { BufferedDatabase } from "../storage/buffered.ts";
import type { TaskFeeds } from "./feeds.ts";
import type { TaskStatus } from "./model.ts";
import { outcomeOf, superseded } from "./outcome.ts";
import type { TaskEnds } from "./settle.ts";
import { runsOfTurn, type TaskRecord, type Tasks } from "./tasks.ts";

export interface StateOptions {
  readonly db: BufferedDatabase;
  readonly tasks: Tasks;
  readonly runs: Runs;
  readonly threads: Threads;
  readonly values: ThreadValues;
  readonly feeds: TaskFeeds;
  readonly ends: TaskEnds;
  readonly engine: () => RunEngine;
}

/** A task and what it is now. */
export interface TaskNow {
  readonly task: TaskRecord;
  readonly status: TaskStatus;
}

export class TaskStates {
  readonly #options: StateOptions;

  constructor(options: StateOptions) {
    this.#options = options;
  }

  /** The runs of a task that have not ended, the first one first. */
  activeRuns(task: TaskRecord): ActiveRun[] {
    return task.runs.flatMap((id) => this.#options.engine().active(id) ?? []);
  }

  /** A task by its id, as it is now. What is found out is stored. @returns undefined when there is none, or nothing is left of it. */
  find(id: string): TaskNow | undefined {
    const task = this.#options.tasks.find(id);
    return task === undefined ? undefined : this.now(task);
  }

  /** What a stored task is now; undefined when nothing is left of it, because its only run was rolled back or deleted. */
  now(task: TaskRecord): TaskNow | undefined {
    const { tasks } = this.#options;
    const after = this.#current(task);
    if (after === undefined) tasks.forget(task);
    else if (after !== task) this.#store(after, task);
    return after === undefined ? undefined : { task: after, status: this.#live(after) };
  }

  /** The same, for those who go through many tasks: nothing is stored. */
  look(task: TaskRecord): TaskStatus | undefined {
    const after = this.#current(task);
    return after === undefined ? undefined : this.#live(after);
  }

  /** A task that has asked waits again; everything else is told to those who want to know how it ended. */
  #store(after: TaskRecord, before: TaskRecord): void {
    const { db, tasks, ends, runs } = this.#options;
    if (after.status === before.before) return tasks.put(after, before);
    const runId = after.runs.at(-1) ?? after.id;
    const { writes, committed } = ends.consequence(
      before,
      after,
      runs.find(after.contextId, runId)?.run.status ?? "interrupted",
    );
    db.write(writes);
    committed();
  }

  /** Of a task that works only its run knows how far it is. */
  #live(task: TaskRecord): TaskStatus {
    const { status } = task;
    if (status.state !== "submitted") return status;
    if (!this.activeRuns(task).some(({ record }) => record.run.status === "running")) return status;
    return this.#options.feeds.find(task.id)?.working ?? { ...status, state: "working" };
  }

  #current(task: TaskRecord): TaskRecord | undefined {
    const { state } = task.status;
    if (state === "input-required") return this.#isOpen(task) ? task : superseded(task);
    return state === "submitted" && !this.#options.ends.isWorkedOn(task) ? this.#without(task) : task;
  }

  /** Whether what a task asks can still be answered. */
  #isOpen({ id, contextId }: TaskRecord): boolean {
    const { threads, tasks, engine } = this.#options;
    if ((tasks.waitingId(contextId) ?? id) !== id) return false;
    // What becomes of it, whoever works on the thread now will say.
    return threads.find(contextId)?.status === "interrupted" || engine().isBusy(contextId);
  }

  /** A task that no run works on any more: it is what the runs have left of which something is left. */
  #without(task: TaskRecord): TaskRecord | undefined {
    const { runs, threads, values } = this.#options;
    const { before, turn: _turn, ...head } = task;
    const { contextId } = task;
    const ofTurn = runsOfTurn(task);
    const last = ofTurn.flatMap((id) => runs.find(contextId, id) ?? []).findLast(({ run }) => hasEnded(run.status));
    if (last !== undefined) {
      const asked = Object.values(threads.find(contextId)?.interrupts ?? {}).flat();
      return this.#outcome(task, last, {
        status: last.run.status,
        json: withInterrupts(
          values.json(contextId),
          asked.map((interrupt) => JSON.stringify(interrupt)),
        ),
      });
    }
    if (before === undefined) return undefined;
    const gone = new Set(ofTurn);
    const asking = { ...head, status: before, runs: task.runs.filter((id) => !gone.has(id)) };
    return this.#isOpen(asking) ? asking : superseded(asking);
  }

  #outcome(task: TaskRecord, record: RunRecord, end: Parameters<typeof outcomeOf>[2]): TaskRecord {
    const { values, engine } = this.#options;
    const thread = engine().restingStatus(task.contextId);
    return outcomeOf(task, record, end, { thread, values: () => values.json(task.contextId) });
  }
}
