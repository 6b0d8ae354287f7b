// Whatever the user's code throws, as clients see it: JavaScript throws anything, and an error's fields can be anything too.
import type { RunError } from "../resources/runs.ts";

/** A thrown value as clients see it. Both parts are texts, and reading them never throws. */
export function describeError(error: unknown): RunError {
  if (typeof error === "string") return { error: "Error", message: error };
  const name = field(error, "name");
  const message = field(error, "message");
  return {
    error: typeof name === "string" && name !== "" ? name : "Error",
    message: message === undefined ? textOf(error) : textOf(message),
  };
}

/** A field that may be a getter of the user's, which may throw. */
function field(error: unknown, name: string): unknown {
  if (typeof error !== "object" || error === null) return undefined;
  try {
    return (error as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    const json = typeof value === "object" && !(value instanceof Error) ? JSON.stringify(value) : undefined;
    return json ?? String(value);
  } catch {
    return "what was thrown cannot be shown";
  }
}
