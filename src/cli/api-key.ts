// The key that the client commands send, from the variables that may have one.
import { CliError, EXIT } from "../errors.ts";
import type { Io } from "./io.ts";

const OWN = "AGENT_SERVER_API_KEY";
/** In this order; an empty one counts as not set. */
const VARIABLES = [OWN, "LANGGRAPH_API_KEY", "LANGSMITH_API_KEY"];

/** The headers that carry the key; none without one. @throws CliError for a key that no header can carry. It is never shown. */
export function keyHeaders(env: Io["env"]): Record<string, string> {
  const name = VARIABLES.find((variable) => (env[variable] ?? "").trim() !== "");
  if (name === undefined) return {};
  const key = env[name]!.trim();
  if (/[^\t\x20-\x7e\x80-\xff]/.test(key)) {
    throw new CliError(`${name} has a line break or a character that no header can have.`, {
      exitCode: EXIT.usage,
      hint: "Set it to the key alone, without quotes or other text.",
    });
  }
  // Authentication of a project's own looks at the one or the other.
  return { "x-api-key": key, ...(name === OWN ? { authorization: `Bearer ${key}` } : {}) };
}

/** The variables for a server that may be anybody's: the keys of the platform are not for it. */
export function ownKeyOnly(env: Io["env"]): Io["env"] {
  return { [OWN]: env[OWN] };
}
