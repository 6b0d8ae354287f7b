// What is stored of runs and of the threads that show them: every change of both is one batch here, so that they always agree.
// A run that leaves nothing (stateless, waited for, deleted at its end) is never stored at all.
import type { Idempotency } from "../resources/idempotency.ts";
import type { RunRecord, Runs } from "../resources/runs.ts";
import type { ThreadRecord, Threads, ThreadStatus } from "../resources/threads.ts";
import type { BufferedDatabase } from "../storage/buffered.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import type { Write } from "../storage/database.ts";
import type { RunJournal } from "../storage/journal.ts";
import { keys } from "../storage/keys.ts";
import type { ActiveRun, RunEnd } from "./active.ts";
import { consequences, type RunFollower, type ThreadBelongings } from "./follower.ts";
import { refusedCommandWrites } from "./refused-command.ts";
import { publicRun } from "./request.ts";
import { interruptsOf } from "./result.ts";
import { rollbackWrites } from "./rollback.ts";
import type { StoredLogs } from "./stored-logs.ts";
import { metadataWithout, tellOthers } from "./thread-before.ts";

export interface LedgerOptions {
  readonly db: BufferedDatabase;
  readonly threads: Threads;
  readonly runs: Runs;
  readonly checkpoints: CheckpointStore;
  readonly idempotency: Idempotency;
  readonly logs: StoredLogs;
  /** Those for whom the end of a run has consequences. */
  readonly followers: readonly RunFollower[];
  /** Told what goes wrong with them. */
  readonly onError: (error: unknown) => void;
  /** What others keep of threads. */
  readonly belongings?: ThreadBelongings | undefined;
  /** Runs of a thread that have not ended, but for one if it is named. */
  readonly others: (threadId: string, runId?: string) => readonly ActiveRun[];
}

/** A change of a thread's state from outside: what is to be stored of it, and what the thread shows then. */
export interface StateChange extends Pick<ThreadRecord, "status" | "interrupts"> {
  readonly writes: readonly Write[];
}

export class RunLedger {
  readonly #options: LedgerOptions;

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  /**
   * New runs, and their threads as they are with them, in one batch.
   * @param soon nobody hears of the runs before they end, so that their records may wait for the next commit.
   */
  created(
    made: readonly {
      readonly record: RunRecord;
      readonly thread: ThreadRecord;
      readonly alongside?: readonly Write[];
    }[],
    soon: boolean,
  ): void {
    const { db, threads, runs, idempotency } = this.#options;
    const writes: Write[] = made.flatMap(({ alongside = [] }) => alongside);
    const busy: ThreadRecord[] = [];
    for (const { record, thread } of made) {
      if (record.ephemeral) continue;
      const { assistant_id } = record.run;
      const head: ThreadRecord = {
        ...thread,
        status: "busy",
        updated_at: threads.stamp(),
        metadata: { ...thread.metadata, graph_id: record.graphId, assistant_id },
      };
      busy.push(head);
      writes.push(...threads.writesOf(head), ...runs.creation(record));
      if (record.once !== undefined) writes.push(...idempotency.writesOf(record));
    }
    if (writes.length === 0) return;
    if (soon) db.writeSoon(writes);
    else db.write(writes);
    for (const head of busy) threads.committed(head);
  }

  /** A run whose record changed while it goes on: it was started, or parked. */
  changed(record: RunRecord): void {
    if (!record.ephemeral) this.#options.db.write([this.#options.runs.writeOf(record)]);
  }

  /**
   * The end of a run, with the thread's status if no other run follows.
   * @param journal undefined for a run that began before the server did.
   * @param trace false when the run was stopped before it wrote anything.
   */
  ended(
    { hidden: _hidden, ...record }: RunRecord,
    status: ThreadStatus,
    end: RunEnd,
    journal?: RunJournal,
    trace = true,
  ): void {
    if (record.ephemeral) return;
    const { db, threads, runs, checkpoints, followers, onError } = this.#options;
    const follow = consequences(followers, record, end, status, onError);
    if (record.deleteAfter) {
      this.#drop(record, [...this.#keptEnd(record, end), ...follow.writes]);
      return follow.committed();
    }
    const { thread_id: threadId, run_id } = record.run;
    const changedEarlier = journal?.changedEarlier !== false;
    const refused =
      changedEarlier && record.run.status === "error" ? refusedCommandWrites(checkpoints, threadId, run_id) : [];
    const kept = changedEarlier && refused.length === 0 ? checkpoints.pending.forgetUndo(threadId, run_id) : [];
    const answered = [...refused, ...kept];
    const writes: Write[] = [runs.writeOf(record), { key: keys.queued(run_id), value: undefined }, ...answered];
    writes.push(...follow.writes);
    const thread = threads.find(threadId);
    if (thread === undefined) {
      db.write(writes);
      return follow.committed();
    }
    const { error: before, ...head } = thread;
    const error = record.error === undefined ? (status === "error" ? before : undefined) : { ...record.error };
    const interrupts = status === "idle" ? {} : interruptsOf(checkpoints, threadId);
    const others = this.#options.others(threadId, run_id);
    writes.push(...this.#recordsOf(tellOthers(others, record, { status, trace })));
    const metadata = trace ? head.metadata : metadataWithout(head.metadata, record, others);
    const after = { ...head, metadata, interrupts, ...(error === undefined ? {} : { error }) };
    // The values are others only if the run wrote a state, or into one that waited for it.
    const wrote = answered.length > 0 || checkpoints.get(threadId, "")?.record.d === run_id;
    this.#putThread(after, others.length > 0 ? "busy" : status, writes, wrote);
    if (refused.length > 0) checkpoints.forget(threadId);
    follow.committed();
  }

  /** The end of a run that was asked for with an Idempotency-Key, because nothing else is left of it. */
  #keptEnd(record: RunRecord, { status, json }: RunEnd): Write[] {
    if (record.once === undefined) return [];
    const { attempt } = record;
    return this.#options.idempotency.endOf(record, { run: publicRun(record), attempt, status, json });
  }

  #recordsOf(changed: readonly ActiveRun[]): Write[] {
    return changed.map(({ record }) => this.#options.runs.writeOf(record));
  }

  /** The state of a thread was changed from outside of a run. Runs that were created meanwhile find it as the change made it. */
  stateChanged(threadId: string, { writes, status, interrupts }: StateChange): void {
    const { threads, checkpoints, others } = this.#options;
    const { error: _error, ...head } = threads.get(threadId);
    const runs = others(threadId);
    const all = [...writes, ...this.#recordsOf(tellOthers(runs, undefined, { status, trace: true }))];
    this.#putThread({ ...head, interrupts }, runs.length > 0 ? "busy" : status, all, true);
    checkpoints.forget(threadId);
  }

  /** Takes back everything that a run did. @param journal undefined for a run that began before the server did. */
  rolledBack(record: RunRecord, journal?: RunJournal): void {
    if (record.ephemeral) return;
    const { threads, runs, checkpoints, logs } = this.#options;
    const { thread_id: threadId, run_id: runId } = record.run;
    const events = logs.deletion(runId);
    if (record.stateless) return this.#drop(record, events);
    const writes = [
      ...runs.deletion(threadId, runId),
      ...rollbackWrites(checkpoints, threadId, runId, journal),
      ...events,
    ];
    const changes = new Map(writes.map(({ key, value }) => [key, value]));
    const interrupts = interruptsOf(checkpoints, threadId, runId, changes);
    const before = record.before ?? (Object.keys(interrupts).length > 0 ? "interrupted" : "idle");
    const others = this.#options.others(threadId, runId);
    writes.push(...this.#recordsOf(tellOthers(others, record, undefined)));
    const thread = threads.get(threadId);
    const after = { ...thread, metadata: metadataWithout(thread.metadata, record, others), interrupts };
    // The state is the one that the thread had before, as old as it is.
    this.#putThread(after, others.length > 0 ? "busy" : before, writes, false);
    checkpoints.forget(threadId);
  }

  /** The record of a run that has ended goes; what it did stays. */
  deleted(threadId: string, runId: string): void {
    const { db, runs, logs } = this.#options;
    db.write([...runs.deletion(threadId, runId), ...logs.deletion(runId)]);
  }

  /** A thread goes with everything that belongs to it. */
  threadDeleted(threadId: string): void {
    this.#dropThread(threadId, this.#options.logs.deletionOf(threadId));
  }

  #dropThread(threadId: string, more: readonly Write[]): void {
    const { db, threads, runs, checkpoints, belongings } = this.#options;
    const deletions = [...threads.deletion(threadId), ...runs.deletionOf(threadId), ...checkpoints.deletion(threadId)];
    db.write([...more, ...(belongings?.deletionOf(threadId) ?? []), ...deletions]);
    threads.removed(threadId);
    checkpoints.forget(threadId);
  }

  /** Forgets a run that waits in storage and has no record or thread any more. */
  unqueued(runId: string): void {
    this.#options.db.write([{ key: keys.queued(runId), value: undefined }]);
  }

  /** The status of a thread on which a run was stopped before it got anywhere: what it was before the run. */
  statusWithout({ run, before }: RunRecord): ThreadStatus {
    if (before !== undefined) return before;
    const waits = Object.keys(interruptsOf(this.#options.checkpoints, run.thread_id)).length > 0;
    return waits ? "interrupted" : "idle";
  }

  #putThread(thread: ThreadRecord, status: ThreadStatus, writes: readonly Write[], stateChanged: boolean): void {
    const { db, threads } = this.#options;
    const now = threads.stamp();
    const state = stateChanged ? { state_updated_at: now } : {};
    const after: ThreadRecord = { ...thread, status, updated_at: now, ...state };
    db.write([...writes, threads.writeOf(after)]);
    threads.committed(after);
  }

  /** A stateless run and its hidden thread. Its events stay for those who read them still. */
  #drop(record: RunRecord, more: readonly Write[]): void {
    this.#dropThread(record.run.thread_id, more);
  }
}
