// `config.configurable` and `context` are two names of one thing, and graphs read either: what a caller gives under one name is there
// under the other too, as on the hosted server (wire-api §3.11).
import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../errors.ts";
import { isObject, type Json } from "./json.ts";

/** What an assistant hands to its runs. */
export interface Settings {
  readonly config: Json;
  readonly context: Json;
}

const NONE: Settings = { config: {}, context: {} };
const isEmpty = (value: Json | undefined): boolean => value === undefined || Object.keys(value).length === 0;

/**
 * The settings that come of what a caller gives. A config replaces the one before; `configurable` and `context` replace what was
 * under both names before, and stay when neither is given.
 * @throws ApiError 400 when both are given with something different in them, unless one of them is what is there already.
 */
export function mirrored(
  given: { readonly config?: Json | undefined; readonly context?: Json | undefined },
  before: Settings = NONE,
): Settings {
  const configurable = given.config?.["configurable"] as Json | undefined;
  const { context } = given;
  const shared = choose(configurable, context, before.context);
  const { configurable: _, ...rest } = given.config ?? before.config;
  if (isEmpty(shared)) return { config: given.config ?? rest, context: shared };
  return { config: { ...rest, configurable: shared }, context: shared };
}

function choose(configurable: Json | undefined, context: Json | undefined, before: Json): Json {
  if (isEmpty(configurable)) return isEmpty(context) ? (configurable ?? context ?? before) : context!;
  if (isEmpty(context) || isDeepStrictEqual(configurable, context)) return configurable!;
  // A client that changes one of them may send the other one back as it was.
  if (isDeepStrictEqual(context, before)) return configurable!;
  if (isDeepStrictEqual(configurable, before)) return context!;
  throw new ApiError(
    400,
    "config.configurable and context are two names of one thing here; send one of them, or the same in both",
  );
}

/**
 * What a run gives under one name and its assistant has under both: the run's word counts under the other name too. Settings that
 * only the run has stay where it put them.
 * @param settings the assistant's. @param given `context` or `configurable` of the run.
 */
export function overridden(settings: Json, given: unknown): Json | undefined {
  if (isEmpty(settings) || !isObject(given)) return undefined;
  return Object.fromEntries(Object.entries(given).filter(([key]) => Object.hasOwn(settings, key)));
}
