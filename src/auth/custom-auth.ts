// The project's own authentication: the `Auth` object of `@langchain/langgraph-sdk/auth` that `auth.path` names. It is loaded like a graph, and
// again after a save; a broken edit leaves the last good one in force, and as long as there is none nobody is let in.
import type { AuthConfig, Diagnostic } from "../config/types.ts";
import { ApiError } from "../errors.ts";
import { ExportError, exportProblem, type ExportSpec } from "../graphs/exports.ts";
import type { GraphHost } from "../graphs/host.ts";
import { kindOf } from "../graphs/recognise.ts";
import { isObject, type Json } from "../resources/json.ts";
import { AUTH_EVENTS, type Access, type AuthEvent, type Caller, type Granted } from "./access.ts";
import { callerOf } from "./caller.ts";
import { compileFilter } from "./filters.ts";
import { askedFor, mistake, secretsOf, unauthorized } from "./refusals.ts";

/** What a handler is asked. */
interface Question {
  readonly event: AuthEvent;
  readonly resource: string;
  readonly action: string;
  readonly value: Json;
  readonly permissions: readonly string[];
  readonly user: Json;
}

/** What an `Auth` object holds, as far as we call it. */
export interface Handlers {
  readonly authenticate: (request: Request) => unknown;
  readonly callbacks?: Readonly<Record<string, (question: Question) => unknown>>;
}

export interface CustomAuthOptions {
  readonly config: AuthConfig;
  /** Folder of the project. */
  readonly root: string;
  readonly graphs: Pick<GraphHost, "loadExport" | "isClosed">;
  /** Told what is wrong with the project's code. */
  readonly onProblem: (diagnostic: Diagnostic) => void;
  /** Told that a saved version is in force, and how many milliseconds it took to load. */
  readonly onReload?: (ms: number) => void;
}

/** Handlers that cover an event, the most specific first. */
const namesOf = (event: AuthEvent): string[] => {
  const [resource, action] = event.split(":");
  return [event, resource!, `*:${action}`, "*"];
};

export class CustomAuth {
  readonly #options: CustomAuthOptions;
  readonly #spec: ExportSpec;
  #last: Handlers | undefined;
  #told = "";

  constructor(options: CustomAuthOptions) {
    this.#options = options;
    const { file, exportName, location } = options.config;
    this.#spec = { key: "auth.path", file, exportName, ...(location === undefined ? {} : { location }) };
  }

  /** Loads it now, so that what is wrong is told before it is needed. Never rejects. */
  async check(): Promise<void> {
    await this.handlers().catch(() => undefined);
  }

  /** The handlers as they are now; the same object as long as nothing was saved. @throws ApiError 503 when there never were any. */
  async handlers(): Promise<Handlers> {
    const begun = performance.now();
    try {
      const loaded = this.#checked(await this.#options.graphs.loadExport(this.#spec));
      if (loaded !== this.#last) {
        if (this.#last !== undefined) this.#options.onReload?.(performance.now() - begun);
        this.#last = loaded;
        this.#told = "";
        this.#tellUncovered(loaded);
      }
      return loaded;
    } catch (error) {
      const problem = error instanceof ExportError ? error : exportProblem(this.#spec, String(error));
      const rest = this.#last === undefined ? "nobody is let in" : "it stays in force as it was loaded last";
      this.#tell({ ...problem.diagnostic, message: `auth.path: ${problem.diagnostic.message}; ${rest}` });
      if (this.#last !== undefined) return this.#last;
      throw new ApiError(503, "The authentication of this server does not load, so that nobody is let in");
    }
  }

  #checked(value: unknown): Handlers {
    const { exportName } = this.#spec;
    const handlers = isObject(value) && "~handlerCache" in value ? value["~handlerCache"] : undefined;
    if (!isObject(handlers)) {
      const hint = 'Export an instance of Auth from "@langchain/langgraph-sdk/auth".';
      throw exportProblem(this.#spec, `"${exportName}" is no Auth object: it is ${kindOf(value)}`, hint);
    }
    if (typeof handlers["authenticate"] === "function") return handlers as unknown as Handlers;
    throw exportProblem(this.#spec, `"${exportName}" has no authenticate handler`, "Call its method authenticate.");
  }

  /** Handlers for some events say that the others were forgotten, unless there is one for all. */
  #tellUncovered({ callbacks = {} }: Handlers): void {
    const names = Object.keys(callbacks);
    const open = AUTH_EVENTS.filter((event) => !namesOf(event).some((name) => names.includes(name)));
    if (names.length === 0 || open.length === 0) return;
    this.#options.onProblem({
      severity: "warning",
      message: `auth.path has no handler for ${open.join(", ")}: whoever is authenticated may do that.`,
      hint: 'Refuse what no other handler covers with .on("*", () => false).',
      ...(this.#spec.location === undefined ? {} : { location: this.#spec.location }),
    });
  }

  /** Who sends a request. @throws ApiError 401, or what the handler throws. */
  async authenticate({ authenticate }: Handlers, request: Request): Promise<Caller> {
    let answer: unknown;
    try {
      // Without the body, which is ours to read.
      answer = await authenticate(new Request(request.url, { method: request.method, headers: request.headers }));
      const caller = callerOf(answer);
      if (caller !== undefined) return caller;
    } catch (error) {
      const asked = askedFor(error);
      if (asked !== undefined) throw asked;
      const diagnostic = mistake("auth.path: authenticate", error, secretsOf(request.headers), this.#options.root);
      // Whoever sends nonsense must not fill the terminal, however the messages differ.
      this.#tell(diagnostic, diagnostic.location);
      throw unauthorized("The request could not be authenticated");
    }
    const message = "auth.path: authenticate must return a string, or an object of JSON with an identity";
    this.#tell({ severity: "error", message });
    throw unauthorized("The request could not be authenticated");
  }

  /** Asks the handler that covers an event best. @throws ApiError 403, or what the handler throws. */
  async authorize<Value extends Json>(
    { callbacks = {} }: Handlers,
    { permissions, user }: Caller,
    event: AuthEvent,
    value: Value,
  ): Promise<Granted<Value>> {
    const name = namesOf(event).find((candidate) => typeof callbacks[candidate] === "function");
    if (name === undefined) return { value, allows: undefined };
    const [resource, action] = event.split(":");
    try {
      const question = { event, resource: resource!, action: action!, value, permissions: [...permissions], user };
      const result = await callbacks[name]!(question);
      if (result === undefined || result === null || result === true) return { value, allows: undefined };
      if (result === false) throw new ApiError(403, `You may not do this (${event})`);
      if (isObject(result)) return { value, allows: compileFilter(result) };
      throw new TypeError(`it must return nothing, a boolean or a filter, not ${kindOf(result)}`);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      const asked = askedFor(error);
      if (asked !== undefined) throw asked;
      const secrets = Object.entries(user).flatMap(([key, text]) =>
        typeof text === "string" && key !== "identity" && key !== "display_name" ? [text] : [],
      );
      this.#options.onProblem(mistake(`auth.path: the handler for ${event}`, error, secrets, this.#options.root));
      throw new ApiError(500, "Internal Server Error");
    }
  }

  /** Tells what is wrong, unless that was the last thing told. */
  #tell(diagnostic: Diagnostic, about: unknown = [diagnostic.message, diagnostic.location]): void {
    const text = JSON.stringify(about);
    if (text === this.#told || this.#options.graphs.isClosed) return;
    this.#told = text;
    this.#options.onProblem(diagnostic);
  }
}

/** The access of one request. */
export class CallerAccess implements Access {
  readonly restricted = true;
  asked = false;
  readonly #auth: CustomAuth;
  readonly #handlers: Handlers;
  readonly #caller: Caller;

  constructor(auth: CustomAuth, handlers: Handlers, caller: Caller) {
    this.#auth = auth;
    this.#handlers = handlers;
    this.#caller = caller;
  }

  get identity(): string {
    return this.#caller.identity;
  }

  get settings(): Json {
    const { user, identity, permissions } = this.#caller;
    return {
      user_id: identity,
      langgraph_auth_user: user,
      langgraph_auth_user_id: identity,
      langgraph_auth_permissions: permissions,
    };
  }

  authorize<Value extends Json>(event: AuthEvent, value: Value): Promise<Granted<Value>> {
    this.asked = true;
    return this.#auth.authorize(this.#handlers, this.#caller, event, value);
  }
}
