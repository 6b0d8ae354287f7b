// Puts a server together: project, storage, engine, application, socket; and takes it apart again in the right order.
// It listens before the graphs are loaded: what needs a graph waits for it.
import type { RequestListener } from "node:http";
import { join, resolve } from "node:path";
import { toNodeHandler } from "srvx/node";
import { applyEnv } from "../config/env.ts";
import { loadProject } from "../config/load.ts";
import type { ProjectConfig } from "../config/types.ts";
import { GraphHost } from "../graphs/host.ts";
import { UiBundles } from "../graphs/ui.ts";
import { describeError } from "../runs/executor.ts";
import type { BufferedDatabase } from "../storage/buffered.ts";
import { prefixRange } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import { openStorage } from "../storage/open.ts";
import type { App } from "./app.ts";
import { assemble } from "./assemble.ts";
import { watchConfig } from "./config-watch.ts";
import { demoProject } from "./demo.ts";
import { listenOn } from "./listen.ts";
import { appOf } from "./routes.ts";
import type { RunningServer, StartOptions } from "./types.ts";

/** Folder of the state beside the config file. */
const DATA_DIR = ".agent-server";
/** Milliseconds that runs may take to finish when the server stops. */
const STOP_GRACE_MS = 3000;
/** Bytes of a request body, unless HTTP_MAX_REQUEST_BODY_BYTES says otherwise. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

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
  // What to take down again, the last first.
  const opened: (() => unknown)[] = [() => claim?.release(), () => storage.dispose()];
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
    const report = (error: unknown): void =>
      onEvent({
        type: "log",
        level: "error",
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    let app: App = appOf(services, { host, report });

    const maxRequestBodySize = Number(process.env["HTTP_MAX_REQUEST_BODY_BYTES"]) || MAX_BODY_BYTES;
    // Nothing is recovered before the port is ours, and nothing is answered before all is recovered.
    let open: () => void;
    const recovery = new Promise<void>((done) => {
      open = done;
    });
    let isOpen = false;
    const answer = (request: Request): Response | Promise<Response> =>
      isOpen ? app.fetch(request) : recovery.then(() => app.fetch(request));
    const handler = toNodeHandler(answer, { maxRequestBodySize }) as RequestListener;
    const listening = await listenOn(handler, { port: options.port, host, strict: options.strictPort });
    ({ url } = listening);
    opened.push(() => listening.close());
    claim?.update({ port: listening.port, url });
    const recovered = engine.recover();
    opened.push(() => engine.stop(0));
    isOpen = true;
    open!();
    if (options.port !== 0 && listening.port !== options.port)
      onEvent({ type: "port-taken", wanted: options.port, port: listening.port });
    if (recovered.pending + recovered.resumed + recovered.failed > 0) onEvent({ type: "recovered", ...recovered });

    const reconfigure = async (next: ProjectConfig): Promise<void> => {
      updateEnv(next.env);
      await graphs.reconfigure(next);
      assistants.sync(next.graphs);
      app = appOf({ ...services, http: next.http, ui: new UiBundles(next.root, next.ui) }, { host, report });
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
