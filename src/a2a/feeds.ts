// The feeds of the tasks that somebody looks at.
import { taskNotFound } from "./errors.ts";
import { TaskFeed } from "./feed.ts";
import type { TaskRecord } from "./tasks.ts";

export class TaskFeeds {
  readonly #feeds = new Map<string, TaskFeed>();
  readonly #onLeft: (feed: TaskFeed) => void;

  /** @param onLeft a run of a task has ended and the task has not stopped with it. */
  constructor(onLeft: (feed: TaskFeed) => void) {
    this.#onLeft = onLeft;
  }

  /** The feed of a task, if somebody looks at it. */
  find(taskId: string): TaskFeed | undefined {
    return this.#feeds.get(taskId);
  }

  /** The feed of a task, for a new subscriber. */
  open(task: TaskRecord): TaskFeed {
    let feed = this.#feeds.get(task.id);
    if (feed === undefined) {
      feed = new TaskFeed(task, this.#onLeft, (empty) => {
        if (this.#feeds.get(empty.id) === empty) this.#feeds.delete(empty.id);
      });
      this.#feeds.set(task.id, feed);
    }
    return feed;
  }

  /** A task has stopped. */
  stopped(task: TaskRecord): void {
    this.#feeds.get(task.id)?.stopped(task);
  }

  /** A thread was deleted, and its tasks with it. */
  threadDeleted(threadId: string): void {
    for (const feed of this.#feeds.values()) if (feed.contextId === threadId) feed.end(taskNotFound(feed.id));
  }
}
