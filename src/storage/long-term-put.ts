// What a put asks for, checked and copied before anything is embedded or stored: a refused put sends nothing to a provider, and a
// caller that goes on changing its value while the embedding is under way changes nothing here.
import { ApiError } from "../errors.ts";
import type { JsonObject } from "./long-term-cache.ts";
import { checkWritable } from "./long-term-namespace.ts";
import { storageKey } from "./long-term-record.ts";

/** One item to store, or with `value: null` to delete. */
export interface PutItem {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: JsonObject | null;
  /** Minutes; null: for ever; absent: the store's default. */
  readonly ttl?: number | null | undefined;
  /** Paths of the fields to embed, in place of the config's; false: none. Kept with the item, for the case that a later config has an index. */
  readonly index?: false | readonly string[] | null | undefined;
}

/** A put that can be stored. */
export interface CheckedPut {
  readonly namespace: readonly string[];
  readonly key: string;
  /** Storage key of the item. */
  readonly name: string;
  /** The value's JSON; undefined deletes. */
  readonly text: string | undefined;
  readonly ttl: number | null | undefined;
  readonly index: false | readonly string[] | undefined;
}

/**
 * Checks puts; deletes under impossible names, of which there can be no item, are left out.
 * @throws ApiError 422 for a bad namespace, key, ttl, index or value.
 */
export function checkPuts(puts: readonly PutItem[]): CheckedPut[] {
  return puts.flatMap(({ namespace, key, value, ttl, index }) => {
    if (typeof key !== "string") throw new ApiError(422, "key must be a string");
    if (value === null) {
      const possible = Array.isArray(namespace) && namespace.every((label) => typeof label === "string");
      if (!possible) return [];
    } else checkWritable(namespace);
    return {
      namespace: [...namespace],
      key,
      name: storageKey(namespace, key),
      text: value === null ? undefined : toJson(value),
      ttl: checkTtl(ttl),
      index: checkIndex(index),
    };
  });
}

function checkTtl(ttl: number | null | undefined): number | null | undefined {
  if (ttl === null || ttl === undefined || (ttl > 0 && Number.isFinite(ttl))) return ttl;
  throw new ApiError(422, "ttl must be a number of minutes greater than 0");
}

function checkIndex(index: PutItem["index"]): CheckedPut["index"] {
  if (index === null || index === undefined) return undefined;
  if (index === false) return false;
  if (Array.isArray(index) && index.every((path) => typeof path === "string")) return [...index];
  throw new ApiError(422, "index must be false or a list of field paths");
}

function toJson(value: JsonObject): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    // A cycle, a bigint, or nested too deeply: the caller's value, so not an error of the server.
    throw new ApiError(
      422,
      `value cannot be stored as JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (text?.startsWith("{")) return text;
  throw new ApiError(422, "value must be a JSON object");
}
