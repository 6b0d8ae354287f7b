// Event logs of resumable runs that have ended, kept a while for clients that come back for what they missed.
import { LRUCache } from "lru-cache";
import type { EventLog } from "./events.ts";

/** Milliseconds that a log is kept after its run; the hosted server's default. */
const KEEP_MS = 120_000;
/** Logs kept at most. */
const KEEP_LOGS = 500;

export class FinishedLogs {
  readonly #logs = new LRUCache<string, { threadId: string; log: EventLog }>({
    max: KEEP_LOGS,
    ttl: KEEP_MS,
    ttlAutopurge: true,
  });

  keep(threadId: string, runId: string, log: EventLog): void {
    this.#logs.set(runId, { threadId, log });
  }

  find(threadId: string, runId: string): EventLog | undefined {
    const kept = this.#logs.get(runId);
    return kept?.threadId === threadId ? kept.log : undefined;
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
