// How large a request may be and how long it may take to come. Node's own limits hold back a little; these are what a client is told.
import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "../errors.ts";

/** Bytes of a request body, unless HTTP_MAX_REQUEST_BODY_BYTES says otherwise: room for some images in base64. */
const DEFAULT_BODY_BYTES = 64 * 1024 * 1024;
/** Characters of an address. Ids, keys and namespaces fit many times; with the headers it has to fit into Node's 16 KiB. */
export const MAX_URL = 8 * 1024;
/** Headers of one request; browsers behind two proxies send about forty. */
export const MAX_HEADERS = 100;
/** Parameters in a query: `select` and `stream_mode` may be repeated, a thousand times nobody means. */
export const MAX_PARAMETERS = 500;

/** The body limit that `text` (HTTP_MAX_REQUEST_BODY_BYTES) asks for; with what is wrong with the text when the default stands in. */
export function bodyLimit(text: string | undefined): { readonly bytes: number; readonly warning?: string } {
  const trimmed = text?.trim() ?? "";
  if (trimmed === "") return { bytes: DEFAULT_BODY_BYTES };
  const bytes = Number(trimmed);
  if (Number.isSafeInteger(bytes) && bytes > 0) return { bytes };
  const warning = `HTTP_MAX_REQUEST_BODY_BYTES must be a whole number of bytes above 0, got "${trimmed.slice(0, 40)}"; bodies may have ${DEFAULT_BODY_BYTES}`;
  return { bytes: DEFAULT_BODY_BYTES, warning };
}

/** A request that came over a socket. */
interface OverSocket {
  readonly runtime?: {
    readonly node?: { readonly req?: { readonly url?: string; readonly rawHeaders: readonly string[] } };
  };
}

/**
 * What is too large of a request, before any of its body is read; undefined when nothing is. A body that does not say its length is
 * counted while it comes.
 */
export function oversize(request: Request, maxBodyBytes: number): ApiError | undefined {
  const raw = (request as OverSocket).runtime?.node?.req;
  const url = raw?.url ?? request.url;
  if (url.length > MAX_URL) return new ApiError(414, `The address is longer than ${MAX_URL} characters`);
  const query = url.indexOf("?");
  if (query >= 0 && moreThan(MAX_PARAMETERS, url, "&", query))
    return new ApiError(414, `The address has more than ${MAX_PARAMETERS} parameters`);
  const headers = raw === undefined ? [...request.headers].length : raw.rawHeaders.length / 2;
  if (headers > MAX_HEADERS) return new ApiError(431, `The request has more than ${MAX_HEADERS} headers`);
  if (Number(request.headers.get("content-length")) > maxBodyBytes)
    return new ApiError(413, `Request body exceeds the maximum allowed size of ${maxBodyBytes} bytes.`);
  return undefined;
}

function moreThan(most: number, text: string, separator: string, from: number): boolean {
  let found = 1;
  for (let at = text.indexOf(separator, from); at >= 0; at = text.indexOf(separator, at + 1))
    if (++found > most) return true;
  return false;
}

/** How long clients may take, and how many there may be. */
export interface ConnectionLimits {
  /** Milliseconds until all headers are there. Node looks every 30 s. */
  readonly headersMs: number;
  /** Milliseconds in which nothing comes or goes, in the middle of a request. */
  readonly idleMs: number;
  /** Milliseconds until the whole of a request is there. */
  readonly requestMs: number;
  /** Milliseconds that an open connection may wait for its next request. */
  readonly keepAliveMs: number;
  readonly connections: number;
}

/** Bytes per second below which an upload is not meant seriously; it bounds what comes byte by byte and is never idle. */
const SLOWEST_UPLOAD = 16 * 1024;

/** The limits of a server whose bodies may have `maxBodyBytes`: an upload that makes progress is never cut. */
export const connectionLimits = (maxBodyBytes: number): ConnectionLimits => ({
  headersMs: 30_000,
  idleMs: 60_000,
  requestMs: 60_000 + Math.ceil(maxBodyBytes / SLOWEST_UPLOAD) * 1000,
  // Longer than clients keep theirs (4 or 5 seconds): a server that closes first does so while the next request is on its way.
  keepAliveMs: 65_000,
  // Far above what a machine's own clients open, and below what file descriptors are there for.
  connections: 10_000,
});

/** Holds the connections of `server` to `limits`. Answers may take as long as they like: streams, and runs that are waited for. */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  server.headersTimeout = limits.headersMs;
  server.requestTimeout = limits.requestMs;
  server.keepAliveTimeout = limits.keepAliveMs;
  server.maxConnections = limits.connections;
  // Node would leave out the headers above its limit without a word, so that this server could not refuse them.
  server.maxHeadersCount = 0;
  server.timeout = limits.idleMs;
  // With a listener Node leaves the socket to it.
  server.on("timeout", (socket) => {
    const answer = answerOn(socket);
    if (answer === undefined) return void socket.destroy();
    // Who has sent everything may wait for as long as it takes.
    if (answer.req.complete) return;
    server.emit("clientError", Object.assign(new Error("idle"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket);
  });
}

/** What a socket is being answered with; undefined between requests. */
function answerOn(socket: Duplex): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}
