// Turns the text of a config file into a value with positions, or into diagnostics that say what is wrong with the text.
// JSON never goes through the YAML library: it reads `{"a": 1 "b": 2}` as one entry, without an error.
import { basename, extname } from "node:path";
import { scanJson } from "./json.ts";
import type { JsonNode } from "./json.ts";
import { ConfigSource, diagnosticAt, isRecord } from "./source.ts";
import type { ConfigPath, Span } from "./source.ts";
import type { Diagnostic } from "./types.ts";

/** `source` is null when the text cannot be used at all; the diagnostics then have at least one error. */
export interface ParseResult {
  readonly source: ConfigSource | null;
  readonly diagnostics: readonly Diagnostic[];
}

const EXAMPLE_JSON = 'Write at least { "graphs": { "agent": "./src/agent.ts:graph" } }';
const EXAMPLE_YAML = "Write at least two lines: graphs: and, indented, agent: ./src/agent.ts:graph";

/** Parses the text of the config file `file`; the name's extension decides between JSON and YAML. */
export async function parseConfig(file: string, text: string): Promise<ParseResult> {
  const source = text.replace(/^\u{FEFF}/u, "");
  return isJson(file) ? parseJson(file, source) : parseYamlFile(file, source);
}

function isJson(file: string): boolean {
  return [".json", ".jsonc"].includes(extname(file).toLowerCase());
}

function parseJson(file: string, text: string): ParseResult {
  const { root, problems, duplicates, extras } = scanJson(text);
  const diagnostics = [
    ...problems.map(({ span, ...problem }) => diagnosticAt(file, text, span, { severity: "error", ...problem })),
    ...duplicates.map(({ key, start, end, firstStart }) =>
      diagnosticAt(
        file,
        text,
        { offset: start, length: end - start },
        {
          severity: "error",
          message: `The key "${key}" is given twice.`,
          hint: `Line ${lineOf(text, firstStart)} has it too; only the last one would count. Remove or rename one of them.`,
        },
      ),
    ),
  ];
  if (root === null) return { source: null, diagnostics };
  const { value } = root;
  if (!isRecord(value)) {
    return { source: null, diagnostics: [...diagnostics, rootError(file, text, value, jsonSpan(root))] };
  }
  const findSpan = (path: ConfigPath, target: "key" | "value") => findJsonSpan(root, path, target);
  const readWritten = (path: ConfigPath): string => {
    const { offset, length } = findSpan(path, "value");
    return text.slice(offset, offset + length);
  };
  const source = new ConfigSource({ file, text, format: "json", value, extras }, findSpan, readWritten);
  return { source, diagnostics };
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function jsonSpan(node: JsonNode): Span {
  return { offset: node.start, length: node.entries || node.items ? 1 : node.end - node.start };
}

function findJsonSpan(root: JsonNode, path: ConfigPath, target: "key" | "value"): Span {
  let node = root;
  let span = jsonSpan(root);
  for (const [index, part] of path.entries()) {
    const entry = node.entries?.get(String(part));
    const child = entry?.value ?? (typeof part === "number" ? node.items?.[part] : undefined);
    if (!child) return span;
    node = child;
    const onKey = entry && target === "key" && index === path.length - 1;
    span = onKey ? { offset: entry.keyStart, length: entry.keyEnd - entry.keyStart } : jsonSpan(child);
  }
  return span;
}

async function parseYamlFile(file: string, text: string): Promise<ParseResult> {
  const { parseYaml } = await import("./yaml.ts");
  const { value, usable, problems, findSpan, readWritten } = parseYaml(text);
  const diagnostics = problems.map((problem) => diagnosticAt(file, text, problem.span, problem));
  if (!usable) return { source: null, diagnostics };
  if (!isRecord(value)) {
    return { source: null, diagnostics: [...diagnostics, rootError(file, text, value, findSpan([], "value"))] };
  }
  const source = new ConfigSource({ file, text, format: "yaml", value, extras: [] }, findSpan, readWritten);
  return { source, diagnostics };
}

function rootError(file: string, text: string, value: unknown, span: Span): Diagnostic {
  const hint = isJson(file) ? EXAMPLE_JSON : EXAMPLE_YAML;
  if (value === null || value === undefined) {
    return diagnosticAt(file, text, span, { severity: "error", message: "The file is empty.", hint });
  }
  const kind = Array.isArray(value) ? "a list" : `a ${typeof value}`;
  const message = `${basename(file)} must hold an object with "graphs", not ${kind}.`;
  return diagnosticAt(file, text, span, { severity: "error", message, hint });
}
