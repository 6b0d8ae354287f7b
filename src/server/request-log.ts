// One line per request, for `dev --log-requests`: what was asked, what was answered, how long it took, and the headers that the config
// (`http.logging_headers`) chooses. What may be a secret is never written out.
import type { ServerResponse } from "node:http";
import { isSecretHeader, isSecretParameter } from "../auth/secret-names.ts";
import type { HeaderFilter } from "../config/types.ts";
import { headerPattern } from "./configurable-headers.ts";
import { offered } from "./upgrade.ts";

/** A request that has been answered. */
export interface RequestLine {
  readonly method: string;
  /** With the query; values that may be secrets are `***`. */
  readonly path: string;
  readonly status: number;
  /** Until the last byte of the answer was sent, or the client went away. */
  readonly ms: number;
  /** Whether the client went away before it had everything. */
  readonly left: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

const HIDDEN = "***";

type Serve = (request: Request) => Response | Promise<Response>;

/** Tells of every request that `serve` answers. */
export function logged(serve: Serve, filter: HeaderFilter | undefined, tell: (line: RequestLine) => void): Serve {
  const shown = headersToShow(filter);
  return (request) => {
    const begun = performance.now();
    const { runtime } = request as { runtime?: { node?: { res?: ServerResponse } } };
    const res = runtime?.node?.res;
    const end = (status: number, left: boolean): void => {
      const { method, headers } = request;
      tell({ method, path: pathOf(request), status, ms: performance.now() - begun, left, headers: shown(headers) });
    };
    res?.once("close", () => end(res.statusCode, !res.writableFinished));
    const answer = serve(request);
    if (res !== undefined) return answer;
    // It came from this process itself, or asks for a WebSocket.
    void Promise.resolve(answer).then(({ status }) => end(offered(request) === undefined ? status : 101, false));
    return answer;
  };
}

function headersToShow(filter: HeaderFilter | undefined): (headers: Headers) => Record<string, string> {
  if (filter === undefined || filter.includes.length === 0) return () => ({});
  const included = headerPattern(filter.includes);
  const excluded = filter.excludes.length === 0 ? undefined : headerPattern(filter.excludes);
  return (headers) =>
    Object.fromEntries(
      [...headers]
        .filter(([name]) => included.test(name) && excluded?.test(name) !== true)
        .map(([name, value]) => [name, isSecretHeader(name) ? HIDDEN : value]),
    );
}

function pathOf({ url }: Request): string {
  const path = url.replace(/^[a-z]+:\/\/[^/?#]*/i, "");
  const query = path.indexOf("?");
  return query < 0
    ? path
    : `${path.slice(0, query + 1)}${path
        .slice(query + 1)
        .split("&")
        .map(masked)
        .join("&")}`;
}

/** A parameter without its value, if that may be a secret. */
function masked(parameter: string): string {
  const equals = parameter.indexOf("=");
  if (equals < 0 || !isSecretParameter(parameter.slice(0, equals))) return parameter;
  return `${parameter.slice(0, equals + 1)}${HIDDEN}`;
}
