// The sessions of all threads: made when protocol v2 is spoken with a thread, freed when nobody reads and nothing runs there any more.
import type { Timers } from "../clock.ts";
import type { RunRecord } from "../resources/runs.ts";
import type { Threads } from "../resources/threads.ts";
import type { RunObserver, RunObservers } from "../runs/observer.ts";
import type { ThreadValues } from "../runs/values.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import { ThreadSession, type Outcome } from "./session.ts";

/** Milliseconds that the events of a thread are kept when nobody reads them and nothing runs. */
const KEEP_MS = 120_000;
/** Characters of events kept over all threads that are not in use; beyond them those go that were used longest ago. */
const KEEP_CHARS = 256 * 1024 * 1024;
/** Numbers of events per millisecond: a thread that has more of them for long does not exist. */
const PER_MS = 1000;

export interface SessionsOptions {
  readonly threads: Threads;
  readonly values: ThreadValues;
  readonly checkpoints: CheckpointStore;
  readonly clock: Timers;
  /** Whether anything runs or waits on a thread. */
  readonly isBusy: (threadId: string) => boolean;
  /** Watches the run that a thread executes now, if nobody does yet. */
  readonly watch: (threadId: string, observe: (record: RunRecord) => RunObserver) => void;
}

export class ProtocolSessions implements RunObservers {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, ThreadSession>();
  /** Sessions that are not in use, those that were used longest ago first, with what frees them. */
  readonly #resting = new Map<ThreadSession, () => void>();
  /** The greatest number that a freed session had given out. */
  #lastSeq = 0;
  #closed = false;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  find(threadId: string): ThreadSession | undefined {
    return this.#sessions.get(threadId);
  }

  /** The session of a thread, which need not exist yet: a client may read before the first run makes it. */
  open(threadId: string): ThreadSession {
    let session = this.#sessions.get(threadId);
    if (session === undefined) {
      session = new ThreadSession(threadId, {
        base: this.#base(threadId),
        isBusy: () => this.#options.isBusy(threadId),
        outcome: () => this.#outcome(threadId),
        onUse: (used) => this.#used(used),
      });
      this.#sessions.set(threadId, session);
      if (this.#closed) session.log.close();
    }
    return session;
  }

  /** The session of a thread for somebody who is about to read: what runs there now is watched from here on. */
  openToRead(threadId: string): ThreadSession {
    const session = this.open(threadId);
    this.#options.watch(threadId, (record) => session.observe(record, "late"));
    return session;
  }

  /** The number of the newest event of a thread; all events to come have greater ones. */
  lastSeq(threadId: string): number {
    return this.#sessions.get(threadId)?.log.lastSeq ?? this.#base(threadId);
  }

  /**
   * Numbers count up from the time, so that they do not go backwards when a session was freed or the server was started anew. What
   * the thread was changed at last holds, should the clock have been turned back.
   */
  #base(threadId: string): number {
    const updated = Date.parse(this.#options.threads.find(threadId)?.updated_at ?? "");
    return Math.max(Date.now() * PER_MS, this.#lastSeq, Number.isNaN(updated) ? 0 : (updated + 1) * PER_MS);
  }

  #outcome(threadId: string): Outcome {
    const { threads, checkpoints, values } = this.#options;
    const newest = checkpoints.get(threadId, "");
    const { step, source } = (newest?.record.m ?? {}) as { step?: unknown; source?: unknown };
    const waiting = Object.values(threads.find(threadId)?.interrupts ?? {}).flat();
    return {
      values: values.json(threadId),
      checkpoint: newest && JSON.stringify({ id: newest.id, parent_id: newest.record.p, step, source }),
      interrupts: waiting.flatMap(({ id, value }) =>
        typeof id === "string" ? [JSON.stringify({ interrupt_id: id, payload: value ?? null })] : [],
      ),
    };
  }

  /**
   * Whether a run is watched. One that was started through protocol v2 always is, and is run by LangGraph's v3 stream. One that was
   * started through REST is watched when somebody reads its thread; it is run as it would be if its own stream had been asked for
   * everything, and its events are made from that. v3 would store its messages in another form (content blocks in place of text), and
   * what a run stores must not depend on who looks on.
   */
  observe(record: RunRecord): RunObserver | undefined {
    const threadId = record.run.thread_id;
    if (record.protocol === true) return this.open(threadId).observe(record, "native");
    const session = this.#sessions.get(threadId);
    return session?.watched === true ? session.observe(record, "seen") : undefined;
  }

  #used(session: ThreadSession): void {
    this.#resting.get(session)?.();
    this.#resting.delete(session);
    if (session.inUse || this.#sessions.get(session.threadId) !== session) return;
    const { clock } = this.#options;
    this.#resting.set(
      session,
      clock.at(clock.now() + KEEP_MS, () => this.#free(session)),
    );
    let chars = 0;
    for (const { log } of this.#resting.keys()) chars += log.chars;
    for (const oldest of this.#resting.keys()) {
      if (chars <= KEEP_CHARS) break;
      chars -= oldest.log.chars;
      this.#free(oldest);
    }
  }

  #free(session: ThreadSession): void {
    this.#resting.get(session)?.();
    this.#resting.delete(session);
    this.#lastSeq = Math.max(this.#lastSeq, session.log.lastSeq);
    if (this.#sessions.get(session.threadId) === session) this.#sessions.delete(session.threadId);
  }

  /** Ends the streams of a thread that is gone. */
  threadDeleted(threadId: string): void {
    const session = this.#sessions.get(threadId);
    if (session === undefined) return;
    session.log.close();
    this.#free(session);
  }

  /** The server stops: all streams end. */
  close(): void {
    this.#closed = true;
    for (const session of this.#sessions.values()) {
      session.log.close();
      this.#free(session);
    }
  }
}
