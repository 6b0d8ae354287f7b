// The one place where it is decided what of the REST API a caller gets: every operation says in `access` what it is about, and passes
// here before its handler. What a caller may not see is answered as what does not exist.
import { z } from "zod";
import { changedMetadata, type Access, type Allows, type AuthEvent } from "../auth/access.ts";
import type { Door } from "../auth/door.ts";
import type { HttpConfig } from "../config/types.ts";
import type { Json } from "../resources/json.ts";
import type { Context } from "./context.ts";
import type { CookieCheck } from "./foreign-page.ts";
import type { Handler, Operation } from "./operation.ts";
import type { Subjects } from "./subjects.ts";

type Serve = (request: Request) => Response | Promise<Response>;

export class Guard {
  readonly #door: Door;
  readonly #subjects: Subjects;
  readonly #cookies: CookieCheck;
  /** Whom requests come from that were let in before the project's own app saw them. */
  readonly #known = new WeakMap<object, Access>();

  /** @param cookies keeps pages of other sites from using their reader's cookies. */
  constructor(door: Door, subjects: Subjects, cookies: CookieCheck) {
    this.#door = door;
    this.#subjects = subjects;
    this.#cookies = cookies;
  }

  /** Lets a request in. @throws ApiError 401, or what the project's `authenticate` throws; 403 for a page of another site. */
  async enter(request: Request): Promise<Access> {
    return this.#known.get(originOf(request)) ?? this.#admitted(request);
  }

  async #admitted(request: Request): Promise<Access> {
    // An API key is in no cookie.
    const refusal = this.#door.kind === "project" ? this.#cookies(request) : undefined;
    if (refusal !== undefined) throw refusal;
    return this.#door.enter(request);
  }

  /**
   * The server with the project's own app, where authentication comes first (`http.middleware_order`) or the app's routes need it as well
   * (`http.enable_custom_route_auth`). Who is not let in gets what the server itself answers, and the app's own routes if they are open.
   */
  before(
    { middleware_order, enable_custom_route_auth: all = false }: HttpConfig,
    server: { readonly builtIn: Serve; readonly withApp: Serve; isUnknown(response: Response): boolean },
  ): Serve {
    const { builtIn, withApp, isUnknown } = server;
    if (middleware_order !== "auth_first" && !all) return withApp;
    return async (request) => {
      const access = await this.#admitted(request).catch(() => undefined);
      if (access !== undefined) {
        this.#known.set(originOf(request), access);
        return withApp(request);
      }
      const own = await builtIn(request);
      return isUnknown(own) && !all ? withApp(request) : own;
    };
  }

  /** A handler behind the door. */
  over<Body extends z.ZodType, Query extends z.ZodType>(
    operation: Operation<Body, Query>,
    handler: Handler<Body, Query>,
  ): Handler<Body, Query> {
    const { access: asked } = operation;
    if (asked === "everybody" || (asked === "pages" && this.#door.opensPages)) return handler;
    return async (context) => {
      const access = await this.enter(context.request);
      context.access = access;
      if (!access.restricted) return handler(context);
      if (asked.includes(":")) await this.#admit(operation, context, asked as AuthEvent);
      const answer = await handler(context);
      // A route that forgets to ask must not answer.
      if (asked === "asks" && !access.asked) throw new Error(`${operation.method} ${operation.path} did not ask`);
      return answer;
    };
  }

  async #admit<Body extends z.ZodType, Query extends z.ZodType>(
    operation: Operation<Body, Query>,
    context: Context<Body, Query>,
    event: AuthEvent,
  ): Promise<void> {
    const ids = this.#subjects.ids(operation.path, context);
    const { allows } =
      operation.authValue === undefined
        ? await this.#askWithBody(operation, context, event, ids)
        : await this.#ask(operation, context, event, ids);
    context.allows = allows;
    if (allows !== undefined) this.#subjects.check(operation.path, context, allows);
  }

  async #ask<Body extends z.ZodType, Query extends z.ZodType>(
    operation: Operation<Body, Query>,
    context: Context<Body, Query>,
    event: AuthEvent,
    ids: Json,
  ): Promise<{ allows: Allows | undefined }> {
    const body = operation.body === undefined ? (undefined as z.output<Body>) : await context.body();
    const query = operation.query === undefined ? (undefined as z.output<Query>) : context.query();
    return context.access.authorize(event, { ...ids, ...operation.authValue!(body, query) });
  }

  async #askWithBody<Body extends z.ZodType, Query extends z.ZodType>(
    { body: schema }: Operation<Body, Query>,
    context: Context<Body, Query>,
    event: AuthEvent,
    ids: Json,
  ): Promise<{ allows: Allows | undefined }> {
    if (schema === undefined) return context.access.authorize(event, ids);
    const body = (await context.body()) as Json;
    const hasMetadata = schema instanceof z.ZodObject && "metadata" in schema.shape;
    const value = { ...body, ...ids, ...(hasMetadata ? { metadata: body["metadata"] ?? {} } : {}) };
    const granted = await context.access.authorize(event, value);
    if (!hasMetadata) return granted;
    const metadata = changedMetadata(granted.value);
    const isAsked = body["metadata"] !== undefined || Object.keys(metadata).length > 0;
    if (isAsked) context.changeBody({ ...body, metadata } as z.output<Body>);
    return granted;
  }
}

/** What stays the same of a request that an app in front has given on as another one. */
function originOf(request: Request): object {
  const { runtime } = request as { readonly runtime?: { readonly node?: { readonly req?: object } } };
  return runtime?.node?.req ?? request;
}
