// What is kept in memory a while of runs that have ended, for clients that come late: the event logs of those whose reader lost its
// connection, and the results of stateless runs, whose records are gone. Logs of resumable runs are stored: stored-logs.ts.
import { LRUCache } from "lru-cache";
import type { Timers } from "../clock.ts";
import type { Json } from "../resources/json.ts";
import type { RunEnd } from "./active.ts";
import type { EventLog } from "./events.ts";

/** Milliseconds that results are kept. */
const KEEP_MS = 120_000;
/** Milliseconds for a client that lost its connection before the end to come back. */
const KEEP_ABANDONED_MS = 30_000;
/** Runs kept at most, and their characters. */
const KEEP_RUNS = 500;
const KEEP_CHARS = 64 * 1024 * 1024;
/** The same for runs whose readers were there to the end: what was on the wire then may be lost with it. */
const KEEP_READ_MS = 10_000;
const KEEP_READ_RUNS = 64;
const KEEP_READ_CHARS = 2 * 1024 * 1024;

interface FinishedRun {
  readonly threadId: string;
  /** Of the run: what decides who may see it when its thread is gone. */
  readonly metadata: Json;
  readonly log: EventLog;
  /** How it ended, if its record does not tell. */
  readonly end: RunEnd | undefined;
}

interface Kept extends FinishedRun {
  /** When its time is over, in ms since the epoch. */
  readonly until: number;
  /** Calls off what takes it away then. */
  readonly callOff?: () => void;
}

export class FinishedLogs {
  readonly #clock: Timers;
  readonly #runs = new LRUCache<string, Kept>({
    max: KEEP_RUNS,
    maxSize: KEEP_CHARS,
    sizeCalculation: ({ log, end }) => log.chars + (end?.json.length ?? 0) + 1,
    dispose: ({ callOff }) => callOff?.(),
  });
  /** Without timers, because there is one for nearly every stream: the next ones push them out. */
  readonly #read = new LRUCache<string, Kept>({
    max: KEEP_READ_RUNS,
    maxSize: KEEP_READ_CHARS,
    sizeCalculation: ({ log }) => log.chars + 1,
  });

  constructor(clock: Timers) {
    this.#clock = clock;
  }

  /** Keeps a run if somebody may come for it. */
  keep(runId: string, finished: FinishedRun): void {
    const { log, end } = finished;
    const now = this.#clock.now();
    if (end !== undefined) this.#keep(runId, finished, now + KEEP_MS);
    else if (log.resumable) return;
    else if (log.abandoned) this.#keep(runId, finished, now + KEEP_ABANDONED_MS);
    else if (log.watched) this.#read.set(runId, { ...finished, until: now + KEEP_READ_MS });
  }

  #keep(runId: string, finished: FinishedRun, until: number): void {
    const callOff = this.#clock.at(until, () => void this.#runs.delete(runId));
    this.#runs.set(runId, { ...finished, until, callOff });
  }

  #find(runId: string): Kept | undefined {
    const kept = this.#runs.get(runId) ?? this.#read.get(runId);
    return kept !== undefined && kept.until > this.#clock.now() ? kept : undefined;
  }

  find(threadId: string, runId: string): FinishedRun | undefined {
    const kept = this.#find(runId);
    return kept?.threadId === threadId ? kept : undefined;
  }

  threadOf(runId: string): string | undefined {
    return this.#find(runId)?.threadId;
  }

  metadataOf(runId: string): Json | undefined {
    return this.#find(runId)?.metadata;
  }

  drop(runId: string): void {
    this.#runs.delete(runId);
    this.#read.delete(runId);
  }

  dropThread(threadId: string): void {
    for (const runs of [this.#runs, this.#read])
      for (const [runId, kept] of runs.entries()) if (kept.threadId === threadId) runs.delete(runId);
  }
}
