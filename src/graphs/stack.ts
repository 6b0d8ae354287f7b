// Reads stack traces. The module runner has already mapped them to the user's sources, so a frame is a place in a file of theirs.
import { readFileSync } from "node:fs";
import { dirname, isAbsolute, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { SourceLocation } from "../config/types.ts";

const FRAME = /^\s*at (?:async )?(?:.*?\()?((?:file:\/\/|\/|[A-Za-z]:[\\/]).*):(\d+):(\d+)\)?$/;
/** `src/` or `dist/` of this package. */
const OWN_CODE = dirname(import.meta.dirname);

/** The first frame of the user's own code in `error`, its causes or its parts; null when there is none. */
export function userLocation(error: unknown, root: string, depth = 0): SourceLocation | null {
  if (typeof error !== "object" || error === null || depth > 4) return null;
  const { stack, message, runnerError, cause, errors } = error as Record<string, unknown>;
  for (const frame of framesOf(stack, message)) if (isUsers(frame.file, root)) return frame;
  const related = [runnerError, cause, ...(Array.isArray(errors) ? errors : [])];
  for (const other of related) {
    const found = userLocation(other, root, depth + 1);
    if (found) return found;
  }
  return null;
}

/** The text of a user's file; null when it cannot be read. */
export function readSource(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

function* framesOf(stack: unknown, message: unknown): Generator<SourceLocation> {
  if (typeof stack !== "string") return;
  // A message may quote another stack; only what stands behind it is this error's own.
  const start = typeof message === "string" && message !== "" ? stack.indexOf(message) + message.length : 0;
  for (const line of stack.slice(Math.max(start, 0)).split("\n")) {
    const match = FRAME.exec(line);
    if (!match?.[1]) continue;
    const file = match[1].startsWith("file:") ? fileURLToPath(match[1]) : match[1];
    yield { file, line: Number(match[2]), column: Number(match[3]) };
  }
}

/** Whether `file` is the user's own and not one of a package, of Node or of this server. */
export function isUsers(file: string, root: string): boolean {
  if (isInside(file, OWN_CODE)) return false;
  // A demo project may itself lie in node_modules.
  const path = isInside(file, root) ? relative(root, file) : file;
  return !path.split(/[\\/]/).includes("node_modules");
}

function isInside(file: string, folder: string): boolean {
  const path = relative(folder, file);
  return path !== "" && path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}
