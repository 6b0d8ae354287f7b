// The `auth` key: where the project's own authentication is, and what goes with it. Types are checked by the schema; here is what takes
// more than one key, and what a path needs to be of use.
import { resolve } from "node:path";
import { exportPathProblem } from "./export-path.ts";
import { splitGraphPath } from "./graph-path.ts";
import type { ConfigInput } from "./schema.ts";
import { isRecord } from "./source.ts";
import type { ConfigSource, Problem } from "./source.ts";
import type { AuthConfig, Diagnostic, ProjectConfig } from "./types.ts";

const PATH = ["auth", "path"] as const;
/** Credentials that callers are told apart by unless `cache_keys` says otherwise. */
const CREDENTIALS = ["authorization", "x-api-key", "cookie"];
const CACHE_SECONDS = 60;
const CACHE_SIZE = 1000;
/** Members of `auth.openapi`. */
const SECURITY = ["securitySchemes", "security", "paths"] as const;

/**
 * Checks what the schema cannot: that the file is there, and that nothing is said about it without naming it.
 * @param root Folder that a relative path counts from.
 */
export function checkAuth(source: ConfigSource, root: string): Diagnostic[] {
  const { auth } = source.value;
  if (!isRecord(auth)) return [];
  const report = (path: readonly string[], place: "key" | "value", problem: Problem): Diagnostic =>
    source.report(path, place, problem);
  const problem =
    typeof auth["path"] === "string" ? exportPathProblem("auth.path", auth["path"], "auth", root) : undefined;
  const aimless = ["disable_studio_auth", "cache"].filter((name) => auth["path"] == null && auth[name] != null);
  return [
    ...(problem === undefined ? [] : [report(PATH, "value", { severity: "error", ...problem })]),
    ...aimless.map((name) =>
      report(["auth", name], "key", {
        severity: "warning",
        message: `"auth.${name}" has no effect without "auth.path": requests are not authenticated by the project.`,
      }),
    ),
    ...checkOpenApi(auth["openapi"], report),
  ];
}

function checkOpenApi(
  openapi: unknown,
  report: (path: readonly string[], place: "key" | "value", problem: Problem) => Diagnostic,
): Diagnostic[] {
  if (!isRecord(openapi)) return [];
  const refuse = (name: string, expected: string): Diagnostic =>
    report(["auth", "openapi", name], "value", {
      severity: "error",
      message: `"auth.openapi.${name}" must be ${expected}.`,
    });
  const isList = (value: unknown): boolean => Array.isArray(value) && value.every(isRecord);
  const { securitySchemes, security, paths } = openapi;
  const isPaths = (value: unknown): boolean =>
    isRecord(value) &&
    Object.values(value).every((methods) => isRecord(methods) && Object.values(methods).every(isList));
  return [
    ...Object.keys(openapi)
      .filter((name) => !(SECURITY as readonly string[]).includes(name))
      .map((name) =>
        report(["auth", "openapi", name], "key", {
          severity: "warning",
          message: `Unknown key "auth.openapi.${name}"; it is ignored. Known are ${SECURITY.join(", ")}.`,
        }),
      ),
    ...(securitySchemes == null || isRecord(securitySchemes)
      ? []
      : [refuse("securitySchemes", "an object of schemes")]),
    ...(security == null || isList(security) ? [] : [refuse("security", 'a list such as [{"OAuth2": ["me"]}]')]),
    ...(paths == null || isPaths(paths)
      ? []
      : [refuse("paths", 'an object such as {"/threads": {"post": [{"OAuth2": []}]}}')]),
  ];
}

/** The `auth` of a project; nothing when the config says nothing about it. Only for a config without errors. */
export function authOf(
  { auth }: ConfigInput,
  source: ConfigSource,
  root: string,
): Pick<ProjectConfig, "auth" | "security"> {
  const { openapi } = auth ?? {};
  const security = openapi == null ? {} : { security: openapi as NonNullable<ProjectConfig["security"]> };
  if (auth?.path == null) return security;
  const { file, exportName = "default" } = splitGraphPath(auth.path);
  const { cache } = auth;
  const own: AuthConfig = {
    file: resolve(root, file),
    exportName,
    location: source.locate(PATH, "value"),
    studio: auth.disable_studio_auth !== true,
    ...(cache == null
      ? {}
      : {
          cache: {
            headers: (cache.cache_keys ?? CREDENTIALS).map((name) => name.toLowerCase()),
            ttlSeconds: cache.ttl_seconds ?? CACHE_SECONDS,
            maxSize: cache.max_size ?? CACHE_SIZE,
          },
        }),
  };
  return { ...security, auth: own };
}
