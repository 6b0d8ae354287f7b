// The head of a thread as it is stored. Clients see it without `ttl`, and with the values of its state (server/thread-json.ts).
import type { Json } from "./json.ts";
import type { ThreadTtl } from "./thread-ttl.ts";

export type ThreadStatus = "idle" | "busy" | "interrupted" | "error";

/** An interrupt as clients see it. */
export interface InterruptJson {
  readonly id?: string | null;
  readonly value: unknown;
}

/** A thread without its values. Times are ISO 8601 with microseconds and offset. */
export interface ThreadRecord {
  readonly thread_id: string;
  readonly created_at: string;
  /** The last activity: a change of the thread, of its state, or the beginning or end of a run. */
  readonly updated_at: string;
  /** Changes with the state: when a run that wrote any has ended, and with an update from outside. */
  readonly state_updated_at: string;
  readonly metadata: Json;
  readonly config: Json;
  readonly status: ThreadStatus;
  /** Task id → the interrupts that it waits at. */
  readonly interrupts: Readonly<Record<string, readonly InterruptJson[]>>;
  /** Why the last run failed. */
  readonly error?: Json | null;
  /** How long it lives after its last activity; for ever when absent. */
  readonly ttl?: ThreadTtl;
}
