// Request headers for graphs (wire-api §3.12): which of them `http.configurable_headers` copies into the configurable of a run.
import type { HeaderFilter } from "../config/types.ts";
import type { Json } from "../resources/json.ts";

/** Credentials, and names that LangGraph or the server give a meaning to: never copied, whatever the config says. */
const NEVER =
  "authorization cookie proxy-authorization x-api-key x-service-key x-tenant-id __* checkpoint_* langgraph_*".split(
    " ",
  );

/** Picks the headers of a request; undefined when there are none to pick. */
export type HeaderPicker = (headers: Headers) => Json | undefined;

/** The picker for a config. Header names are in lower case in what it gives. */
export function headerPicker(filter: HeaderFilter | undefined): HeaderPicker {
  if (filter === undefined || filter.includes.length === 0) return () => undefined;
  const included = headerPattern(filter.includes);
  const excluded = headerPattern([...NEVER, ...filter.excludes]);
  return (headers) => {
    const picked = [...headers].filter(([name]) => included.test(name) && !excluded.test(name));
    return picked.length === 0 ? undefined : Object.fromEntries(picked);
  };
}

/** Matches names of headers; `*` stands for any characters. */
export function headerPattern(names: readonly string[]): RegExp {
  const one = (name: string): string => name.trim().split("*").map(escape).join(".*");
  return new RegExp(`^(?:${names.map(one).join("|")})$`, "i");
}

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
