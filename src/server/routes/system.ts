// Health and server information (wire-api §1.9).
import { z } from "zod";
import { answer, type Route } from "../operation.ts";
import type { Services } from "../services.ts";

const okQuery = z.object({ check_db: z.string().optional() });

const infoShape = z
  .object({
    version: z.string(),
    langgraph_js_version: z.string().nullable(),
    context: z.literal("js"),
    flags: z.record(z.string(), z.boolean()),
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "ServerInfo" });

export function systemRoutes(route: Route, { http, version, graphs, threads }: Services): void {
  const tag = "System";
  route(
    {
      method: "GET",
      path: "/ok",
      tag,
      summary: '`{"ok":true}`; with `?check_db=1` it also reads from storage',
      query: okQuery,
      answers: answer("The server answers.", z.object({ ok: z.literal(true) })),
    },
    (context) => {
      const { check_db } = context.query();
      // A storage that cannot be read throws, which is the 500 that a probe asks for.
      if (check_db === "1" || check_db === "true") threads.find("00000000-0000-0000-0000-000000000000");
      return context.reply.jsonText('{"ok":true}');
    },
  );
  if (http.disable_meta) return;
  route(
    {
      method: "GET",
      path: "/info",
      tag,
      summary: "versions, and which parts are there",
      answers: answer("About this server.", infoShape),
    },
    async (context) => {
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
    },
  );
}
