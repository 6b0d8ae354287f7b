// The shape of an assistant, in a file of its own because everything about assistants speaks of it.
import type { Json } from "./json.ts";

/** An assistant as clients see it, or one of its versions. Times are ISO 8601 with microseconds and offset. */
export interface Assistant {
  readonly assistant_id: string;
  readonly graph_id: string;
  readonly config: Json;
  readonly context: Json;
  readonly created_at: string;
  readonly updated_at: string;
  readonly metadata: Json;
  /** Counts up from 1. */
  readonly version: number;
  readonly name: string;
  readonly description: string | null;
}

/** What a caller may say of an assistant; absent fields have their defaults, or stay. */
export interface AssistantFields {
  readonly graph_id?: string | undefined;
  readonly config?: Json | undefined;
  readonly context?: Json | undefined;
  readonly metadata?: Json | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
}

/** A new assistant. */
export interface NewAssistant extends AssistantFields {
  /** A UUID; a fresh one when absent. */
  readonly assistant_id?: string | undefined;
  readonly graph_id: string;
  /** Default: `raise`. */
  readonly if_exists?: "raise" | "do_nothing" | undefined;
}
