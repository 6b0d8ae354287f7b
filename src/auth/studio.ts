// LangGraph Studio: a page of LangSmith that looks at a server on the reader's own machine. It says who it is with a header and nothing
// else, so the header counts only where nobody else can have sent it: over loopback, through no proxy, and from no other page.
import { isIP } from "node:net";
import type { Caller } from "./access.ts";

const IDENTITY = "langgraph-studio-user";

/** Whom the handlers see; they are asked about it as about everybody. */
export const STUDIO_USER: Caller = {
  identity: IDENTITY,
  permissions: [],
  user: {
    kind: "StudioUser",
    identity: IDENTITY,
    display_name: IDENTITY,
    permissions: [],
    is_authenticated: true,
  },
};

/** Headers that only a proxy adds. */
const FORWARDED = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via", "cf-connecting-ip"];
const STUDIO_ORIGIN = /^https:\/\/(?:[a-z0-9-]+\.)?smith\.langchain\.com$/;

/** Node's own objects behind a request that came over a socket. */
interface OverSocket {
  readonly runtime?: { readonly node?: { readonly req?: { readonly socket?: { readonly remoteAddress?: string } } } };
}

/** Whether a request is one of Studio. @param origins further pages that may say so. */
export function isFromStudio(request: Request, origins: readonly string[]): boolean {
  const { headers } = request;
  if (headers.get("x-auth-scheme")?.toLowerCase() !== "langsmith") return false;
  // A request that came over no socket has none of it.
  const { runtime } = request as OverSocket;
  const ip = runtime?.node?.req?.socket?.remoteAddress;
  if (ip === undefined || !isLoopbackIp(ip) || FORWARDED.some((name) => headers.has(name))) return false;
  const origin = headers.get("origin");
  return origin === null || STUDIO_ORIGIN.test(origin) || isLocal(origin) || origins.includes(origin);
}

function isLoopbackIp(ip: string): boolean {
  const v4 = ip.replace(/^::ffff:/i, "");
  return v4 === "::1" || (isIP(v4) === 4 && v4.startsWith("127."));
}

function isLocal(origin: string): boolean {
  const { hostname } = URL.canParse(origin) ? new URL(origin) : { hostname: "" };
  return hostname === "localhost" || hostname.endsWith(".localhost") || isLoopbackIp(hostname.replace(/^\[|\]$/g, ""));
}
