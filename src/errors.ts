// The two kinds of error that a user may see: one for callers of the HTTP API, one for people at the terminal.
// Everything else that is thrown is a bug of ours or an error of the user's graph.

/** An error that becomes an HTTP answer `{"detail": detail}` with `status`. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly detail: string;
  /** Further headers of the answer. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  constructor(status: number, detail: string, headers?: Readonly<Record<string, string>>) {
    super(detail);
    this.status = status;
    this.detail = detail;
    this.headers = headers;
  }
}

/** Exit codes of every command. */
export const EXIT = { ok: 0, failed: 1, usage: 2, noServer: 3, interrupted: 130 } as const;

/** An error for the person at the terminal: printed as it is, without a stack trace. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: number;
  /** The command or change that helps, printed on a line of its own. */
  readonly hint: string | undefined;
  constructor(message: string, options: { exitCode?: number; hint?: string | undefined; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.exitCode = options.exitCode ?? EXIT.failed;
    this.hint = options.hint;
  }
}
