// The `http` key: its defaults, and what the schema cannot check of it.
import { resolve } from "node:path";
import { exportPathProblem } from "./export-path.ts";
import { splitGraphPath } from "./graph-path.ts";
import type { ConfigInput } from "./schema.ts";
import { isRecord } from "./source.ts";
import type { ConfigSource, Problem } from "./source.ts";
import type { CorsConfig, Diagnostic, HeaderFilter, HttpConfig } from "./types.ts";

/** One part of a path. What routers read as a pattern is not among it. */
const SEGMENT = /^[A-Za-z0-9._~-]+$/;

/**
 * Checks what the schema cannot: that the app is a file that is there, and that the prefix is a path.
 * @param root Folder that a relative path counts from.
 */
export function checkHttp(source: ConfigSource, root: string): Diagnostic[] {
  const { http } = source.value;
  if (!isRecord(http)) return [];
  const { app, mount_prefix: prefix } = http;
  const report = (name: string, problem: Omit<Problem, "severity"> | undefined): Diagnostic[] =>
    problem === undefined ? [] : [source.report(["http", name], "value", { severity: "error", ...problem })];
  return [
    ...report("app", typeof app === "string" ? exportPathProblem("http.app", app, "app", root) : undefined),
    ...report("mount_prefix", typeof prefix === "string" ? prefixProblem(prefix) : undefined),
  ];
}

function prefixProblem(prefix: string): Omit<Problem, "severity"> | undefined {
  const parts = prefix.replace(/^\/+|\/+$/g, "").split("/");
  if (prefix === "" || prefix === "/") return undefined;
  const quoted = JSON.stringify(prefix);
  if (parts.some((part) => !SEGMENT.test(part) || /^\.\.?$/.test(part))) {
    const message = `"http.mount_prefix" is no path: ${quoted}.`;
    return { message, hint: 'Write it like "/api" or "/team/api": letters, digits, dots, dashes and underscores.' };
  }
  if (prefix.startsWith("/") && !prefix.startsWith("//")) return undefined;
  return { message: `"http.mount_prefix" must begin with one slash: ${quoted}.`, hint: `Write "/${parts.join("/")}".` };
}

/** What the server acts on. Only for a config without errors. @param source absent when nothing is configured. */
export function httpOf({ http }: ConfigInput, source: ConfigSource | null, root: string): HttpConfig {
  const prefix = (http?.mount_prefix ?? "").replace(/\/+$/, "");
  return {
    disable_assistants: http?.disable_assistants ?? false,
    disable_threads: http?.disable_threads ?? false,
    disable_runs: http?.disable_runs ?? false,
    disable_store: http?.disable_store ?? false,
    disable_meta: http?.disable_meta ?? false,
    disable_ui: http?.disable_ui ?? false,
    disable_webhooks: http?.disable_webhooks ?? false,
    disable_mcp: http?.disable_mcp ?? false,
    disable_a2a: http?.disable_a2a ?? false,
    ...(http?.cors ? { cors: withoutNull(http.cors) } : {}),
    ...(http?.configurable_headers ? { configurable_headers: headerFilter(http.configurable_headers) } : {}),
    ...(http?.logging_headers ? { logging_headers: headerFilter(http.logging_headers) } : {}),
    ...(http?.app ? { app: appOf(http.app, source, root) } : {}),
    ...(prefix === "" ? {} : { mount_prefix: prefix }),
    ...(http?.middleware_order ? { middleware_order: http.middleware_order } : {}),
    ...(http?.enable_custom_route_auth ? { enable_custom_route_auth: true } : {}),
  };
}

function appOf(text: string, source: ConfigSource | null, root: string): NonNullable<HttpConfig["app"]> {
  const { file, exportName = "" } = splitGraphPath(text);
  const location = source?.locate(["http", "app"], "value");
  return { key: "http.app", file: resolve(root, file), exportName, ...(location ? { location } : {}) };
}

type HeaderLists = Record<"includes" | "include" | "excludes" | "exclude", readonly string[] | null | undefined>;

function headerFilter({ includes, include, excludes, exclude }: Partial<HeaderLists>): HeaderFilter {
  return { includes: [...(includes ?? []), ...(include ?? [])], excludes: [...(excludes ?? []), ...(exclude ?? [])] };
}

function withoutNull(cors: { [K in keyof CorsConfig]?: CorsConfig[K] | null | undefined }): CorsConfig {
  return Object.fromEntries(Object.entries(cors).filter(([, value]) => value !== null && value !== undefined));
}
