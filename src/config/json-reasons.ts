// The habits that people bring to JSON from JavaScript, Python, YAML and word processors, each with the plain answer.

interface Reason {
  readonly message: string;
  readonly length: number;
  readonly hint?: string;
}

/** Explains text that is never JSON wherever a token may begin; undefined when `text` at `offset` is not such a case. */
export function explainStrayText(text: string, offset: number): Reason | undefined {
  const char = text.charAt(offset);
  if (char === "/" || char === "#") {
    const length = lineLength(text, offset);
    const hint = 'Remove the comment, or use a "langgraph.yaml" instead: YAML has comments.';
    if (char === "#" || /[/*]/.test(text.charAt(offset + 1))) {
      return { message: "Comments are not allowed in JSON.", length, hint };
    }
  }
  if (char === "'" || char === "`") {
    const message = char === "'" ? "Single quotes are not allowed in JSON." : "Backticks are not allowed in JSON.";
    return { message, length: quotedLength(text, offset, char), hint: 'Use double quotes: "…".' };
  }
  if (/[\u{201C}\u{201D}\u{201E}\u{2018}\u{2019}]/u.test(char)) {
    return {
      message: "Typographic quotes are not allowed in JSON.",
      length: 1,
      hint: 'Use straight double quotes: "…".',
    };
  }
  if (/[\u{85}\p{Z}\u{200B}\u{FEFF}]/u.test(char) && char !== " ") {
    const code = char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    const hint = "Delete it; it often comes along with text that is copied from a web page.";
    return { message: `An invisible character (U+${code}) is not allowed in JSON.`, length: 1, hint };
  }
  if (/^(?:<{7}|={7}|>{7})/.test(text.slice(offset, offset + 7))) {
    const hint = "Resolve the conflict: keep one side and remove the markers.";
    return { message: "The file has an unresolved merge conflict.", length: lineLength(text, offset), hint };
  }
  return undefined;
}

/** Explains a bare word where a value is expected. */
export function explainWord(word: string): { message: string; hint: string } {
  const lower = word.toLowerCase();
  if (lower === "true" || lower === "false" || lower === "null") {
    return { message: `"${word}" must be in lower case.`, hint: `Write ${lower}.` };
  }
  if (word === "None" || word === "undefined") return { message: `JSON has no ${word}.`, hint: "Write null." };
  if (word === "NaN" || word === "Infinity") return { message: `JSON has no ${word}.`, hint: "Write a number." };
  return { message: "Text must be in double quotes.", hint: `Write "${word}".` };
}

function lineLength(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return text.slice(offset, end < 0 ? text.length : end).trimEnd().length;
}

function quotedLength(text: string, offset: number, quote: string): number {
  const end = text.indexOf(quote, offset + 1);
  return end < 0 || end - offset > lineLength(text, offset) ? 1 : end - offset + 1;
}
