// Why a server cannot be reached, in one sentence.
import { isBlockedPort } from "../blocked-ports.ts";
import { CliError, EXIT } from "../errors.ts";
import type { Target } from "./discover.ts";
import { oneLine } from "./text.ts";

/** Why a connection failed, in words. */
const FAILURES: Readonly<Record<string, string>> = {
  ENOTFOUND: "no such host",
  EAI_AGAIN: "no such host",
  ECONNRESET: "the connection was closed",
  UND_ERR_SOCKET: "the connection was closed",
  ETIMEDOUT: "no answer",
  UND_ERR_CONNECT_TIMEOUT: "no answer",
};

/** The error of a request that got no answer. */
export function unreachable({ url, source }: Target, error: Error): CliError {
  const from = source === "--url" || source === "AGENT_SERVER_URL" ? ` (from ${source})` : "";
  const { port } = new URL(url);
  if (isBlockedPort(Number(port))) {
    return new CliError(`Cannot reach ${url}${from}: Node's fetch never connects to port ${port}, like browsers.`, {
      exitCode: EXIT.noServer,
      hint: "The server has to listen on another port, such as 2024.",
      cause: error,
    });
  }
  const code = deepCode(error);
  const reason = code === undefined ? oneLine(error.message, 200) : (FAILURES[code] ?? code);
  const refused = code === "ECONNREFUSED";
  return new CliError(refused ? `No server at ${url}${from}.` : `Cannot reach ${url}${from}: ${reason}.`, {
    exitCode: EXIT.noServer,
    hint: "Start one in your project with: agent-server dev",
    cause: error,
  });
}

/** The system's code of a failed connection lies some causes deep, or inside an AggregateError for a name with two addresses. */
function deepCode(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === "string") return code;
    if (at instanceof AggregateError) return deepCode(at.errors[0]);
  }
  return undefined;
}
