// A config file that has been parsed: its value, and where each part of it stands, so that every later check can point at the file.
import { codeFrame } from "./frame.ts";
import type { Diagnostic, SourceLocation } from "./types.ts";

/** Keys and indexes from the root to a value. */
export type ConfigPath = readonly (string | number)[];

/** A part of the text, in offsets. */
export interface Span {
  readonly offset: number;
  readonly length: number;
}

/** Finds the part of the text for a path; for one that does not exist, that of the nearest parent. */
export type FindSpan = (path: ConfigPath, target: "key" | "value") => Span;

/** The text of a value without parts as the file has it; undefined for a path that has none. */
export type ReadWritten = (path: ConfigPath) => string | undefined;

/** What to say at a place. */
export interface Problem {
  readonly severity: Diagnostic["severity"];
  readonly message: string;
  readonly hint?: string | undefined;
}

/** A parsed config file. */
export class ConfigSource {
  readonly file: string;
  readonly text: string;
  readonly format: "json" | "yaml";
  readonly value: Readonly<Record<string, unknown>>;
  /** Comments and trailing commas of a JSON file. */
  readonly extras: readonly Span[];
  readonly #findSpan: FindSpan;
  readonly #readWritten: ReadWritten;
  #variableOf: (path: ConfigPath) => string | undefined = () => undefined;

  constructor(
    parts: {
      file: string;
      text: string;
      format: "json" | "yaml";
      value: Record<string, unknown>;
      extras: readonly Span[];
    },
    findSpan: FindSpan,
    readWritten: ReadWritten,
  ) {
    this.file = parts.file;
    this.text = parts.text;
    this.format = parts.format;
    this.value = parts.value;
    this.extras = parts.extras;
    this.#findSpan = findSpan;
    this.#readWritten = readWritten;
  }

  /**
   * The same file with a value of which environment variables gave a part.
   * @param variableOf the name of the variable that gave what is at a path; undefined for what the file gave.
   */
  overlaid(value: Record<string, unknown>, variableOf: (path: ConfigPath) => string | undefined): ConfigSource {
    const { file, text, format, extras } = this;
    const source = new ConfigSource({ file, text, format, value, extras }, this.#findSpan, this.#readWritten);
    source.#variableOf = variableOf;
    return source;
  }

  /** The number or the word at `path` as the file has it: `1.10`, of which its value is 1.1. */
  written(path: ConfigPath): string {
    return this.#readWritten(path) ?? "";
  }

  /** Where the key or the value at `path` stands; for a path that does not exist, its nearest parent. */
  locate(path: ConfigPath, target: "key" | "value"): SourceLocation {
    const variable = this.#variableOf(path);
    if (variable !== undefined) return { file: `$${variable}`, line: 1, column: 1 };
    return locationAt(this.file, this.text, this.#findSpan(path, target).offset);
  }

  /** A diagnostic that points at the key or the value at `path`. */
  report(path: ConfigPath, target: "key" | "value", problem: Problem): Diagnostic {
    const variable = this.#variableOf(path);
    if (variable !== undefined) {
      const { severity, message, hint } = problem;
      return { severity, message: `${variable}: ${message}`, ...(hint === undefined ? {} : { hint }) };
    }
    return diagnosticAt(this.file, this.text, this.#findSpan(path, target), problem);
  }
}

/** A diagnostic that points at `span` of `text`. */
export function diagnosticAt(file: string, text: string, span: Span, problem: Problem): Diagnostic {
  const location = locationAt(file, text, span.offset);
  return {
    severity: problem.severity,
    message: problem.message,
    location,
    frame: codeFrame(text, location.line, location.column, { length: span.length }),
    ...(problem.hint === undefined ? {} : { hint: problem.hint }),
  };
}

function locationAt(file: string, text: string, offset: number): SourceLocation {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { file, line: before.split("\n").length, column: offset - lineStart + 1 };
}

/** Whether `value` is a plain `{…}`: neither null nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A path as people write it: `http.cors.allow_origins[0]`. */
export function formatPath(path: ConfigPath): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[\w$-]+$/.test(part)) text += text === "" ? part : `.${part}`;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text;
}
