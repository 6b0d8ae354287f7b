// The errors of A2A: their codes, and the names by which both generations know them.
import { RpcFailure } from "../json-rpc.ts";

const ERRORS = {
  TASK_NOT_FOUND: -32_001,
  TASK_NOT_CANCELABLE: -32_002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32_003,
  UNSUPPORTED_OPERATION: -32_004,
  CONTENT_TYPE_NOT_SUPPORTED: -32_005,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32_007,
  VERSION_NOT_SUPPORTED: -32_009,
} as const;

export type A2AReason = keyof typeof ERRORS;

/** An error that A2A defines, beside those of JSON-RPC. */
export class A2AFailure extends RpcFailure {
  readonly reason: A2AReason;
  /** What it is about, such as the task's id. */
  readonly about: Readonly<Record<string, string>>;
  constructor(reason: A2AReason, message: string, about: Readonly<Record<string, string>> = {}) {
    super(ERRORS[reason], message);
    this.reason = reason;
    this.about = about;
  }
}

/** The same for a task that does not exist, belongs to another agent or to somebody else: who asks must not learn which. */
export const taskNotFound = (taskId: string): A2AFailure =>
  new A2AFailure("TASK_NOT_FOUND", `Task not found: ${taskId.slice(0, 100)}`, { taskId: taskId.slice(0, 100) });
