// Which routes a server has: all of them but those that the config switches off.
import { createApp, type App } from "./app.ts";
import { assistantRoutes } from "./routes/assistants.ts";
import { runRoutes } from "./routes/runs.ts";
import { stateRoutes } from "./routes/states.ts";
import { storeRoutes } from "./routes/store.ts";
import { systemRoutes } from "./routes/system.ts";
import { threadRoutes } from "./routes/threads.ts";
import type { Services } from "./services.ts";

/** The application over the given services. */
export function appOf(
  services: Services,
  options: { readonly host: string; readonly report: (error: unknown) => void },
): App {
  const { http } = services;
  const app = createApp({ http, ...options });
  systemRoutes(app.route, services);
  if (!http.disable_assistants) assistantRoutes(app.route, services);
  if (!http.disable_threads) {
    threadRoutes(app.route, services);
    stateRoutes(app.route, services);
  }
  if (!http.disable_runs) runRoutes(app.route, services);
  if (!http.disable_store) storeRoutes(app.route, services);
  return app;
}
