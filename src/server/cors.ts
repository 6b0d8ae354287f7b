// Cross-origin access: by default any page may call the server, without credentials, and may read the headers that clients need.
import { FastResponse } from "srvx";
import type { CorsConfig } from "../config/types.ts";

const EXPOSED = ["Content-Location", "Location", "X-Pagination-Total", "X-Pagination-Next", "X-Request-Id"];
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

export interface Cors {
  /** Headers that are the same for every answer. */
  readonly fixed: Readonly<Record<string, string>>;
  /** Whether a request from this origin may change something; one without an origin does not come from a page. */
  allows(origin: string | null): boolean;
  /** Whether the config means this origin, and not just any: it may use what the browser knows of its reader. */
  names(origin: string): boolean;
  /** Adds what depends on the request's origin; absent when nothing does. */
  readonly perRequest?: (origin: string | null, response: Response) => Response;
  /** The answer to a preflight. */
  preflight(request: Request): Response;
}

/** CORS as configured by `http.cors`. */
export function cors(config: CorsConfig | undefined): Cors {
  const credentials = config?.allow_credentials === true;
  const origins = config?.allow_origins ?? (config?.allow_origin_regex === undefined ? ["*"] : []);
  const pattern =
    config?.allow_origin_regex === undefined ? undefined : new RegExp(`^(?:${config.allow_origin_regex})$`);
  const any = origins.includes("*");
  const exposed = { "access-control-expose-headers": (config?.expose_headers ?? EXPOSED).join(", ") };
  // To browsers a * means nothing where there are credentials, and `authorization` is never among it: what was asked for is named instead.
  const methods = config?.allow_methods ?? METHODS;
  const anyMethod = methods.includes("*");
  const anyHeader = config?.allow_headers?.includes("*") ?? true;
  const exposesAll = credentials && config?.expose_headers?.includes("*") === true;
  const preflightHeaders = (request: Request): Record<string, string> => ({
    "access-control-allow-methods": (anyMethod
      ? [...new Set([...METHODS, request.headers.get("access-control-request-method") ?? "GET"])]
      : methods
    ).join(", "),
    "access-control-allow-headers": anyHeader
      ? (request.headers.get("access-control-request-headers") ?? "*")
      : (config?.allow_headers?.join(", ") ?? ""),
    "access-control-max-age": String(config?.max_age ?? 600),
    ...(request.headers.get("access-control-request-private-network") === "true"
      ? { "access-control-allow-private-network": "true" }
      : {}),
  });
  const named = (origin: string): boolean => origins.includes(origin) || pattern?.test(origin) === true;
  if (any && !credentials) {
    const fixed = { "access-control-allow-origin": "*", ...exposed };
    return {
      fixed,
      allows: () => true,
      names: named,
      preflight: (request) =>
        new FastResponse(null, { status: 204, headers: { ...fixed, ...preflightHeaders(request) } }),
    };
  }
  const allowed = (origin: string | null): origin is string => origin !== null && (any || named(origin));
  const own = (origin: string | null): Record<string, string> =>
    allowed(origin)
      ? {
          "access-control-allow-origin": origin,
          ...(credentials ? { "access-control-allow-credentials": "true" } : {}),
        }
      : {};
  return {
    fixed: { ...exposed, vary: "Origin" },
    allows: (origin) => origin === null || allowed(origin),
    names: allowed,
    perRequest(origin, response) {
      for (const [name, value] of Object.entries(own(origin))) response.headers.set(name, value);
      if (exposesAll) response.headers.set("access-control-expose-headers", [...response.headers.keys()].join(", "));
      return response;
    },
    preflight: (request) =>
      new FastResponse(null, {
        status: 204,
        headers: { vary: "Origin", ...exposed, ...own(request.headers.get("origin")), ...preflightHeaders(request) },
      }),
  };
}
