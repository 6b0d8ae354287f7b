// The records of tasks: what is stored, how it is found by id, by context and in the order of its last change, and which contexts wait for
// an answer. Each method makes `Write`s, so that a task is always stored in one batch with the run that it is about.
import { isUuid } from "../ids.ts";
import type { BufferedDatabase } from "../storage/buffered.ts";
import { prefixRange, type Write } from "../storage/database.ts";
import { decId, keys } from "../storage/keys.ts";
import type { Artifact, Message, Owner, PushConfig, TaskState, TaskStatus } from "./model.ts";

/** What was said to a task, or by it, beside the messages of the thread. */
export interface Exchange {
  /** How many messages the thread had then. */
  readonly at: number;
  readonly messages: readonly Message[];
}

/** A task as it is stored. */
export interface TaskRecord {
  /** The id of its first run. */
  readonly id: string;
  /** The thread. */
  readonly contextId: string;
  readonly assistantId: string;
  readonly owner: Owner;
  /** `submitted` while a run of it has not ended. */
  readonly status: TaskStatus;
  /** What it was when it was asked to go on: that again, if nothing is left of the run that does. */
  readonly before?: TaskStatus | undefined;
  /** The run that answered it last; absent in its first turn, which its first run began. */
  readonly turn?: string | undefined;
  /** The newest ones, newest last. */
  readonly runs: readonly string[];
  readonly artifacts: readonly Artifact[];
  readonly exchanges: readonly Exchange[];
  /** How many messages the thread had when it ended. */
  readonly end?: number | undefined;
  readonly push: readonly PushConfig[];
}

/** What a list of tasks is made from without reading their records. */
export interface TaskHead {
  readonly id: string;
  readonly contextId: string;
  readonly assistantId: string;
  readonly owner: Owner;
  readonly state: TaskState;
  readonly timestamp: string;
}

export class Tasks {
  readonly #db: BufferedDatabase;
  /** Context → task, of those that wait for an answer. */
  #waiting: Map<string, string> | undefined;

  constructor(db: BufferedDatabase) {
    this.#db = db;
  }

  /** A task by its id alone. */
  find(id: string): TaskRecord | undefined {
    if (!isUuid(id)) return undefined;
    const contextId = this.#db.get(keys.taskThread(id));
    return contextId === undefined ? undefined : this.#read(contextId, id);
  }

  #read(contextId: string, id: string): TaskRecord | undefined {
    const text = this.#db.get(keys.task(contextId, id));
    return text === undefined ? undefined : (JSON.parse(text) as TaskRecord);
  }

  /** The id of the task that waits for an answer in a context; there is one at most. */
  waitingId(contextId: string): string | undefined {
    return this.#waits.get(contextId);
  }

  /** The task that waits for an answer in a context. */
  waitingIn(contextId: string): TaskRecord | undefined {
    const id = this.waitingId(contextId);
    return id === undefined ? undefined : this.#read(contextId, id);
  }

  get #waits(): Map<string, string> {
    if (this.#waiting === undefined) {
      const found = this.#db.range(prefixRange(keys.waitingTasks));
      this.#waiting = new Map(Array.from(found, ([key, id]) => [decId(key.slice(keys.waitingTasks.length)), id]));
    }
    return this.#waiting;
  }

  /** The changes that store a task. @param before what is stored of it; undefined for a new one. */
  writesOf(task: TaskRecord, before: TaskRecord | undefined): Write[] {
    const { id, contextId, assistantId, owner, status } = task;
    const writes: Write[] = [{ key: keys.task(contextId, id), value: JSON.stringify(task) }];
    if (before === undefined) writes.push({ key: keys.taskThread(id), value: contextId });
    else if (before.status.timestamp !== status.timestamp) {
      writes.push({ key: keys.taskOrder(before.status.timestamp, id), value: undefined });
    }
    const head: TaskHead = { id, contextId, assistantId, owner, state: status.state, timestamp: status.timestamp };
    writes.push({ key: keys.taskOrder(status.timestamp, id), value: JSON.stringify(head) });
    if (isWaiting(task)) writes.push({ key: keys.waitingTask(contextId), value: id });
    else if (before !== undefined && isWaiting(before)) {
      writes.push({ key: keys.waitingTask(contextId), value: undefined });
    }
    return writes;
  }

  /** Says that the changes of `writesOf` are stored. */
  committed(task: TaskRecord): void {
    const waits = this.#waits;
    if (isWaiting(task)) waits.set(task.contextId, task.id);
    else if (waits.get(task.contextId) === task.id) waits.delete(task.contextId);
  }

  /** Stores a change by itself. */
  put(task: TaskRecord, before: TaskRecord): void {
    this.#db.write(this.writesOf(task, before));
    this.committed(task);
  }

  /** The changes that delete a task. */
  #deletion({ id, contextId, status }: TaskRecord): Write[] {
    return [
      { key: keys.task(contextId, id), value: undefined },
      { key: keys.taskThread(id), value: undefined },
      { key: keys.taskOrder(status.timestamp, id), value: undefined },
    ];
  }

  /** The changes that delete all tasks of a thread. */
  deletionOf(contextId: string): Write[] {
    const writes = [...this.#of(contextId)].flatMap((task) => this.#deletion(task));
    return writes.length === 0 ? [] : [...writes, { key: keys.waitingTask(contextId), value: undefined }];
  }

  /** Says that a thread was deleted. */
  threadDeleted(contextId: string): void {
    this.#waiting?.delete(contextId);
  }

  /** Deletes a task of which nothing is left: its only run was rolled back. */
  forget(task: TaskRecord): void {
    this.#db.writeSoon(this.#deletion(task));
  }

  *#of(contextId: string): Iterable<TaskRecord> {
    for (const [, text] of this.#db.range(prefixRange(keys.tasksOf(contextId)))) yield JSON.parse(text) as TaskRecord;
  }

  /** Tasks, the last changed first; of one context, or of all. */
  *heads(contextId: string | undefined): Iterable<TaskHead> {
    if (contextId !== undefined) {
      if (!isUuid(contextId)) return;
      const heads = Array.from(this.#of(contextId), ({ status, ...task }) => ({ ...task, ...status }));
      yield* heads.toSorted((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1));
      return;
    }
    for (const [, text] of this.#db.range({ ...prefixRange(keys.taskOrders), reverse: true }))
      yield JSON.parse(text) as TaskHead;
  }
}

/** The runs of a task since it was answered last, or since it began. */
export function runsOfTurn({ id, turn, runs }: TaskRecord): readonly string[] {
  const began = runs.indexOf(turn ?? id);
  return began < 0 ? runs : runs.slice(began);
}

/** Where a task stands in a list: those with greater places come first. */
export const placeOf = ({ timestamp, id }: Pick<TaskHead, "timestamp" | "id">): string => `${timestamp}/${id}`;

const isWaiting = ({ status }: TaskRecord): boolean => status.state === "input-required";
