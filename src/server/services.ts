// Everything behind the routes, in one record: what start.ts puts together and the routes call.
import type { Door } from "../auth/door.ts";
import type { Timers } from "../clock.ts";
import type { HttpConfig, SecurityConfig } from "../config/types.ts";
import type { SchemaSource } from "../graphs/graph-schemas.ts";
import type { GraphHost } from "../graphs/host.ts";
import type { A2AParts } from "./assemble-a2a.ts";
import type { CronParts } from "./assemble-crons.ts";
import type { Webhooks } from "./assemble-webhooks.ts";
import type { HttpMetrics } from "./http-metrics.ts";
import type { Subjects } from "./subjects.ts";
import type { UiBundles } from "../graphs/ui.ts";
import type { ProtocolService } from "../protocol/service.ts";
import type { Assistants } from "../resources/assistants.ts";
import type { Idempotency } from "../resources/idempotency.ts";
import type { Runs } from "../resources/runs.ts";
import type { Threads } from "../resources/threads.ts";
import type { RunEngine } from "../runs/engine.ts";
import type { ThreadStates } from "../runs/states.ts";
import type { ThreadSweeper } from "../runs/thread-sweeper.ts";
import type { ThreadValues } from "../runs/values.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import type { LongTermStore } from "../storage/long-term-store.ts";

export interface Services {
  readonly http: HttpConfig;
  /** Undefined when everybody may come in. */
  readonly door: Door | undefined;
  /** What the API document says about security. */
  readonly security: SecurityConfig | undefined;
  /** Who sees what the paths name. */
  readonly subjects: Subjects;
  readonly version: string;
  readonly traffic: HttpMetrics;
  readonly clock: Timers;
  /** How much is stored: threads, and bytes on disk (0 in memory). */
  readonly storage: () => { readonly threads: number; readonly bytes: number };
  readonly graphs: GraphHost;
  readonly schemas: SchemaSource;
  readonly assistants: Assistants;
  readonly threads: Threads;
  readonly runs: Runs;
  readonly engine: RunEngine;
  readonly sweeper: ThreadSweeper;
  readonly protocol: ProtocolService;
  readonly states: ThreadStates;
  readonly values: ThreadValues;
  readonly idempotency: Idempotency;
  readonly checkpoints: CheckpointStore;
  readonly store: LongTermStore;
  readonly ui: UiBundles;
  /** Told of errors that are ours. */
  readonly report: (error: unknown) => void;
  readonly webhooks: Webhooks;
  readonly a2a: A2AParts;
  readonly crons: CronParts["crons"];
  readonly cronClock: CronParts["cronClock"];
  readonly cronService: CronParts["cronService"];
  readonly fireCron: CronParts["fireCron"];
}
