// The words of a JSON text: white space and comments, strings, numbers. What is wrong with one is noted and, where it is clear what was meant,
// read as that, so that one reading finds every mistake.
import { explainQuote, explainStrayText, explainWord } from "./json-reasons.ts";
import type { Problem, Span } from "./source.ts";

/** One mistake in a text. */
export interface JsonProblem extends Omit<Problem, "severity"> {
  readonly span: Span;
}

/** A value without parts. `value` is undefined when nobody can tell what was meant. */
export interface JsonScalar extends Span {
  readonly value: unknown;
}

/** Nothing behind this place can be read. */
export class JsonEnd extends Error {}

/** More than this is no JSON with mistakes but something else. */
const MAX_PROBLEMS = 10;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const BARE = /[\p{L}_$.~/][^\s,;[\]{}"'`]*/uy;
const KEY = /[\p{L}_$][\p{L}\p{N}_$.-]*/uy;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

export class JsonTokens {
  readonly problems: JsonProblem[] = [];
  /** Comments and trailing commas. */
  readonly extras: Span[] = [];
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** Notes a mistake of which it is clear what was meant. */
  mend(message: string, offset: number, length = 1, hint?: string): void {
    this.problems.push({ message, span: { offset, length }, ...(hint === undefined ? {} : { hint }) });
    if (this.problems.length >= MAX_PROBLEMS) throw new JsonEnd();
  }

  /** Notes a mistake that ends the reading. */
  fail(message: string, offset: number, length = 1, hint?: string): never {
    this.mend(message, offset, length, hint);
    throw new JsonEnd();
  }

  /** The next character that is neither white space nor comment; empty at the end. */
  peek(): string {
    for (;;) {
      while (/[ \t\r\n]/.test(this.text.charAt(this.at))) this.at++;
      if (this.#comment()) continue;
      const stray = explainStrayText(this.text, this.at);
      if (!stray) return this.text.charAt(this.at);
      const { message, length, hint, skip } = stray;
      if (!skip) this.fail(message, this.at, length, hint);
      this.mend(message, this.at, length, hint);
      this.at += length;
    }
  }

  /** Whether a key may begin with `char`. */
  isKey(char: string): boolean {
    return char === '"' || explainQuote(char) !== undefined || /[\p{L}_$]/u.test(char);
  }

  /** The key that begins with `char` at this place. */
  key(char: string): JsonScalar & { readonly value: string } {
    if (char === '"') return this.#string();
    const quoted = this.#oddString(char);
    if (quoted) return quoted;
    const offset = this.at;
    const word = this.#match(KEY);
    if (word === "") this.fail("A key in double quotes is expected here.", offset);
    this.mend("Keys must be in double quotes.", offset, word.length, `Write "${word}".`);
    return { offset, length: word.length, value: word };
  }

  /** The value without parts that begins with `char` at this place; undefined when none does. */
  scalar(char: string): JsonScalar | undefined {
    if (char === '"') return this.#string();
    const quoted = this.#oddString(char);
    if (quoted) return quoted;
    if (/^[-+]?\.?\d/.test(this.text.slice(this.at, this.at + 3)) || char === "-" || char === "+")
      return this.#number();
    const offset = this.at;
    const word = this.#match(BARE);
    if (word === "") return undefined;
    const span = { offset, length: word.length };
    if (word === "null") return { ...span, value: null };
    if (word === "true" || word === "false") return { ...span, value: word === "true" };
    const { message, hint, value } = explainWord(word);
    this.mend(message, offset, word.length, hint);
    return { ...span, value };
  }

  #comment(): boolean {
    const kind = this.text.slice(this.at, this.at + 2);
    if (kind !== "//" && kind !== "/*") return false;
    const offset = this.at;
    const close = this.text.indexOf(kind === "//" ? "\n" : "*/", offset + 2);
    if (close < 0 && kind === "/*") this.fail("The comment is never closed: */ is missing.", offset, 2);
    this.at = close < 0 ? this.text.length : close + (kind === "//" ? 0 : 2);
    this.extras.push({ offset, length: this.text.slice(offset, this.at).trimEnd().length });
    return true;
  }

  #string(): JsonScalar & { readonly value: string } {
    const offset = this.at++;
    // As it should have been written; differs from the text behind a mistake.
    let written = "";
    let from = offset;
    const replace = (replacement: string): void => {
      written += this.text.slice(from, this.at) + replacement;
      from = ++this.at;
    };
    for (;;) {
      const char = this.text.charAt(this.at);
      if (char === '"') break;
      if (char === "" || char === "\n" || char === "\r")
        this.fail("The closing double quote is missing.", offset, this.at - offset);
      const isFirst = from === offset;
      if (char < " ") {
        if (isFirst) this.mend(controlCharacter(char), this.at);
        replace(JSON.stringify(char).slice(1, -1));
      } else if (char === "\\" && this.#match(ESCAPE) === "") {
        const hint = "Write \\\\ for a backslash; in paths, / works everywhere.";
        if (isFirst) this.mend("A backslash cannot stand alone in JSON text.", this.at, 2, hint);
        replace("\\\\");
      } else if (char !== "\\") this.at++;
    }
    this.at++;
    const value = JSON.parse(written + this.text.slice(from, this.at)) as string;
    return { offset, length: this.at - offset, value };
  }

  #oddString(char: string): (JsonScalar & { readonly value: string }) | undefined {
    const quote = explainQuote(char);
    if (!quote) return undefined;
    const { message, hint, close, whole } = quote;
    const offset = this.at;
    const line = this.text.slice(offset, /\n|$/.exec(this.text.slice(offset))!.index + offset);
    close.lastIndex = 1;
    const end = close.exec(line)?.index;
    if (end === undefined) this.fail(message, offset, 1, hint);
    this.mend(message, offset, whole ? end + 1 : 1, hint);
    this.at = offset + end + 1;
    return { offset, length: end + 1, value: line.slice(1, end) };
  }

  #number(): JsonScalar {
    const offset = this.at;
    const matched = this.#match(NUMBER);
    const rest = this.#match(/[\w.+:-]+/y);
    const length = Math.max(1, this.at - offset);
    const written = this.text.slice(offset, offset + length);
    if (matched !== "" && rest === "") return { offset, length, value: Number(written) };
    const number = Number(written);
    const meant = Number.isFinite(number) ? String(number) : JSON.stringify(written);
    this.mend(`"${written}" is not a JSON number.`, offset, length, `Write ${meant}.`);
    this.at = offset + length;
    return { offset, length, value: Number.isFinite(number) ? number : written };
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? "";
    this.at += found.length;
    return found;
  }
}

function controlCharacter(char: string): string {
  return char === "\t"
    ? "A tab inside text must be written as \\t."
    : "A control character inside text is not allowed.";
}
