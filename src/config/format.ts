// Turns a diagnostic into text without colour: for error messages, logs and pipes. The CLI may colour the parts itself.
import { isAbsolute, relative } from "node:path";
import type { Diagnostic, SourceLocation } from "./types.ts";

/** `file:line:column - error: message`, then the frame and the hint if there are any. Paths are relative to `cwd`. */
export function formatDiagnostic(diagnostic: Diagnostic, cwd: string = process.cwd()): string {
  const { location, severity, message, frame, hint } = diagnostic;
  const lines = [`${location ? `${formatLocation(location, cwd)} - ` : ""}${severity}: ${message}`];
  if (frame !== undefined) lines.push("", frame, "");
  if (hint !== undefined) lines.push(`hint: ${hint}`);
  return lines.join("\n").trimEnd();
}

/** `file:line:column`, relative to `cwd` where that is shorter: terminals and editors make it a link. */
export function formatLocation(location: SourceLocation, cwd: string = process.cwd()): string {
  return `${displayPath(location.file, cwd)}:${location.line}:${location.column}`;
}

/** A path as people write it: relative to `cwd`, absolute when that is shorter. */
export function displayPath(file: string, cwd: string = process.cwd()): string {
  const path = relative(cwd, file);
  return path === "" || isAbsolute(path) || path.length > file.length ? file : path;
}
