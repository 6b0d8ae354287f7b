// What must be stored when a task stops, in the batch with what stopped it: its record, and the notifications of those who asked for them.
// Behind the commit the subscribers hear of it.
import type { Deliveries } from "../resources/deliveries.ts";
import { hasEnded, type RunRecord, type Runs } from "../resources/runs.ts";
import type { RunEnd } from "../runs/active.ts";
import type { RunEngine } from "../runs/engine.ts";
import type { Consequence, RunFollower } from "../runs/follower.ts";
import type { ThreadValues } from "../runs/values.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
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
  readonly checkpoints: CheckpointStore;
  readonly deliveries: Deliveries;
  readonly engine: () => RunEngine;
  /** Whether notifications are sent at all. */
  readonly pushes: () => boolean;
  /** The JSON of a notification, as a generation of the protocol writes it. */
  readonly pushBody: (generation: string, task: Task) => string;
}

/** What a run leaves its thread in, and the JSON of the thread's values. */
type Left = Parameters<typeof outcomeOf>[3];

export class TaskEnds {
  readonly #options: SettleOptions;

  constructor(options: SettleOptions) {
    this.#options = options;
  }

  /** Follows the runs of tasks, and all others where a task waits for an answer. */
  readonly follower: RunFollower = (record, end, thread) => {
    const { values } = this.#options;
    const left = { thread, values: () => values.json(record.run.thread_id) };
    // In this order: the run may have asked something itself.
    const found = [this.#ofOpenQuestion(record, end, left), this.#ofOwnTask(record, end, left)].flatMap(
      (consequence) => consequence ?? [],
    );
    if (found.length < 2) return found[0];
    return {
      writes: found.flatMap(({ writes }) => writes),
      committed: () => {
        for (const { committed } of found) committed();
      },
    };
  };

  #ofOwnTask(record: RunRecord, end: RunEnd, left: Left): Consequence | undefined {
    const { run } = record;
    const id = taskOf(record);
    const before = id === undefined ? undefined : this.#options.tasks.find(id);
    // A task that was cancelled stays so; and if another run works on it still, that one says how the task ends.
    if (before === undefined || before.status.state !== "submitted" || this.isWorkedOn(before, run.run_id))
      return undefined;
    return this.consequence(before, outcomeOf(before, record, end, left), run.status);
  }

  /**
   * What becomes of a task that waits for an answer, when a run ends that is not its own: nothing, if the question is open still. It is
   * told no earlier, because until then the run may be rolled back, or be an answer that others come behind.
   */
  #ofOpenQuestion(record: RunRecord, end: RunEnd, left: Left): Consequence | undefined {
    const { tasks, checkpoints } = this.#options;
    const { run } = record;
    const waiting = tasks.waitingIn(run.thread_id);
    if (waiting === undefined || waiting.id === taskOf(record)) return undefined;
    const wrote = checkpoints.get(run.thread_id, "")?.record.d === run.run_id;
    if (left.thread === "interrupted" && end.status !== "success" && !wrote) return undefined;
    const answers = record.task === undefined && run.kwargs.command?.["resume"] !== undefined;
    return this.consequence(waiting, answers ? outcomeOf(waiting, record, end, left) : superseded(waiting), run.status);
  }

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

/** The id of the task that a run belongs to; undefined for runs of others. */
const taskOf = ({ task, run }: RunRecord): string | undefined => (task === true ? run.run_id : task);

/** The headers by which a receiver knows that a notification is for it (A2A 0.3 §9.5, 1.0 §4.3.3). */
function headersOf({ token, scheme, credentials }: PushConfig): Record<string, string> {
  return {
    ...(token === undefined ? {} : { "x-a2a-notification-token": token }),
    ...(scheme === undefined || credentials === undefined ? {} : { authorization: `${scheme} ${credentials}` }),
  };
}
