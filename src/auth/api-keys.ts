// API keys: who has one of them is let in. In memory there are only digests of them, and a guess is compared with all of them in the
// same time, so that neither a dump of the memory nor a clock tells anything.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { CliError, EXIT } from "../errors.ts";

const RANDOM_BYTES = 32;

const digest = (key: string): Buffer => createHash("sha256").update(key, "utf8").digest();

/** A new random key, of 256 bits. */
export const newApiKey = (): string => `as_${randomBytes(RANDOM_BYTES).toString("base64url")}`;

/** Keys as AGENT_SERVER_API_KEYS has them: with commas between them. */
export const keysOfVariable = (text: string | undefined): string[] => withoutEmpty((text ?? "").split(","));

/** Keys as a file has them: one per line, and comments behind a `#` at the beginning of a line. */
export const keysOfFile = (text: string): string[] =>
  withoutEmpty(text.split(/\r?\n/)).filter((line) => !line.startsWith("#"));

const withoutEmpty = (texts: readonly string[]): string[] =>
  texts.map((text) => text.trim()).filter((text) => text !== "");

export class ApiKeys {
  readonly #digests: readonly Buffer[];

  /** @throws CliError when a key is none that a header can have. The key itself is never shown. */
  constructor(keys: readonly string[]) {
    if (keys.some((key) => !/^[\x21-\x7e]+$/.test(key))) {
      throw new CliError("An API key has a space or a character that no header may have, or is empty.", {
        exitCode: EXIT.usage,
        hint: "Make one with: agent-server keys new",
      });
    }
    this.#digests = [...new Set(keys)].map(digest);
  }

  /** Whether this is one of the keys. */
  has(candidate: string): boolean {
    const given = digest(candidate);
    let found = false;
    for (const known of this.#digests) found = timingSafeEqual(known, given) || found;
    return found;
  }
}

/** The keys that a request shows: `X-Api-Key`, and `Authorization: Bearer`. */
export function shownKeys(headers: Headers): string[] {
  const bearer = /^bearer\s+(.+)$/i.exec(headers.get("authorization")?.trim() ?? "")?.[1];
  return withoutEmpty([headers.get("x-api-key") ?? "", bearer ?? ""]);
}
