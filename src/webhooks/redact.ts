// Keeps what was sent in headers out of what is stored of answers: a receiver may send back what it got.

/** Secrets that are this short would take half of every text with them; a text that has one is not shown at all. */
const SHORT = 4;
const NOT_SHOWN = "(not shown: it holds a header value)";

/**
 * A text without secrets.
 * @param secrets the longest first: one may be a part of another.
 */
export function redact(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) {
    if (secret === "") continue;
    // As it is, and as it stands in JSON.
    for (const form of new Set([secret, JSON.stringify(secret).slice(1, -1)])) {
      if (form.length >= SHORT) shown = shown.replaceAll(form, "***");
      else if (shown.includes(form)) return NOT_SHOWN;
    }
  }
  return shown;
}
