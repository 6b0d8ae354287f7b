// What a webhook sends: the run as clients see it, with how it ended (wire-api §6). Made when the run ends, because a stateless thread is
// deleted then.
import { timestampOf } from "../ids.ts";
import type { RunRecord } from "../resources/runs.ts";
import type { RunEnd } from "./active.ts";
import { publicRun } from "./request.ts";

/**
 * The JSON of a run that has ended.
 * @param valuesJson the thread's values, in wire form.
 * @param now milliseconds since the epoch.
 */
export function runJsonForWebhook(record: RunRecord, end: RunEnd, valuesJson: string, now: number): string {
  const head = JSON.stringify({
    ...publicRun(record),
    run_started_at: end.startedAt === undefined ? null : timestampOf(end.startedAt),
    run_ended_at: timestampOf(now),
    error: record.error ?? null,
  });
  return `${head.slice(0, -1)},"values":${valuesJson}}`;
}
