// Event logs of runs that have ended, kept a while for clients that come back for what they missed: those of resumable runs, and
// those whose reader lost its connection.
import { LRUCache } from "lru-cache";
import type { EventLog } from "./events.ts";

/** Milliseconds that the log of a resumable run is kept; the hosted server's default. */
const KEEP_RESUMABLE_MS = 120_000;
/** Milliseconds for a client that lost its connection before the end to come back. */
const KEEP_ABANDONED_MS = 30_000;
/** Logs kept at most. */
const KEEP_LOGS = 500;

interface FinishedLog {
  readonly threadId: string;
  readonly attempt: number;
  readonly log: EventLog;
}

export class FinishedLogs {
  readonly #logs = new LRUCache<string, FinishedLog>({ max: KEEP_LOGS, ttl: KEEP_RESUMABLE_MS, ttlAutopurge: true });

  /** Keeps a log if somebody may come for it. */
  keep(runId: string, finished: FinishedLog): void {
    const { log } = finished;
    if (log.resumable) this.#logs.set(runId, finished);
    else if (log.abandoned) this.#logs.set(runId, finished, { ttl: KEEP_ABANDONED_MS });
  }

  find(threadId: string, runId: string): FinishedLog | undefined {
    const kept = this.#logs.get(runId);
    return kept?.threadId === threadId ? kept : undefined;
  }

  threadOf(runId: string): string | undefined {
    return this.#logs.get(runId)?.threadId;
  }

  drop(runId: string): void {
    this.#logs.delete(runId);
  }

  dropThread(threadId: string): void {
    for (const [runId, kept] of this.#logs.entries()) if (kept.threadId === threadId) this.#logs.delete(runId);
  }
}
