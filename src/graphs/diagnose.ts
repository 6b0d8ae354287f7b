// Turns whatever loading a graph threw into a diagnostic about the user's file. Vite, oxc and Node each report in their own way:
// oxc has places in `errors[]`, an unresolved import has only a sentence, and an exception has its stack.
import { existsSync } from "node:fs";
import { dirname, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { codeFrame } from "../config/frame.ts";
import type { Diagnostic, GraphSpec, SourceLocation } from "../config/types.ts";
import { frameOfError, GraphLoadError, messageOf } from "./errors.ts";
import { installCommand } from "./install.ts";
import { readSource, userLocation } from "./stack.ts";

/** An import that leads nowhere. */
export interface UnresolvedImport {
  readonly specifier: string;
  /** The file that imports it. */
  readonly importer: string;
}

/** Why a graph did not load. */
export interface LoadFailure {
  readonly error: GraphLoadError;
  /** Set when a file or package is missing, so that its appearance can be waited for. */
  readonly unresolved?: UnresolvedImport;
}

const UNLOADABLE = /^Failed to load url (.+?) \(resolved id: .+?\)(?: in (.+?))?\. Does the file exist\?/;
const UNRESOLVED = /^Cannot find (?:module|package) '(.+?)' imported from '?(.+?)'?$/m;
const NO_EXPORT = /The requested module '(.+?)' (?:does not provide an export named '(.+?)'|is a CommonJS module)/;

/** Explains why loading the graph of `spec` threw `error`. */
export function diagnose(error: unknown, spec: GraphSpec, root: string): LoadFailure {
  if (error instanceof GraphLoadError) return { error };
  const unresolved = unresolvedImport(error);
  // Of these the diagnostic says all; the original is long and coloured, and would be printed as the cause.
  const plain = unresolved ? missingModule(unresolved, spec, root) : syntaxError(error);
  if (plain) return { error: new GraphLoadError(spec.id, plain), ...(unresolved ? { unresolved } : {}) };
  const diagnostic = missingExport(error, root) ?? frameOfError(error, root) ?? atConfig(spec, messageOf(error));
  return { error: new GraphLoadError(spec.id, diagnostic, error) };
}

/** A problem of which no place in the user's code is known: it is shown where the config names the graph. */
export function atConfig(spec: GraphSpec, message: string, hint?: string): Diagnostic {
  return at(spec.location, message, hint);
}

function at(location: SourceLocation | undefined, message: string, hint?: string, length = 1): Diagnostic {
  const source = location && readSource(location.file);
  return {
    severity: "error",
    message,
    ...(location ? { location } : {}),
    ...(location && typeof source === "string"
      ? { frame: codeFrame(source, location.line, location.column, { length }) }
      : {}),
    ...(hint === undefined ? {} : { hint }),
  };
}

function unresolvedImport(error: unknown): UnresolvedImport | undefined {
  const message = (error as { message?: unknown } | null)?.message;
  if (typeof message !== "string") return undefined;
  const [, specifier, importer] = UNLOADABLE.exec(message) ?? UNRESOLVED.exec(message) ?? [];
  return specifier === undefined ? undefined : { specifier, importer: importer ?? "" };
}

function missingModule({ specifier, importer }: UnresolvedImport, spec: GraphSpec, root: string): Diagnostic {
  if (importer === "") return unreadable(spec, root);
  const message = `Cannot find ${/^[./]/.test(specifier) ? "file" : "module"} "${specifier}"`;
  const hint = hintFor(specifier, root);
  const location = placeOf(importer, specifier);
  return location ? at(location, message, hint, specifier.length + 2) : atConfig(spec, message, hint);
}

function unreadable(spec: GraphSpec, root: string): Diagnostic {
  const file = relative(root, spec.file);
  if (!existsSync(spec.file)) return atConfig(spec, `${file} does not exist`);
  // Module ids end at these characters: everything behind them is a query.
  return atConfig(
    spec,
    `${file} cannot be loaded from a path with "#" or "?"`,
    `Rename the folder: ${dirname(spec.file)}`,
  );
}

function hintFor(specifier: string, root: string): string | undefined {
  if (/^[./]/.test(specifier)) return undefined;
  if (/^[#~]|^@\//.test(specifier)) return "Check `paths` in tsconfig.json or `imports` in package.json.";
  return installCommand(root, [specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/")]);
}

// `errors[].loc` counts columns from 0.
function syntaxError(error: unknown): Diagnostic | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { errors } = error as { errors?: unknown };
  for (const part of Array.isArray(errors) ? [...errors, error] : [error]) {
    const { loc, id, message } = part as { loc?: Partial<SourceLocation>; id?: unknown; message?: unknown };
    const file = loc?.file ?? id;
    if (typeof file !== "string" || typeof loc?.line !== "number" || typeof loc.column !== "number") continue;
    return at({ file, line: loc.line, column: loc.column + 1 }, plainMessage(String(message)));
  }
  return undefined;
}

function plainMessage(message: string): string {
  const [first = ""] = stripVTControlCharacters(message).trim().split("\n");
  return first.replace(/^\[[A-Z_]+\]\s*/, "").replace(/^Parse failure:\s*/, "");
}

function missingExport(error: unknown, root: string): Diagnostic | undefined {
  const message = (error as { message?: unknown } | null)?.message;
  const match = typeof message === "string" ? NO_EXPORT.exec(message) : null;
  const importing = match && userLocation(error, root);
  if (!match || !importing) return undefined;
  const [first = ""] = String(message).split("\n");
  const location = placeOf(importing.file, match[1] ?? "", match[2]) ?? importing;
  return at(location, first.replace(/^\[vite\] /, ""), undefined, match[2]?.length);
}

/** Where `importer` imports `specifier`; with `name`, where that import names the binding. */
function placeOf(importer: string, specifier: string, name?: string): SourceLocation | undefined {
  const source = readSource(importer) ?? "";
  const found = [`"${specifier}"`, `'${specifier}'`].map((text) => source.indexOf(text)).filter((index) => index >= 0);
  if (found.length === 0) return undefined;
  const end = Math.min(...found);
  const start = Math.max(0, source.lastIndexOf("import", end));
  const binding = new RegExp(`(?<![\\w$])${(name ?? "").replaceAll("$", "\\$")}(?![\\w$])`);
  const named = name === undefined ? -1 : source.slice(start, end).search(binding);
  const before = source.slice(0, named < 0 ? end : start + named).split("\n");
  return { file: importer, line: before.length, column: (before.at(-1) ?? "").length + 1 };
}
