// What is stored of runs and of the threads that show them: every change of both is one batch here, so that they always agree.
// A run that leaves nothing (stateless, waited for, deleted at its end) is never stored at all.
import { timestamp } from "../ids.ts";
import type { RunRecord, Runs } from "../resources/runs.ts";
import type { ThreadRecord, Threads, ThreadStatus } from "../resources/threads.ts";
import type { BufferedDatabase } from "../storage/buffered.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import type { Write } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import { interruptsOf } from "./result.ts";
import { rollbackWrites } from "./rollback.ts";

export interface LedgerOptions {
  readonly db: BufferedDatabase;
  readonly threads: Threads;
  readonly runs: Runs;
  readonly checkpoints: CheckpointStore;
  /** Whether other runs of a thread have not ended. */
  readonly hasOthers: (threadId: string, runId: string) => boolean;
}

export class RunLedger {
  readonly #options: LedgerOptions;

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  /**
   * A new run, and its thread as it is with it.
   * @param soon nobody hears of the run before it ends, so that its record may wait for the next commit.
   */
  created(record: RunRecord, thread: ThreadRecord, soon: boolean): void {
    if (record.ephemeral) return;
    const { db, threads, runs } = this.#options;
    const { run_id, assistant_id } = record.run;
    const busy: ThreadRecord = {
      ...thread,
      status: "busy",
      updated_at: timestamp(),
      metadata: { ...thread.metadata, graph_id: record.graphId, assistant_id },
    };
    const writes = [threads.writeOf(busy), runs.writeOf(record), { key: keys.queued(run_id), value: busy.thread_id }];
    if (soon) db.writeSoon(writes);
    else db.write(writes);
    threads.committed(busy);
  }

  /** A run whose record changed while it goes on: it was started, or parked. */
  changed(record: RunRecord): void {
    if (!record.ephemeral) this.#options.db.write([this.#options.runs.writeOf(record)]);
  }

  /** The end of a run, with the thread's status if no other run follows. */
  ended(record: RunRecord, status: ThreadStatus): void {
    if (record.ephemeral) return;
    if (record.deleteAfter) return this.#dropHidden(record);
    const { db, threads, runs, checkpoints } = this.#options;
    const { thread_id: threadId, run_id } = record.run;
    const writes: Write[] = [
      runs.writeOf(record),
      { key: keys.queued(run_id), value: undefined },
      ...(mayHaveAnswered(record) ? checkpoints.forgetUndo(threadId, run_id) : []),
    ];
    const thread = threads.find(threadId);
    if (thread === undefined) return db.write(writes);
    const { error: _error, ...head } = thread;
    const interrupts = status === "interrupted" ? interruptsOf(checkpoints, threadId) : {};
    this.#putThread(
      { ...head, interrupts, ...(record.error === undefined ? {} : { error: { ...record.error } }) },
      this.#options.hasOthers(threadId, run_id) ? "busy" : status,
      writes,
    );
  }

  /** Takes back everything that a run did. */
  rolledBack(record: RunRecord): void {
    if (record.ephemeral) return;
    if (record.stateless) return this.#dropHidden(record);
    const { threads, runs, checkpoints } = this.#options;
    const { thread_id: threadId, run_id: runId } = record.run;
    const writes = [...runs.deletion(threadId, runId), ...rollbackWrites(checkpoints, threadId, runId)];
    const changes = new Map(writes.map(({ key, value }) => [key, value]));
    const interrupts = interruptsOf(checkpoints, threadId, runId, changes);
    const idle = record.onInterrupted === true || Object.keys(interrupts).length > 0 ? "interrupted" : "idle";
    this.#putThread(
      { ...threads.get(threadId), interrupts },
      this.#options.hasOthers(threadId, runId) ? "busy" : idle,
      writes,
    );
    checkpoints.forget(threadId);
  }

  /** The record of a run that has ended goes; what it did stays. */
  deleted(threadId: string, runId: string): void {
    this.#options.db.write(this.#options.runs.deletion(threadId, runId));
  }

  /** A thread goes with everything that belongs to it. */
  threadDeleted(threadId: string): void {
    const { db, threads, runs, checkpoints } = this.#options;
    db.write([
      { key: keys.thread(threadId), value: undefined },
      ...runs.deletionOf(threadId),
      ...checkpoints.deletion(threadId),
    ]);
    threads.removed(threadId);
    checkpoints.forget(threadId);
  }

  /** Forgets a run that waits in storage and has no record or thread any more. */
  unqueued(runId: string): void {
    this.#options.db.write([{ key: keys.queued(runId), value: undefined }]);
  }

  /** The status of a thread on which a run was stopped before it got anywhere: what it was before the run. */
  statusWithout({ run, onInterrupted }: RunRecord): ThreadStatus {
    const waits = Object.keys(interruptsOf(this.#options.checkpoints, run.thread_id)).length > 0;
    return waits || onInterrupted === true ? "interrupted" : "idle";
  }

  #putThread(thread: ThreadRecord, status: ThreadStatus, writes: readonly Write[]): void {
    const { db, threads } = this.#options;
    const now = timestamp();
    const after: ThreadRecord = { ...thread, status, updated_at: now, state_updated_at: now };
    db.write([...writes, threads.writeOf(after)]);
    threads.committed(after);
  }

  /** A stateless run and its hidden thread. */
  #dropHidden(record: RunRecord): void {
    this.threadDeleted(record.run.thread_id);
  }
}

/** Whether a run may have changed what waits at checkpoints of earlier runs: only one that takes no input does. */
function mayHaveAnswered({ run }: RunRecord): boolean {
  return run.kwargs.command !== undefined || run.kwargs.input === undefined || run.kwargs.input === null;
}
