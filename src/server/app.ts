// The h3 application: routes with one error path, CORS, the Host check. It needs no socket: `app.fetch(request)` is the server.
import { H3, type H3Event } from "h3";
import type { HttpConfig } from "../config/types.ts";
import { ApiError } from "../errors.ts";
import { Context } from "./context.ts";
import { cors } from "./cors.ts";
import { fromOwnPage, hostAllowed } from "./host-check.ts";
import type { HttpMetrics } from "./http-metrics.ts";
import { pathTemplate, type Operation, type Route } from "./operation.ts";
import { Reply } from "./respond.ts";
import { offered, wantsSocket } from "./upgrade.ts";

export interface AppOptions {
  readonly http: HttpConfig;
  /** The address that the server is bound to, for the Host check. */
  readonly host: string;
  /** Told of errors that are ours. */
  readonly report: (error: unknown) => void;
  /** Where requests are counted. */
  readonly traffic: HttpMetrics;
}

export interface App {
  readonly route: Route;
  /** Everything that was registered, in that order. */
  readonly operations: readonly Operation[];
  fetch(request: Request): Response | Promise<Response>;
}

/** The spelling of thread paths in the platform's prose; an alias of `/threads/…`. */
const THREADS = /^\/threads\/:thread_id\//;

export function createApp({ http, host, report, traffic }: AppOptions): App {
  const policy = cors(http.cors);
  const reply = new Reply(policy.fixed, traffic);
  /** Counts an answer that no operation gave. */
  const countOther = traffic.counter("", "");
  const refuse = (error: unknown): Response => {
    const response = reply.error(error, report);
    countOther(response.status);
    return response;
  };
  const h3 = new H3({
    silent: true,
    // What handlers throw is answered in `run`; here arrive only h3's own errors, such as an unknown route.
    onError: (error, event) => {
      if (error.status === 404)
        return refuse(new ApiError(404, `Not found: ${event.req.method} ${event.url.pathname}`));
      return refuse(error.unhandled === true && error.cause !== undefined ? error.cause : error);
    },
  });

  const operations: Operation[] = [];
  const route: Route = (operation, handler) => {
    const { method, path } = operation;
    operations.push(operation);
    const count = traffic.counter(method, pathTemplate(path));
    const counted = (response: Response, request?: Request): Response => {
      // Where a WebSocket is offered, the answer for other requests is not sent.
      count(response.status === 426 && request !== undefined && offered(request) !== undefined ? 101 : response.status);
      return response;
    };
    const failed = (error: unknown): Response => counted(reply.error(error, report));
    const run = (event: H3Event): Response | Promise<Response> => {
      try {
        const answer = handler(new Context(event, operation, reply));
        return answer instanceof Promise
          ? answer.then((response) => counted(response), failed)
          : counted(answer, event.req);
      } catch (error) {
        return failed(error);
      }
    };
    h3.on(method, path, run);
    if (THREADS.test(path)) h3.on(method, path.replace("/threads/", "/thread/"), run);
  };

  const answer = (request: Request): Response | Promise<Response> => {
    if (!hostAllowed(request.headers.get("host"), host)) {
      const detail = `This server listens on ${host} and does not answer to the host name "${request.headers.get("host")}"`;
      return refuse(new ApiError(403, detail));
    }
    // A page may send simple requests without asking first, and open WebSockets; where origins are restricted, the others may not
    // start runs that way.
    if ((request.method !== "GET" && request.method !== "OPTIONS") || wantsSocket(request)) {
      const origin = request.headers.get("origin");
      if (!policy.allows(origin) && !fromOwnPage(origin, request.headers.get("host")))
        return refuse(new ApiError(403, `Origin ${origin} is not in http.cors.allow_origins`));
    }
    if (request.method === "OPTIONS" && request.headers.has("access-control-request-method")) {
      countOther(204);
      return policy.preflight(request);
    }
    return h3.fetch(request);
  };
  const { perRequest } = policy;
  const fetch: App["fetch"] =
    perRequest === undefined
      ? answer
      : async (request) => perRequest(request.headers.get("origin"), await answer(request));
  return { route, operations, fetch };
}
