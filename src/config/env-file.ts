// Reads env files as dotenv does, which the LangGraph servers use.
// Not by util.parseEnv: on Node 20 a line without "=" swallows the variable after it, `\"` ends the value, and a tab before
// a name becomes part of it; what it makes of a file changes with the Node version, and it never says which line it did not understand.
import type { Span } from "./source.ts";

/** Variables, and what could not be understood. */
export interface EnvFile {
  readonly variables: Record<string, string>;
  /** The content with one kind of line end, which `problems` count in. */
  readonly text: string;
  readonly problems: readonly { readonly message: string; readonly span: Span }[];
}

const NAME = /[^\S\n]*(?:export[^\S\n]+)?([\w.-]+)[^\S\n]*=[^\S\n]*/y;
const QUOTED = /(?:"((?:\\[^]|[^"\\])*)"|'([^']*)'|`([^`]*)`)[^\S\n]*(?:#.*)?(?:\n|$)/y;
const REST = /([^#\n]*)(?:#.*)?(?:\n|$)/y;
const IGNORED = /[^\S\n]*(?:#.*)?\n|[^\S\n]*(?:#.*)?$/y;
const LINE = /.*(?:\n|$)/y;

/** Parses `NAME=value` lines: comments, `export`, quotes, values over several lines; `\n` in double quotes is a new line. */
export function parseEnvFile(content: string): EnvFile {
  const text = content.replace(/^\u{FEFF}/u, "").replace(/\r\n?/g, "\n");
  const variables = new Map<string, string>();
  const problems: { message: string; span: Span }[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    at += match?.[0].length ?? 0;
    return match;
  };
  while (at < text.length) {
    if (take(IGNORED)) continue;
    const lineEnd = text.indexOf("\n", at);
    const span = { offset: at, length: (lineEnd < 0 ? text.length : lineEnd) - at };
    const name = take(NAME)?.[1];
    if (name === undefined) {
      take(LINE);
      problems.push({ message: "This line is not NAME=value; it is ignored.", span });
      continue;
    }
    const quoted = take(QUOTED);
    const rest = quoted ? "" : (take(REST)?.[1]?.trim() ?? "");
    if (/^["'`]/.test(rest)) {
      const message = `The quote of ${name} is not closed, or text follows it; the quote is taken as part of the value.`;
      problems.push({ message, span });
    }
    variables.set(name, quoted ? unquote(quoted) : rest);
  }
  return { variables: Object.fromEntries(variables), text, problems };
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", '"': '"', "\\": "\\" };

function unquote([, double, single, backtick]: RegExpExecArray): string {
  if (double === undefined) return single ?? backtick ?? "";
  return double.replace(/\\([nr"\\])/g, (_, escaped: string) => ESCAPES[escaped] ?? escaped);
}
