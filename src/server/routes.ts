// Which routes a server has: all of them but those that the config switches off.
import { createApp, type App } from "./app.ts";
import type { Route } from "./operation.ts";
import { assistantRoutes } from "./routes/assistants.ts";
import { createRunRoutes } from "./routes/create-runs.ts";
import { joinRunRoutes } from "./routes/join-runs.ts";
import { runRoutes } from "./routes/runs.ts";
import { stateRoutes } from "./routes/states.ts";
import { storeRoutes } from "./routes/store.ts";
import { systemRoutes } from "./routes/system.ts";
import { threadRoutes } from "./routes/threads.ts";
import { uiRoutes } from "./routes/ui.ts";
import type { Services } from "./services.ts";

/** Registers everything that the config leaves switched on, in the order of the documents. */
export function registerRoutes(route: Route, services: Services): void {
  const { http } = services;
  if (!http.disable_assistants) assistantRoutes(route, services);
  if (!http.disable_threads) {
    threadRoutes(route, services);
    stateRoutes(route, services);
  }
  if (!http.disable_runs) {
    createRunRoutes(route, services);
    joinRunRoutes(route, services);
    runRoutes(route, services);
  }
  if (!http.disable_store) storeRoutes(route, services);
  systemRoutes(route, services);
  if (!http.disable_ui) uiRoutes(route, services);
}

/** The application over the given services. */
export function appOf(
  services: Services,
  options: { readonly host: string; readonly report: (error: unknown) => void },
): App {
  const app = createApp({ http: services.http, ...options });
  registerRoutes(app.route, services);
  return app;
}
