// Everything behind the routes, in one record: what start.ts puts together and the routes call.
import type { HttpConfig } from "../config/types.ts";
import type { GraphHost } from "../graphs/host.ts";
import type { UiBundles } from "../graphs/ui.ts";
import type { Assistants } from "../resources/assistants.ts";
import type { Runs } from "../resources/runs.ts";
import type { Threads } from "../resources/threads.ts";
import type { RunEngine } from "../runs/engine.ts";
import type { ThreadStates } from "../runs/states.ts";
import type { ThreadValues } from "../runs/values.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import type { LongTermStore } from "../storage/long-term-store.ts";

export interface Services {
  readonly http: HttpConfig;
  readonly version: string;
  readonly graphs: GraphHost;
  readonly assistants: Assistants;
  readonly threads: Threads;
  readonly runs: Runs;
  readonly engine: RunEngine;
  readonly states: ThreadStates;
  readonly values: ThreadValues;
  readonly checkpoints: CheckpointStore;
  readonly store: LongTermStore;
  readonly ui: UiBundles;
}
