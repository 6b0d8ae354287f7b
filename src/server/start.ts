// Puts a server together: project, storage, engine, application, socket; and takes it apart again in the right order.
// It listens before the graphs are loaded: what needs a graph waits for it.
import type { RequestListener } from "node:http";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { toNodeHandler } from "srvx/node";
import { applyEnv } from "../config/env.ts";
import { ConfigError, loadProject } from "../config/load.ts";
import type { ProjectConfig } from "../config/types.ts";
import { frameOfError } from "../graphs/errors.ts";
import { GraphHost } from "../graphs/host.ts";
import { watchFiles } from "../graphs/watch.ts";
import { Assistants } from "../resources/assistants.ts";
import { Runs } from "../resources/runs.ts";
import { Threads } from "../resources/threads.ts";
import { RunEngine, type GraphKit } from "../runs/engine.ts";
import { describeError } from "../runs/executor.ts";
import { ThreadStates } from "../runs/states.ts";
import { ThreadValues } from "../runs/values.ts";
import { CheckpointStore } from "../storage/checkpoints.ts";
import { Codec } from "../storage/codec.ts";
import type { BufferedDatabase } from "../storage/buffered.ts";
import { prefixRange } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import { LongTermStore } from "../storage/long-term-store.ts";
import { openStorage } from "../storage/open.ts";
import { saverFactory } from "../storage/saver.ts";
import type { App } from "./app.ts";
import { demoProject } from "./demo.ts";
import { listenOn } from "./listen.ts";
import { appOf } from "./routes.ts";
import type { Services } from "./services.ts";
import type { RunningServer, ServerEvent, StartOptions } from "./types.ts";

/** Folder of the state beside the config file. */
const DATA_DIR = ".agent-server";
/** Milliseconds that runs may take to finish when the server stops. */
const STOP_GRACE_MS = 3000;
/** Bytes of a request body, unless HTTP_MAX_REQUEST_BODY_BYTES says otherwise. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };

/**
 * Starts a server.
 * @throws ConfigError or CliError when the config, the state folder or the port do not allow it.
 */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  const { onEvent, host } = options;
  const loaded = await loadProject({
    cwd: options.cwd,
    ...(options.config === undefined ? {} : { config: options.config }),
  });
  for (const diagnostic of loaded.warnings) onEvent({ type: "diagnostic", diagnostic });
  const project = loaded.config ?? demoProject(options.cwd);
  const updateEnv = applyEnv(project.env, process.env);
  const persist = options.persist && project.persist;
  const folder = persist ? resolve(options.cwd, options.dataDir ?? join(project.root, DATA_DIR)) : null;
  const { database, storage, claim } = await openStorage(folder, {
    host,
    onMovedAside: (moved) => onEvent({ type: "moved-aside", ...moved }),
    onError: (error) => onEvent({ type: "log", level: "error", message: `Storage: ${describeError(error).message}` }),
  });
  const opened = [() => claim?.release(), () => storage.dispose()];
  const undo = async (): Promise<void> => {
    for (const close of opened.toReversed()) await close();
    updateEnv({});
  };
  try {
    const graphs = new GraphHost({ project, reload: options.reload, onEvent });
    opened.push(() => graphs.close());
    let url = "";
    const services = assemble({ project, graphs, database, jobs: options.jobs, apiUrl: () => url, onEvent });
    const { engine, assistants, store } = services;
    assistants.sync(project.graphs);
    const recovered = engine.recover();
    const report = (error: unknown): void =>
      onEvent({
        type: "log",
        level: "error",
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    let app: App = appOf(services, { host, report });

    const maxRequestBodySize = Number(process.env["HTTP_MAX_REQUEST_BODY_BYTES"]) || MAX_BODY_BYTES;
    const handler = toNodeHandler((request) => app.fetch(request), { maxRequestBodySize }) as RequestListener;
    const listening = await listenOn(handler, { port: options.port, host, strict: options.strictPort });
    ({ url } = listening);
    claim?.update({ port: listening.port, url });
    if (options.port !== 0 && listening.port !== options.port)
      onEvent({ type: "port-taken", wanted: options.port, port: listening.port });
    if (recovered.pending + recovered.resumed + recovered.failed > 0) onEvent({ type: "recovered", ...recovered });

    const reconfigure = async (next: ProjectConfig): Promise<void> => {
      updateEnv(next.env);
      assistants.sync(next.graphs);
      app = appOf({ ...services, http: next.http }, { host, report });
      await graphs.reconfigure(next);
    };
    const configWatch =
      options.reload && project.file !== null ? watchConfig(options, project, reconfigure) : undefined;
    const retract = offerLoopback(url, (request) => app.fetch(request));
    return {
      url,
      port: listening.port,
      host,
      project,
      dataDir: folder,
      stored: {
        threads: countOf(database, keys.threads),
        items: countOf(database, keys.items),
        bytes: database.size(),
      },
      ready: graphs.start(),
      async stop() {
        configWatch?.close();
        retract();
        const result = await engine.stop(STOP_GRACE_MS);
        store.stop();
        await listening.close();
        await undo();
        return result;
      },
    };
  } catch (error) {
    await undo();
    throw error;
  }
}

function countOf(database: BufferedDatabase, prefix: string): number {
  const { start, end } = prefixRange(prefix);
  return database.count(start, end);
}

/** Everything behind the routes. */
function assemble(parts: {
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
  });
  return { http: project.http, version, graphs, assistants, threads, runs, engine, states, values, store };
}

/** Follows the config file and the env file; a broken edit is reported and changes nothing. */
function watchConfig(
  { cwd, config, onEvent }: StartOptions,
  project: ProjectConfig,
  reconfigure: (project: ProjectConfig) => Promise<void>,
): { close(): void } {
  const pathsOf = ({ file, envFile }: ProjectConfig): string[] => [file, envFile].filter((path) => path !== null);
  let watcher: { close(): void };
  let last = Promise.resolve();
  const reload = async (): Promise<void> => {
    try {
      const loaded = await loadProject({ cwd, config: config ?? project.file ?? cwd });
      for (const diagnostic of loaded.warnings) onEvent({ type: "diagnostic", diagnostic });
      if (loaded.config === null) return;
      await reconfigure(loaded.config);
      watcher.close();
      watcher = watchFiles(pathsOf(loaded.config), onChange);
    } catch (error) {
      if (error instanceof ConfigError)
        for (const diagnostic of error.diagnostics) onEvent({ type: "diagnostic", diagnostic });
      else onEvent({ type: "log", level: "error", message: error instanceof Error ? error.message : String(error) });
    }
  };
  const onChange = (): void => {
    last = last.then(reload);
  };
  watcher = watchFiles(pathsOf(project), onChange);
  return { close: () => watcher.close() };
}

/** Lets the LangGraph SDK inside a graph find this server without a URL, as on the hosted platform. */
function offerLoopback(url: string, fetch: (request: Request) => Response | Promise<Response>): () => void {
  const global = globalThis as unknown as Record<symbol, unknown>;
  const urlKey = Symbol.for("langgraph_api:url");
  const fetchKey = Symbol.for("langgraph_api:fetch");
  global[urlKey] = url;
  global[fetchKey] = async (input: string | URL | Request, init?: RequestInit) => fetch(new Request(input, init));
  return () => {
    if (global[urlKey] !== url) return;
    delete global[urlKey];
    delete global[fetchKey];
  };
}
