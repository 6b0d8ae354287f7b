// Whether a browser's page may speak to endpoints that pages have no business with, such as /mcp: only one of this machine or one that the
// config names. A page elsewhere could otherwise reach a local server through its reader's browser (DNS rebinding, CSRF).
import type { CorsConfig } from "../config/types.ts";

/** Whether a request with this `Origin` is let in; one without comes from no page. */
export function localOrigin(origin: string | null, host: string | null, cors: CorsConfig | undefined): boolean {
  if (origin === null) return true;
  if (!URL.canParse(origin)) return false;
  const { hostname, host: originHost } = new URL(origin);
  if (originHost === host) return true;
  if (["localhost", "127.0.0.1", "[::1]"].includes(hostname) || hostname.endsWith(".localhost")) return true;
  return cors?.allow_origins?.includes(origin) === true;
}
