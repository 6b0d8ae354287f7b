// Talks to a server over HTTP for the client commands, and turns what goes wrong into one sentence and an exit code.
import { FetchError, ofetch } from "ofetch";
import { CliError, EXIT } from "../errors.ts";
import { keyHeaders } from "./api-key.ts";
import type { Target } from "./discover.ts";
import type { Io } from "./io.ts";
import { sendWithKey } from "./redirects.ts";
import { oneLine } from "./text.ts";
import { unreachable } from "./unreachable.ts";

/** One request; `query` values of undefined are left out. */
export interface RequestOptions {
  readonly body?: Record<string, unknown> | undefined;
  readonly query?: Record<string, string | number | readonly string[] | undefined>;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
  /** Milliseconds until the answer begins. */
  readonly timeout?: number;
}

/** An open event stream. */
export interface OpenStream {
  readonly body: AsyncIterable<Uint8Array>;
  /** Path of the run, when the server created one. */
  readonly contentLocation: string | null;
  /** Path that gives the rest of this stream after a break. */
  readonly location: string | null;
}

/** An answer of any kind. */
export interface Exchange {
  readonly status: number;
  readonly type: string;
  readonly body: AsyncIterable<Uint8Array>;
}

/** The answer of the server was an error; `status` tells which. */
export class HttpCliError extends CliError {
  readonly status: number;
  constructor(status: number, message: string, hint: string | undefined, cause: unknown) {
    super(message, { hint, cause });
    this.status = status;
  }
}

type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** A connection to one server. */
export class Client {
  readonly target: Target;
  readonly #headers: Record<string, string>;

  constructor(target: Target, env: Io["env"]) {
    this.target = target;
    this.#headers = keyHeaders(env);
  }

  /** The JSON of a GET. */
  get<T>(path: string, options: RequestOptions = {}): Promise<T> {
    return this.#json<T>("GET", path, options);
  }

  /** The JSON of a POST; undefined when the answer has no body. */
  post<T>(path: string, options: RequestOptions = {}): Promise<T> {
    return this.#json<T>("POST", path, options);
  }

  /** The JSON of a PATCH. */
  patch<T>(path: string, options: RequestOptions = {}): Promise<T> {
    return this.#json<T>("PATCH", path, options);
  }

  /** Deletes something. */
  async delete(path: string): Promise<void> {
    await this.#json("DELETE", path, {});
  }

  /** Opens a stream of server-sent events. */
  async stream(method: Method, path: string, options: RequestOptions = {}): Promise<OpenStream> {
    const response = await this.#send<"stream">(method, path, options, { responseType: "stream" });
    const type = response.headers.get("content-type") ?? "";
    if (!response._data || !type.includes("text/event-stream")) throw this.#notOurs(`an event stream, but ${type}`);
    return {
      body: this.#read(response._data as unknown as AsyncIterable<Uint8Array>, options.signal),
      contentLocation: response.headers.get("content-location"),
      location: response.headers.get("location"),
    };
  }

  /** Sends a POST and returns what comes, errors as well: for protocols that have errors of their own. */
  async exchange(path: string, options: RequestOptions): Promise<Exchange> {
    const response = await this.#send<"stream">("POST", path, options, {
      responseType: "stream",
      ignoreResponseError: true,
    });
    const body = response._data as unknown as AsyncIterable<Uint8Array> | undefined;
    return {
      status: response.status,
      type: response.headers.get("content-type") ?? "",
      body: this.#read(body ?? new Response("").body!, options.signal),
    };
  }

  async *#read(body: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new CliError(`The connection to ${this.target.url} broke.`, { exitCode: EXIT.noServer, cause: error });
    }
  }

  async #json<T>(method: Method, path: string, options: RequestOptions): Promise<T> {
    const response = await this.#send<"text">(method, path, options, { responseType: "text" });
    const text = response._data ?? "";
    try {
      return (text.trim() === "" ? undefined : JSON.parse(text)) as T;
    } catch {
      throw this.#notOurs("JSON");
    }
  }

  async #send<R extends "text" | "stream">(
    method: Method,
    path: string,
    { query, headers, ...rest }: RequestOptions,
    as: { responseType: R; ignoreResponseError?: boolean },
  ) {
    try {
      const url = this.target.url + path;
      const options = {
        method,
        // ofetch repeats a GET on 409 and 5xx by default; a command says what happened instead.
        retry: 0 as const,
        headers: { ...this.#headers, ...headers },
        query: { ...query },
        ...as,
        ...rest,
      };
      return "x-api-key" in this.#headers
        ? await sendWithKey<R>(url, options)
        : await ofetch.raw<string, R>(url, options);
    } catch (error) {
      throw rest.signal?.aborted ? error : await this.#explain(error);
    }
  }

  async #explain(error: unknown): Promise<unknown> {
    if (!(error instanceof FetchError)) return error;
    if (error.response) return httpError(error.response.status, await detailOf(error), error);
    return unreachable(this.target, error);
  }

  #notOurs(expected: string): CliError {
    return new CliError(
      `${this.target.url} answers, but not like an agent server: expected ${oneLine(expected, 100)}.`,
      {
        hint: "Choose the server with --url or AGENT_SERVER_URL.",
      },
    );
  }
}

function httpError(status: number, detail: string, cause: unknown): HttpCliError {
  const hint =
    status === 401 || status === 403 ? "Set AGENT_SERVER_API_KEY to a key that this server accepts." : undefined;
  return new HttpCliError(status, `${detail} (HTTP ${status})`, hint, cause);
}

/** The `detail` of an error answer; its status text when it has none. */
async function detailOf(failure: FetchError): Promise<string> {
  const data: unknown = failure.data;
  const text = data instanceof ReadableStream ? await new Response(data).text().catch(() => "") : data;
  try {
    const body = (typeof text === "string" ? JSON.parse(text) : text) as { detail?: unknown } | null;
    if (typeof body?.detail === "string") return oneLine(body.detail, 500).replace(/\.$/, "");
  } catch {
    // Not JSON: a proxy or another program answered.
  }
  return `The server answered ${failure.response?.statusText || "with an error"}`;
}

/** True when a broken stream may work again: the connection failed, not the request. */
export function isConnectionError(error: unknown): boolean {
  return error instanceof CliError && error.exitCode === EXIT.noServer;
}
