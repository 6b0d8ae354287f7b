// What the server tells about itself (wire-api §1.9): versions, parts, metrics. `http.disable_meta` takes it all away.
import { z } from "zod";
import { infoShape, metricsShape, rootShape } from "../../resources/shapes.ts";
import { metricsJson, PROMETHEUS_TYPE, prometheusText } from "../exposition.ts";
import { collectMetrics } from "../metrics.ts";
import { answer, type Operation, type Route } from "../operation.ts";
import type { Services } from "../services.ts";

const tag = "System";

const metricsQuery = z.object({
  format: z.enum(["prometheus", "json"]).default("prometheus").meta({ description: "How the metrics are written." }),
});

/** @param operations everything that is registered, by the time that a request comes. */
export function metaRoutes(route: Route, services: Services, operations: readonly Operation[]): void {
  const { http, version, graphs } = services;
  const langgraph = async (): Promise<string | null> =>
    (await graphs.runtime().catch(() => undefined))?.version ?? null;
  const serves = (start: string): boolean =>
    operations.some(({ path }) => path === start || path.startsWith(`${start}/`));

  route(
    {
      method: "GET",
      path: "/",
      tag,
      access: "caller",
      summary: "name, version and the paths of these pages; a browser is sent to `/docs`",
      headers: { Accept: "With `text/html` in it the answer is the redirect." },
      answers: {
        ...answer("The server's name and version, and where to find more.", rootShape),
        302: { means: "To `/docs`.", headers: { Location: "Path of the page." } },
      },
    },
    (context) => {
      const headers = { vary: "Accept" };
      const { mount_prefix: prefix = "" } = http;
      // Relative, so that it works behind a proxy that puts a path in front.
      const folder = context.url.pathname.endsWith("/") ? "" : `${prefix.slice(prefix.lastIndexOf("/") + 1)}/`;
      if (context.header("accept")?.includes("text/html") === true)
        return context.reply.empty(302, { ...headers, location: `${folder}docs` });
      const names = { docs: "docs", openapi: "openapi.json", info: "info", metrics: "metrics", ok: "ok" };
      const paths = Object.fromEntries(Object.entries(names).map(([name, path]) => [name, `${prefix}/${path}`]));
      return context.reply.json({ name: "agent-server", version, ...paths }, headers);
    },
  );
  route(
    {
      method: "GET",
      path: "/info",
      tag,
      access: "pages",
      summary: "versions, and which parts are there",
      answers: answer("About this server.", infoShape),
    },
    async (context) =>
      context.reply.json({
        version,
        langgraph_js_version: await langgraph(),
        context: "js",
        flags: {
          assistants: !http.disable_assistants,
          crons: serves("/runs/crons"),
          a2a: serves("/a2a"),
          mcp: serves("/mcp"),
          langsmith: tracesRuns(process.env),
          langsmith_tracing_replicas: false,
        },
        metadata: {},
      }),
  );
  route(
    {
      method: "GET",
      path: "/metrics",
      tag,
      access: "caller",
      summary: "runs, requests, storage and process in numbers; for Prometheus, or with `?format=json`",
      query: metricsQuery,
      answers: {
        200: {
          means: "The metrics, in the text format of Prometheus or as JSON.",
          type: "text/plain",
          body: z.string(),
          alternatives: { "application/json": metricsShape },
        },
      },
    },
    async (context) => {
      const { format } = context.query();
      const metrics = await collectMetrics(services, (await langgraph()) ?? "");
      if (format === "json") return context.reply.json(metricsJson(metrics));
      return context.reply.jsonText(prometheusText(metrics), { "content-type": PROMETHEUS_TYPE });
    },
  );
}

/** Whether LangGraph sends traces of runs to LangSmith: it is told to, and has a key. */
function tracesRuns(env: NodeJS.ProcessEnv): boolean {
  const told = [
    env["LANGSMITH_TRACING"],
    env["LANGSMITH_TRACING_V2"],
    env["LANGCHAIN_TRACING"],
    env["LANGCHAIN_TRACING_V2"],
  ];
  return told.includes("true") && Boolean(env["LANGSMITH_API_KEY"] || env["LANGCHAIN_API_KEY"]);
}
