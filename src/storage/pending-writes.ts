// Writes that wait at checkpoints until their step is done (interrupts and answers among them), and what was there before a run changed those
// at checkpoints of earlier runs, so that it can be put back.
import type { BufferedDatabase } from "./buffered.ts";
import { prefixRange, type Write } from "./database.ts";
import type { RunJournal } from "./journal.ts";
import { dec, decId, enc, keys, lastId } from "./keys.ts";

/** Task id under which LangGraph keeps writes that belong to no task: those of commands. */
export const NULL_TASK = "00000000-0000-0000-0000-000000000000";

/** One pending write. Negative indexes are LangGraph's special channels, which may be overwritten. */
export interface StoredWrite {
  readonly taskId: string;
  readonly index: number;
  readonly channel: string;
  readonly stored: string;
}

/** Where the writes of a task wait. */
export interface PendingPlace {
  readonly threadId: string;
  readonly ns: string;
  readonly id: string;
  readonly taskId: string;
}

export interface PendingWritesOptions {
  /** Id of the run that wrote a checkpoint; undefined when there is no such checkpoint, or no run wrote it. */
  readonly writerOf: (threadId: string, ns: string, id: string) => string | undefined;
  readonly onChange: (threadId: string) => void;
}

export class PendingWrites {
  readonly #db: BufferedDatabase;
  readonly #options: PendingWritesOptions;

  constructor(db: BufferedDatabase, options: PendingWritesOptions) {
    this.#db = db;
    this.#options = options;
  }

  /**
   * Pending writes at a checkpoint, by task and index.
   * @param changes that are to be made: keys and what they will hold, undefined for those that will be gone.
   */
  at(threadId: string, ns: string, id: string, changes?: ReadonlyMap<string, string | undefined>): StoredWrite[] {
    const prefix = keys.writesOf(threadId, ns, id);
    const found: StoredWrite[] = [];
    for (const [key, stored] of this.#db.range(prefixRange(prefix))) {
      const text = changes?.has(key) === true ? changes.get(key) : stored;
      if (text === undefined) continue;
      for (const write of parseWrites(lastId(key), text)) found.push(write);
    }
    return found;
  }

  /**
   * Adds the writes of one task: regular ones stay as they were first stored, special ones (index < 0) are replaced.
   * @param runId of the run that makes them, with its journal.
   */
  put(place: PendingPlace, writes: readonly StoredWrite[], runId?: string, journal?: RunJournal): void {
    if (writes.length === 0) return;
    const { threadId, ns, id, taskId } = place;
    const key = keys.writes(threadId, ns, id, taskId);
    const before = this.#db.get(key);
    let all = writes;
    if (before !== undefined) {
      const merged = new Map(parseWrites(taskId, before).map((write) => [write.index, write]));
      for (const write of writes) if (write.index < 0 || !merged.has(write.index)) merged.set(write.index, write);
      all = [...merged.values()];
    }
    const text = all.map((write) => `${write.index}\t${enclose(write.channel)}\t${write.stored}`).join("\n");
    if (text === before) return;
    const undo = this.#undoOf(place, before, runId);
    if (journal !== undefined && undo.length > 0) journal.changedEarlier = true;
    this.#db.writeSoon([{ key, value: text }, ...undo]);
    this.#options.onChange(threadId);
  }

  /**
   * What a run found at a checkpoint of an earlier run, when it answers interrupts there: rolling the run back puts that back.
   * Kept once per record, as it was before the run's first change.
   */
  #undoOf({ threadId, ns, id, taskId }: PendingPlace, before: string | undefined, runId: string | undefined): Write[] {
    if (runId === undefined || this.#options.writerOf(threadId, ns, id) === runId) return [];
    const key = keys.undo(threadId, runId, ns, id, taskId);
    return this.#db.get(key) === undefined ? [{ key, value: before ?? "" }] : [];
  }

  /** The tasks whose writes a run changed at checkpoints of earlier runs. */
  changedTasks(threadId: string, runId: string): string[] {
    return Array.from(this.#db.range(prefixRange(keys.undoOf(threadId, runId))), ([key]) => lastId(key));
  }

  /** The changes that put back what a run changed at checkpoints of earlier runs. */
  undo(threadId: string, runId: string): Write[] {
    const prefix = keys.undoOf(threadId, runId);
    const writes: Write[] = [];
    for (const [key, before] of this.#db.range(prefixRange(prefix))) {
      const [ns = "", id = "", taskId = ""] = key.slice(prefix.length).split("/");
      const changed = keys.writes(threadId, dec(ns), decId(id), decId(taskId));
      writes.push({ key: changed, value: before === "" ? undefined : before }, { key, value: undefined });
    }
    return writes;
  }

  /** The changes that forget what a run changed, when it has ended. */
  forgetUndo(threadId: string, runId: string): Write[] {
    return Array.from(this.#db.range(prefixRange(keys.undoOf(threadId, runId))), ([key]) => ({
      key,
      value: undefined,
    }));
  }
}

/** Channel names go into a line that is split at tabs; they come from graphs and, in commands, from clients. */
const enclose = (channel: string): string => (/^[\w:+-]*$/.test(channel) ? channel : enc(channel));
const disclose = (text: string): string => (text.includes("%") ? decodeURIComponent(text) : text);

function parseWrites(taskId: string, text: string): StoredWrite[] {
  return text.split("\n").map((line) => {
    const first = line.indexOf("\t");
    const second = line.indexOf("\t", first + 1);
    return {
      taskId,
      index: Number(line.slice(0, first)),
      channel: disclose(line.slice(first + 1, second)),
      stored: line.slice(second + 1),
    };
  });
}
