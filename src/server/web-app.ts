// What `http.app` may be — a Hono app, an h3 app, an object with `fetch`, a function of a request — as one kind of function. Apps whose
// routes can be told apart get the server's own paths as the last of their routes, so that their middleware runs around those as well.
import type { IncomingMessage, ServerResponse } from "node:http";
import { exportProblem, type ExportSpec } from "../graphs/exports.ts";
import { kindOf } from "../graphs/recognise.ts";

/** What an app may ask of the server in the middle of a request. */
export interface Visit {
  /** The server's own answer. It takes the request as the app left it, with headers that it may have changed. */
  builtIn(request: Request): Promise<Response>;
  /** The answer for what the app threw. */
  failed(error: unknown): Response;
  /** Node's own objects, when the request came over a socket. */
  readonly node: { readonly incoming?: IncomingMessage | undefined; readonly outgoing?: ServerResponse | undefined };
}

/** An app of the user's. Undefined: it does not know the path. @returns or rejects with anything, because it is the user's code. */
export interface WebApp {
  /** Whether what it gives is the answer, even if it is a 404: it has asked the server itself for what it does not know. */
  readonly decides: boolean;
  answer(request: Request, visit: Visit): unknown;
}

/**
 * Makes a WebApp of an export.
 * @throws ExportError when it is none.
 */
export function webApp(value: unknown, spec: ExportSpec): WebApp {
  if (isHono(value)) return honoApp(value);
  if (isH3(value)) return h3App(value);
  const { fetch } = (typeof value === "object" || typeof value === "function" ? (value ?? {}) : {}) as {
    fetch?: unknown;
  };
  if (typeof fetch === "function" && !isClass(value)) {
    const app = value as { fetch: (request: Request, env: object) => unknown };
    return { decides: false, answer: (request, { node }) => app.fetch(request, { ...node }) };
  }
  if (typeof value === "function" && !isClass(value) && value.length < 2) {
    const handler = value as (request: Request) => unknown;
    return { decides: false, answer: (request) => handler(request) };
  }
  throw exportProblem(spec, `"${spec.exportName}" is no web app: it is ${nameOf(value)}`, hintFor(value));
}

interface HonoContext {
  readonly req: { readonly raw: Request };
  readonly env: { readonly [VISIT]: Visit };
  newResponse(body: null): Response;
}
/** As much of Hono as is used here; the project brings its own copy, of any version from 4 on. */
interface Hono {
  readonly routes: readonly unknown[];
  readonly errorHandler: unknown;
  readonly getPath: unknown;
  readonly fetch: (request: Request, env: object) => Response | Promise<Response>;
  route(path: string, app: Pick<Hono, "routes" | "errorHandler">): unknown;
  notFound(handler: (context: HonoContext) => Promise<Response>): unknown;
  onError(handler: (error: unknown, context: HonoContext) => Response): unknown;
}

const VISIT = Symbol("agent-server visit");

function isHono(value: unknown): value is Hono {
  if (typeof value !== "object" || value === null) return false;
  const { routes, route, notFound, onError, fetch } = value as Record<string, unknown>;
  return Array.isArray(routes) && [route, notFound, onError, fetch].every((member) => typeof member === "function");
}

/** The user's routes in an app of their own Hono, whose last resort is the server. */
function honoApp(app: Hono): WebApp {
  const outer = new (app.constructor as new (options: object) => Hono)({ getPath: app.getPath });
  outer.route("/", app);
  outer.notFound(async (context) => {
    const response = await context.env[VISIT].builtIn(context.req.raw);
    // Hono forgets what was set with c.header() when it is given a finished response.
    for (const [name, text] of context.newResponse(null).headers)
      if (name === "set-cookie") response.headers.append(name, text);
      else if (name !== "content-type") response.headers.set(name, text);
    return response;
  });
  outer.onError((error, context) => {
    const { getResponse } = error as { getResponse?: () => Response };
    return typeof getResponse === "function" ? getResponse.call(error) : context.env[VISIT].failed(error);
  });
  // `incoming` and `outgoing` are what @hono/node-server gives.
  return { decides: true, answer: (request, visit) => outer.fetch(request, { ...visit.node, [VISIT]: visit }) };
}

interface H3Event {
  readonly req: Request;
}
interface H3Config {
  readonly onError?: (error: H3Error, event: H3Event) => unknown;
  readonly [name: string]: unknown;
}
interface H3Error extends Error {
  readonly unhandled?: boolean;
}
/** As much of h3 as is used here; from version 2 on. */
interface H3 {
  readonly config: H3Config;
  fetch(request: Request): Response | Promise<Response>;
  mount(base: string, app: H3): H3;
  all(route: string, handler: (event: H3Event) => unknown): H3;
}

function isH3(value: unknown): value is H3 {
  if (typeof value !== "object" || value === null) return false;
  const { fetch, mount, all, config, constructor } = value as Record<string, unknown>;
  const members = [fetch, mount, all].every((member) => typeof member === "function");
  return (
    members && typeof config === "object" && config !== null && (constructor as { "~h3"?: unknown })["~h3"] === true
  );
}

function h3App(app: H3): WebApp {
  const visits = new WeakMap<Request, Visit>();
  const { onError } = app.config;
  const outer = new (app.constructor as new (config: H3Config) => H3)({
    ...app.config,
    // They have done their work when the app was made.
    plugins: undefined,
    // Errors are printed with their place in the user's file.
    silent: true,
    onError: async (error, event) => {
      const own = await onError?.(error, event);
      if (own !== undefined || error.unhandled !== true) return own;
      return visits.get(event.req)?.failed(error.cause ?? error);
    },
  });
  outer.mount("/", app);
  // The least specific of all routes: those of the app come before it.
  outer.all("/**", ({ req }) => visits.get(req)?.builtIn(req));
  return {
    decides: true,
    answer(request, visit) {
      visits.set(request, visit);
      return outer.fetch(request);
    },
  };
}

function isClass(value: unknown): boolean {
  return typeof value === "function" && Function.prototype.toString.call(value).startsWith("class");
}

function nameOf(value: unknown): string {
  if (isClass(value)) return "a class";
  if (typeof value === "function") return "a function of more than one parameter";
  return kindOf(value);
}

function hintFor(value: unknown): string {
  const { handler, stack, handle } = (value ?? {}) as Record<string, unknown>;
  if (typeof handler === "function" && Array.isArray(stack)) return "Of h3 1.x export toWebHandler(app), or use h3 2.";
  if (typeof value === "function" && typeof handle === "function")
    return "Express and other handlers of Node's request and response do not work here: use Hono or h3.";
  return "Export a Hono or h3 app, an object with fetch(request), or a function (request) => Response.";
}
