// How large metadata and settings may be. They are copied into every run, checkpoint and event of what they belong to, and every search
// looks at them, so that one request with a hundred thousand keys would hold up the server for seconds with each request after it.
import { ApiError } from "../errors.ts";
import { isObject, type Json } from "./json.ts";

/** Keys that metadata and settings may have. What is inside them is counted in: keys, and objects and lists that are in a list. */
export const MAX_KEYS = 10_000;
/** The same of a filter: every part of it may be compared with every part of a record. */
export const MAX_FILTER_KEYS = 1000;
/** Bytes that either may have as JSON: 1 MiB. */
const MAX_BYTES = 1024 * 1024;
/** Bytes that one character may take as JSON: a control character is written as `\u0000`. */
const WIDEST = 6;
/** Characters of a number as JSON, with the comma behind it. */
const LONGEST_NUMBER = 26;

/** What is wrong with metadata, settings or a filter, as a clause behind its name; undefined when nothing is. */
export function settingsProblem(value: unknown, maxKeys: number = MAX_KEYS): string | undefined {
  if (!isObject(value)) return "must be a JSON object";
  return isTooLarge(value, maxKeys) ? tooLarge(maxKeys) : undefined;
}

/** What two objects are together, one level deep. @throws ApiError 422 when they have become too large to be metadata. */
export function merged(before: Json, more: Json | undefined): Json {
  if (more === undefined) return before;
  const both = { ...before, ...more };
  // What was large before there was a limit may still become smaller.
  if (isTooLarge(both, MAX_KEYS) && !isTooLarge(before, MAX_KEYS))
    throw new ApiError(422, `metadata ${tooLarge(MAX_KEYS)}, with what is there already`);
  return both;
}

const tooLarge = (maxKeys: number): string => `has more than ${maxKeys} keys in all, or more than 1 MiB of JSON`;

/** It looks no further than the limits, and makes JSON of what is large only. */
function isTooLarge(value: Json, maxKeys: number): boolean {
  let keys = 0;
  /** Bytes of the JSON at least and at most. */
  let least = 0;
  let most = 0;
  const exceeds = (part: unknown): boolean => {
    least += typeof part === "string" ? part.length + 2 : 1;
    most += typeof part === "string" ? part.length * WIDEST + 3 : LONGEST_NUMBER;
    if (least > MAX_BYTES) return true;
    if (typeof part !== "object" || part === null) return false;
    if (Array.isArray(part)) {
      for (const item of part as unknown[]) {
        if (typeof item === "object" && item !== null && ++keys > maxKeys) return true;
        if (exceeds(item)) return true;
      }
      return false;
    }
    for (const key in part) {
      least += key.length + 3;
      most += key.length * WIDEST + 4;
      if (++keys > maxKeys || exceeds((part as Json)[key])) return true;
    }
    return false;
  };
  if (exceeds(value)) return true;
  return most > MAX_BYTES && Buffer.byteLength(JSON.stringify(value)) > MAX_BYTES;
}
