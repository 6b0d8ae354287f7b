// Text for people: makes remote text safe for a terminal, lays out tables, shortens, and says sizes and times in words.

const CONTROL = /\p{Cc}/gu;

/** Replaces every control character but newline and tab: text from a model must not drive the terminal. */
export function plain(text: string): string {
  return text.replace(CONTROL, (character) => {
    if (character === "\n" || character === "\t") return character;
    if (character === "\r") return "";
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : unicodeEscape(character);
  });
}

/** Like {@link plain}, on one line and at most `max` characters long. */
export function oneLine(text: string, max = Number.POSITIVE_INFINITY): string {
  const line = plain(text).replace(/\s+/g, " ").trim();
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

/** JSON that is safe to print raw: JSON leaves DEL and the C1 controls as they are, and terminals act on them. */
export function toJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent) ?? "null";
  return text.replace(CONTROL, (character) => (character === "\n" ? character : unicodeEscape(character)));
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Rows under a heading, columns aligned, two spaces between them. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** `n thing` or `n things`. */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

/** `512 B`, `1.4 MB`. */
export function bytes(n: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = n;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** How long before `now` an ISO time was: `just now`, `5 min ago`, `3 days ago`; the text itself when it is no time. */
export function ago(iso: string, now: number): string {
  const time = Date.parse(iso);
  if (Number.isNaN(time)) return oneLine(iso);
  const minutes = Math.floor((now - time) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / (24 * 60))} days ago`;
}

/** One argument as a POSIX shell takes it. */
export function shellQuote(argument: string): string {
  if (/^[\w./:=@%+,-]+$/.test(argument)) return argument;
  return `'${argument.replaceAll("'", "'\\''")}'`;
}
