// Which routes a server has: all of them but those that the config switches off.
import { createApp, type App, type AppOptions } from "./app.ts";
import { cookieCheck } from "./foreign-page.ts";
import { Guard } from "./guard.ts";
import type { Operation, Route } from "./operation.ts";
import { a2aCardRoutes } from "./routes/a2a-card.ts";
import { a2aRoutes } from "./routes/a2a.ts";
import { assistantGraphRoutes } from "./routes/assistant-graphs.ts";
import { assistantRoutes } from "./routes/assistants.ts";
import { createRunRoutes } from "./routes/create-runs.ts";
import { cronRoutes } from "./routes/crons.ts";
import { documentRoutes } from "./routes/documents.ts";
import { joinRunRoutes } from "./routes/join-runs.ts";
import { mcpRoutes } from "./routes/mcp.ts";
import { metaRoutes } from "./routes/meta.ts";
import { protocolRoutes } from "./routes/protocol.ts";
import { runRoutes } from "./routes/runs.ts";
import { stateRoutes } from "./routes/states.ts";
import { storeRoutes } from "./routes/store.ts";
import { systemRoutes } from "./routes/system.ts";
import { threadStreamRoutes } from "./routes/thread-stream.ts";
import { threadRoutes } from "./routes/threads.ts";
import { uiRoutes } from "./routes/ui.ts";
import { webhookRoutes } from "./routes/webhooks.ts";
import type { Services } from "./services.ts";

/**
 * Registers everything that the config leaves switched on, in the order of the documents.
 * @param operations where the registered ones are found when a request comes; the document of the API is made of them.
 */
export function registerRoutes(route: Route, services: Services, operations: readonly Operation[] = []): void {
  const { http } = services;
  if (!http.disable_assistants) {
    assistantRoutes(route, services);
    assistantGraphRoutes(route, services);
  }
  if (!http.disable_threads) {
    threadRoutes(route, services);
    stateRoutes(route, services);
    threadStreamRoutes(route, services);
  }
  if (!http.disable_runs) {
    createRunRoutes(route, services);
    joinRunRoutes(route, services);
    runRoutes(route, services);
  }
  if (!http.disable_threads && !http.disable_runs) protocolRoutes(route, services);
  if (!http.disable_runs) {
    cronRoutes(route, services);
    webhookRoutes(route, services);
  }
  if (!http.disable_store) storeRoutes(route, services);
  if (!http.disable_a2a) {
    a2aRoutes(route, services);
    a2aCardRoutes(route, services);
  }
  if (!http.disable_mcp) mcpRoutes(route, services);
  systemRoutes(route, services);
  if (!http.disable_meta) {
    metaRoutes(route, services, operations);
    documentRoutes(route, services, operations);
  }
  if (!http.disable_ui) uiRoutes(route, services);
}

/** The application over the given services. */
export function appOf(
  services: Services,
  options: Pick<AppOptions, "host" | "report" | "maxBodyBytes" | "customApp" | "log">,
): App {
  const { http, traffic, door, subjects } = services;
  const guard = door === undefined ? undefined : new Guard(door, subjects, cookieCheck(http.cors));
  const app = createApp({ http, traffic, guard, ...options });
  registerRoutes(app.route, services, app.operations);
  return app;
}
