// Protection against DNS rebinding: a page of a foreign site that resolves its own name to 127.0.0.1 sends that name as Host.
// A server that listens on loopback answers only to loopback names.
import { isIP } from "node:net";

/** Whether `host` (an address or name to bind to) is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, "");
  return (
    name === "localhost" ||
    name.endsWith(".localhost") ||
    name === "::1" ||
    (isIP(name) === 4 && name.startsWith("127."))
  );
}

/**
 * Whether a request comes from a page of this server itself, such as /docs. Only addresses and names of this machine count: any
 * other name may be one that a foreign site resolves to us.
 */
export function fromOwnPage(origin: string | null, host: string | null): boolean {
  if (origin === null || host === null) return false;
  const name = host.replace(/:\d*$/, "");
  if (!isLoopback(name) && isIP(name.replace(/^\[|\]$/g, "")) === 0) return false;
  return origin === `http://${host}` || origin === `https://${host}`;
}

/** Whether a Host header may reach a server that is bound to `bound`. */
export function hostAllowed(header: string | null, bound: string): boolean {
  if (!isLoopback(bound)) return true;
  if (header === null || header === "") return true;
  const name = header.replace(/:\d*$/, "");
  return isLoopback(name) || name.toLowerCase() === bound.toLowerCase();
}
