// Origins and domains that are spelled so that nothing will ever match them: no error, and yet no page may call and no webhook is sent.
import { formatPath, isRecord } from "./source.ts";
import type { ConfigPath, ConfigSource } from "./source.ts";
import type { Diagnostic } from "./types.ts";

interface Flaw {
  readonly message: string;
  readonly hint: string;
}

/** Warns about entries of `http.cors.allow_origins` and `webhooks.url.allowed_domains` that match nothing. */
export function checkHosts(source: ConfigSource): Diagnostic[] {
  return [
    ...check(source, ["http", "cors", "allow_origins"], originFlaw),
    ...check(source, ["webhooks", "url", "allowed_domains"], domainFlaw),
  ];
}

function check(source: ConfigSource, path: ConfigPath, flawOf: (text: string) => Flaw | undefined): Diagnostic[] {
  let list: unknown = source.value;
  for (const part of path) list = isRecord(list) ? list[part] : undefined;
  return (Array.isArray(list) ? list : []).flatMap((text: unknown, index) => {
    const flaw = typeof text === "string" ? flawOf(text) : undefined;
    if (flaw === undefined) return [];
    const here = [...path, index];
    const message = `"${formatPath(here)}" matches nothing: ${flaw.message}.`;
    return [source.report(here, "value", { severity: "warning", message, hint: flaw.hint })];
  });
}

function originFlaw(text: string): Flaw | undefined {
  if (text === "*" || text === "null") return undefined;
  if (text.includes("*")) {
    const hint = 'Use "http.cors.allow_origin_regex", such as "https://.*\\\\.example\\\\.com".';
    return { message: "an origin has no wildcards", hint };
  }
  if (!text.includes("://")) {
    // As browsers send it: without a path, and names of other alphabets in ASCII.
    const url = `https://${text.replace(/\/.*$/, "")}`;
    const name = URL.canParse(url) ? new URL(url).origin : "https://example.com";
    return { message: "an origin begins with http:// or https://", hint: `Write "${name}".` };
  }
  // Of schemes that are not the web's, such as those of extensions, the URL parser knows no origin.
  const { origin } = URL.canParse(text) ? new URL(text) : { origin: "null" };
  if (origin === text || (origin === "null" && /^[a-z][a-z\d+.-]*:\/\/[^/]+$/.test(text))) return undefined;
  const hint = origin === "null" ? "Write it as https://example.com." : `Write "${origin}".`;
  return { message: "an origin is a scheme, a host in lower case and a port that is not the usual one", hint };
}

function domainFlaw(text: string): Flaw | undefined {
  const bare = text.replace(/^\*\./, "");
  if (/[/:]/.test(bare.replace(/^\[.*\]$/, ""))) {
    const url = text.includes("://") ? text : `http://${text}`;
    const name = URL.canParse(url) ? new URL(url).hostname : "hooks.example.com";
    return { message: "a domain has neither scheme nor port nor path", hint: `Write "${name}".` };
  }
  if (bare !== "" && !bare.includes("*") && !/\s/.test(bare)) return undefined;
  return { message: "a wildcard stands for all names below a domain", hint: 'Write "*.example.com".' };
}
