// What callers learn of runs that are there already: their events, and how they end or ended. The engine makes runs; here they are
// only looked at.
import { runNotFound, type Runs } from "../resources/runs.ts";
import type { Threads } from "../resources/threads.ts";
import type { ActiveRun, RunEnd } from "./active.ts";
import { EventLog, type LogReader, type ReadFrom } from "./events.ts";
import type { FinishedLogs } from "./finished-logs.ts";
import { errorJson, withInterrupts } from "./result.ts";
import type { ThreadValues } from "./values.ts";

export interface StreamsOptions {
  readonly threads: Threads;
  readonly runs: Runs;
  readonly values: ThreadValues;
  readonly finished: FinishedLogs;
  /** The run with this id, if it has not ended. */
  readonly active: (runId: string) => ActiveRun | undefined;
}

/** What there is to know of a run before its events are read. */
export interface StreamHead {
  readonly attempt: number;
  /** Whether its events are kept from the first on. */
  readonly resumable: boolean;
  readonly pending: boolean;
}

export class RunStreams {
  readonly #options: StreamsOptions;

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  #activeOn(threadId: string, runId: string): ActiveRun | undefined {
    const active = this.#options.active(runId);
    return active?.threadId === threadId ? active : undefined;
  }

  /** The hidden thread of a stateless run that has not ended or whose log is kept. @throws ApiError 404 */
  threadOf(runId: string): string {
    const threadId = this.#options.active(runId)?.threadId ?? this.#options.finished.threadOf(runId);
    if (threadId === undefined) throw runNotFound();
    return threadId;
  }

  /** How a run ends, or ended. @throws ApiError 404 */
  async join(threadId: string, runId: string): Promise<RunEnd> {
    const active = this.#activeOn(threadId, runId);
    if (active !== undefined) return active.ended;
    const kept = this.#options.finished.find(threadId, runId)?.end;
    if (kept !== undefined) return kept;
    const { run, error } = this.#options.runs.get(threadId, runId);
    if (error !== undefined) return { status: run.status, json: errorJson(error) };
    const waiting = Object.values(this.#options.threads.find(threadId)?.interrupts ?? {}).flat();
    const interrupts = waiting.map((interrupt) => JSON.stringify(interrupt));
    return { status: run.status, json: withInterrupts(this.#options.values.json(threadId), interrupts) };
  }

  /** @throws ApiError 404 */
  head(threadId: string, runId: string): StreamHead {
    const kept = this.#options.finished.find(threadId, runId);
    if (kept !== undefined) return { attempt: kept.attempt, resumable: kept.log.resumable, pending: false };
    const { run, attempt } = this.#activeOn(threadId, runId)?.record ?? this.#options.runs.get(threadId, runId);
    return { attempt, resumable: run.kwargs.resumable, pending: run.status === "pending" };
  }

  /** A reader of a run's events. @throws ApiError 404 */
  read(threadId: string, runId: string, from: ReadFrom, modes?: ReadonlySet<string>): LogReader {
    const log = this.#activeOn(threadId, runId)?.log ?? this.#options.finished.find(threadId, runId)?.log;
    if (log !== undefined) return log.reader(from, modes);
    this.#options.runs.get(threadId, runId);
    const nothing = new EventLog(false);
    nothing.close();
    return nothing.reader("now");
  }
}
