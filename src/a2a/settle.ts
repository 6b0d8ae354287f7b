// What must be stored when a task stops, in the batch with what stopped it: its record, and the notifications of those who asked for them.
// Behind the commit the subscribers hear of it.
import type { Deliveries } from "../resources/deliveries.ts";
import { hasEnded, type Runs } from "../resources/runs.ts";
import type { RunEngine } from "../runs/engine.ts";
import type { Consequence, RunFollower } from "../runs/follower.ts";
import type { ThreadValues } from "../runs/values.ts";
import type { TaskFeeds } from "./feeds.ts";
import type { PushConfig, Task } from "./model.ts";
import { outcomeOf, superseded } from "./outcome.ts";
import { runsOfTurn, type TaskRecord, type Tasks } from "./tasks.ts";
import { now } from "./times.ts";

export interface SettleOptions {
  readonly tasks: Tasks;
  readonly runs: Runs;
  readonly feeds: TaskFeeds;
  readonly values: ThreadValues;
  readonly deliveries: Deliveries;
  readonly engine: () => RunEngine;
  /** Whether notifications are sent at all. */
  readonly pushes: () => boolean;
  /** The JSON of a notification, as a generation of the protocol writes it. */
  readonly pushBody: (generation: string, task: Task) => string;
}

export class TaskEnds {
  readonly #options: SettleOptions;

  constructor(options: SettleOptions) {
    this.#options = options;
  }

  /** Follows the runs of tasks, and those that others start where a task waits for an answer. */
  readonly follower: RunFollower = (record, end, thread) => {
    const { tasks, values } = this.#options;
    const { run, task: id } = record;
    const left = { thread, values: () => values.json(run.thread_id) };
    if (id === undefined) {
      const waiting = tasks.waitingIn(run.thread_id);
      // The question is open still.
      if (waiting === undefined || (thread === "interrupted" && end.status !== "success")) return undefined;
      const answers = run.kwargs.command?.["resume"] !== undefined;
      const after = answers ? outcomeOf(waiting, record, end, left) : superseded(waiting);
      return this.consequence(waiting, after, run.status);
    }
    const before = tasks.find(id === true ? run.run_id : id);
    // A task that was cancelled stays so; and if another run works on it still, that one says how the task ends.
    if (before === undefined || before.status.state !== "submitted" || this.isWorkedOn(before, run.run_id))
      return undefined;
    return this.consequence(before, outcomeOf(before, record, end, left), run.status);
  };

  /** Whether runs of a task have not ended. @param except the one that ends now. */
  isWorkedOn(task: TaskRecord, except?: string): boolean {
    const { runs, engine } = this.#options;
    const others = runsOfTurn(task).filter((id) => id !== except);
    if (others.some((id) => engine().active(id) !== undefined)) return true;
    // A run that is parked while the server stops is not active, and not gone.
    return others.some((id) => {
      const status = runs.find(task.contextId, id)?.run.status;
      return status !== undefined && !hasEnded(status);
    });
  }

  /** A task that waits is called off. */
  canceled(task: TaskRecord): Consequence {
    const after = { ...task, status: { state: "canceled", timestamp: now() }, artifacts: [] } as const;
    return this.consequence(task, after, "interrupted");
  }

  /** A task that waits, in a context in which something else begins. */
  superseded(task: TaskRecord): Consequence {
    return this.consequence(task, superseded(task), "interrupted");
  }

  /** What follows from a task's having stopped. @param runStatus for the list of deliveries. */
  consequence(before: TaskRecord, after: TaskRecord, runStatus: string): Consequence {
    const { tasks, feeds, deliveries } = this.#options;
    const drafts = this.#notifications(after, runStatus);
    return {
      writes: [...tasks.writesOf(after, before), ...drafts.flatMap(({ writes }) => writes)],
      committed: () => {
        tasks.committed(after);
        for (const { delivery } of drafts) deliveries.committed(delivery);
        feeds.stopped(after);
      },
    };
  }

  #notifications(task: TaskRecord, runStatus: string): ReturnType<Deliveries["draft"]>[] {
    const { deliveries, pushes, pushBody } = this.#options;
    if (task.push.length === 0 || !pushes()) return [];
    const { id, contextId, status, artifacts } = task;
    const about: Omit<Parameters<Deliveries["draft"]>[0], "url"> = {
      run_id: task.runs.at(-1) ?? id,
      thread_id: contextId,
      assistant_id: task.assistantId,
      run_status: runStatus,
    };
    return task.push.map((config) =>
      deliveries.draft(
        { ...about, url: config.url },
        pushBody(config.generation, { id, contextId, status, artifacts }),
        headersOf(config),
      ),
    );
  }
}

/** The headers by which a receiver knows that a notification is for it (A2A 0.3 §9.5, 1.0 §4.3.3). */
function headersOf({ token, scheme, credentials }: PushConfig): Record<string, string> {
  return {
    ...(token === undefined ? {} : { "x-a2a-notification-token": token }),
    ...(scheme === undefined || credentials === undefined ? {} : { authorization: `${scheme} ${credentials}` }),
  };
}
