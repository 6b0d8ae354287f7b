// The paths of `store.index.fields` and of a put's `index`: which texts of a value are embedded. The language is that of LangGraph's
// own in-memory store, which is not reachable from outside that package.

/** A path taken apart; made once per field of the config. */
export type Path = readonly string[];

/**
 * Takes a path apart: `a.b`, `a[0]`, `a[-1]`, `a[*].b`, `*` for every member, `{a,b.c}` for several; `$` is the whole value.
 * @example parsePath("chapters[*].title") // ["chapters", "[*]", "title"]
 */
export function parsePath(path: string): Path {
  const tokens = path.match(/\[[^\]]*\]?|\{[^}]*\}?|[^.[{]+/g) ?? [];
  return tokens[0] === "$" ? tokens.slice(1) : tokens;
}

/**
 * The texts at a path. A list or object at its end counts as one text: its JSON, indented by two. What is missing, null or blank
 * gives none.
 */
export function textsAt(value: unknown, path: Path): string[] {
  const [token, ...rest] = path;
  if (token === undefined) return leaf(value);
  if (typeof value !== "object" || value === null) return [];
  if (token.startsWith("{")) {
    const parts = token.slice(1).replace(/\}$/, "").split(",");
    return parts.flatMap((part) => (part.trim() === "" ? [] : textsAt(value, [...parsePath(part.trim()), ...rest])));
  }
  if (token === "*") return Object.values(value).flatMap((member) => textsAt(member, rest));
  if (!token.startsWith("[")) return Object.hasOwn(value, token) ? textsAt(at(value, token), rest) : [];
  if (!Array.isArray(value)) return [];
  const index = token.slice(1).replace(/\]$/, "");
  if (index === "*") return value.flatMap((member) => textsAt(member, rest));
  return /^-?\d+$/.test(index) ? textsAt(value.at(Number(index)), rest) : [];
}

function at(value: object, key: string): unknown {
  return (value as Record<string, unknown>)[key];
}

// Providers refuse blank texts, and a blank text is like no other.
function leaf(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  const text = typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
  return text.trim() === "" ? [] : [text];
}
