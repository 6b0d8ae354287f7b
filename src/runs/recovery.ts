// After a stop, of whatever kind: what waited waits again, what ran goes on from its last checkpoint, and what took the server down
// with it too often is given up with a reason.
import type { RunRecord, Runs } from "../resources/runs.ts";
import { advanceUuid7, timestamp } from "../ids.ts";
import type { Threads } from "../resources/threads.ts";
import type { RunLedger } from "./ledger.ts";
import { errorJson } from "./result.ts";

/** Executions of a run that died with the server, before it is given up. */
const MAX_ATTEMPTS = 3;

/** What was found at start. */
export interface Recovery {
  /** Runs that had not begun, or were parked. */
  readonly pending: number;
  /** Runs that died with the server and are tried again. */
  readonly resumed: number;
  /** Runs that are given up. */
  readonly failed: number;
}

/**
 * Reads what had not ended when the server stopped; at start, before requests come in.
 * @param queue takes a run to run, in the order of their making.
 * @param onGivenUp told of a run that is given up.
 */
export function recover(
  parts: { readonly runs: Runs; readonly threads: Threads; readonly ledger: RunLedger },
  queue: (record: RunRecord) => void,
  onGivenUp: (record: RunRecord) => void,
): Recovery {
  const { runs, threads, ledger } = parts;
  const found = { pending: 0, resumed: 0, failed: 0 };
  const failed: RunRecord[] = [];
  for (const { record, runId, threadId } of runs.unfinished()) {
    advanceUuid7(runId);
    if (record === undefined || threads.find(threadId) === undefined) {
      ledger.unqueued(runId);
    } else if (record.run.status !== "running") {
      found.pending++;
      queue(record);
    } else if (record.attempt >= MAX_ATTEMPTS) {
      found.failed++;
      failed.push(givenUp(record));
    } else {
      found.resumed++;
      const next: RunRecord = {
        ...record,
        run: { ...record.run, status: "pending" },
        attempt: record.attempt + 1,
      };
      ledger.changed(next);
      queue(next);
    }
  }
  // Last, because a thread on which others wait is still busy.
  for (const record of failed) {
    ledger.ended(record, "error", { status: "error", json: errorJson(record.error!) });
    onGivenUp(record);
  }
  return found;
}

function givenUp(record: RunRecord): RunRecord {
  const message = `The server stopped in the middle of this run ${MAX_ATTEMPTS} times; it is not tried again.`;
  return {
    ...record,
    run: { ...record.run, status: "error", updated_at: timestamp() },
    error: { error: "RunAttemptsExceeded", message },
  };
}
