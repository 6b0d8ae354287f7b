// Whether a browser's page may speak to endpoints that pages have no business with, such as /mcp: only one of this machine or one that the
// config names. A page elsewhere could otherwise reach a local server through its reader's browser (DNS rebinding, CSRF).
import type { CorsConfig } from "../config/types.ts";
import { cors } from "./cors.ts";
import { fromOwnPage, isLoopback } from "./host-check.ts";

/**
 * Whether a request with this `Origin` is let in; one without comes from no page.
 * @param config what `http.cors` says. That any page may call the API by default does not count here; an `allow_origins` that says so does.
 */
export function localOrigin(origin: string | null, host: string | null, config: CorsConfig | undefined): boolean {
  if (origin === null || fromOwnPage(origin, host)) return true;
  if (URL.canParse(origin) && isLoopback(new URL(origin).hostname)) return true;
  const named = config?.allow_origins !== undefined || config?.allow_origin_regex !== undefined;
  return named && cors(config).allows(origin);
}
