// The habits that people bring to JSON from JavaScript, Python, YAML and word processors, each with the plain answer.

interface Reason {
  readonly message: string;
  readonly length: number;
  readonly hint?: string;
  /** Whether what follows can be read as if it were not there. */
  readonly skip: boolean;
}

/** Explains text that has no place wherever a token may begin; undefined when `text` at `offset` is not such a case. */
export function explainStrayText(text: string, offset: number): Reason | undefined {
  const char = text.charAt(offset);
  if (char === "#") {
    const message = "A comment in JSON begins with // and not with #.";
    return { message, length: lineLength(text, offset), hint: "Write //, or remove the comment.", skip: true };
  }
  if (/[\u{85}\p{Z}\u{200B}\u{FEFF}]/u.test(char) && char !== " ") {
    const code = char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    const hint = "Delete it; it often comes along with text that is copied from a web page.";
    return { message: `An invisible character (U+${code}) is not allowed in JSON.`, length: 1, hint, skip: true };
  }
  if (/^(?:<{7}|={7}|>{7})/.test(text.slice(offset, offset + 7))) {
    const message = "The file has an unresolved merge conflict.";
    const hint = "Resolve the conflict: keep one side and remove the markers.";
    return { message, length: lineLength(text, offset), hint, skip: false };
  }
  return undefined;
}

/** Quotes that are none in JSON, and where the text in them ends. */
export interface OddQuote {
  readonly message: string;
  readonly hint: string;
  readonly close: RegExp;
  /** Whether the problem is the whole of the quoted text, or only its first character. */
  readonly whole: boolean;
}

/** Explains quotes of another language; undefined when `char` is none. */
export function explainQuote(char: string): OddQuote | undefined {
  const hint = 'Use double quotes: "…".';
  if (char === "'") return { message: "Single quotes are not allowed in JSON.", hint, close: /'/g, whole: true };
  if (char === "`") return { message: "Backticks are not allowed in JSON.", hint, close: /`/g, whole: true };
  if (!/[\u{201C}\u{201D}\u{201E}\u{2018}\u{2019}]/u.test(char)) return undefined;
  return {
    message: "Typographic quotes are not allowed in JSON.",
    hint: 'Use straight double quotes: "…".',
    close: /["\u{201C}\u{201D}\u{2018}\u{2019}]/gu,
    whole: false,
  };
}

/** Explains bare text where a value is expected, and says what it was meant to be. */
export function explainWord(word: string): { message: string; hint: string; value: unknown } {
  const lower = word.toLowerCase();
  if (lower === "true" || lower === "false" || lower === "null") {
    const value = lower === "null" ? null : lower === "true";
    return { message: `"${word}" must be in lower case.`, hint: `Write ${lower}.`, value };
  }
  if (word === "None" || word === "undefined")
    return { message: `JSON has no ${word}.`, hint: "Write null.", value: null };
  if (word === "NaN" || word === "Infinity")
    return { message: `JSON has no ${word}.`, hint: "Write a number.", value: undefined };
  return { message: "Text must be in double quotes.", hint: `Write ${JSON.stringify(word)}.`, value: word };
}

function lineLength(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return text.slice(offset, end < 0 ? text.length : end).trimEnd().length;
}
