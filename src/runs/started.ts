// A run for the request that asked for it: the one that it has just made or, when a request with an Idempotency-Key comes again,
// the one that was made then, wherever that has got to.
import type { Idempotency } from "../resources/idempotency.ts";
import type { RequestMark, RunJson } from "../resources/runs.ts";
import type { ActiveRun, RunEnd } from "./active.ts";
import type { RunEngine } from "./engine.ts";
import { frame } from "./events.ts";
import type { LogReader } from "./log-reader.ts";
import { publicRun } from "./request.ts";

/** What a request gets of its run. The methods throw ApiError 404 when the run has been deleted. */
export interface StartedRun {
  readonly runId: string;
  /** The run itself; undefined when it has ended already. */
  readonly active: ActiveRun | undefined;
  record(): RunJson;
  /** How it ends, or ended. */
  ended(): Promise<RunEnd>;
  /** Its events: a reader from the first one that is kept or, if none are kept any more, frames that say how it ended. */
  events(): LogReader | string;
}

/** For the request that has made the run. */
export function startedRun(run: ActiveRun): StartedRun {
  return {
    runId: run.id,
    active: run,
    // It may have begun already, but what was asked for is that it is created.
    record: () => ({ ...publicRun(run.record), status: "pending" }),
    ended: () => run.ended,
    events: () => run.log.reader("start"),
  };
}

/**
 * The run that was made by an earlier request with this mark; undefined when the request comes for the first time.
 * @throws ApiError 409 when the key was used for another request, or the result was too large to be kept; 429 when there are too many keys.
 */
export function earlierRun(
  { engine, idempotency }: { readonly engine: RunEngine; readonly idempotency: Idempotency },
  mark: RequestMark,
): StartedRun | undefined {
  const found = idempotency.find(mark);
  if (found === undefined) return undefined;
  const { threadId, runId } = found;
  const kept = idempotency.end(mark);
  return {
    runId,
    active: engine.active(runId),
    record: () => kept?.run ?? publicRun(engine.record(threadId, runId)),
    ended: async () => kept ?? engine.streams.join(threadId, runId),
    events() {
      if (engine.streams.hasLog(runId)) return engine.streams.read(threadId, runId, "start");
      const attempt = kept?.attempt ?? engine.record(threadId, runId).attempt;
      const failure = kept === undefined ? engine.record(threadId, runId).error : errorIn(kept.json);
      const metadata = frame("metadata", JSON.stringify({ run_id: runId, attempt }));
      return failure === undefined ? metadata : metadata + frame("error", JSON.stringify(failure));
    },
  };
}

function errorIn(json: string): unknown {
  const body = JSON.parse(json) as { __error__?: unknown } | null;
  return body?.__error__;
}
