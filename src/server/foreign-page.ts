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

/** The refusal of a page that `http.cors` leaves out. */
export const leftOut = ({ headers }: Request): ApiError => {
  const origin = headers.get("origin");
  return new ApiError(
    403,
    origin === null ? nameless("by a request") : `Origin ${origin} is not in http.cors.allow_origins`,
  );
};

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
    return new ApiError(403, headers.has("origin") ? unnamed(page) : nameless("by a request with cookies and"));
  };
}

const unnamed = (page: string): string =>
  `A page of the origin ${page} may not use cookies here. For cookies, "*" in http.cors.allow_origins names nobody: name that origin ` +
  "there, or set http.cors.allow_credentials. If it is the server's own page, the proxy in front has to pass X-Forwarded-Host (or Host)";

const nameless = (how: string): string =>
  `A page elsewhere may not change anything here ${how} without an Origin, as that of an image is. ` +
  "Send it with fetch, which says whose page it is";

/**
 * Whether a page is one of this server, under whatever name: cookies belong to a name, so that a foreign site that resolves its own name to
 * us has none that count. They do not know ports, so that all pages of the name may have them; and pages and a server that are both on this
 * machine belong together.
 */
function isOwn(page: string, headers: Headers): boolean {
  if (headers.get("sec-fetch-site") === "same-origin") return true;
  const name = URL.canParse(page) ? new URL(page).hostname : "";
  if (name === "") return false;
  const host = nameIn(headers.get("host"));
  // A page elsewhere cannot set X-Forwarded-Host without a preflight, which allows no cookies.
  if (name === host || name === nameIn(headers.get("x-forwarded-host"))) return true;
  return isLoopback(name) && isLoopback(host);
}

/** The name in a header of hosts, without its port; of several it is the first, which is the one that the browser asked for. */
const nameIn = (header: string | null): string =>
  (header ?? "").replace(/,.*$/s, "").trim().replace(/:\d*$/, "").toLowerCase();
