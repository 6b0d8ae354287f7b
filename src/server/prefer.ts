// The Prefer header (RFC 7240): what a client would like, beside what it asks for.

/** Whether the header asks for `name=value`. Case and quotes do not matter; of several values of a name the first one counts. */
export function prefers(header: string | null, name: string, value: string): boolean {
  for (const part of (header ?? "").split(",")) {
    // Parameters of a preference come behind a semicolon; nobody here knows any.
    const [preference = ""] = part.split(";", 1);
    const equals = preference.indexOf("=");
    if (equals < 0 || preference.slice(0, equals).trim().toLowerCase() !== name) continue;
    return (
      preference
        .slice(equals + 1)
        .trim()
        .replaceAll('"', "")
        .toLowerCase() === value
    );
  }
  return false;
}
