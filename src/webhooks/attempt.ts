// One attempt to deliver a webhook: checks the destination again, sends, follows redirects within the policy, and says what came of it.
// Not by fetch: the connection itself must refuse an address that the policy forbids, whatever the name led to a moment ago.
import { lookup as lookUp, type LookupAddress } from "node:dns";
import { request as requestHttp, type IncomingMessage, type RequestOptions } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream as WebStream } from "node:stream/web";
import type { WebhookPolicy } from "../config/types.ts";
import { isOwnAddress } from "./addresses.ts";
import { isRelative, loopbackRefusal, refusal } from "./policy.ts";

/** What to send. */
export interface Sending {
  readonly url: string;
  readonly body: string;
  /** Headers of every delivery: ids, time, signature. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers of the operator: not sent to another origin after a redirect. */
  readonly ownHeaders: Readonly<Record<string, string>>;
  readonly policy: WebhookPolicy;
  readonly timeoutMs: number;
  /** Bytes of the answer that are read. */
  readonly maxAnswerBytes: number;
  readonly signal: AbortSignal;
  /** Answers a relative URL in this process. */
  readonly self: (request: Request) => Response | Promise<Response>;
}

/** What came of it: an answer, or the reason why there is none. `forbidden`: trying again is of no use. */
export type Outcome =
  | { readonly status: number; readonly answer: string; readonly retryAfter: string | undefined }
  | { readonly error: string; readonly forbidden: boolean };

/** Redirects that are followed. */
const MAX_REDIRECTS = 5;
/** Redirects that ask for the same request elsewhere; browsers would turn the first two into GET, receivers of webhooks mean POST. */
const REDIRECTS = [301, 302, 307, 308];

class ForbiddenError extends Error {}

/** Makes one attempt. Never rejects. */
export async function attempt(sending: Sending): Promise<Outcome> {
  const { timeoutMs, signal } = sending;
  // Not AbortSignal.any and AbortSignal.timeout: Node 20 may collect the timeout with the garbage before it has fired.
  const limit = new AbortController();
  const stop = (): void => limit.abort();
  const timer = setTimeout(stop, timeoutMs);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return isRelative(sending.url) ? await sendSelf(sending, limit.signal) : await sendOut(sending, limit.signal);
  } catch (error) {
    if (error instanceof ForbiddenError) return { error: error.message, forbidden: true };
    if (limit.signal.aborted && !signal.aborted) {
      return { error: `no answer within ${timeoutMs / 1000} s`, forbidden: false };
    }
    return { error: reasonOf(error), forbidden: false };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

async function sendSelf(sending: Sending, limit: AbortSignal): Promise<Outcome> {
  const { url, body, headers, ownHeaders, policy, self, maxAnswerBytes } = sending;
  const reason = refusal(url, policy);
  if (reason !== undefined) throw new ForbiddenError(reason);
  const request = new Request(new URL(url, "http://localhost"), {
    method: "POST",
    headers: { ...ownHeaders, ...headers },
    body,
    signal: limit,
  });
  const aborted = new Promise<never>((_, reject) => {
    limit.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
  });
  const response = await Promise.race([Promise.resolve(self(request)), aborted]);
  const { status } = response;
  const retryAfter = response.headers.get("retry-after") ?? undefined;
  if (response.body === null) return { status, answer: "", retryAfter };
  const stream = Readable.fromWeb(response.body as WebStream<Uint8Array>);
  const answer = await Promise.race([beginningOf(stream, maxAnswerBytes), aborted]).finally(() => stream.destroy());
  return { status, answer, retryAfter };
}

async function sendOut(sending: Sending, limit: AbortSignal): Promise<Outcome> {
  const { policy, maxAnswerBytes } = sending;
  let url: string = sending.url;
  let base: string | undefined;
  for (let redirects = 0; ; redirects++) {
    const reason = refusal(url, policy, base);
    if (reason !== undefined) throw new ForbiddenError(base === undefined ? reason : `Redirected: ${reason}`);
    const target = new URL(url, base);
    const response = await send(target, sending, limit);
    const { statusCode: status = 0, headers } = response;
    const location = headers.location;
    if (!REDIRECTS.includes(status) || location === undefined || redirects === MAX_REDIRECTS) {
      return { status, answer: await beginningOf(response, maxAnswerBytes), retryAfter: headers["retry-after"] };
    }
    response.destroy();
    url = location;
    base = target.href;
  }
}

function send(target: URL, sending: Sending, signal: AbortSignal): Promise<IncomingMessage> {
  const { body, headers, ownHeaders, policy } = sending;
  const sameOrigin = target.origin === new URL(sending.url).origin;
  const options: RequestOptions = {
    method: "POST",
    headers: {
      "user-agent": "agent-server",
      ...(sameOrigin ? ownHeaders : {}),
      ...headers,
      "content-length": Buffer.byteLength(body),
    },
    signal,
    lookup: guardedLookup(policy),
    // Connections are not kept: a receiver that is restarted would break the next delivery.
    agent: false,
  };
  return new Promise((resolve, reject) => {
    const request = target.protocol === "https:" ? requestHttps : requestHttp;
    request(target, options, resolve).on("error", reject).end(body);
  });
}

/** Resolves names for a connection; a name that leads to this machine is refused where the policy says so. */
function guardedLookup({ disableLoopback }: WebhookPolicy): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error !== null) return callback(error, []);
      if (disableLoopback && addresses.some(({ address }) => isOwnAddress(address))) {
        return callback(new ForbiddenError(loopbackRefusal(hostname)), []);
      }
      if (options.all === true) return callback(null, addresses);
      return callback(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
}

async function beginningOf(body: Readable, most: number): Promise<string> {
  let bytes = Buffer.alloc(0);
  try {
    for await (const chunk of body) {
      bytes = Buffer.concat([bytes, chunk as Buffer]);
      if (bytes.length >= most) break;
    }
  } catch {
    // The status has come, which is what counts.
  }
  body.destroy();
  return new TextDecoder().decode(bytes.subarray(0, most));
}

function reasonOf(error: unknown): string {
  const { code, message, errors } = error as { code?: string; message?: string; errors?: { message?: string }[] };
  const inner = errors?.[0]?.message;
  return (
    [inner ?? message ?? String(error), code].filter((part) => part !== undefined && part !== "").join(" ") || "failed"
  );
}
