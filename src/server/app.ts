// The h3 application: routes with one error path, CORS, the Host check. It needs no socket: `app.fetch(request)` is the server.
import { H3, type H3Event } from "h3";
import { FastResponse } from "srvx";
import type { HttpConfig } from "../config/types.ts";
import { ApiError } from "../errors.ts";
import { Context } from "./context.ts";
import { cors } from "./cors.ts";
import type { CustomApp } from "./custom-app.ts";
import type { Guard } from "./guard.ts";
import { leftOut, mayChange, pageOf } from "./foreign-page.ts";
import { fromOwnPage, hostAllowed } from "./host-check.ts";
import type { HttpMetrics } from "./http-metrics.ts";
import { oversize } from "./limits.ts";
import { pathTemplate, type Operation, type Route } from "./operation.ts";
import { requestId } from "./request-id.ts";
import { logged, type RequestLine } from "./request-log.ts";
import { Reply } from "./respond.ts";
import { offered } from "./upgrade.ts";

export interface AppOptions {
  readonly http: HttpConfig;
  /** The address that the server is bound to, for the Host check. */
  readonly host: string;
  /** Told of errors that are ours. */
  readonly report: (error: unknown) => void;
  /** Where requests are counted. */
  readonly traffic: HttpMetrics;
  /** Bytes that a request body may have. */
  readonly maxBodyBytes: number;
  /** The project's own routes and middleware, which are asked first. */
  readonly customApp?: CustomApp | undefined;
  /** Who keeps out those that may not come in; everybody may without one. */
  readonly guard?: Guard | undefined;
  /** Told of every request; nothing is when absent. */
  readonly log?: ((line: RequestLine) => void) | undefined;
}

export interface App {
  readonly route: Route;
  /** Everything that was registered, in that order. */
  readonly operations: readonly Operation[];
  fetch(request: Request): Response | Promise<Response>;
}

/** The spelling of thread paths in the platform's prose; an alias of `/threads/…`. */
const THREADS = /^\/threads\/:thread_id\//;

export function createApp({ http, host, report, traffic, maxBodyBytes, customApp, guard, log }: AppOptions): App {
  const { mount_prefix: prefix = "" } = http;
  const policy = cors(http.cors);
  const replyTo = ({ headers, method }: Request): Reply =>
    new Reply(policy.fixed, traffic, requestId(headers), method === "HEAD");
  /** Counts an answer that no operation gave. */
  const countOther = traffic.counter("", "");
  const refuse = (request: Request, error: unknown): Response => {
    const response = replyTo(request).error(error, report);
    countOther(response.status);
    return response;
  };
  /** Answers to what is no path of this server. */
  const unknown = new WeakSet<Response>();
  const h3 = new H3({
    silent: true,
    // What handlers throw is answered in `run`; here arrive only h3's own errors, such as an unknown route.
    onError: (thrown, event) => {
      if (thrown.status !== 404)
        return refuse(event.req, thrown.unhandled === true && thrown.cause !== undefined ? thrown.cause : thrown);
      const { pathname } = event.url;
      const outside = prefix !== "" && !`${pathname}/`.startsWith(`${prefix}/`);
      const hint = outside ? `; all paths of this server begin with ${prefix}` : "";
      const answer = (reason: unknown): Response => {
        const refusal = refuse(event.req, reason);
        const { status, headers } = refusal;
        // h3 would take the body away from an answer to HEAD, and make another answer of it.
        const response = event.req.method === "HEAD" ? new FastResponse(null, { status, headers }) : refusal;
        unknown.add(response);
        return response;
      };
      const missing = (): Response => answer(new ApiError(404, `Not found: ${event.req.method} ${pathname}${hint}`));
      // Who may not come in learns not even what there is not.
      return guard === undefined ? missing() : guard.enter(event.req).then(missing, answer);
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
    const admitted = guard === undefined ? handler : guard.over(operation, handler);
    const run = (event: H3Event): Response | Promise<Response> => {
      const reply = replyTo(event.req);
      const failed = (error: unknown): Response => counted(reply.error(error, report));
      try {
        const answer = admitted(new Context(event, operation, reply));
        return answer instanceof Promise
          ? answer.then((response) => counted(response, event.req), failed)
          : counted(answer, event.req);
      } catch (error) {
        return failed(error);
      }
    };
    h3.on(method, prefix + path, run);
    if (THREADS.test(path)) h3.on(method, prefix + path.replace("/threads/", "/thread/"), run);
    // Probes are set up once for all servers and know of no prefix.
    if (prefix !== "" && path === "/ok") h3.on(method, path, run);
  };

  const builtIn = (request: Request): Response | Promise<Response> => h3.fetch(request);
  const isUnknown = (response: Response): boolean => unknown.has(response);
  const withApp =
    customApp === undefined
      ? builtIn
      : customApp.over({ builtIn, isUnknown, count: countOther, replyTo, report, common: policy.fixed, prefix });
  const serve =
    customApp === undefined || guard === undefined ? withApp : guard.before(http, { builtIn, withApp, isUnknown });

  const answer = (request: Request): Response | Promise<Response> => {
    const tooLarge = oversize(request, maxBodyBytes);
    if (tooLarge !== undefined) return refuse(request, tooLarge);
    if (!hostAllowed(request.headers.get("host"), host)) {
      const detail = `This server listens on ${host} and does not answer to the host name "${request.headers.get("host")}"`;
      return refuse(request, new ApiError(403, detail));
    }
    // A page may send simple requests without asking first, and open WebSockets; where origins are restricted, the others may not
    // start or stop runs that way.
    if (mayChange(request)) {
      const origin = pageOf(request);
      if (!policy.allows(origin) && !fromOwnPage(origin, request.headers.get("host")))
        return refuse(request, leftOut(request));
    }
    if (request.method === "OPTIONS" && request.headers.has("access-control-request-method")) {
      countOther(204);
      return policy.preflight(request);
    }
    return serve(request);
  };
  const { perRequest } = policy;
  const fetch: App["fetch"] =
    perRequest === undefined
      ? answer
      : async (request) => perRequest(request.headers.get("origin"), await answer(request));
  return { route, operations, fetch: log === undefined ? fetch : logged(fetch, http.logging_headers, log) };
}
