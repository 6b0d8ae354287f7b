// How callers are refused: what a handler throws becomes an answer, and what it throws by mistake becomes a line for the terminal that
// shows no credentials.
import type { Diagnostic } from "../config/types.ts";
import { ApiError } from "../errors.ts";
import { frameOfError, messageOf } from "../graphs/errors.ts";
import { isSecretHeader } from "./secret-names.ts";

/** Headers of an answer that describe its body, which is ours. */
const OURS = /^(?:content-|transfer-encoding$|connection$|access-control-)/i;

/** The answer to somebody who is not let in. */
export function unauthorized(detail: string): ApiError {
  return new ApiError(401, detail, { "www-authenticate": 'Bearer realm="agent-server"' });
}

/** The answer that an `HTTPException` of the SDK (or anything of its shape) asks for; undefined for other errors. */
export function askedFor(error: unknown): ApiError | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { status, headers, message } = error as Record<string, unknown>;
  if (typeof headers !== "object" || headers === null) return undefined;
  if (typeof status !== "number" || !Number.isInteger(status) || status < 400 || status > 599) return undefined;
  const own = Object.entries(headers).filter(([name, value]) => typeof value === "string" && !OURS.test(name));
  const given = Object.fromEntries(own) as Record<string, string>;
  const names = own.map(([name]) => name.toLowerCase());
  const challenge = status === 401 && !names.includes("www-authenticate") ? unauthorized("").headers : undefined;
  return new ApiError(status, String(message), { ...challenge, ...given });
}

/** Characters that a message may share with a secret. */
const SHARED = 6;
/** Characters of a secret that is looked for. */
const SHORTEST = 4;

/**
 * What a handler threw by mistake, for the terminal: where it happened, and its message unless that has a piece of a secret in it.
 * @param what what threw, as `auth.path: authenticate`. @param secrets texts that must not be shown.
 */
export function mistake(what: string, error: unknown, secrets: readonly string[], root: string): Diagnostic {
  const { name } = error as { name?: unknown };
  const shown = hasPieceOf(messageOf(error), secrets)
    ? `${typeof name === "string" ? name : "Error"} (its message has a piece of a credential in it)`
    : messageOf(error);
  return { severity: "error", ...frameOfError(error, root), message: `${what} threw ${shown}` };
}

function hasPieceOf(message: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => {
    if (secret.length < SHARED) return secret.length >= SHORTEST && message.includes(secret);
    for (let at = 0; at + SHARED <= secret.length; at++)
      if (message.includes(secret.slice(at, at + SHARED))) return true;
    return false;
  });
}

/** The values of headers that may hold credentials. */
export function secretsOf(headers: Headers): string[] {
  const names = [...headers.keys()].filter((name) => isSecretHeader(name) || /key/i.test(name));
  const values = names.map((name) => headers.get(name) ?? "");
  // The words `Bearer` and `Basic` are no secrets.
  const parts = values.flatMap((value) => value.split(/[\s;,=]+/)).filter((text) => !/^(?:bearer|basic)$/i.test(text));
  return [...parts, ...values.flatMap(decoded)];
}

/** What stands in base64 behind `Basic`: user and password, and each of them. */
function decoded(value: string): string[] {
  if (!/^basic\s/i.test(value)) return [];
  const text = Buffer.from(value.slice("basic ".length).trim(), "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? [text] : [text, text.slice(0, colon), text.slice(colon + 1)];
}
