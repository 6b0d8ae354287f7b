// Run records: what is stored of a run, beside the thread that it belongs to, and how the records are read back.
// What happens while a run runs is the business of runs/.
import { ApiError } from "../errors.ts";
import { prefixRange, type Database, type Write } from "../storage/database.ts";
import { keys, lastId } from "../storage/keys.ts";
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
  /** URL that is told of the end. */
  readonly webhook?: string | undefined;
}

/** A failure as clients see it. */
export interface RunError {
  readonly error: string;
  readonly message: string;
}

/** A request that may come again: digests of its Idempotency-Key, and of what it asks for. */
export interface RequestMark {
  readonly key: string;
  readonly asks: string;
}

/** The graph and the assistant that a thread names in its metadata; absent where it names none. */
export interface GraphIds {
  readonly graph_id?: unknown;
  readonly assistant_id?: unknown;
}

/** A run as it is stored: the public record and what only the engine needs. */
export interface RunRecord {
  readonly run: RunJson;
  readonly graphId: string;
  /** 1 on the first execution. */
  readonly attempt: number;
  /** It has a hidden thread of its own, and no other run. */
  readonly stateless?: true;
  /** Delete run and hidden thread at the end. */
  readonly deleteAfter?: true;
  /** Nothing of it is stored: it is stateless, somebody waits for it, and it is deleted at its end. */
  readonly ephemeral?: true;
  /** What the thread was before the run, if it was not idle: it is that again when nothing is left of the run. */
  readonly before?: "interrupted" | "error" | undefined;
  /** What the thread named before the run, if it was something else: it does again when nothing is left of the run. */
  readonly graphBefore?: GraphIds | undefined;
  /** Settings for the graph alone, such as request headers: never shown, and gone when the run has ended. */
  readonly hidden?: Json | undefined;
  /** The Idempotency-Key that it was created with. */
  readonly once?: RequestMark | undefined;
  /** Started through protocol v2: LangGraph's own event stream (v3) runs it. */
  readonly protocol?: true;
  /** The A2A task that it works on; true when the task began with it and has its id. */
  readonly task?: string | true | undefined;
  /** Not to start before this time, in ms since the epoch. */
  readonly notBefore?: number | undefined;
  readonly error?: RunError | undefined;
}

/** The error for a run that does not exist. */
export const runNotFound = (): ApiError => new ApiError(404, "Run not found");

/** Whether a run in this status will not change any more. */
export const hasEnded = (status: RunStatus): boolean => status !== "pending" && status !== "running";

/** Flags of a run that are left out of what is stored. */
const NOT_ASKED_FOR = { subgraphs: false, resumable: false, temporary: false } as const;

/** A record as it is stored: without what its key says and without what it says twice. */
function pack({ run, attempt, ...rest }: RunRecord): string {
  const { run_id: _run, thread_id: _thread, metadata, kwargs, ...own } = run;
  const { graph_id: _graph, assistant_id: _assistant, ...meta } = metadata;
  const args: Record<string, unknown> = { ...kwargs };
  for (const flag of Object.keys(NOT_ASKED_FOR)) if (args[flag] === false) delete args[flag];
  return JSON.stringify({
    ...rest,
    ...(attempt === 1 ? {} : { attempt }),
    run: { ...own, metadata: meta, kwargs: args },
  });
}

function unpack(threadId: string, runId: string, text: string): RunRecord {
  const { run, attempt = 1, ...rest } = JSON.parse(text) as RunRecord;
  const metadata = { ...run.metadata, graph_id: rest.graphId, assistant_id: run.assistant_id };
  const kwargs = { ...NOT_ASKED_FOR, ...run.kwargs };
  return { ...rest, attempt, run: { ...run, run_id: runId, thread_id: threadId, metadata, kwargs } };
}

export class Runs {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  find(threadId: string, runId: string): RunRecord | undefined {
    const text = this.#db.get(keys.run(threadId, runId));
    return text === undefined ? undefined : unpack(threadId, runId, text);
  }

  /** @throws ApiError 404 */
  get(threadId: string, runId: string): RunRecord {
    const record = this.find(threadId, runId);
    if (record === undefined) throw runNotFound();
    return record;
  }

  /** Runs of a thread, newest first. Only what is returned is parsed, so that a page far behind costs little. */
  list(threadId: string, options: { limit: number; offset: number; status?: RunStatus | undefined }): RunRecord[] {
    const { status, limit } = options;
    const mark = `"status":${JSON.stringify(status)}`;
    const found: RunRecord[] = [];
    let skip = options.offset;
    for (const [key, text] of this.#db.range({ ...prefixRange(keys.runsOf(threadId)), reverse: true })) {
      if (found.length >= limit) break;
      if (status === undefined && skip > 0) {
        skip--;
        continue;
      }
      // The mark may stand in an input as well, so what has it is looked at.
      if (status !== undefined && !text.includes(mark)) continue;
      const record = unpack(threadId, lastId(key), text);
      if (status !== undefined && record.run.status !== status) continue;
      if (skip > 0) skip--;
      else found.push(record);
    }
    return found;
  }

  /** The change that stores a record. */
  writeOf(record: RunRecord): Write {
    return { key: keys.run(record.run.thread_id, record.run.run_id), value: pack(record) };
  }

  /** The changes that store a new run, as one that has not ended. */
  creation(record: RunRecord): Write[] {
    const { run_id, thread_id } = record.run;
    const writes = [this.writeOf(record), { key: keys.queued(run_id), value: thread_id }];
    const isKept = record.stateless === true && record.deleteAfter !== true;
    return isKept ? [...writes, { key: keys.keptRun(run_id), value: thread_id }] : writes;
  }

  /** The hidden thread of a run without one that is kept. */
  threadOf(runId: string): string | undefined {
    return this.#db.get(keys.keptRun(runId));
  }

  /** The changes that delete a run. */
  deletion(threadId: string, runId: string): Write[] {
    return [keys.run(threadId, runId), keys.queued(runId), keys.keptRun(runId)].map((key) => ({
      key,
      value: undefined,
    }));
  }

  /** The changes that delete all runs of a thread. */
  deletionOf(threadId: string): Write[] {
    const writes: Write[] = [];
    for (const [key] of this.#db.range(prefixRange(keys.runsOf(threadId)))) {
      writes.push(...this.deletion(threadId, lastId(key)));
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
