// One attempt to deliver a webhook: checks the destination again, sends, follows redirects within the policy, and says what came of it.
// Not by fetch: the connection itself must refuse an address that the policy forbids, whatever the name led to a moment ago.
import { lookup as lookUp, type LookupAddress } from "node:dns";
import { request as requestHttp, type IncomingMessage, type RequestOptions } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import type { WebhookPolicy } from "../config/types.ts";
import { isLoopbackAddress } from "./addresses.ts";
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
/** Bytes of an answer that are read. */
const MAX_ANSWER_BYTES = 2048;
/** Redirects that ask for the same request elsewhere; browsers would turn the first two into GET, receivers of webhooks mean POST. */
const REDIRECTS = [301, 302, 307, 308];

class ForbiddenError extends Error {}

/** Makes one attempt. Never rejects. */
export async function attempt(sending: Sending): Promise<Outcome> {
  const { timeoutMs, signal } = sending;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    return isRelative(sending.url) ? await sendSelf(sending, limit) : await sendOut(sending, limit);
  } catch (error) {
    if (error instanceof ForbiddenError) return { error: error.message, forbidden: true };
    if (limit.aborted && !signal.aborted) return { error: `no answer within ${timeoutMs / 1000} s`, forbidden: false };
    return { error: reasonOf(error), forbidden: false };
  }
}

async function sendSelf(
  { url, body, headers, ownHeaders, policy, self }: Sending,
  limit: AbortSignal,
): Promise<Outcome> {
  const reason = refusal(url, policy);
  if (reason !== undefined) throw new ForbiddenError(reason);
  const request = new Request(new URL(url, "http://localhost"), {
    method: "POST",
    headers: { ...ownHeaders, ...headers },
    body,
  });
  const aborted = new Promise<never>((_, reject) => {
    limit.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
  });
  const response = await Promise.race([Promise.resolve(self(request)), aborted]);
  const answer = await Promise.race([response.text(), aborted]);
  return {
    status: response.status,
    answer: answer.slice(0, MAX_ANSWER_BYTES),
    retryAfter: response.headers.get("retry-after") ?? undefined,
  };
}

async function sendOut(sending: Sending, limit: AbortSignal): Promise<Outcome> {
  const { policy } = sending;
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
      return { status, answer: await beginningOf(response), retryAfter: headers["retry-after"] };
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
    headers: { ...(sameOrigin ? ownHeaders : {}), ...headers, "content-length": Buffer.byteLength(body) },
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
      if (disableLoopback && addresses.some(({ address }) => isLoopbackAddress(address))) {
        return callback(new ForbiddenError(loopbackRefusal(hostname)), []);
      }
      if (options.all === true) return callback(null, addresses);
      return callback(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  let bytes = Buffer.alloc(0);
  try {
    for await (const chunk of response) {
      bytes = Buffer.concat([bytes, chunk as Buffer]);
      if (bytes.length >= MAX_ANSWER_BYTES) break;
    }
  } catch {
    // The status has come, which is what counts.
  }
  response.destroy();
  return new TextDecoder().decode(bytes.subarray(0, MAX_ANSWER_BYTES));
}

function reasonOf(error: unknown): string {
  const { code, message, errors } = error as { code?: string; message?: string; errors?: { message?: string }[] };
  const inner = errors?.[0]?.message;
  return (
    [inner ?? message ?? String(error), code].filter((part) => part !== undefined && part !== "").join(" ") || "failed"
  );
}
