// Parses the YAML form of the config. Loaded only when the file is YAML: the library takes 20 ms that JSON users need not wait.
import { isAlias, isCollection, isMap, isScalar, isSeq, parseDocument, visit } from "yaml";
import type { Document, Node } from "yaml";
import type { ConfigPath, FindSpan, Problem, ReadWritten, Span } from "./source.ts";

/** One problem that the parser found. */
export interface YamlProblem extends Problem {
  readonly span: Span;
}

/** The value, its positions and every problem. `usable` is false when the value must not be trusted. */
export interface YamlResult {
  readonly value: unknown;
  readonly usable: boolean;
  readonly problems: readonly YamlProblem[];
  readonly findSpan: FindSpan;
  readonly readWritten: ReadWritten;
}

/** Plainer words for the parser's commonest errors. */
const EXPLAINED: Readonly<Record<string, { message?: string; hint: string }>> = {
  TAB_AS_INDENT: { message: "Tabs are not allowed as indentation.", hint: "Indent with spaces." },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'A value must not have a ": " of its own.',
    hint: "Put text with a colon and a space in quotes, or start a new line.",
  },
  MULTILINE_IMPLICIT_KEY: { hint: "A key is written as key: value on one line; check the colon and the indentation." },
  BAD_DQ_ESCAPE: { hint: "In double quotes a backslash is written \\\\; in paths, / works everywhere." },
  BAD_SCALAR_START: { hint: "Text that starts with @, ` or % must be in quotes." },
  BAD_INDENT: { hint: "Keys of one level start in the same column; every { and [ needs its } and ]." },
  MULTIPLE_DOCS: {
    message: "The file has more than one YAML document.",
    hint: "Remove the --- line and what follows it.",
  },
};

/** Errors behind which the parser leaves the value that was meant, so that the rest can still be checked. */
const MENDED: readonly string[] = ["DUPLICATE_KEY", "BAD_SCALAR_START", "BAD_DQ_ESCAPE", "MULTIPLE_DOCS"];

/** Parses YAML 1.2. */
export function parseYaml(text: string): YamlResult {
  const document = parseText(text);
  if (!document.errors.some(({ code }) => code === "TAB_AS_INDENT")) return resultOf(text, document);
  // Of the same length, so that every place stays where it is.
  const spaced = resultOf(text, parseText(text.replace(/^[ \t]+/gm, (indent) => " ".repeat(indent.length))));
  const tabs = [...text.matchAll(/^ *\t[ \t]*(?=[^\s#])/gm)].map(({ index, 0: indent }) => {
    const start = index + indent.indexOf("\t");
    return explain(text, "TAB_AS_INDENT", "", [start, index + indent.length], "error");
  });
  // What is wrong with a guess at the indentation is not the user's mistake.
  return spaced.usable ? { ...spaced, problems: [...tabs, ...spaced.problems] } : resultOf(text, document);
}

function parseText(text: string): Document {
  const document = parseDocument(text, { prettyErrors: false, logLevel: "error" });
  visit(document, {
    // Keys are names, also those that look like numbers: 1.10 is not 1.1.
    Pair(_, { key }) {
      if (isScalar(key) && ["number", "boolean"].includes(typeof key.value)) key.value = key.source ?? key.value;
    },
  });
  return document;
}

function resultOf(text: string, document: Document): YamlResult {
  const problems = document.errors.map((error) => explain(text, error.code, error.message, error.pos, "error"));
  problems.push(...document.warnings.map((w) => explain(text, w.code, w.message, w.pos, "warning")));
  const aliases = unresolvedAliases(document);
  problems.push(...aliases);

  let usable = document.errors.every(({ code }) => MENDED.includes(code)) && aliases.length === 0;
  let value: unknown;
  try {
    if (usable) value = document.toJS();
  } catch (error) {
    // So many aliases that the value would fill the memory: only found here.
    usable = false;
    const message = error instanceof Error ? error.message : String(error);
    problems.push({ severity: "error", message: sentence(message), span: { offset: 0, length: 1 } });
  }
  return {
    value,
    usable,
    problems,
    findSpan: (path, target) => findSpan(document, path, target),
    readWritten: (path) => readWritten(document, path),
  };
}

function readWritten(document: Document, path: ConfigPath): string | undefined {
  const resolved = (node: unknown): unknown => (isAlias(node) ? node.resolve(document) : node);
  let node = resolved(document.contents);
  for (const part of path) {
    const pair = isMap(node)
      ? node.items.findLast(({ key }) => isScalar(key) && String(key.value) === part)
      : undefined;
    node = resolved(pair?.value);
  }
  return isScalar(node) ? node.source : undefined;
}

function unresolvedAliases(document: Document): YamlProblem[] {
  const problems: YamlProblem[] = [];
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document)) return;
      const message = `There is no anchor &${alias.source} before *${alias.source}.`;
      const span = spanOf(alias) ?? { offset: 0, length: 1 };
      problems.push({ severity: "error", message, span, hint: "Text that starts with * must be in quotes." });
    },
  });
  return problems;
}

function explain(
  text: string,
  code: string,
  message: string,
  [start, end]: readonly [number, number],
  severity: "error" | "warning",
): YamlProblem {
  // Some errors point at the end of the input; the frame must have a visible place.
  const offset = Math.min(start, text.trimEnd().length);
  const span = { offset, length: Math.max(1, end - offset) };
  if (code !== "DUPLICATE_KEY") {
    const explained = EXPLAINED[code];
    return { severity, message: explained?.message ?? sentence(message), span, hint: explained?.hint };
  }
  const key = /^[^\s:,}]+/.exec(text.slice(start))?.[0] ?? "";
  const duplicate = `The key "${key.replace(/^(["'])(.*)\1$/, "$2")}" is given twice.`;
  const hint = "Only the last one would count. Remove or rename one of them.";
  return { severity, message: duplicate, hint, span: { offset, length: Math.max(1, key.length) } };
}

function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

function findSpan(document: Document, path: ConfigPath, target: "key" | "value"): Span {
  let node: unknown = document.contents;
  let span = spanOf(node) ?? { offset: 0, length: 1 };
  for (const [index, part] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.findLast((item) => isScalar(item.key) && String(item.key.value) === String(part));
      if (!pair) return span;
      const keySpan = spanOf(pair.key) ?? span;
      node = pair.value;
      // A block collection starts at its first child, an empty value nowhere: the key is the better place for both.
      const onKey = target === "key" && index === path.length - 1;
      const hasPlace = !(isCollection(node) && !node.flow) && !(isScalar(node) && node.source === "");
      span = onKey || !hasPlace ? keySpan : (spanOf(node) ?? keySpan);
    } else if (isSeq(node) && typeof part === "number" && part < node.items.length) {
      node = node.items[part];
      span = spanOf(node) ?? span;
    } else return span;
  }
  return span;
}

function spanOf(node: unknown): Span | undefined {
  const range = (node as Node | null | undefined)?.range;
  if (!range) return undefined;
  return { offset: range[0], length: isCollection(node) ? 1 : Math.max(1, range[1] - range[0]) };
}
