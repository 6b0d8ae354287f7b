// The one place that turns values and errors into HTTP. Every error is `{"detail": "…"}`; what a caller did wrong is never a 5xx.
import type { Readable } from "node:stream";
import { FastResponse } from "srvx";
import { ZodError } from "zod";
import { ApiError, CliError } from "../errors.ts";
import { GraphLoadError, UnknownGraphError } from "../graphs/errors.ts";
import { issuesText } from "../resources/schema.ts";

const JSON_TYPE = "application/json";
/** Node can make no text of more than half a gigabyte. */
const TOO_LONG = "The answer would have more than 512 MiB; ask for fewer things (limit) or for less of each (select)";

/** Makes the answer to one request: with the headers that all have (those of CORS), and its id. */
export class Reply {
  readonly #common: Readonly<Record<string, string>>;
  readonly #traffic: { openStreams: number };
  readonly #id: string;
  readonly #headOnly: boolean;

  /**
   * @param traffic where the streams are counted that are open.
   * @param id of the request.
   * @param headOnly whether nobody gets the body: h3 drops that of an answer to HEAD, and a stream would stay open for ever.
   */
  constructor(
    common: Readonly<Record<string, string>>,
    traffic: { openStreams: number },
    id: string,
    headOnly: boolean,
  ) {
    this.#common = common;
    this.#traffic = traffic;
    this.#id = id;
    this.#headOnly = headOnly;
  }

  /** JSON that is text already. */
  jsonText(text: string, headers?: Readonly<Record<string, string>>, status = 200): Response {
    return new FastResponse(text, {
      status,
      headers: { "content-type": JSON_TYPE, "x-request-id": this.#id, ...this.#common, ...headers },
    });
  }

  /** A value as JSON. */
  json(value: unknown, headers?: Readonly<Record<string, string>>, status = 200): Response {
    return this.jsonText(JSON.stringify(value), headers, status);
  }

  /** Text of another type; as bytes when it is compressed. */
  text(text: string | Uint8Array<ArrayBuffer>, type: string, headers?: Readonly<Record<string, string>>): Response {
    return new FastResponse(text, {
      headers: { "content-type": `${type}; charset=utf-8`, "x-request-id": this.#id, ...this.#common, ...headers },
    });
  }

  /** No body: 204, 202 for what was accepted and is not done yet, 302 to go elsewhere, or 304 for what the client has. */
  empty(status: 202 | 204 | 302 | 304 = 204, headers?: Readonly<Record<string, string>>): Response {
    return new FastResponse(null, { status, headers: { "x-request-id": this.#id, ...this.#common, ...headers } });
  }

  /** A stream of text. */
  stream(body: Readable, type: string, headers: Readonly<Record<string, string>>): Response {
    this.#traffic.openStreams++;
    body.once("close", () => this.#traffic.openStreams--);
    if (this.#headOnly) body.destroy();
    // FastResponse pipes Node streams; the type of the standard constructor does not know them.
    return new FastResponse(this.#headOnly ? null : (body as unknown as string), {
      headers: {
        "content-type": type,
        "cache-control": "no-cache",
        "x-accel-buffering": "no",
        "x-request-id": this.#id,
        ...this.#common,
        ...headers,
      },
    });
  }

  /** The answer for something thrown. `report` gets what is our own fault. */
  error(error: unknown, report: (error: unknown) => void): Response {
    const { status, detail } = describe(error);
    if (status === 500 && !(error instanceof ApiError)) report(error);
    return this.json({ detail }, error instanceof ApiError ? error.headers : undefined, status);
  }
}

/** Pagination headers: total number of matches, and the next offset unless this is the last page. */
export function pagination(page: {
  readonly total: number;
  readonly next: number | undefined;
}): Record<string, string> {
  const total = { "x-pagination-total": String(page.total) };
  return page.next === undefined ? total : { ...total, "x-pagination-next": String(page.next) };
}

function describe(error: unknown): { status: number; detail: string } {
  if (error instanceof ApiError) return error;
  if (error instanceof ZodError) return { status: 422, detail: issuesText(error) };
  // A graph that does not load or is gone is the user's to mend; a 5xx would make clients try again for nothing.
  if (error instanceof GraphLoadError) return { status: 422, detail: error.message };
  if (error instanceof UnknownGraphError) return { status: 404, detail: error.message };
  if (error instanceof CliError) return { status: 503, detail: error.message };
  if (error instanceof RangeError && error.message === "Invalid string length")
    return { status: 422, detail: TOO_LONG };
  const { status, statusCode, message } = error as { status?: unknown; statusCode?: unknown; message?: unknown };
  const code = typeof status === "number" ? status : statusCode;
  if (typeof code === "number" && code >= 400 && code < 500) return { status: code, detail: String(message) };
  return { status: 500, detail: "Internal Server Error" };
}
