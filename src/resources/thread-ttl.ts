// How long threads live: what is stored of that, when a thread expires, and what clients see of it.
import { timestampOf } from "../ids.ts";

/** Milliseconds of a minute. */
export const MINUTE_MS = 60_000;

/** The time to live of one thread. It counts from the thread's last activity, which is its `updated_at`. */
export interface ThreadTtl {
  /** What becomes of the thread when it has expired: it goes with all that is its own, or only its earlier checkpoints go. */
  readonly strategy: "delete" | "keep_latest";
  readonly minutes: number;
  /** The `updated_at` after which earlier checkpoints went already: nothing more is to be done before the next activity. */
  readonly pruned?: string;
}

/** The parts of a thread that say when it expires. */
interface Mortal {
  readonly updated_at: string;
  readonly ttl?: ThreadTtl;
}

/** When a thread expires, in ms since the epoch; undefined when it does not. */
export function expiryOf({ updated_at, ttl }: Mortal): number | undefined {
  if (ttl === undefined || ttl.pruned === updated_at) return undefined;
  return Date.parse(updated_at) + ttl.minutes * MINUTE_MS;
}

/** What `?include=ttl` shows; null for a thread that lives for ever. `expires_at` is in the past when it was pruned already. */
export function ttlJson({ updated_at, ttl }: Mortal): Record<string, unknown> | null {
  if (ttl === undefined) return null;
  const expires = Date.parse(updated_at) + ttl.minutes * MINUTE_MS;
  return { strategy: ttl.strategy, ttl_minutes: ttl.minutes, expires_at: timestampOf(expires) };
}
