// What an engine works with, and what it is told of those who call it.
import type { Timers } from "../clock.ts";
import type { GraphVersion, LangGraphRuntime } from "../graphs/types.ts";
import type { Assistants } from "../resources/assistants.ts";
import type { Idempotency } from "../resources/idempotency.ts";
import type { RunError, RunRecord, Runs } from "../resources/runs.ts";
import type { Threads } from "../resources/threads.ts";
import type { BufferedDatabase } from "../storage/buffered.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import type { Codec } from "../storage/codec.ts";
import type { SaverFactory } from "../storage/saver.ts";
import type { RunFollower, ThreadBelongings } from "./follower.ts";
import type { RunObservers } from "./observer.ts";
import type { ThreadValues } from "./values.ts";

/** The user's LangGraph, ready for use. */
export interface GraphKit {
  readonly runtime: LangGraphRuntime;
  readonly codec: Codec;
  readonly makeSaver: SaverFactory;
}

export interface EngineOptions {
  readonly db: BufferedDatabase;
  readonly threads: Threads;
  readonly runs: Runs;
  readonly assistants: Assistants;
  readonly checkpoints: CheckpointStore;
  readonly values: ThreadValues;
  readonly idempotency: Idempotency;
  /** The long-term store, handed to the nodes. */
  readonly store: unknown;
  readonly graph: (id: string) => Promise<GraphVersion>;
  readonly kit: () => Promise<GraphKit>;
  /** How many runs may run at once. */
  readonly jobs: number;
  /** Milliseconds that a run may take. */
  readonly timeoutMs: number;
  /** Milliseconds that the events of a resumable run are kept behind its end. */
  readonly keepEventsMs: number;
  /** The JSON of a thread's newest state, for those who follow the thread. */
  readonly stateOf: (threadId: string) => Promise<string>;
  readonly clock: Timers;
  /** Base URL of this server, for the metadata of runs. */
  readonly apiUrl: () => string;
  /** A run failed; for the terminal. */
  readonly onFailure: (record: RunRecord, error: RunError, cause: unknown) => void;
  /** Something went wrong beside a run, which goes on or ends all the same. */
  readonly onError: (error: unknown) => void;
  /** Those for whom the end of a run has consequences. */
  readonly followers?: readonly RunFollower[];
  /** What others keep of threads. */
  readonly belongings?: ThreadBelongings | undefined;
  /** Those who may want to watch runs as a series of protocol v2 events. */
  readonly observers?: RunObservers | undefined;
}

/** What the creator of a run does next: reads its events from the first on, waits for its result, or neither. */
export type Caller = "stream" | "wait" | "background";
