// One request on its way through the project's own app: it gets a request of the class that all frameworks know, and the server gets it back
// as the app left it, with the body that the app may have read.
import type { IncomingMessage, ServerResponse } from "node:http";
import { frameOfError } from "../graphs/errors.ts";
import type { ExportSpec } from "../graphs/exports.ts";
import { kindOf } from "../graphs/recognise.ts";
import { requestId } from "./request-id.ts";
import type { Reply } from "./respond.ts";
import { SharedBody } from "./shared-body.ts";
import type { ServerEvent } from "./types.ts";
import { offered, offerSocket } from "./upgrade.ts";
import { watched } from "./watched-answer.ts";
import type { Visit, WebApp } from "./web-app.ts";

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

/** What is known of the app. */
export interface AppAbout {
  /** Where the config names it. */
  readonly spec: ExportSpec;
  /** Folder of the project. */
  readonly root: string;
  onEvent(event: ServerEvent): void;
}

/** What a request has that came over a socket. */
interface OverSocket {
  readonly runtime?: { readonly node?: { readonly req?: IncomingMessage; readonly res?: ServerResponse } };
}

/** What the app gave is of no use; where it did so nobody knows. */
class WrongAnswer {
  readonly #message: string;

  constructor(message: string) {
    this.#message = message;
  }

  toString(): string {
    return this.#message;
  }
}

export class Passage implements Visit {
  readonly #about: AppAbout;
  readonly #stage: Stage;
  readonly #request: Request;
  readonly #app: WebApp;
  /** The request as the app gets it: without the prefix, and of Node's own class, which all frameworks know. */
  readonly #given: Request;
  readonly #body: SharedBody | undefined;
  #passed = false;

  constructor(about: AppAbout, stage: Stage, request: Request, app: WebApp) {
    this.#about = about;
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
    if (!isResponse(given))
      return this.failed(new WrongAnswer(`it answered with ${kindOf(given)} and not with a Response`));
    if (given.status !== 404 || this.#app.decides)
      return this.#passed ? given : watched(given, (error) => this.#tell(error));
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
    this.#body?.release();
    // By these the server hears that the client has gone.
    const { runtime } = this.#request as OverSocket;
    if (runtime !== undefined) Object.defineProperty(inner, "runtime", { value: runtime, configurable: true });
    const response = await builtIn(inner);
    const socket = offered(inner);
    if (socket !== undefined) offerSocket(this.#request, socket);
    return response;
  }

  failed(error: unknown): Response {
    return this.#stage.replyTo(this.#request).error(error, () => this.#tell(error));
  }

  /** Shows at the terminal what is wrong with the app, where in the user's files if that is known. */
  #tell(error: unknown): void {
    // What is broken off because the client has gone is no error.
    if (this.#request.signal.aborted) return;
    const { spec, root, onEvent } = this.#about;
    const where = `${spec.key} failed at ${this.#request.method} ${new URL(this.#given.url).pathname}`;
    const found = error instanceof WrongAnswer ? null : frameOfError(error, root);
    if (found !== null)
      return onEvent({ type: "diagnostic", diagnostic: { ...found, message: `${where}: ${found.message}` } });
    const isError = error instanceof Error && !(error instanceof WrongAnswer);
    const text = isError ? (error.stack ?? error.message) : String(error);
    onEvent({ type: "log", level: "error", message: `${where}: ${text}` });
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
