// Tasks as clients see them: what is stored, and what is known only now, such as whether a run of it runs already.
import { isObject, type Json } from "../resources/json.ts";
import type { Runs } from "../resources/runs.ts";
import type { ActiveRun } from "../runs/active.ts";
import type { ThreadValues } from "../runs/values.ts";
import type { TaskFeeds } from "./feeds.ts";
import type { Message, Task, TaskStatus } from "./model.ts";
import { historyOf, messagesIn } from "./output.ts";
import type { TaskRecord, Tasks } from "./tasks.ts";

/** Messages of a history that nobody has asked a number of, and the most that anybody gets. */
const DEFAULT_HISTORY = 10;
const MAX_HISTORY = 100;

export interface ViewOptions {
  readonly tasks: Tasks;
  readonly runs: Runs;
  readonly values: ThreadValues;
  readonly feeds: TaskFeeds;
  /** The run with this id, if it has not ended. */
  readonly active: (runId: string) => ActiveRun | undefined;
}

export class TaskViews {
  readonly #options: ViewOptions;

  constructor(options: ViewOptions) {
    this.#options = options;
  }

  /** The runs of a task that have not ended, the first one first. */
  activeRuns(task: TaskRecord): ActiveRun[] {
    return task.runs.flatMap((id) => this.#options.active(id) ?? []);
  }

  /** What a task is now; undefined when nothing is left of it, because its run was rolled back or deleted. */
  status(task: TaskRecord): TaskStatus | undefined {
    const { status, before, contextId } = task;
    if (status.state !== "submitted") return status;
    const runs = this.activeRuns(task);
    if (runs.some(({ record }) => record.run.status === "running")) {
      return this.#options.feeds.find(task.id)?.working ?? { ...status, state: "working" };
    }
    // A run that is parked while the server stops is not active, and not gone.
    if (runs.length > 0 || task.runs.some((id) => this.#isLeft(contextId, id))) return status;
    if (before === undefined) this.#options.tasks.forget(task);
    return before;
  }

  #isLeft(contextId: string, runId: string): boolean {
    const status = this.#options.runs.find(contextId, runId)?.run.status;
    return status === "pending" || status === "running";
  }

  /**
   * A task with what was asked for.
   * @param shown `history` is a number of messages; the default when it is undefined.
   */
  view(
    task: TaskRecord,
    status: TaskStatus,
    shown: { readonly history?: number | undefined; readonly artifacts?: boolean } = {},
  ): Task {
    const { id, contextId } = task;
    const limit = Math.min(shown.history ?? DEFAULT_HISTORY, MAX_HISTORY);
    const partial = status.state === "working" ? this.#options.feeds.find(id)?.partial : undefined;
    const artifacts = partial === undefined ? task.artifacts : [partial];
    return {
      id,
      contextId,
      status,
      ...(shown.artifacts === false ? {} : { artifacts }),
      ...(limit === 0 ? {} : { history: this.#history(task, limit) }),
    };
  }

  #history(task: TaskRecord, limit: number): Message[] {
    const { contextId, exchanges, end } = task;
    const stored = messagesIn(this.#options.values.data(contextId)).slice(0, end);
    const known = new Set(stored.map(({ id }) => id));
    const messages = [
      ...stored,
      ...this.activeRuns(task)
        .flatMap(inputOf)
        .filter(({ id }) => !known.has(id)),
    ];
    return historyOf(contextId, messages, exchanges, limit);
  }

  /** How many messages a thread has. */
  countMessages(contextId: string): number {
    return messagesIn(this.#options.values.data(contextId)).length;
  }
}

/** Messages that a run brings, which the thread may not have yet. */
function inputOf({ record }: ActiveRun): readonly Json[] {
  const { input } = record.run.kwargs;
  return isObject(input) ? messagesIn(input) : [];
}
