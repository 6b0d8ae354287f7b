// Builds everything behind the routes for one project: resources, engine and states over one database and one set of graphs.
import { createRequire } from "node:module";
import type { ProjectConfig } from "../config/types.ts";
import { frameOfError } from "../graphs/errors.ts";
import type { GraphHost } from "../graphs/host.ts";
import { UiBundles } from "../graphs/ui.ts";
import { Assistants } from "../resources/assistants.ts";
import { Runs } from "../resources/runs.ts";
import { Threads } from "../resources/threads.ts";
import { RunEngine, type GraphKit } from "../runs/engine.ts";
import { ThreadStates } from "../runs/states.ts";
import { ThreadValues } from "../runs/values.ts";
import type { BufferedDatabase } from "../storage/buffered.ts";
import { CheckpointStore } from "../storage/checkpoints.ts";
import { Codec } from "../storage/codec.ts";
import { LongTermStore } from "../storage/long-term-store.ts";
import { saverFactory } from "../storage/saver.ts";
import type { Services } from "./services.ts";
import type { ServerEvent } from "./types.ts";

const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };

/** Everything behind the routes. */
export function assemble(parts: {
  project: ProjectConfig;
  graphs: GraphHost;
  database: BufferedDatabase;
  jobs: number;
  apiUrl: () => string;
  onEvent: (event: ServerEvent) => void;
}): Services {
  const { project, graphs, database } = parts;
  const threads = new Threads(database);
  const runs = new Runs(database);
  const assistants = new Assistants(database);
  const checkpoints = new CheckpointStore(database);
  const values = new ThreadValues(checkpoints);
  const store = new LongTermStore(database);
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
  const engine = new RunEngine({
    db: database,
    threads,
    runs,
    assistants,
    checkpoints,
    values,
    store,
    graph,
    kit,
    jobs: parts.jobs,
    apiUrl: parts.apiUrl,
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
  const states = new ThreadStates({
    threads,
    checkpoints,
    store,
    graph,
    kit,
    isBusy: (threadId) => engine.isBusy(threadId),
    exclusive: (threadId, change) => engine.update(threadId, change),
  });
  const ui = new UiBundles(project.root, project.ui);
  return {
    http: project.http,
    version,
    graphs,
    assistants,
    threads,
    runs,
    engine,
    states,
    values,
    checkpoints,
    store,
    ui,
  };
}
