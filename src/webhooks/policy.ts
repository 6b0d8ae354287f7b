// Where webhooks may be sent (requirements, "Events → Webhook", 6; wire-api §6). The same rules hold when a run or cron is created, at every
// attempt and at every redirect; names are looked up where loopback is forbidden, and again by the connection itself.
import { lookup as lookUp } from "node:dns/promises";
import { domainToASCII } from "node:url";
import type { WebhookPolicy } from "../config/types.ts";
import { isOwnAddress, isOwnHost } from "./addresses.ts";

/** Characters of a webhook URL, whatever the config says. */
export const MAX_URL_LENGTH = 65_536;

/** Milliseconds that a caller waits for the look at a host's name. */
const LOOKUP_MS = 2000;

/** The addresses of a host name. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/** The machine's own resolver. */
export const systemLookup: Lookup = async (hostname) =>
  (await lookUp(hostname, { all: true })).map(({ address }) => address);

/**
 * Why a webhook must not be sent there, as a sentence that names the rule; undefined when it may. Host names are not resolved.
 * @param base the URL that a relative one is a redirect of; without it a relative one means this server.
 */
export function refusal(url: string, policy: WebhookPolicy, base?: string): string | undefined {
  const longest = Math.min(policy.maxUrlLength ?? MAX_URL_LENGTH, MAX_URL_LENGTH);
  if (url === "") return "The webhook URL is empty";
  if (url.length > longest) {
    const rule = policy.maxUrlLength === undefined ? "" : " (webhooks.url.max_url_length)";
    return `The webhook URL is longer than ${longest} characters${rule}`;
  }
  if (isRelative(url) && base === undefined) {
    return policy.disableLoopback
      ? "A relative webhook URL calls this server itself, which webhooks.url.disable_loopback forbids"
      : undefined;
  }
  const parsed = URL.canParse(url, base) ? new URL(url, base) : undefined;
  if (parsed === undefined) return "The webhook is neither a URL nor a path that begins with /";
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    return `The webhook URL must begin with http:// or https://, not ${parsed.protocol}`;
  }
  if (policy.requireHttps && parsed.protocol !== "https:") {
    return "The webhook URL must begin with https:// (webhooks.url.require_https)";
  }
  const host = parsed.hostname.toLowerCase().replace(/\.$/, "");
  if (policy.disableLoopback && isOwnHost(host)) return loopbackRefusal(host);
  const port = parsed.port === "" ? (parsed.protocol === "https:" ? 443 : 80) : Number(parsed.port);
  if (policy.allowedPorts !== undefined && !policy.allowedPorts.includes(port)) {
    return `The webhook URL has port ${port}, which is not in webhooks.url.allowed_ports`;
  }
  if (policy.allowedDomains !== undefined && !policy.allowedDomains.some((pattern) => matches(host, pattern))) {
    return `The webhook URL has the host ${host}, which is not in webhooks.url.allowed_domains`;
  }
  return undefined;
}

/**
 * As `refusal`, and looks up the host's name where loopback is forbidden. A name that cannot be resolved is not refused: it may be
 * there when the run has ended, and each attempt checks again.
 */
export async function checkDestination(
  url: string,
  policy: WebhookPolicy,
  lookup: Lookup = systemLookup,
): Promise<string | undefined> {
  const reason = refusal(url, policy);
  if (reason !== undefined || !policy.disableLoopback || isRelative(url)) return reason;
  const { hostname } = new URL(url);
  const addresses = await withinTime(lookup(hostname.replace(/^\[(.*)\]$/, "$1")));
  return addresses.some(isOwnAddress) ? loopbackRefusal(hostname) : undefined;
}

/** No addresses when the name is unknown, or the resolver takes long: each attempt looks again. */
async function withinTime(addresses: Promise<readonly string[]>): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(resolve, LOOKUP_MS, []);
  });
  return Promise.race([addresses.catch(() => []), late]).finally(() => clearTimeout(timer));
}

/** What is said of a host that is this machine. */
export const loopbackRefusal = (host: string): string =>
  `The webhook URL leads to this machine (${host}), which webhooks.url.disable_loopback forbids`;

/** A URL without what may be secret in it: user, password and query. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return url.split(/[?#]/)[0]!.slice(0, 200);
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`.slice(0, 200);
}

/** Whether a webhook is a path on this server. `//host/path` is another host. */
export const isRelative = (url: string): boolean => url.startsWith("/") && !/^[/\\]{2}/.test(url);

/** `*.example.com` stands for all names below it, not for `example.com` itself. */
function matches(host: string, pattern: string): boolean {
  const wildcard = pattern.startsWith("*.");
  // As the URL parser spells a name in another script.
  const name = domainToASCII((wildcard ? pattern.slice(2) : pattern).toLowerCase().replace(/\.$/, ""));
  return name !== "" && (wildcard ? host.endsWith(`.${name}`) : host === name);
}
