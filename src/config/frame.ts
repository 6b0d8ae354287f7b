// Draws the lines around a place in a source text, as compilers do, so that a person sees the mistake without opening the file.
// A leaf without imports: config/ uses it for the config file, graphs/ for the user's modules.

const CONTEXT = 2;
const WIDTH = 100;

/** How to draw a frame. */
export interface FrameOptions {
  /** Characters to underline; never past the end of the line. */
  readonly length?: number;
}

/**
 * The lines around `line`:`column` (both count from 1) with a gutter, a `>` marker and `^` carets. No newline at the end.
 * @example
 *   1 | {
 * > 2 |   "grahps": {}
 *     |   ^^^^^^^^
 */
export function codeFrame(source: string, line: number, column: number, options: FrameOptions = {}): string {
  const lines = source.split("\n");
  const marked = clamp(line, 1, lines.length);
  const first = Math.max(1, marked - CONTEXT);
  const last = Math.min(lines.length, marked + CONTEXT);
  const gutter = String(last).length;
  const text = (lines[marked - 1] ?? "").replace(/\r$/, "");
  const start = clamp(column - 1, 0, text.length);
  const length = clamp(options.length ?? 1, 1, Math.max(1, text.length - start));
  // A minified file is one line of thousands of characters: show the part around the place only.
  const from = start + length <= WIDTH ? 0 : Math.max(0, start - WIDTH / 2);

  const out: string[] = [];
  for (let number = first; number <= last; number++) {
    const current = (lines[number - 1] ?? "").replace(/\r$/, "");
    const prefix = `${number === marked ? ">" : " "} ${String(number).padStart(gutter)} |`;
    if (number !== marked) {
      out.push(join(prefix, clip(current, 0)));
      continue;
    }
    out.push(join(prefix, clip(current, from)));
    const before = clip(current, from).slice(0, start - from + (from > 0 ? 1 : 0));
    const room = Math.max(1, Math.min(length, WIDTH - (start - from)));
    // Tabs stay tabs in the padding: then the carets stand below the text at any tab width.
    out.push(join(`  ${" ".repeat(gutter)} |`, before.replace(/[^\t]/g, " ") + "^".repeat(room)));
  }
  return out.join("\n");
}

function join(prefix: string, text: string): string {
  return text === "" ? prefix : `${prefix} ${text}`;
}

function clip(text: string, from: number): string {
  const part = text.slice(from, from + WIDTH);
  const shown = `${from > 0 && text.length > from ? "…" : ""}${part}${text.length > from + WIDTH ? "…" : ""}`;
  // A control character in the file must not reach the terminal as a command to it.
  return shown.replace(/(?!\t)\p{Cc}/gu, "\u{FFFD}");
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
