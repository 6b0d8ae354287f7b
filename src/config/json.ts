// Says where and why a JSON text is broken, and where each key and value of a good one stands.
// JSON.parse stays the judge of what is valid: its messages differ between Node versions and rarely name the real mistake.
import { explainStrayText, explainWord } from "./json-reasons.ts";

/** Where one value stands: `start` and `end` are offsets; containers also know their children. */
export interface JsonNode {
  readonly start: number;
  readonly end: number;
  readonly entries?: ReadonlyMap<string, JsonEntry>;
  readonly items?: readonly JsonNode[];
}

/** One `"key": value` of an object. */
export interface JsonEntry {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly value: JsonNode;
}

/** A key that its object has already; the last one wins in JSON.parse, silently. */
export interface DuplicateKey {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly firstStart: number;
}

/** The first mistake in a text that is not JSON. */
export class JsonProblem extends Error {
  readonly offset: number;
  readonly length: number;
  readonly hint: string | undefined;
  constructor(message: string, offset: number, length = 1, hint?: string) {
    super(message);
    this.offset = offset;
    this.length = length;
    this.hint = hint;
  }
}

const MAX_DEPTH = 200;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[\p{L}_$][\p{L}\p{N}_$]*/uy;

/**
 * The positions of everything in `text`, and its duplicate keys.
 * @throws JsonProblem at the first mistake.
 */
export function scanJson(text: string): { root: JsonNode; duplicates: DuplicateKey[] } {
  const scanner = new Scanner(text);
  return { root: scanner.document(), duplicates: scanner.duplicates };
}

class Scanner {
  readonly duplicates: DuplicateKey[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): JsonNode {
    if (this.#text.trim() === "") {
      throw new JsonProblem(
        "The file is empty.",
        0,
        1,
        'Write at least { "graphs": { "agent": "./src/agent.ts:graph" } }',
      );
    }
    const root = this.#value(0);
    if (this.#peek() !== "") {
      throw new JsonProblem("There is text after the end of the config.", this.#at, 1, "Remove everything after it.");
    }
    return root;
  }

  /** The next character that is not white space; empty at the end. */
  #peek(): string {
    while (/[ \t\r\n]/.test(this.#text.charAt(this.#at))) this.#at++;
    const char = this.#text.charAt(this.#at);
    const problem = explainStrayText(this.#text, this.#at);
    if (problem) throw new JsonProblem(problem.message, this.#at, problem.length, problem.hint);
    return char;
  }

  #value(depth: number): JsonNode {
    const char = this.#peek();
    if (depth > MAX_DEPTH) throw new JsonProblem(`Nested deeper than ${MAX_DEPTH} levels.`, this.#at);
    if (char === "{") return this.#object(depth);
    if (char === "[") return this.#array(depth);
    if (char === '"') return this.#string();
    if (/[-+.\d]/.test(char)) return this.#number();
    const start = this.#at;
    const word = this.#match(WORD);
    if (word === "true" || word === "false" || word === "null") return { start, end: this.#at };
    if (word !== "") {
      const { message, hint } = explainWord(word);
      throw new JsonProblem(message, start, word.length, hint);
    }
    if (char === "") throw new JsonProblem("The file ends where a value is expected.", this.#lastText());
    if (/[,:\]}]/.test(char)) throw new JsonProblem(`A value is missing before "${char}".`, start);
    throw new JsonProblem(`"${char}" is not allowed here: a value is expected.`, start);
  }

  #object(depth: number): JsonNode {
    const start = this.#at++;
    const entries = new Map<string, JsonEntry>();
    let comma = -1;
    for (;;) {
      const char = this.#peek();
      if (char === "}" && comma < 0) break;
      this.#checkItem(char, start, comma, "}");
      if (char !== '"') this.#failKey();
      const keyNode = this.#string();
      const key = JSON.parse(this.#text.slice(keyNode.start, keyNode.end)) as string;
      const colon = this.#peek();
      if (colon !== ":") {
        throw new JsonProblem(
          colon === "=" ? 'A key is followed by ":", not "=".' : `A colon is missing after the key "${key}".`,
          colon === "=" ? this.#at : keyNode.end,
        );
      }
      this.#at++;
      const value = this.#value(depth + 1);
      const first = entries.get(key);
      if (first) this.duplicates.push({ key, start: keyNode.start, end: keyNode.end, firstStart: first.keyStart });
      entries.set(key, { keyStart: keyNode.start, keyEnd: keyNode.end, value });
      comma = this.#separator(value.end, start, "}");
      if (comma < 0) break;
    }
    return { start, end: ++this.#at, entries };
  }

  #array(depth: number): JsonNode {
    const start = this.#at++;
    const items: JsonNode[] = [];
    let comma = -1;
    for (;;) {
      const char = this.#peek();
      if (char === "]" && comma < 0) break;
      this.#checkItem(char, start, comma, "]");
      const item = this.#value(depth + 1);
      items.push(item);
      comma = this.#separator(item.end, start, "]");
      if (comma < 0) break;
    }
    return { start, end: ++this.#at, items };
  }

  /** Refuses what cannot begin an item of the container that opened at `open`. */
  #checkItem(char: string, open: number, comma: number, close: string): void {
    if (char === "") this.#failUnclosed(open);
    if (char === close) {
      throw new JsonProblem(`A comma before "${close}" is not allowed in JSON.`, comma, 1, "Remove the comma.");
    }
    if (char === ",") throw new JsonProblem("There is a comma too many.", this.#at, 1, "Remove the comma.");
  }

  /** Steps over a comma and gives its offset; -1 when the container closes here. */
  #separator(previousEnd: number, open: number, close: string): number {
    const char = this.#peek();
    if (char === ",") return this.#at++;
    if (char === close) return -1;
    if (char === "") this.#failUnclosed(open);
    if (char === "}" || char === "]") {
      throw new JsonProblem(`"${this.#text.charAt(open)}" is closed by "${char}"; "${close}" is expected.`, this.#at);
    }
    if (char === ";") throw new JsonProblem('Items are separated by ",", not ";".', this.#at);
    throw new JsonProblem("A comma is missing here.", previousEnd, 1, "Separate entries by commas.");
  }

  #string(): JsonNode {
    const start = this.#at++;
    for (;;) {
      const char = this.#text.charAt(this.#at);
      if (char === '"') return { start, end: ++this.#at };
      if (char === "" || char === "\n" || char === "\r") {
        throw new JsonProblem("The closing double quote is missing.", start, this.#at - start);
      }
      if (char < " ") {
        throw new JsonProblem(
          char === "\t"
            ? "A tab inside text must be written as \\t."
            : "A control character inside text is not allowed.",
          this.#at,
        );
      }
      if (char === "\\") {
        const escape = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
        const backslash = this.#at;
        if (this.#match(escape) === "") {
          const hint = "Write \\\\ for a backslash; in paths, / works everywhere.";
          throw new JsonProblem("A backslash cannot stand alone in JSON text.", backslash, 2, hint);
        }
      } else this.#at++;
    }
  }

  #number(): JsonNode {
    const start = this.#at;
    const matched = this.#match(NUMBER);
    const rest = this.#match(/[\w.+]+/y);
    if (matched === "" || rest !== "") {
      const length = Math.max(1, this.#at - start);
      throw new JsonProblem(`"${this.#text.slice(start, start + length)}" is not a JSON number.`, start, length);
    }
    return { start, end: this.#at };
  }

  #failKey(): never {
    const start = this.#at;
    const word = this.#match(WORD);
    if (word !== "") {
      throw new JsonProblem("Keys must be in double quotes.", start, word.length, `Write "${word}".`);
    }
    throw new JsonProblem("A key in double quotes is expected here.", start);
  }

  #failUnclosed(open: number): never {
    const char = this.#text.charAt(open);
    throw new JsonProblem(`"${char}" is never closed: a "${char === "{" ? "}" : "]"}" is missing.`, open);
  }

  /** The offset just after the last visible character: a place that a frame can show. */
  #lastText(): number {
    return this.#text.trimEnd().length;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }
}
