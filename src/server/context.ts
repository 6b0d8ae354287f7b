// What a route handler sees of a request: parameters, query and body, parsed and validated, so that handlers only call and return.
import type { H3Event } from "h3";
import type { z } from "zod";
import { UNRESTRICTED, type Access, type Allows } from "../auth/access.ts";
import { ApiError } from "../errors.ts";
import { isUuid } from "../ids.ts";
import { parseForeignJson } from "../json-text.ts";
import { validated } from "../resources/schema.ts";
import type { Operation } from "./operation.ts";
import type { Reply } from "./respond.ts";
import { offerSocket, wantsSocket, type SocketOffer } from "./upgrade.ts";

/** Node's own objects behind a request that came over a socket. */
interface NodeRuntime {
  readonly node?: { readonly res?: import("node:http").ServerResponse };
}

export class Context<Body extends z.ZodType = z.ZodType, Query extends z.ZodType = z.ZodType> {
  readonly #event: H3Event;
  readonly #operation: Operation<Body, Query>;
  readonly reply: Reply;
  /** What the caller may do; the guard sets it. */
  access: Access = UNRESTRICTED;
  /** Which of the records that the operation is about the caller sees; all of them when undefined. */
  allows: Allows | undefined;
  /** The body when it has been read, or what was put in its place. */
  #body: { readonly value: z.output<Body> } | undefined;

  constructor(event: H3Event, operation: Operation<Body, Query>, reply: Reply) {
    this.#event = event;
    this.#operation = operation;
    this.reply = reply;
  }

  /** A path parameter, decoded. */
  param(name: string): string {
    const raw = this.#event.context.params?.[name] ?? "";
    try {
      return decodeURIComponent(raw);
    } catch {
      throw new ApiError(422, `${name} is not valid percent-encoding`);
    }
  }

  /** A path parameter that must be a UUID, in lower case. @throws ApiError 422 */
  uuid(name: string): string {
    const value = this.param(name);
    if (!isUuid(value)) throw new ApiError(422, `${name} must be a UUID, got "${value.slice(0, 100)}"`);
    return value.toLowerCase();
  }

  /** The request itself, for those who must know where it came from. */
  get request(): Request {
    return this.#event.req;
  }

  /** All headers of the request. */
  get headers(): Headers {
    return this.#event.req.headers;
  }

  header(name: string): string | null {
    return this.#event.req.headers.get(name);
  }

  /** The address as it was asked for. */
  get url(): URL {
    return this.#event.url;
  }

  /** The query, validated. A name that occurs several times is a list. @throws ZodError */
  query(): z.output<Query> {
    const query: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>;
    for (const [name, value] of this.#event.url.searchParams) {
      const before = query[name];
      query[name] = before === undefined ? value : [...[before].flat(), value];
    }
    const schema = this.#operation.query!;
    return schema.parse({ ...query });
  }

  /** The JSON body; an empty one counts as `{}`. @throws ApiError 400 malformed; ZodError. */
  async body(): Promise<z.output<Body>> {
    return (this.#body ??= { value: await this.#readBody() }).value;
  }

  async #readBody(): Promise<z.output<Body>> {
    const schema = this.#operation.body!;
    const text = await this.text();
    if (text.trim() === "") return schema.parse({});
    let value: unknown;
    try {
      value = parseForeignJson(text);
    } catch (error) {
      throw new ApiError(
        400,
        `The request body is not valid JSON: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    return validated(schema, value, text.length);
  }

  /** Gives the handler this body in place of what the client sent. */
  changeBody(body: z.output<Body>): void {
    this.#body = { value: body };
  }

  /** The body as it came. @throws ApiError 400 when the client stopped in the middle of it; 413 from below. */
  text(): Promise<string> {
    return this.#event.req.text().catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "ECONNRESET") throw error;
      // Hardly anybody is left to read it, but it is no mistake of ours that has to be reported.
      throw new ApiError(400, "The connection was closed before the body was complete");
    });
  }

  /** Offers a WebSocket, if the request asks for one and came over a socket that can become one. */
  offerSocket(offer: SocketOffer): void {
    if (wantsSocket(this.#event.req)) offerSocket(this.#event.req, offer);
  }

  /** Calls `listener` when the client goes away before the answer is complete. */
  onDisconnect(listener: () => void): void {
    const res = (this.#event.req as { runtime?: NodeRuntime }).runtime?.node?.res;
    if (res?.closed === true) return listener();
    res?.once("close", () => {
      if (!res.writableFinished) listener();
    });
  }
}
