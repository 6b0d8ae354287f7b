// What the stream of a thread tells beside the events of its runs (wire-api §1.2): that a run begins, and how it ended. The names and
// shapes are ours, because no public source has the platform's.
import type { RunRecord, RunStatus } from "../resources/runs.ts";

/** What a reader of a thread may ask for. */
export const THREAD_STREAM_MODES = ["run_modes", "lifecycle", "state_update"] as const;
export type ThreadStreamMode = (typeof THREAD_STREAM_MODES)[number];

/** What an event on a thread is: the begin of a run, one of its own events, its end, or a new state of the thread. */
export type ThreadEventKind = "start" | "event" | "done" | "state";

const KINDS: Readonly<Record<ThreadStreamMode, readonly ThreadEventKind[]>> = {
  run_modes: ["event", "done"],
  lifecycle: ["start", "done"],
  state_update: ["state"],
};

/** The kinds of events that belong to these modes. */
export const kindsOf = (modes: readonly ThreadStreamMode[]): Set<ThreadEventKind> =>
  new Set(modes.flatMap((mode) => KINDS[mode]));

export const RUN_START = "run_start";
export const RUN_DONE = "run_done";
export const STATE_UPDATE = "state_update";

/** Which run it is, and which execution of it (1 is the first). */
export interface RunHead {
  readonly run_id: string;
  readonly thread_id: string;
  readonly attempt: number;
}

export const headOf = ({ run: { run_id, thread_id }, attempt }: RunRecord): RunHead => ({ run_id, thread_id, attempt });

/** Data of `metadata`, the first event of every run. */
export const metadataJson = ({ run_id, attempt }: RunHead): string => JSON.stringify({ run_id, attempt });

/** Data of `run_start`. */
export const runStartJson = ({ run_id, thread_id, attempt }: RunHead): string =>
  JSON.stringify({ run_id, thread_id, attempt, status: "running" });

/** Data of `run_done`: how the run ended, its error if it failed, and whether it was taken back. */
export function runDoneJson(record: RunRecord, status: RunStatus, rolledBack: boolean): string {
  const { error } = record;
  return JSON.stringify({
    ...headOf(record),
    status,
    ...(error === undefined ? {} : { error }),
    ...(rolledBack ? { rolled_back: true } : {}),
  });
}
