// The filters that auth handlers return, as predicates on metadata. What is not understood is refused: a misspelt operator that is left out
// would show everything to everybody.
import { isDeepStrictEqual } from "node:util";
import { isObject, type Json } from "../resources/json.ts";
import type { Allows } from "./access.ts";

/** A filter that cannot be meant. */
export class FilterError extends Error {
  override readonly name = "FilterError";
}

/**
 * Makes a predicate of a filter: `{key: value}` and `{key: {$eq: value}}` ask for that value, `{key: {$contains: value}}` for a list with
 * it (or with all of a list), `$or` and `$and` take lists of filters. All keys must hold.
 * @throws FilterError
 */
export function compileFilter(filter: Json): Allows {
  const parts = Object.entries(filter).map(([key, wanted]) => {
    if (key === "$or" || key === "$and") return group(key, wanted);
    if (key.startsWith("$")) throw new FilterError(`a filter knows $or and $and, not ${key}`);
    return condition(key, wanted);
  });
  return (metadata) => parts.every((holds) => holds(metadata));
}

function group(operator: "$or" | "$and", filters: unknown): Allows {
  if (!Array.isArray(filters) || filters.length === 0 || !filters.every(isObject))
    throw new FilterError(`${operator} takes a list of filters`);
  const parts = filters.map(compileFilter);
  return operator === "$or"
    ? (metadata) => parts.some((holds) => holds(metadata))
    : (metadata) => parts.every((holds) => holds(metadata));
}

function condition(key: string, wanted: unknown): Allows {
  const tests = isObject(wanted) ? operators(key, wanted) : [equals(wanted)];
  return (metadata) => Object.hasOwn(metadata, key) && tests.every((test) => test(metadata[key]));
}

/** What a value has to be. */
type Test = (value: unknown) => boolean;

function operators(key: string, wanted: Json): Test[] {
  const names = Object.keys(wanted);
  if (!names.some((name) => name.startsWith("$"))) return [equals(wanted)];
  return names.map((name) => {
    const operand = wanted[name];
    if (name === "$eq") return equals(operand);
    if (name === "$contains") return contains(operand);
    throw new FilterError(`the filter for "${key}" knows $eq and $contains, not ${name}`);
  });
}

// A handler whose user lacks a field returns undefined for it, and must not see what lacks the field as well.
const equals =
  (wanted: unknown): Test =>
  (value) =>
    wanted !== undefined && (value === wanted || (typeof wanted === "object" && isDeepStrictEqual(value, wanted)));

function contains(wanted: unknown): Test {
  const all = (Array.isArray(wanted) ? wanted : [wanted]).map(equals);
  return (value) => Array.isArray(value) && all.every((test) => value.some(test));
}
