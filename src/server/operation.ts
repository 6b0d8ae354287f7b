// What a route says about itself: the schemas that validate a request are the ones that the API document and the README are made of,
// so that neither can drift from what the server does.
import type { z } from "zod";
import type { AuthEvent } from "../auth/access.ts";
import type { Json } from "../resources/json.ts";
import type { Context } from "./context.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Who may call an operation when the server has a door (src/server/guard.ts):
 * - `everybody`, without credentials;
 * - `pages`: everybody as well if the project has its own auth, because a browser loads pages without credentials;
 * - `caller`: whoever is let in, because it tells nothing of anybody's;
 * - an event: whom the project's handler for it lets, and only for what its filter shows;
 * - `asks`: the handler of the route itself asks, because it needs more than one event or the records of several parts;
 * - `inside`: each message of the protocol that is spoken asks for itself.
 */
export type OperationAccess = "everybody" | "pages" | "caller" | AuthEvent | "asks" | "inside";

/** The groups of the API document. */
export type Tag =
  | "Assistants"
  | "Threads"
  | "Thread runs"
  | "Stateless runs"
  | "Crons"
  | "Webhooks"
  | "A2A"
  | "MCP"
  | "Store"
  | "Streaming protocol"
  | "System";

/** Content types of answers. */
export type MediaType =
  | "application/json"
  | "text/event-stream"
  | "text/plain"
  | "text/html"
  | "text/javascript"
  | "text/css";

/** One possible answer. */
export interface Answer {
  /** What it means, in a few words. */
  readonly means: string;
  /** The shape of its body; no body without it. */
  readonly body?: z.ZodType;
  /** Default: application/json. */
  readonly type?: MediaType;
  /** Response headers and what they hold. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Other content types that it may come as, with their shapes. */
  readonly alternatives?: Readonly<Partial<Record<MediaType, z.ZodType>>>;
}

/** An operation of the HTTP API. */
export interface Operation<Body extends z.ZodType = z.ZodType, Query extends z.ZodType = z.ZodType> {
  readonly method: Method;
  /** `:name` stands for a parameter. One that ends in `_id` is a UUID, but for those that name an assistant or a checkpoint. */
  readonly path: string;
  readonly tag: Tag;
  readonly access: OperationAccess;
  /**
   * What the project's auth handler sees beside the parameters of the path; by default the body, and what the handler does to the
   * metadata in it is done.
   */
  authValue?(body: z.output<Body>, query: z.output<Query>): Json;
  /** What it does, in one line: for the API document and for the README. */
  readonly summary: string;
  /** What else there is to know, for the API document. */
  readonly description?: string;
  readonly body?: Body;
  /** It takes JSON-RPC: what is wrong with a body is said in an answer with status 200. */
  readonly rpc?: true;
  /** A zod object: one property per parameter. */
  readonly query?: Query;
  /** Request headers that act, and what they do. */
  readonly headers?: Readonly<Record<string, string>>;
  /** By status: successes, and errors whose body is not just `{"detail"}`. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** Statuses of errors that the operation may answer with, beside those of a request that does not fit. */
  readonly errors?: readonly (400 | 404 | 409 | 413 | 422 | 426 | 429)[];
}

export type Handler<Body extends z.ZodType = z.ZodType, Query extends z.ZodType = z.ZodType> = (
  context: Context<Body, Query>,
) => Response | Promise<Response>;

/** Registers an operation with what answers it. */
export type Route = <Body extends z.ZodType, Query extends z.ZodType>(
  operation: Operation<Body, Query>,
  handler: Handler<Body, Query>,
) => void;

/** The path as OpenAPI writes it: `{name}` stands for a parameter. */
export const pathTemplate = (path: string): string => path.replaceAll(/:(\w+)/g, "{$1}");

/** Answers with JSON of this shape. */
export const answer = (means: string, body: z.ZodType, headers?: Answer["headers"]): Record<number, Answer> => ({
  200: { means, body, ...(headers === undefined ? {} : { headers }) },
});

/** Answers 204 without a body. */
export const done = (means: string): Record<number, Answer> => ({ 204: { means } });
