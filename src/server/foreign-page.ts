// What pages of other sites may have a browser send without asking first: simple requests and WebSockets. Where origins are restricted they
// must change nothing that way, and nowhere may they do it as the person whose browser it is.
import type { CorsConfig } from "../config/types.ts";
import { ApiError } from "../errors.ts";
import { cors } from "./cors.ts";
import { isLoopback } from "./host-check.ts";
import { wantsSocket } from "./upgrade.ts";

/** Values of a query that mean yes. */
const YES = new Set(["true", "1"]);

/** Whether a request may change something or is a WebSocket. A GET does when it stops a run by its end. */
export function mayChange(request: Request): boolean {
  const { method } = request;
  if (method !== "GET") return method !== "OPTIONS";
  return wantsSocket(request) || stopsRun(request.url);
}

function stopsRun(url: string): boolean {
  const query = url.indexOf("?");
  // Most queries are not worth to be read twice.
  if (query < 0 || !/disconnect|%/.test(url.slice(query))) return false;
  return new URLSearchParams(url.slice(query + 1)).getAll("cancel_on_disconnect").some((value) => YES.has(value));
}

/** The page that a request comes from; null when it comes from none. A browser names it, or says at least that it is elsewhere. */
export function pageOf({ headers }: Request): string | null {
  const origin = headers.get("origin");
  if (origin !== null) return origin;
  // Images and scripts are asked for without an Origin.
  const site = headers.get("sec-fetch-site");
  return site === "cross-site" || site === "same-site" ? "null" : null;
}

/** Says why a request must not be answered with the rights that its cookies give; undefined when it may. */
export type CookieCheck = (request: Request) => ApiError | undefined;

/** Refuses what changes something and comes with cookies from a page elsewhere, unless `http.cors` names it. */
export function cookieCheck(config: CorsConfig | undefined): CookieCheck {
  const { names } = cors(config);
  return (request) => {
    const { headers } = request;
    if (!headers.has("cookie") || !mayChange(request)) return undefined;
    const page = pageOf(request);
    if (page === null || names(page) || isOwn(page, headers)) return undefined;
    return new ApiError(403, `A page of ${page} may not use cookies here: it is not in http.cors.allow_origins`);
  };
}

/**
 * Whether a page is one of this server, under whatever name: cookies belong to a name, so that a foreign site that resolves its own name to
 * us has none that count. Pages and a server that are both on this machine belong together.
 */
function isOwn(page: string, headers: Headers): boolean {
  if (headers.get("sec-fetch-site") === "same-origin") return true;
  if (!URL.canParse(page)) return false;
  const { host, hostname } = new URL(page);
  // A page elsewhere cannot set X-Forwarded-Host without a preflight, which allows no cookies.
  const hosts = [headers.get("host"), headers.get("x-forwarded-host")?.split(",")[0]?.trim()];
  if (hosts.some((name) => name?.toLowerCase() === host)) return true;
  const name = (headers.get("host") ?? "").replace(/:\d*$/, "");
  return isLoopback(hostname) && isLoopback(name);
}
