// The error codes of protocol v2, and the way from what the rest of the server throws to them.
import { ZodError } from "zod";
import { ApiError, CliError } from "../errors.ts";
import { GraphLoadError, UnknownGraphError } from "../graphs/errors.ts";
import { issuesText } from "../resources/schema.ts";

export const ERROR_CODES = [
  "invalid_argument",
  "unknown_command",
  "unknown_error",
  "no_such_run",
  "no_such_subscription",
  "no_such_namespace",
  "no_such_interrupt",
  "no_such_checkpoint",
  "permission_denied",
  "not_supported",
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** A command that cannot be carried out. */
export class ProtocolError extends Error {
  readonly code: ErrorCode;
  /** HTTP status of the answer: 200, because the answer is complete, unless the envelope or the thread is at fault. */
  readonly status: number;

  constructor(code: ErrorCode, message: string, status = 200) {
    super(message);
    this.name = "ProtocolError";
    this.code = code;
    this.status = status;
  }
}

/**
 * What was thrown as a protocol error; undefined for our own faults.
 * There is no code for an unknown assistant or a busy thread: the caller named something that does not fit.
 */
export function asProtocolError(error: unknown): ProtocolError | undefined {
  if (error instanceof ProtocolError) return error;
  if (error instanceof ZodError) return new ProtocolError("invalid_argument", issuesText(error));
  // What the auth handlers of the project say; a 5xx of theirs is a fault of the server.
  if (error instanceof ApiError && [401, 403].includes(error.status))
    return new ProtocolError("permission_denied", error.detail, error.status);
  if (error instanceof ApiError && error.status < 500) return new ProtocolError("invalid_argument", error.detail);
  if (error instanceof GraphLoadError || error instanceof UnknownGraphError || error instanceof CliError)
    return new ProtocolError("unknown_error", error.message);
  return undefined;
}
