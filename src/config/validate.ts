// Checks a parsed config against the schema and reports everything at once: wrong types as errors, unknown keys and keys that this
// version does not act on as warnings. What a path or an env file holds is checked in graphs.ts and env.ts.
import type { z } from "zod";
import { configSchema, schemaAt } from "./schema.ts";
import type { ConfigInput } from "./schema.ts";
import { childSchema, expectedForm, isBoolean, knownKeys, metaOf, pathOfKey } from "./schema-walk.ts";
import { formatPath, isRecord } from "./source.ts";
import type { ConfigPath, ConfigSource } from "./source.ts";
import { nearest } from "./suggest.ts";
import type { Diagnostic } from "./types.ts";

/** `input` is null when there is an error among the diagnostics. */
export interface Validation {
  readonly input: ConfigInput | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** Checks types and key names. */
export function validateConfig(source: ConfigSource): Validation {
  const parsed = configSchema.safeParse(source.value);
  const issues = parsed.success ? [] : parsed.error.issues.flatMap((issue) => leaves(issue, []));
  const diagnostics = [
    ...checkKeys(source, configSchema, source.value, []),
    ...issues.map((path) => typeError(source, path)),
    ...checkRegex(source),
  ];
  return { input: parsed.success ? parsed.data : null, diagnostics };
}

/** The paths that an issue is about. A union reports one list per branch: take the branch that the value was meant for. */
function leaves(issue: z.core.$ZodIssue, base: ConfigPath): ConfigPath[] {
  const path = [...base, ...issue.path.map((part) => (typeof part === "symbol" ? String(part) : part))];
  if (issue.code !== "invalid_union") return [path];
  const meant = issue.errors.filter((branch) => branch.every((inner) => inner.path.length > 0));
  const [branch] = meant;
  return meant.length === 1 && branch ? branch.flatMap((inner) => leaves(inner, path)) : [path];
}

function typeError(source: ConfigSource, path: ConfigPath): Diagnostic {
  const value = valueAt(source.value, path);
  const name = formatPath(path);
  const schema = schemaAt(path);
  const expected = schema ? expectedForm(schema) : "of another type";
  if (value === undefined) {
    const hint = missingHint(source, path, (schema && metaOf(schema)?.write) ?? `It must be ${expected}.`);
    return source.report(path, "value", { severity: "error", message: `"${name}" is missing.`, hint });
  }
  if (schema && isBoolean(schema) && typeof value === "string") {
    return source.report(path, "value", { severity: "error", ...booleanError(name, value, source.format) });
  }
  const hint =
    expected.startsWith("a list of strings") && typeof value === "string"
      ? `Write ${JSON.stringify([value])}.`
      : undefined;
  const message = `"${name}" must be ${expected}, not ${preview(value)}.`;
  return source.report(path, "value", { severity: "error", message, hint });
}

function missingHint(source: ConfigSource, path: ConfigPath, otherwise: string): string {
  const parent = valueAt(source.value, path.slice(0, -1));
  const typo = nearest(String(path.at(-1)), isRecord(parent) ? Object.keys(parent) : []);
  if (typo !== undefined) return `Rename "${typo}" to "${String(path.at(-1))}".`;
  return otherwise;
}

function booleanError(name: string, value: string, format: "json" | "yaml"): { message: string; hint: string } {
  const word = value.toLowerCase();
  const meant = ["yes", "on", "true", "y", "1"].includes(word) ? "true" : "false";
  const known = ["yes", "no", "on", "off", "y", "n", "true", "false"].includes(word);
  const why =
    format === "yaml" && !/^(?:true|false)$/.test(word) && known ? " (YAML 1.2 reads yes, no, on and off as text)" : "";
  return {
    message: `"${name}" must be a boolean, not ${preview(value)}: use true/false${why}.`,
    hint: known ? `Write ${meant}, without quotes.` : "Write true or false, without quotes.",
  };
}

/** Warns about keys that the schema does not know, and about those that this version does not act on. */
function checkKeys(
  source: ConfigSource,
  schema: z.core.$ZodType,
  value: unknown,
  path: ConfigPath,
  silent = false,
): Diagnostic[] {
  if (!isRecord(value)) return [];
  const known = knownKeys(schema);
  const diagnostics: Diagnostic[] = [];
  for (const [name, child] of Object.entries(value)) {
    const here = [...path, name];
    const below = childSchema(schema, name);
    if (!below) {
      if (known) diagnostics.push(unknownKey(source, here, Object.keys(known)));
      continue;
    }
    const missing = silent ? undefined : notYet(below, child);
    if (missing !== undefined) {
      const message = `"${formatPath(here)}" has no effect in this version of agent-server: ${missing}.`;
      diagnostics.push(source.report(here, "key", { severity: "warning", message }));
    }
    diagnostics.push(...checkKeys(source, below, child, here, silent || missing !== undefined));
  }
  return diagnostics;
}

/** What the user misses by this key; undefined when nothing, as for a key that asks for what happens anyway. */
function notYet(schema: z.core.$ZodType, value: unknown): string | undefined {
  const meta = metaOf(schema);
  // Only of values without parts: an object may have a key of the user's that is called `toString`.
  const written = typeof value === "object" ? undefined : String(value);
  const asksNothing = value === null || value === undefined || written === meta?.default;
  return asksNothing ? undefined : meta?.missing;
}

function unknownKey(source: ConfigSource, path: ConfigPath, known: readonly string[]): Diagnostic {
  const name = String(path.at(-1));
  const used = new Set(Object.keys((valueAt(source.value, path.slice(0, -1)) as object | undefined) ?? {}));
  const unused = known.filter((candidate) => !used.has(candidate));
  // The right name in the wrong object is as common as a wrong name in the right one.
  const guess = nearest(name, unused) ?? pathOfKey(configSchema, name) ?? nearest(name, known);
  const message = `Unknown key "${formatPath(path)}"; it is ignored.`;
  const hint = guess === undefined ? undefined : `Did you mean "${guess}"?`;
  return source.report(path, "key", { severity: "warning", message, hint });
}

function checkRegex(source: ConfigSource): Diagnostic[] {
  const path = ["http", "cors", "allow_origin_regex"];
  const pattern = valueAt(source.value, path);
  if (typeof pattern !== "string") return [];
  try {
    RegExp(pattern);
    return [];
  } catch (error) {
    const reason = String(error).replace(/^SyntaxError: (?:Invalid regular expression: )?/, "");
    const message = `"${formatPath(path)}" is not a regular expression of JavaScript: ${reason}.`;
    return [source.report(path, "value", { severity: "error", message })];
  }
}

function valueAt(root: unknown, path: ConfigPath): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}

/** A value in a sentence: `the string "yes"`, `a list`. */
function preview(value: unknown): string {
  if (typeof value === "string") {
    const text = value.length > 40 ? `${value.slice(0, 39)}…` : value;
    return `the string ${JSON.stringify(text)}`;
  }
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number") return `the number ${value}`;
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
