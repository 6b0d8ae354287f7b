// Puts a server together: project, storage, engine, application, socket; and takes it apart again in the right order.
// It listens before the graphs are loaded: what needs a graph waits for it.
import type { RequestListener } from "node:http";
import { join, resolve } from "node:path";
import { toNodeHandler } from "srvx/node";
import { systemTimers } from "../clock.ts";
import { applyEnv } from "../config/env.ts";
import { loadProject } from "../config/load.ts";
import type { ProjectConfig } from "../config/types.ts";
import { GraphHost } from "../graphs/host.ts";
import { UiBundles } from "../graphs/ui.ts";
import { systemSettings } from "../resources/system-assistants.ts";
import { describeError } from "../runs/describe-error.ts";
import { removeUnfinishedCopies } from "../runs/thread-copy.ts";
import { countOf } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import { openStorage } from "../storage/open.ts";
import type { App } from "./app.ts";
import { Doors } from "./assemble-auth.ts";
import { assemble } from "./assemble.ts";
import { watchConfig } from "./config-watch.ts";
import { CustomApp } from "./custom-app.ts";
import { demoProject } from "./demo.ts";
import { bodyLimit, connectionLimits } from "./limits.ts";
import { listenOn } from "./listen.ts";
import { storeSettings } from "./long-term.ts";
import type { RequestLine } from "./request-log.ts";
import { appOf } from "./routes.ts";
import type { RunningServer, StartOptions } from "./types.ts";
import { WebSockets } from "./websocket.ts";

/** Folder of the state beside the config file. */
const DATA_DIR = ".agent-server";
/** Milliseconds that runs may take to finish when the server stops. */
const STOP_GRACE_MS = 3000;

/**
 * Starts a server.
 * @throws ConfigError or CliError when the config, the state folder or the port do not allow it.
 */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  const { onEvent, host } = options;
  // As the process was started: what an env file adds changes with the file.
  const processEnv = { ...process.env };
  const fallback = demoProject(options.cwd);
  const readAt = Date.now();
  const loaded = await loadProject({
    cwd: options.cwd,
    processEnv,
    fallback,
    ...(options.config === undefined ? {} : { config: options.config }),
  });
  for (const diagnostic of loaded.warnings) onEvent({ type: "diagnostic", diagnostic });
  const project = loaded.config ?? fallback;
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
    let address = "";
    let { http, env } = project;
    const baseUrl = (): string => address + (http.mount_prefix ?? "");
    let app: App;
    const schemasDir = folder === null ? null : join(folder, "schemas");
    const { jobs, clock = systemTimers } = options;
    const services = assemble({
      project,
      graphs,
      database,
      schemasDir,
      jobs,
      clock,
      apiUrl: baseUrl,
      self: (request) => app.fetch(withPrefix(request, http.mount_prefix)),
      onEvent,
    });
    opened.push(() => services.schemas.close());
    const { engine, assistants, store } = services;
    opened.push(() => store.stop());
    const syncAssistants = (specs: ProjectConfig["graphs"]): void => {
      const names = specs.map(({ id }) => id);
      const { settings, problems } = systemSettings(process.env["LANGGRAPH_CONFIG"], names);
      for (const message of problems) onEvent({ type: "warning", message });
      assistants.sync(specs, settings);
    };
    syncAssistants(project.graphs);
    const report = (error: unknown): void =>
      onEvent({
        type: "log",
        level: "error",
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    const { bytes: maxBodyBytes, warning } = bodyLimit(process.env["HTTP_MAX_REQUEST_BODY_BYTES"]);
    if (warning !== undefined) onEvent({ type: "log", level: "warn", message: warning });
    const customAppOf = ({ http: { app: spec }, root }: ProjectConfig): CustomApp | undefined =>
      spec === undefined ? undefined : new CustomApp({ spec, graphs, root, onEvent });
    let customApp = customAppOf(project);
    const log = options.logRequests === true ? (line: RequestLine) => onEvent({ type: "request", ...line }) : undefined;
    const { apiKeys = [], insecure = false } = options;
    const doors = new Doors({ keys: apiKeys, host, insecure, graphs, clock, onEvent });
    let door = doors.open(project);
    app = appOf({ ...services, door }, { host, report, maxBodyBytes, customApp, log });

    // Nothing is recovered before the port is ours, and nothing is answered before all is recovered.
    let open: () => void;
    const recovery = new Promise<void>((done) => {
      open = done;
    });
    let isOpen = false;
    const answer = (request: Request): Response | Promise<Response> =>
      isOpen ? app.fetch(request) : recovery.then(() => app.fetch(request));
    const handler = toNodeHandler(answer, { maxRequestBodySize: maxBodyBytes }) as RequestListener;
    const { traffic } = services;
    const sockets = new WebSockets({ fetch: answer, maxMessageBytes: maxBodyBytes, report, traffic });
    const listening = await listenOn(handler, sockets, {
      port: options.port,
      host,
      strict: options.strictPort,
      limits: connectionLimits(maxBodyBytes),
    });
    address = listening.url;
    opened.push(() => listening.close());
    claim?.update({ port: listening.port, url: baseUrl() });
    const recovered = engine.recover();
    opened.push(() => engine.stop(0));
    removeUnfinishedCopies(services.checkpoints);
    services.sweeper.start().catch(report);
    services.cronClock.start().catch(report);
    services.webhooks.sender.start();
    opened.push(() => services.webhooks.sender.stop());
    opened.push(() => services.cronClock.stop());
    opened.push(() => services.sweeper.stop());
    isOpen = true;
    open!();
    if (options.port !== 0 && listening.port !== options.port)
      onEvent({ type: "port-taken", wanted: options.port, port: listening.port });
    if (recovered.pending + recovered.resumed + recovered.failed > 0) onEvent({ type: "recovered", ...recovered });

    const reconfigure = async (next: ProjectConfig): Promise<void> => {
      updateEnv(next.env);
      try {
        door = doors.open(next);
      } catch (error) {
        // It stays as it was.
        updateEnv(env);
        throw error;
      }
      ({ env } = next);
      await graphs.reconfigure(next);
      store.configure(storeSettings(next, graphs, onEvent));
      void store.check();
      syncAssistants(next.graphs);
      services.sweeper.configure(next.checkpointer?.ttl);
      services.webhooks.reconfigure(next);
      services.cronClock.reconfigure(next.cronCatchUp ?? "skip");
      if (customApp?.isFor(next.http.app) !== true) {
        customApp?.close();
        customApp = customAppOf(next);
        void customApp?.start();
      }
      const before = baseUrl();
      ({ http } = next);
      const ui = new UiBundles(next.root, next.ui);
      app = appOf(
        { ...services, http, ui, door, security: next.security },
        { host, report, maxBodyBytes, customApp, log },
      );
      void doors.check();
      if (baseUrl() === before) return;
      claim?.update({ port: listening.port, url: baseUrl() });
      retract();
      retract = offerLoopback(baseUrl(), (request) => app.fetch(request));
      onEvent({ type: "log", level: "info", message: `now at ${baseUrl()}` });
    };
    let retract = offerLoopback(baseUrl(), (request) => app.fetch(request));
    const configWatch =
      options.reload && project.file !== null
        ? watchConfig(options, { project, readAt, processEnv }, reconfigure)
        : undefined;
    const ready = Promise.all([graphs.start(), customApp?.start(), doors.check()]).then(() => undefined);
    // Behind the graphs: a package that embeds may take long to load, and nobody waits for it yet.
    void ready.then(
      () => store.check(),
      () => undefined,
    );
    return {
      get url() {
        return baseUrl();
      },
      port: listening.port,
      host,
      project,
      auth: door?.kind ?? null,
      dataDir: folder,
      stored: {
        threads: countOf(database, keys.threads),
        items: countOf(database, keys.items),
        bytes: database.size(),
      },
      ready,
      async stop() {
        configWatch?.close();
        services.cronClock.stop();
        retract();
        const result = await engine.stop(STOP_GRACE_MS);
        services.protocol.close();
        await undo();
        return result;
      },
    };
  } catch (error) {
    await undo();
    throw error;
  }
}

/** A request to a path of this server (a webhook to `/hooks/done`) as one below the prefix, unless it names that itself. */
function withPrefix(request: Request, prefix = ""): Request {
  const url = new URL(request.url);
  if (prefix === "" || `${url.pathname}/`.startsWith(`${prefix}/`)) return request;
  url.pathname = prefix + url.pathname;
  return new Request(url, request);
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
