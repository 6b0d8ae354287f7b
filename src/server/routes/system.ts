// Health and server information (wire-api §1.9).
import { z } from "zod";
import type { Route } from "../app.ts";
import type { Services } from "../services.ts";

const okQuery = z.object({ check_db: z.string().optional() });

export function systemRoutes(route: Route, { http, version, graphs, threads }: Services): void {
  route("GET", "/ok", (context) => {
    const { check_db } = context.query(okQuery);
    // A storage that cannot be read throws, which is the 500 that a probe asks for.
    if (check_db === "1" || check_db === "true") threads.find("00000000-0000-0000-0000-000000000000");
    return context.reply.jsonText('{"ok":true}');
  });
  if (http.disable_meta) return;
  route("GET", "/info", async (context) => {
    const runtime = await graphs.runtime().catch(() => undefined);
    return context.reply.json({
      version,
      langgraph_js_version: runtime?.version ?? null,
      context: "js",
      flags: {
        assistants: !http.disable_assistants,
        crons: false,
        langsmith: false,
        langsmith_tracing_replicas: false,
      },
      metadata: {},
    });
  });
}
