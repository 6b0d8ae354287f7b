// What is kept a while of runs that have ended, for clients that come late: the event logs of resumable runs and of those whose
// reader lost its connection, and the results of stateless runs, whose records are gone.
import { LRUCache } from "lru-cache";
import type { RunEnd } from "./active.ts";
import type { EventLog } from "./events.ts";

/** Milliseconds that resumable logs and results are kept; the hosted server's default for its streams. */
const KEEP_MS = 120_000;
/** Milliseconds for a client that lost its connection before the end to come back. */
const KEEP_ABANDONED_MS = 30_000;
/** Runs kept at most, and their characters. */
const KEEP_RUNS = 500;
const KEEP_CHARS = 64 * 1024 * 1024;

interface FinishedRun {
  readonly threadId: string;
  readonly attempt: number;
  readonly log: EventLog;
  /** How it ended, if its record does not tell. */
  readonly end: RunEnd | undefined;
}

export class FinishedLogs {
  readonly #runs = new LRUCache<string, FinishedRun>({
    max: KEEP_RUNS,
    maxSize: KEEP_CHARS,
    sizeCalculation: ({ log, end }) => log.chars + (end?.json.length ?? 0) + 1,
    ttl: KEEP_MS,
    ttlAutopurge: true,
  });

  /** Keeps a run if somebody may come for it. */
  keep(runId: string, finished: FinishedRun): void {
    const { log, end } = finished;
    if (log.resumable || end !== undefined) this.#runs.set(runId, finished);
    else if (log.abandoned) this.#runs.set(runId, finished, { ttl: KEEP_ABANDONED_MS });
  }

  find(threadId: string, runId: string): FinishedRun | undefined {
    const kept = this.#runs.get(runId);
    return kept?.threadId === threadId ? kept : undefined;
  }

  threadOf(runId: string): string | undefined {
    return this.#runs.get(runId)?.threadId;
  }

  drop(runId: string): void {
    this.#runs.delete(runId);
  }

  dropThread(threadId: string): void {
    for (const [runId, kept] of this.#runs.entries()) if (kept.threadId === threadId) this.#runs.delete(runId);
  }
}
