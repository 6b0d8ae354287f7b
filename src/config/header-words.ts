// Names of headers and methods in the config that no request and no answer can have. In an answer such a one would make every answer an
// error; in a list to choose from it chooses nothing.
import { formatPath, isRecord } from "./source.ts";
import type { ConfigPath, ConfigSource } from "./source.ts";
import type { Diagnostic } from "./types.ts";

/** A name of a header, a method, or `*` (RFC 9110 §5.6.2). */
export const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const CHOICES = ["includes", "excludes", "include", "exclude"];

/** Errors for names that the server would send or look up, warnings for patterns that match nothing. */
export function checkHeaderWords(source: ConfigSource): Diagnostic[] {
  return [
    ...check(source, ["http", "cors", "allow_methods"], "error", "cannot be a method"),
    ...check(source, ["http", "cors", "allow_headers"], "error", "cannot be the name of a header"),
    ...check(source, ["http", "cors", "expose_headers"], "error", "cannot be the name of a header"),
    ...check(source, ["auth", "cache", "cache_keys"], "error", "cannot be the name of a header"),
    ...["configurable_headers", "logging_headers"].flatMap((key) =>
      CHOICES.flatMap((name) => check(source, ["http", key, name], "warning", "matches nothing")),
    ),
  ];
}

function check(source: ConfigSource, path: ConfigPath, severity: Diagnostic["severity"], what: string): Diagnostic[] {
  let list: unknown = source.value;
  for (const part of path) list = isRecord(list) ? list[part] : undefined;
  return (Array.isArray(list) ? list : []).flatMap((word: unknown, index) => {
    // Patterns are taken without the space around them.
    if (typeof word !== "string" || TOKEN.test(severity === "warning" ? word.trim() : word)) return [];
    const here = [...path, index];
    const message = `"${formatPath(here)}" ${what}: ${JSON.stringify(word)}.`;
    const hint = word.includes(",")
      ? "Write one item of the list for each name."
      : "Names have letters of ASCII, digits and -, _ or ., without spaces.";
    return [source.report(here, "value", { severity, message, hint })];
  });
}
