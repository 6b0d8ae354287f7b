// Reads JSON as editors write it, with comments and trailing commas, and says where each key and value stands and everything that is wrong.
// JSON.parse would say one thing only, in words that differ between Node versions and rarely name the real mistake.
import { JsonEnd, JsonTokens } from "./json-tokens.ts";
import type { JsonProblem } from "./json-tokens.ts";
import type { Span } from "./source.ts";

/** One value: `start` and `end` are offsets; containers also know their children. */
export interface JsonNode {
  readonly start: number;
  readonly end: number;
  /** Undefined when nobody can tell what was meant. */
  readonly value: unknown;
  readonly entries?: ReadonlyMap<string, JsonEntry>;
  readonly items?: readonly JsonNode[];
}

/** One `"key": value` of an object. */
export interface JsonEntry {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly value: JsonNode;
}

/** A key that its object has already; the last one would win, silently. */
export interface DuplicateKey {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly firstStart: number;
}

/** What a text holds. */
export interface JsonScan {
  /** Null when the text cannot be read to its end; `problems` then says why. */
  readonly root: JsonNode | null;
  /** Mistakes, in the order of the text. With a root they are such that it is clear what was meant. */
  readonly problems: readonly JsonProblem[];
  readonly duplicates: readonly DuplicateKey[];
  /** Comments and trailing commas, which other readers of JSON may refuse. */
  readonly extras: readonly Span[];
}

const MAX_DEPTH = 200;

/** Reads `text`. */
export function scanJson(text: string): JsonScan {
  const scanner = new Scanner(text);
  const { problems, duplicates, extras } = scanner;
  try {
    return { root: scanner.document(), problems, duplicates, extras };
  } catch (error) {
    if (error instanceof JsonEnd) return { root: null, problems, duplicates, extras };
    throw error;
  }
}

class Scanner extends JsonTokens {
  readonly duplicates: DuplicateKey[] = [];

  document(): JsonNode {
    if (this.text.trim() === "") {
      this.fail("The file is empty.", 0, 1, 'Write at least { "graphs": { "agent": "./src/agent.ts:graph" } }');
    }
    const char = this.peek();
    if (/^[\w$-]+:(?:\s|$)/.test(this.text.slice(this.at, this.at + 100))) {
      const hint = "Give the file a name that ends in .yaml, or write it as JSON.";
      this.fail("This is YAML, and the file's name ends in .json.", this.at, 1, hint);
    }
    const root = this.#value(0);
    // Bare text at the root is no JSON with a mistake: what follows would only be noise.
    if (this.problems.length > 0 && !/[{["]/.test(char)) throw new JsonEnd();
    if (this.peek() !== "")
      this.mend("There is text after the end of the config.", this.at, 1, "Remove everything after it.");
    return root;
  }

  #value(depth: number): JsonNode {
    const char = this.peek();
    const start = this.at;
    if (depth > MAX_DEPTH) this.fail(`Nested deeper than ${MAX_DEPTH} levels.`, start);
    if (char === "{") return this.#object(depth);
    if (char === "[") return this.#array(depth);
    if (char === "") this.fail("The file ends where a value is expected.", this.text.trimEnd().length);
    if (/[,\]}]/.test(char)) {
      this.mend(`A value is missing before "${char}".`, start);
      return { start, end: start, value: undefined };
    }
    const scalar = this.scalar(char);
    if (scalar) return { start, end: this.at, value: scalar.value };
    return this.fail(`"${char}" is not allowed here: a value is expected.`, start);
  }

  #object(depth: number): JsonNode {
    const start = this.at++;
    const entries = new Map<string, JsonEntry>();
    const value: Record<string, unknown> = {};
    let comma = -1;
    do {
      const char = this.#item(start, comma, "}");
      if (char === "}") break;
      const { offset, length, value: key } = this.key(char);
      const keyEnd = offset + length;
      this.#colon(key, keyEnd);
      const child = this.#value(depth + 1);
      const first = entries.get(key);
      if (first) this.duplicates.push({ key, start: offset, end: keyEnd, firstStart: first.keyStart });
      entries.set(key, { keyStart: offset, keyEnd, value: child });
      // As JSON.parse does it: `__proto__` is a key like any other.
      if (child.value !== undefined)
        Object.defineProperty(value, key, {
          value: child.value,
          enumerable: true,
          configurable: true,
          writable: true,
        });
      comma = this.#separator(child.end, start, "}");
    } while (comma >= 0);
    return { start, end: ++this.at, value, entries };
  }

  #array(depth: number): JsonNode {
    const start = this.at++;
    const items: JsonNode[] = [];
    let comma = -1;
    do {
      if (this.#item(start, comma, "]") === "]") break;
      const item = this.#value(depth + 1);
      if (item.value !== undefined) items.push(item);
      comma = this.#separator(item.end, start, "]");
    } while (comma >= 0);
    return { start, end: ++this.at, value: items.map((item) => item.value), items };
  }

  /** The first character of the next item of the container that opened at `open`, or its end. */
  #item(open: number, comma: number, close: string): string {
    for (;;) {
      const char = this.peek();
      if (char === "") this.#failUnclosed(open);
      if (char === close && this.text.charAt(comma) === ",") this.extras.push({ offset: comma, length: 1 });
      if (char !== ",") return char;
      this.mend("There is a comma too many.", this.at++, 1, "Remove the comma.");
    }
  }

  #colon(key: string, keyEnd: number): void {
    const char = this.peek();
    if (char === ":") this.at++;
    else if (char === "=") this.mend('A key is followed by ":", not "=".', this.at++);
    else {
      const message = `A colon is missing after the key "${key}".`;
      if (char === "" || /[,\]}]/.test(char)) this.fail(message, keyEnd);
      this.mend(message, keyEnd);
    }
  }

  /** Steps over a comma and gives its offset; -1 when the container closes here. */
  #separator(previousEnd: number, open: number, close: string): number {
    const char = this.peek();
    if (char === ",") return this.at++;
    if (char === close) return -1;
    if (char === "") this.#failUnclosed(open);
    if (char === "}" || char === "]") {
      this.fail(`"${this.text.charAt(open)}" is closed by "${char}"; "${close}" is expected.`, this.at);
    }
    if (char === ";") {
      this.mend('Items are separated by ",", not ";".', this.at);
      return this.at++;
    }
    const message = "A comma is missing here.";
    const hint = "Separate entries by commas.";
    // Without a space it is rather a quote inside text, which would make nonsense of all that follows.
    const isItem = this.at > previousEnd && (close === "]" ? char !== ":" : this.isKey(char));
    if (!isItem) this.fail(message, previousEnd, 1, hint);
    this.mend(message, previousEnd, 1, hint);
    return previousEnd;
  }

  #failUnclosed(open: number): never {
    const char = this.text.charAt(open);
    return this.fail(`"${char}" is never closed: a "${char === "{" ? "}" : "]"}" is missing.`, open);
  }
}
