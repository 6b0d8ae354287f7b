// The task model of A2A as this server has it, once: both generations of the protocol are only other spellings of it (v03/, v1/).
import type { Access } from "../auth/access.ts";
import type { Assistant } from "../resources/assistant.ts";
import type { Json } from "../resources/json.ts";

/** States of a task, in the spelling of 0.3. This server never rejects a task and never asks for credentials. */
export const TASK_STATES = [
  "submitted",
  "working",
  "input-required",
  "completed",
  "canceled",
  "failed",
  "rejected",
  "auth-required",
] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** Whether a task in this state will not change any more. */
export const isTerminal = (state: TaskState): boolean =>
  state === "completed" || state === "canceled" || state === "failed" || state === "rejected";

/** A file: its bytes in base64, or where it is. */
export interface FilePart {
  readonly kind: "file";
  readonly name?: string | undefined;
  readonly mediaType?: string | undefined;
  readonly bytes?: string | undefined;
  readonly uri?: string | undefined;
  readonly metadata?: Json | undefined;
}

export type Part =
  | { readonly kind: "text"; readonly text: string; readonly metadata?: Json | undefined }
  | { readonly kind: "data"; readonly data: unknown; readonly metadata?: Json | undefined }
  | FilePart;

export interface Message {
  readonly messageId: string;
  readonly role: "user" | "agent";
  readonly parts: readonly Part[];
  readonly contextId?: string | undefined;
  readonly taskId?: string | undefined;
}

export interface Artifact {
  readonly artifactId: string;
  readonly name: string;
  readonly parts: readonly Part[];
}

export interface TaskStatus {
  readonly state: TaskState;
  /** ISO 8601 in UTC with `Z`; later ones sort behind earlier ones. */
  readonly timestamp: string;
  readonly message?: Message | undefined;
}

/** A task as clients see it. */
export interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: TaskStatus;
  /** Undefined when they were not asked for. */
  readonly artifacts?: readonly Artifact[] | undefined;
  /** Undefined when it was not asked for. */
  readonly history?: readonly Message[] | undefined;
}

/** What a stream tells of a task. */
export type TaskEvent =
  | { readonly type: "task"; readonly task: Task }
  | {
      readonly type: "status";
      readonly taskId: string;
      readonly contextId: string;
      readonly status: TaskStatus;
      /** The stream ends behind it. */
      readonly final: boolean;
    }
  | {
      readonly type: "artifact";
      readonly taskId: string;
      readonly contextId: string;
      readonly artifact: Artifact;
      /** Its parts continue those that were sent before; otherwise they replace them. */
      readonly append: boolean;
      readonly lastChunk: boolean;
    };

/** Where a client is told of a task, and in which generation's words. Token and credentials are secrets. */
export interface PushConfig {
  readonly id: string;
  readonly url: string;
  readonly token?: string | undefined;
  /** How the credentials are sent. */
  readonly scheme?: string | undefined;
  /** All schemes that were given, if `scheme` is one of several: 0.3 has a list. */
  readonly schemes?: readonly string[] | undefined;
  readonly credentials?: string | undefined;
  readonly generation: string;
}

/** Who asks: tasks are seen by their owner only. Null as long as nobody is told from another. */
export type Owner = string | null;

/** For whom an operation is done: the agent that was addressed, and who asks. */
export interface Addressed {
  readonly assistant: Assistant;
  readonly owner: Owner;
  /** What that one may do; everything when absent. */
  readonly access?: Access | undefined;
  /** Settings for the graph alone, from the headers of the request. */
  readonly hidden?: Json | undefined;
}

/** What a message asks for, whatever generation it was written in. */
export interface SendRequest {
  readonly message: Message;
  /** Answer when the task stops, and not at once. */
  readonly blocking: boolean;
  readonly historyLength?: number | undefined;
  readonly acceptedOutputModes?: readonly string[] | undefined;
  readonly push?: PushConfig | undefined;
  /** Becomes metadata of the run. */
  readonly metadata?: Json | undefined;
  /** The run's context (LangGraph's own word: settings of the graph). */
  readonly context?: unknown;
  /** What a message to a finished task does: starts another in the same context, or is refused. */
  readonly finished: "restart" | "refuse";
}
