// Builds everything behind the routes for one project: resources, engine and states over one database and one set of graphs.
import { createRequire } from "node:module";
import type { Timers } from "../clock.ts";
import type { ProjectConfig } from "../config/types.ts";
import { frameOfError } from "../graphs/errors.ts";
import { SchemaSource } from "../graphs/graph-schemas.ts";
import type { GraphHost } from "../graphs/host.ts";
import { UiBundles } from "../graphs/ui.ts";
import { ProtocolService } from "../protocol/service.ts";
import { ProtocolSessions } from "../protocol/sessions.ts";
import { Assistants } from "../resources/assistants.ts";
import { Idempotency } from "../resources/idempotency.ts";
import { Runs } from "../resources/runs.ts";
import { Threads } from "../resources/threads.ts";
import { belongingsOf } from "../runs/follower.ts";
import { RunEngine } from "../runs/engine.ts";
import type { GraphKit } from "../runs/engine-options.ts";
import { describeError } from "../runs/describe-error.ts";
import { ThreadStates } from "../runs/states.ts";
import { ThreadSweeper } from "../runs/thread-sweeper.ts";
import { eventTtl } from "../runs/stored-logs.ts";
import { runTimeout } from "../runs/timeout.ts";
import { ThreadValues } from "../runs/values.ts";
import type { BufferedDatabase } from "../storage/buffered.ts";
import { countOf } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import { CheckpointStore } from "../storage/checkpoints.ts";
import { Codec } from "../storage/codec.ts";
import { LongTermStore } from "../storage/long-term-store.ts";
import { saverFactory } from "../storage/saver.ts";
import { assembleA2A } from "./assemble-a2a.ts";
import { assembleCrons } from "./assemble-crons.ts";
import { assembleWebhooks } from "./assemble-webhooks.ts";
import { HttpMetrics } from "./http-metrics.ts";
import { storeSettings } from "./long-term.ts";
import type { Services } from "./services.ts";
import { Subjects } from "./subjects.ts";
import type { ServerEvent } from "./types.ts";

const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };

/** Everything behind the routes. */
export function assemble(parts: {
  project: ProjectConfig;
  graphs: GraphHost;
  database: BufferedDatabase;
  /** Folder for the schemas that were read from types; null keeps them in memory. */
  schemasDir: string | null;
  jobs: number;
  clock: Timers;
  apiUrl: () => string;
  /** Answers requests to this server itself. */
  self: (request: Request) => Response | Promise<Response>;
  onEvent: (event: ServerEvent) => void;
}): Services {
  const { project, graphs, database } = parts;
  const threads = new Threads(database, parts.clock);
  const runs = new Runs(database);
  const assistants = new Assistants(database);
  const checkpoints = new CheckpointStore(database);
  const values = new ThreadValues(checkpoints);
  const idempotency = new Idempotency(database, parts.clock);
  const timeout = runTimeout(process.env["BG_JOB_TIMEOUT_SECS"]);
  const keepEvents = eventTtl(process.env["RESUMABLE_STREAM_TTL_SECONDS"]);
  for (const { warning } of [timeout, keepEvents])
    if (warning !== undefined) parts.onEvent({ type: "log", level: "warn", message: warning });
  const store = new LongTermStore(database, {
    clock: parts.clock,
    ...storeSettings(project, graphs, parts.onEvent),
    onNotice: (level, message) => parts.onEvent({ type: "log", level, message }),
  });
  const schemas = new SchemaSource({
    cacheDir: parts.schemasDir,
    runtime: () => graphs.runtime(),
    onWarning: (message) => parts.onEvent({ type: "warning", message }),
  });
  let kitPromise: Promise<GraphKit> | undefined;
  const kit = (): Promise<GraphKit> =>
    (kitPromise ??= graphs.runtime().then(
      (runtime) => ({ runtime, codec: new Codec(runtime), makeSaver: saverFactory(runtime) }),
      (error: unknown) => {
        kitPromise = undefined;
        throw error;
      },
    ));
  const graph = (id: string) => graphs.get(id);
  const sessions = new ProtocolSessions({
    threads,
    values,
    checkpoints,
    clock: parts.clock,
    isBusy: (threadId) => engine.isBusy(threadId),
    watch: (threadId, observe) => engine.watch(threadId, observe),
  });
  const webhooks = assembleWebhooks({ ...parts, values });
  const a2a = assembleA2A({
    ...parts,
    threads,
    assistants,
    runs,
    values,
    checkpoints,
    webhooks,
    engine: () => engine,
    report: (error) => parts.onEvent({ type: "log", level: "error", message: `A2A: ${describeError(error).message}` }),
  });
  const engine: RunEngine = new RunEngine({
    db: database,
    threads,
    runs,
    assistants,
    checkpoints,
    values,
    idempotency,
    store,
    graph,
    kit,
    jobs: parts.jobs,
    timeoutMs: timeout.ms,
    keepEventsMs: keepEvents.ms,
    stateOf: (threadId) => states.latest(threadId, false),
    clock: parts.clock,
    apiUrl: parts.apiUrl,
    onError: (error) => parts.onEvent({ type: "log", level: "error", message: describeError(error).message }),
    observers: sessions,
    followers: [webhooks.follower, a2a.service.follower],
    belongings: belongingsOf([a2a.service, webhooks.deliveries]),
    onFailure({ run }, { error, message }, cause) {
      parts.onEvent({
        type: "run-failed",
        run_id: run.run_id,
        thread_id: run.thread_id,
        error: `${error}: ${message}`,
        diagnostic: cause === undefined ? null : frameOfError(cause, project.root),
      });
    },
  });
  const states: ThreadStates = new ThreadStates({
    threads,
    runs,
    assistants,
    checkpoints,
    store,
    graph,
    kit,
    isBusy: (threadId) => engine.isBusy(threadId),
    exclusive: (threadId, change) => engine.update(threadId, change),
    bounded: (work) => engine.changes.bounded(work),
    stateChanged: (threadId, change) => engine.stateChanged(threadId, change),
  });
  const protocol = new ProtocolService({
    threads,
    assistants,
    runs,
    engine,
    states,
    checkpoints,
    sessions,
    kit,
    report: (error) => parts.onEvent({ type: "log", level: "error", message: describeError(error).message }),
  });
  const sweeper = new ThreadSweeper({
    threads,
    checkpoints,
    engine,
    clock: parts.clock,
    onError(error) {
      const { message } = describeError(error);
      parts.onEvent({
        type: "log",
        level: "error",
        message: `A thread that has expired could not be swept: ${message}`,
      });
    },
  });
  sweeper.configure(project.checkpointer?.ttl);
  const ui = new UiBundles(project.root, project.ui);
  const crons = assembleCrons({ ...parts, engine, assistants, threads, checkWebhook: webhooks.check });
  const { deliveries } = webhooks;
  const subjects = new Subjects({ threads, assistants, crons: crons.crons, deliveries, streams: engine.streams });
  return {
    http: project.http,
    door: undefined,
    security: project.security,
    subjects,
    version,
    traffic: new HttpMetrics(),
    clock: parts.clock,
    storage: () => ({ threads: countOf(database, keys.threads), bytes: database.size() }),
    graphs,
    schemas,
    assistants,
    threads,
    runs,
    engine,
    sweeper,
    protocol,
    states,
    values,
    idempotency,
    checkpoints,
    store,
    ui,
    report: (error) => parts.onEvent({ type: "log", level: "error", message: describeError(error).message }),
    webhooks,
    a2a,
    ...crons,
  };
}
