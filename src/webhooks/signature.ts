// The headers by which a receiver knows a delivery: its id, its time, and, with a secret, its signature. They are those of Standard Webhooks
// (https://www.standardwebhooks.com), for which there are libraries in every language.
import { createHmac, timingSafeEqual } from "node:crypto";

/** Headers of one attempt. @param secret plain text, or base64 behind `whsec_`. @param now milliseconds. */
export function deliveryHeaders(
  id: string,
  body: string,
  secret: string | undefined,
  now: number,
): Record<string, string> {
  const seconds = Math.floor(now / 1000);
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
  };
  return secret === undefined ? headers : { ...headers, "webhook-signature": sign(id, seconds, body, secret) };
}

/** Whether a receiver may trust a delivery. `signature` may hold several, apart by spaces. */
export function verifySignature(parts: {
  readonly id: string;
  readonly time: string;
  readonly signature: string;
  readonly body: string;
  readonly secret: string;
}): boolean {
  const wanted = Buffer.from(sign(parts.id, parts.time, parts.body, parts.secret));
  return parts.signature.split(" ").some((one) => {
    const given = Buffer.from(one);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}

function sign(id: string, seconds: number | string, body: string, secret: string): string {
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : Buffer.from(secret);
  return `v1,${createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64")}`;
}
