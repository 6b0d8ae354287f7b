// The errors of graphs as people see them: what is wrong and where in their own file, not where in our machinery it surfaced.
import { codeFrame } from "../config/frame.ts";
import type { Diagnostic } from "../config/types.ts";
import { readSource, userLocation } from "./stack.ts";

/** A graph cannot be loaded, or its factory failed. */
export class GraphLoadError extends Error {
  override readonly name = "GraphLoadError";
  /** The graph's id in the config. */
  readonly id: string;
  /** What to show at the terminal. */
  readonly diagnostic: Diagnostic;
  constructor(id: string, diagnostic: Diagnostic, cause?: unknown) {
    const { location } = diagnostic;
    const place = location ? ` (${location.file}:${location.line}:${location.column})` : "";
    super(`Graph "${id}": ${diagnostic.message}${place}`, cause === undefined ? undefined : { cause });
    this.id = id;
    this.diagnostic = diagnostic;
  }
}

/** No graph has the asked id. */
export class UnknownGraphError extends Error {
  override readonly name = "UnknownGraphError";
  readonly id: string;
  constructor(id: string, known: readonly string[]) {
    super(`No graph "${id}". ${known.length > 0 ? `Known: ${known.join(", ")}.` : "The config names none."}`);
    this.id = id;
  }
}

/**
 * Where in the user's own files `error` came from, for an exception of a node or a factory.
 * @returns null when no frame of its stack is the user's.
 */
export function frameOfError(error: unknown, root: string): Diagnostic | null {
  const location = userLocation(error, root);
  if (!location) return null;
  const source = readSource(location.file);
  const frame = source === null ? undefined : codeFrame(source, location.line, location.column);
  return { severity: "error", message: messageOf(error), location, ...(frame === undefined ? {} : { frame }) };
}

/** What a thrown value says, on one line, with the kind of error when that tells something. */
export function messageOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return oneLine(String(error));
  const { name, message } = error as { name?: unknown; message?: unknown };
  const text = typeof message === "string" && message !== "" ? message : "no message";
  return oneLine(typeof name === "string" && name !== "Error" ? `${name}: ${text}` : text);
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > 400 ? `${line.slice(0, 400)}…` : line;
}
