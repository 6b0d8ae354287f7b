// The h3 application: routes with one error path, CORS, the Host check. It needs no socket: `app.fetch(request)` is the server.
import { H3, type H3Event } from "h3";
import type { HttpConfig } from "../config/types.ts";
import { ApiError } from "../errors.ts";
import { Context } from "./context.ts";
import { cors } from "./cors.ts";
import { hostAllowed } from "./host-check.ts";
import type { Operation, Route } from "./operation.ts";
import { Reply } from "./respond.ts";

export interface AppOptions {
  readonly http: HttpConfig;
  /** The address that the server is bound to, for the Host check. */
  readonly host: string;
  /** Told of errors that are ours. */
  readonly report: (error: unknown) => void;
}

export interface App {
  readonly route: Route;
  /** Everything that was registered, in that order. */
  readonly operations: readonly Operation[];
  fetch(request: Request): Response | Promise<Response>;
}

/** The spelling of thread paths in the platform's prose; an alias of `/threads/…`. */
const THREADS = /^\/threads\/:thread_id\//;

export function createApp({ http, host, report }: AppOptions): App {
  const policy = cors(http.cors);
  const reply = new Reply(policy.fixed);
  const h3 = new H3({
    silent: true,
    // What handlers throw is answered in `run`; here arrive only h3's own errors, such as an unknown route.
    onError: (error, event) => {
      if (error.status === 404)
        return reply.error(new ApiError(404, `Not found: ${event.req.method} ${event.url.pathname}`), report);
      return reply.error(error.unhandled === true && error.cause !== undefined ? error.cause : error, report);
    },
  });

  const operations: Operation[] = [];
  const route: Route = (operation, handler) => {
    const { method, path } = operation;
    operations.push(operation);
    const run = (event: H3Event): Response | Promise<Response> => {
      try {
        const answer = handler(new Context(event, operation, reply));
        return answer instanceof Promise ? answer.catch((error: unknown) => reply.error(error, report)) : answer;
      } catch (error) {
        return reply.error(error, report);
      }
    };
    h3.on(method, path, run);
    if (THREADS.test(path)) h3.on(method, path.replace("/threads/", "/thread/"), run);
  };

  const answer = (request: Request): Response | Promise<Response> => {
    if (!hostAllowed(request.headers.get("host"), host)) {
      const detail = `This server listens on ${host} and does not answer to the host name "${request.headers.get("host")}"`;
      return reply.error(new ApiError(403, detail), report);
    }
    // A page may send simple requests without asking first; where origins are restricted, the others may not start runs that way.
    if (request.method !== "GET" && request.method !== "OPTIONS" && !policy.allows(request.headers.get("origin"))) {
      return reply.error(
        new ApiError(403, `Origin ${request.headers.get("origin")} is not in http.cors.allow_origins`),
        report,
      );
    }
    if (request.method === "OPTIONS" && request.headers.has("access-control-request-method"))
      return policy.preflight(request);
    return h3.fetch(request);
  };
  const { perRequest } = policy;
  const fetch: App["fetch"] =
    perRequest === undefined
      ? answer
      : async (request) => perRequest(request.headers.get("origin"), await answer(request));
  return { route, operations, fetch };
}
