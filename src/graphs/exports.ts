// Loads what the config names of the user's and what is no graph, such as the function that embeds texts: in the way of graphs, with
// errors that point at the user's file.
import { relative } from "node:path";
import { nearest } from "../config/suggest.ts";
import type { Diagnostic, SourceLocation } from "../config/types.ts";
import { atConfig, diagnose } from "./diagnose.ts";
import { GraphLoadError } from "./errors.ts";
import type { ModuleLoader } from "./loader.ts";
import { candidatesOf } from "./missing.ts";

/** An export that the config names. */
export interface ExportSpec {
  /** The key of the config, as `store.index.embed`. */
  readonly key: string;
  /** Absolute path of the module. */
  readonly file: string;
  readonly exportName: string;
  /** Where the config names it. */
  readonly location?: SourceLocation;
}

/** What the config names cannot be loaded, or is not what it should be. */
export class ExportError extends Error {
  override readonly name = "ExportError";
  /** What to show at the terminal. */
  readonly diagnostic: Diagnostic;
  constructor(key: string, diagnostic: Diagnostic, cause?: unknown) {
    const { location, message } = diagnostic;
    const place = location ? ` (${location.file}:${location.line}:${location.column})` : "";
    super(`${key}: ${message}${place}`, cause === undefined ? undefined : { cause });
    this.diagnostic = diagnostic;
  }
}

/** What came of loading an export. */
export interface ExportResult {
  /** Undefined when there is an error. */
  readonly value: unknown;
  readonly error: ExportError | null;
  /** Files whose change means to load it again. */
  readonly files: ReadonlySet<string>;
  /** Files to evaluate again although they did not change: they import something that is missing. */
  readonly retry: readonly string[];
  /** Whether something was not found; the loader needs a reset before the next attempt. */
  readonly missing: boolean;
}

/** Loads an export; a promise is waited for. Never throws for what is wrong with the user's code. */
export async function evaluateExport(loader: ModuleLoader, spec: ExportSpec, root: string): Promise<ExportResult> {
  try {
    const module = await loader.load(spec.file);
    if (!(spec.exportName in module)) throw noExport(spec, Object.keys(module), root);
    const value: unknown = await module[spec.exportName];
    return { value, error: null, files: await loader.filesOf(spec.file), retry: [], missing: false };
  } catch (thrown) {
    const asGraph = { ...spec, id: spec.key, description: null };
    const { error, unresolved } = diagnose(thrown, asGraph, root);
    const files = await loader.filesOf(spec.file);
    for (const file of unresolved ? candidatesOf(unresolved) : []) files.add(file);
    return {
      value: undefined,
      error: new ExportError(spec.key, error.diagnostic, error.cause),
      files,
      retry: unresolved?.importer ? [unresolved.importer] : [],
      missing: unresolved !== undefined,
    };
  }
}

/** A problem with what an export is; shown where the config names it. */
export function exportProblem(spec: ExportSpec, message: string, hint?: string): ExportError {
  return new ExportError(spec.key, atConfig({ ...spec, id: spec.key, description: null }, message, hint));
}

function noExport(spec: ExportSpec, names: readonly string[], root: string): GraphLoadError {
  const found = names.length === 0 ? "it exports nothing" : `it exports ${names.join(", ")}`;
  const guess = nearest(spec.exportName, names) ?? (names.length === 1 ? names[0] : undefined);
  const message = `${relative(root, spec.file)} has no export "${spec.exportName}"; ${found}`;
  const hint = guess === undefined ? undefined : `Did you mean "${guess}"?`;
  return new GraphLoadError(spec.key, exportProblem(spec, message, hint).diagnostic);
}
