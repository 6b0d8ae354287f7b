// What every part of the server asks before it does something for a caller: who it is, and whether that may be. There is one way to ask,
// whatever the door: REST, protocol v2, A2A, MCP.
import { ApiError } from "../errors.ts";
import { isObject, type Json } from "../resources/json.ts";

/** Everything that the auth handlers of a project decide about. */
export const AUTH_EVENTS = [
  "threads:create",
  "threads:read",
  "threads:update",
  "threads:delete",
  "threads:search",
  "threads:create_run",
  "assistants:create",
  "assistants:read",
  "assistants:update",
  "assistants:delete",
  "assistants:search",
  "crons:create",
  "crons:read",
  "crons:update",
  "crons:delete",
  "crons:search",
  "store:put",
  "store:get",
  "store:search",
  "store:list_namespaces",
  "store:delete",
] as const;
export type AuthEvent = (typeof AUTH_EVENTS)[number];

/** Whether a caller may see what has this metadata. */
export type Allows = (metadata: Json) => boolean;

/** What was decided. */
export interface Granted<Value extends Json> {
  /** What is to be done, with what the handler has changed in it. */
  readonly value: Value;
  /** What of it the caller sees; everything when undefined. */
  readonly allows: Allows | undefined;
}

/** A caller. */
export interface Caller {
  readonly identity: string;
  readonly permissions: readonly string[];
  /** Everything that `authenticate` said, as the handlers get it. */
  readonly user: Json;
}

/** What a request may do. */
export interface Access {
  /** Whether anything is decided at all: if not, everything is allowed, and nobody needs to ask. */
  readonly restricted: boolean;
  /** Undefined when nobody is told from another. */
  readonly identity: string | undefined;
  /** What the graphs of the caller's runs find in `configurable`; undefined when nobody is told from another. */
  readonly settings: Json | undefined;
  /** Whether `authorize` was called. */
  readonly asked: boolean;
  /**
   * Asks whether this may be done.
   * @param value what is to be done; the handler may change it.
   * @throws ApiError 403, or what the handler throws.
   */
  authorize<Value extends Json>(event: AuthEvent, value: Value): Promise<Granted<Value>>;
}

/**
 * The metadata that a handler has left in a value, as plain data.
 * @throws ApiError 422 when it is no object.
 */
export function changedMetadata({ metadata }: Json): Json {
  if (metadata === undefined || metadata === null) return {};
  if (isObject(metadata)) return JSON.parse(JSON.stringify(metadata)) as Json;
  throw new ApiError(422, "The auth handler of this server has set metadata to what is no object");
}

/** The access of everybody when there are no handlers. */
export const UNRESTRICTED: Access = {
  restricted: false,
  identity: undefined,
  settings: undefined,
  asked: true,
  authorize: (_event, value) => Promise.resolve({ value, allows: undefined }),
};
