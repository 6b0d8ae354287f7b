// Run records: what is stored of a run, beside the thread that it belongs to, and how the records are read back.
// What happens while a run runs is the business of runs/.
import { ApiError } from "../errors.ts";
import { prefixRange, type Database, type Write } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import type { Json } from "./json.ts";

export type RunStatus = "pending" | "running" | "success" | "error" | "interrupted" | "timeout";
export type MultitaskStrategy = "enqueue" | "reject" | "interrupt" | "rollback";

/** A run as clients see it. */
export interface RunJson {
  readonly run_id: string;
  readonly thread_id: string;
  readonly assistant_id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly status: RunStatus;
  readonly metadata: Json;
  /** Input, command, config, context and the other settings of the run. */
  readonly kwargs: RunKwargs;
  readonly multitask_strategy: MultitaskStrategy;
}

/** What a run was asked to do. Absent fields were not given. */
export interface RunKwargs {
  readonly input?: unknown;
  readonly command?: Json | undefined;
  readonly checkpoint?: Json | undefined;
  readonly config: Json;
  readonly context?: unknown;
  readonly stream_mode: readonly string[];
  readonly interrupt_before?: "*" | readonly string[] | undefined;
  readonly interrupt_after?: "*" | readonly string[] | undefined;
  readonly subgraphs: boolean;
  readonly resumable: boolean;
  readonly temporary: boolean;
  readonly durability?: "sync" | "async" | "exit" | undefined;
  readonly feedback_keys?: readonly string[] | undefined;
}

/** A failure as clients see it. */
export interface RunError {
  readonly error: string;
  readonly message: string;
}

/** A run as it is stored: the public record and what only the engine needs. */
export interface RunRecord {
  readonly run: RunJson;
  readonly graphId: string;
  /** 1 on the first execution. */
  readonly attempt: number;
  /** A hidden thread that goes with the run. */
  readonly stateless: boolean;
  /** Delete run and hidden thread at the end. */
  readonly deleteAfter: boolean;
  /** Checkpoints are kept in memory only. */
  readonly ephemeral: boolean;
  /** Not to start before this time, in ms since the epoch. */
  readonly notBefore?: number | undefined;
  readonly error?: RunError | undefined;
}

/** The error for a run that does not exist. */
export const runNotFound = (): ApiError => new ApiError(404, "Run not found");

/** Whether a run in this status will not change any more. */
export const hasEnded = (status: RunStatus): boolean => status !== "pending" && status !== "running";

export class Runs {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  find(threadId: string, runId: string): RunRecord | undefined {
    const text = this.#db.get(keys.run(threadId, runId));
    return text === undefined ? undefined : (JSON.parse(text) as RunRecord);
  }

  /** @throws ApiError 404 */
  get(threadId: string, runId: string): RunRecord {
    const record = this.find(threadId, runId);
    if (record === undefined) throw runNotFound();
    return record;
  }

  /** Runs of a thread, newest first. */
  list(threadId: string, options: { limit: number; offset: number; status?: RunStatus | undefined }): RunRecord[] {
    const found: RunRecord[] = [];
    let skip = options.offset;
    for (const [, text] of this.#db.range({ ...prefixRange(keys.runsOf(threadId)), reverse: true })) {
      if (found.length >= options.limit) break;
      const record = JSON.parse(text) as RunRecord;
      if (options.status !== undefined && record.run.status !== options.status) continue;
      if (skip > 0) skip--;
      else found.push(record);
    }
    return found;
  }

  /** The change that stores a record. */
  writeOf(record: RunRecord): Write {
    return { key: keys.run(record.run.thread_id, record.run.run_id), value: JSON.stringify(record) };
  }

  /** The changes that delete a run. */
  deletion(threadId: string, runId: string): Write[] {
    return [
      { key: keys.run(threadId, runId), value: undefined },
      { key: keys.queued(runId), value: undefined },
    ];
  }

  /** The changes that delete all runs of a thread. */
  deletionOf(threadId: string): Write[] {
    const writes: Write[] = [];
    for (const [key] of this.#db.range(prefixRange(keys.runsOf(threadId)))) {
      writes.push(
        { key, value: undefined },
        { key: keys.queued(key.slice(key.lastIndexOf("/") + 1)), value: undefined },
      );
    }
    return writes;
  }

  /** Runs that had not ended when the server stopped, in the order of their making. */
  unfinished(): { record: RunRecord | undefined; runId: string; threadId: string }[] {
    return Array.from(this.#db.range(prefixRange(keys.queue)), ([key, threadId]) => {
      const runId = key.slice(keys.queue.length);
      return { runId, threadId, record: this.find(threadId, runId) };
    });
  }
}
