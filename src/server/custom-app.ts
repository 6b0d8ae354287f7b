// The project's own routes and middleware (`http.app`): loaded like a graph, loaded again on save, and asked before the server's own
// paths. What is wrong with it is shown with its place in the user's file; the last good version goes on serving.
import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "../errors.ts";
import { frameOfError } from "../graphs/errors.ts";
import { ExportError, exportProblem, type ExportSpec } from "../graphs/exports.ts";
import type { GraphHost } from "../graphs/host.ts";
import { kindOf } from "../graphs/recognise.ts";
import { requestId } from "./request-id.ts";
import type { Reply } from "./respond.ts";
import { SharedBody } from "./shared-body.ts";
import type { ServerEvent } from "./types.ts";
import { offered, offerSocket } from "./upgrade.ts";
import { webApp, type Visit, type WebApp } from "./web-app.ts";

/** The server around the app. */
export interface Stage {
  /** The server's own paths. */
  builtIn(request: Request): Response | Promise<Response>;
  /** Whether an answer of `builtIn` says that there is no such path. */
  isUnknown(response: Response): boolean;
  /** Counts an answer that the app gave. */
  count(status: number): void;
  replyTo(request: Request): Reply;
  report(error: unknown): void;
  /** Headers that every answer has. */
  readonly common: Readonly<Record<string, string>>;
  /** `http.mount_prefix`; the app does not see it. */
  readonly prefix: string;
}

export interface CustomAppOptions {
  readonly spec: ExportSpec;
  readonly graphs: GraphHost;
  /** Folder of the project. */
  readonly root: string;
  onEvent(event: ServerEvent): void;
}

type Serve = (request: Request) => Promise<Response>;

/** What a request has that came over a socket. */
interface OverSocket {
  readonly runtime?: { readonly node?: { readonly req?: IncomingMessage; readonly res?: ServerResponse } };
}

export class CustomApp {
  readonly #options: CustomAppOptions;
  readonly #unwatch: () => void;
  #app: WebApp | undefined;
  #value: unknown;
  #error: ExportError | undefined;
  #attempts = 0;
  #settle: () => void = () => undefined;
  readonly #ready = new Promise<void>((resolve) => {
    this.#settle = resolve;
  });

  constructor(options: CustomAppOptions) {
    this.#options = options;
    this.#unwatch = options.graphs.onExportsChange(() => void this.#load());
  }

  /** Loads it for the first time. Resolves when it was loaded, or was reported as broken; requests wait for that. Never rejects. */
  start(): Promise<void> {
    void this.#load();
    return this.#ready;
  }

  /** Whether it is still what the config names. */
  isFor(spec: ExportSpec | undefined): boolean {
    return spec?.file === this.#options.spec.file && spec.exportName === this.#options.spec.exportName;
  }

  close(): void {
    this.#unwatch();
  }

  /** The app in front of a server. What it returns never rejects. */
  over(stage: Stage): Serve {
    return async (request) => {
      try {
        return await this.#serve(stage, request);
      } catch (error) {
        const response = stage.replyTo(request).error(error, stage.report);
        stage.count(response.status);
        return response;
      }
    };
  }

  async #serve(stage: Stage, request: Request): Promise<Response> {
    const { prefix, builtIn } = stage;
    const { pathname } = new URL(request.url);
    const inside = `${pathname}/`.startsWith(`${prefix}/`);
    const isProbe = pathname === "/ok" || pathname === `${prefix}/ok`;
    // Of the last two methods no `Request` can be made.
    if (!inside || isProbe || request.method === "TRACE" || request.method === "TRACK") return builtIn(request);
    if (this.#app === undefined) await this.#ready;
    // Without the app nothing is served: its middleware may be what keeps somebody out.
    if (this.#app === undefined) throw new ApiError(422, `http.app cannot be loaded: ${this.#error?.diagnostic.message}`);
    return new Passage(this.#options, stage, request, this.#app).answer();
  }

  async #load(): Promise<void> {
    const { graphs, spec, onEvent } = this.#options;
    const attempt = ++this.#attempts;
    const isFirst = this.#app === undefined;
    const begun = performance.now();
    try {
      const value = await graphs.loadExport(spec);
      if (attempt !== this.#attempts || (value === this.#value && this.#error === undefined)) return;
      this.#app = webApp(value, spec);
      this.#value = value;
      const wasBroken = this.#error !== undefined;
      this.#error = undefined;
      if (!isFirst || wasBroken) onEvent({ type: "reloaded", ids: [spec.key], ms: performance.now() - begun });
    } catch (error) {
      if (attempt !== this.#attempts || graphs.isClosed) return;
      this.#error =
        error instanceof ExportError ? error : exportProblem(spec, error instanceof Error ? error.message : String(error));
      onEvent({ type: "failed", ids: [spec.key], error: this.#error, firstLoad: isFirst });
    }
    this.#settle();
  }
}

/** One request on its way through the app. */
class Passage implements Visit {
  readonly #options: CustomAppOptions;
  readonly #stage: Stage;
  readonly #request: Request;
  readonly #app: WebApp;
  /** The request as the app gets it: without the prefix, and of Node's own class, which all frameworks know. */
  readonly #given: Request;
  readonly #body: SharedBody | undefined;
  #passed = false;

  constructor(options: CustomAppOptions, stage: Stage, request: Request, app: WebApp) {
    this.#options = options;
    this.#stage = stage;
    this.#request = request;
    this.#app = app;
    const { method, headers, signal } = request;
    const hasBody = method !== "GET" && method !== "HEAD";
    this.#body = hasBody ? new SharedBody(() => request.body ?? new Response("").body!) : undefined;
    this.#given = new Request(withoutPrefix(request.url, stage.prefix), {
      method,
      headers: new Headers([...headers]),
      signal,
      ...(this.#body === undefined ? {} : { body: this.#body.stream(), duplex: "half" }),
    });
  }

  get node(): Visit["node"] {
    const { req: incoming, res: outgoing } = (this.#request as OverSocket).runtime?.node ?? {};
    return { incoming, outgoing };
  }

  async answer(): Promise<Response> {
    const response = await this.#answer();
    this.#body?.release();
    if (!this.#passed) this.#stage.count(response.status);
    return this.#complete(response);
  }

  async #answer(): Promise<Response> {
    let given: unknown;
    try {
      given = await this.#app.answer(this.#given, this);
    } catch (thrown) {
      if (!isResponse(thrown)) return this.failed(thrown);
      given = thrown;
    }
    if (given === undefined || given === null) return this.builtIn(this.#given);
    if (!isResponse(given)) return this.failed(new TypeError(`it answered with ${kindOf(given)} and not with a Response`));
    if (given.status !== 404 || this.#app.decides) return given;
    // Nobody can say whether it has no such route or no such thing; where the server has none either, it is the app's answer that counts.
    const own = await this.builtIn(this.#given);
    if (this.#stage.isUnknown(own)) return given;
    await given.body?.cancel();
    return own;
  }

  async builtIn(request: Request): Promise<Response> {
    this.#passed = true;
    const { prefix, builtIn } = this.#stage;
    const isRead = request.bodyUsed || request.body?.locked === true;
    let inner = request;
    if (prefix !== "" || isRead) {
      const { method, headers, signal } = request;
      const body = this.#body === undefined ? null : isRead ? this.#body.stream() : request.body;
      const address = new URL(request.url);
      address.pathname = prefix + address.pathname;
      inner = new Request(address, { method, headers, signal, body, ...(body === null ? {} : { duplex: "half" }) });
    }
    // By these the server hears that the client has gone.
    const { runtime } = this.#request as OverSocket;
    if (runtime !== undefined) Object.defineProperty(inner, "runtime", { value: runtime, configurable: true });
    const response = await builtIn(inner);
    const socket = offered(inner);
    if (socket !== undefined) offerSocket(this.#request, socket);
    return response;
  }

  failed(error: unknown): Response {
    const { report, replyTo } = this.#stage;
    const tell = (): void => {
      // What is broken off because the client has gone is no error.
      if (this.#request.signal.aborted) return;
      const { spec, root, onEvent } = this.#options;
      const { method } = this.#request;
      const where = `${spec.key} failed at ${method} ${new URL(this.#given.url).pathname}`;
      const diagnostic = frameOfError(error, root);
      if (diagnostic !== null)
        return onEvent({ type: "diagnostic", diagnostic: { ...diagnostic, message: `${where}: ${diagnostic.message}` } });
      const message = error instanceof Error ? error.message : String(error);
      report(new Error(`${where}: ${message}`, { cause: error }));
    };
    return replyTo(this.#request).error(error, tell);
  }

  /** With the headers that every answer has, where the app has not set them itself. */
  #complete(response: Response): Response {
    const { headers } = response;
    const id = headers.get("x-request-id") ?? requestId(this.#request.headers);
    try {
      headers.set("x-request-id", id);
    } catch {
      // Those of a redirect or of a fetched answer cannot be changed.
      const { body, status, statusText } = response;
      return this.#complete(new Response(body, { status, statusText, headers: new Headers([...headers]) }));
    }
    for (const [name, text] of Object.entries(this.#stage.common)) {
      if (!headers.has(name)) headers.set(name, text);
      else if (name === "vary" && !headers.get(name)!.includes(text)) headers.append(name, text);
    }
    return response;
  }
}

function withoutPrefix(address: string, prefix: string): string {
  if (prefix === "") return address;
  const url = new URL(address);
  url.pathname = url.pathname.slice(prefix.length) || "/";
  return url.href;
}

/** By its shape: a project may bring a Response class of its own. */
function isResponse(value: unknown): value is Response {
  if (typeof value !== "object" || value === null) return false;
  const { status, headers } = value as { status?: unknown; headers?: { get?: unknown } | null };
  return typeof status === "number" && typeof headers?.get === "function";
}
