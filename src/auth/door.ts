// The door of the server: who comes in, and with which rights. With `auth.path` the project's own handlers decide, without it API keys do.
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { AuthCache } from "../config/types.ts";
import type { Clock } from "../ids.ts";
import { UNRESTRICTED, type Access, type Caller } from "./access.ts";
import { ApiKeys, shownKeys } from "./api-keys.ts";
import { CallerAccess, type CustomAuth, type Handlers } from "./custom-auth.ts";
import { unauthorized } from "./refusals.ts";
import { isFromStudio, STUDIO_USER } from "./studio.ts";

export interface Door {
  /** What decides: API keys, or the project's own handlers. */
  readonly kind: "keys" | "project";
  /** Whether pages that a browser loads without credentials are open: `/info`, `/docs`, UI components. */
  readonly opensPages: boolean;
  /** Lets a request in. @throws ApiError 401, or what the project's `authenticate` throws. */
  enter(request: Request): Promise<Access>;
}

/** Everything but `/ok` takes one of the keys. */
export class KeyDoor implements Door {
  readonly kind = "keys";
  readonly opensPages = false;
  readonly #keys: ApiKeys;

  constructor(keys: ApiKeys) {
    this.#keys = keys;
  }

  // oxlint-disable-next-line require-await -- the other door has to wait
  async enter(request: Request): Promise<Access> {
    const shown = shownKeys(request.headers);
    if (shown.some((key) => this.#keys.has(key))) return UNRESTRICTED;
    const problem = shown.length === 0 ? "This server takes an API key" : "This API key is not one of this server";
    throw unauthorized(`${problem}: send it as X-Api-Key`);
  }
}

/** Milliseconds per second. */
const SECOND = 1000;

/** The project's own authentication. */
export class CustomDoor implements Door {
  readonly kind = "project";
  readonly opensPages = true;
  readonly #auth: CustomAuth;
  readonly #studio: boolean;
  readonly #origins: readonly string[];
  readonly #cache: CallerCache | undefined;

  /** @param studio whether Studio may come in without `authenticate`. @param origins whose pages may say that they are Studio. */
  constructor(
    auth: CustomAuth,
    options: {
      readonly studio: boolean;
      readonly origins: readonly string[];
      readonly cache: AuthCache | undefined;
      readonly clock: Clock;
    },
  ) {
    this.#auth = auth;
    this.#studio = options.studio;
    this.#origins = options.origins;
    this.#cache = options.cache === undefined ? undefined : new CallerCache(options.cache, options.clock);
  }

  async enter(request: Request): Promise<Access> {
    const handlers = await this.#auth.handlers();
    if (this.#studio && isFromStudio(request, this.#origins))
      return new CallerAccess(this.#auth, handlers, STUDIO_USER);
    const known = this.#cache?.find(handlers, request.headers);
    // A copy, because handlers may change what they get.
    if (known?.caller !== undefined) return new CallerAccess(this.#auth, handlers, structuredClone(known.caller));
    const caller = await this.#auth.authenticate(handlers, request);
    known?.keep(structuredClone(caller));
    return new CallerAccess(this.#auth, handlers, caller);
  }
}

/** Callers that were let in, by the headers that told who they are; in memory only as a digest of those. */
class CallerCache {
  readonly #names: readonly string[];
  readonly #callers: LRUCache<string, Caller>;
  /** Whose answers are kept. */
  #handlers: Handlers | undefined;

  constructor({ headers, ttlSeconds, maxSize }: AuthCache, clock: Clock) {
    this.#names = headers;
    this.#callers = new LRUCache({ max: maxSize, ttl: ttlSeconds * SECOND, ttlResolution: 0, perf: clock });
  }

  /** Undefined when a request has none of the headers, so that it is like all others that have none. */
  find(
    handlers: Handlers,
    headers: Headers,
  ): { readonly caller: Caller | undefined; keep(caller: Caller): void } | undefined {
    if (handlers !== this.#handlers) this.#callers.clear();
    this.#handlers = handlers;
    const values = this.#names.map((name) => headers.get(name));
    if (values.every((value) => value === null)) return undefined;
    const key = createHash("sha256").update(JSON.stringify(values)).digest("base64");
    const keep = (caller: Caller): void => {
      // A save while it was asked made its answer old.
      if (handlers === this.#handlers) this.#callers.set(key, caller);
    };
    return { caller: this.#callers.get(key), keep };
  }
}
