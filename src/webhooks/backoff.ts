// When a delivery is tried again, and when not.
import type { Outcome } from "./attempt.ts";

/** Milliseconds before the second attempt; each further one waits twice as long. */
const FIRST_MS = 1000;
const LONGEST_MS = 300_000;
/** A receiver may ask for no longer pause. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** What an attempt means for its delivery. */
export function verdict(outcome: Outcome): "delivered" | "again" | "failed" {
  if ("error" in outcome) return outcome.forbidden ? "failed" : "again";
  const { status } = outcome;
  // "See other" is an answer to a request that was taken.
  if ((status >= 200 && status < 300) || status === 303) return "delivered";
  return status === 408 || status === 425 || status === 429 || status >= 500 ? "again" : "failed";
}

/**
 * Milliseconds until the next attempt: exponential, with half of it left to chance so that deliveries do not come in waves. A receiver
 * may ask for a longer pause, not for a shorter one.
 * @param attempts number of attempts made.
 */
export function delayAfter(attempts: number, outcome: Outcome, now: number, random: () => number): number {
  const asked = "retryAfter" in outcome ? parseRetryAfter(outcome.retryAfter, now) : undefined;
  const full = Math.min(FIRST_MS * 2 ** (attempts - 1), LONGEST_MS);
  const pause = Math.round(full / 2 + (full / 2) * random());
  if (asked === undefined || asked <= full) return pause;
  // All that were told the same time must not come at once.
  return Math.round(Math.min(asked, LONGEST_RETRY_AFTER_MS) + FIRST_MS * random());
}

/** Seconds or a date (RFC 9110 §10.2.3), in milliseconds from now. */
function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value.trim())) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : date - now;
}
