// Tasks as clients see them: their status, what they have made so far, and as much of their history as was asked for.
import { isObject, type Json } from "../resources/json.ts";
import type { ActiveRun } from "../runs/active.ts";
import type { ThreadValues } from "../runs/values.ts";
import type { TaskFeeds } from "./feeds.ts";
import type { Message, Task, TaskStatus } from "./model.ts";
import { historyOf, messagesIn } from "./output.ts";
import type { TaskStates } from "./states.ts";
import type { TaskRecord } from "./tasks.ts";

/** Messages of a history that nobody has asked a number of, and the most that anybody gets. */
const DEFAULT_HISTORY = 10;
const MAX_HISTORY = 100;

export interface ViewOptions {
  readonly states: TaskStates;
  readonly values: ThreadValues;
  readonly feeds: TaskFeeds;
}

export class TaskViews {
  readonly #options: ViewOptions;

  constructor(options: ViewOptions) {
    this.#options = options;
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
      ...this.#options.states
        .activeRuns(task)
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
