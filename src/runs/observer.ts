// How a run is watched from outside as a series of protocol v2 events: what is told of it, and who is told. The engine knows only
// these interfaces; src/protocol/ stands behind them.
import type { RunError, RunRecord, RunStatus } from "../resources/runs.ts";

/** One event of a run in the shape of protocol v2 (wire-api §1.10). */
export interface ObservedEvent {
  readonly method: string;
  /** Where in the tree of graphs it happened; empty for the root. */
  readonly namespace: readonly string[];
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  /** The node that it came from, where that is known. */
  readonly node?: string | undefined;
  /** What `data` is named by: the `name` of a custom event. */
  readonly name?: string | undefined;
  /** The JSON of the event's data. */
  readonly data: string;
}

/** A change in the tree of graphs. */
export interface ObservedStep {
  readonly namespace: readonly string[];
  readonly status: "started" | "running" | "completed" | "failed" | "interrupted";
  readonly graphName: string;
}

/** How an observed run ended. */
export interface ObservedEnd {
  readonly status: RunStatus;
  readonly error: RunError | undefined;
  /** Another run took its place (multitask strategies `interrupt` and `rollback`). */
  readonly superseded: boolean;
}

/** Somebody who watches one run. The calls come in this order; `ended` comes in any case, and nothing after it counts. */
export interface RunObserver {
  /** The run was asked for through protocol v2: LangGraph's own v3 stream is to run it. Otherwise it runs as it always does. */
  readonly native: boolean;
  started(): void;
  event(event: ObservedEvent): void;
  /** A part of the graph began or ended. */
  step(step: ObservedStep, data: string, timestamp: number): void;
  /** It stopped at an interrupt or breakpoint. */
  paused(): void;
  ended(end: ObservedEnd): void;
}

/** Those who may want to watch runs. */
export interface RunObservers {
  /** Asked once when a run starts; undefined when nobody is there, which costs the run nothing. */
  observe(record: RunRecord): RunObserver | undefined;
  /** A thread was deleted. */
  threadDeleted(threadId: string): void;
}
