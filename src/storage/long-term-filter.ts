// The filter language of store searches, compiled once per search into a predicate over item values.

import { ApiError } from "../errors.ts";

type Test = (value: unknown) => boolean;

/** The operators that a filter may use instead of a plain value. */
const OPERATORS: Readonly<Record<string, (operand: unknown) => Test>> = {
  $eq: (operand) => (value) => equal(value, operand),
  $ne: (operand) => (value) => !equal(value, operand),
  $gt: (operand) => (value) => compare(value, operand) > 0,
  $gte: (operand) => (value) => compare(value, operand) >= 0,
  $lt: (operand) => (value) => compare(value, operand) < 0,
  $lte: (operand) => (value) => compare(value, operand) <= 0,
  $in: among,
  $nin: (operand) => {
    const test = among(operand);
    return (value) => !test(value);
  },
};

/**
 * A predicate for `{field: value}` (deep equality) and `{field: {$op: operand, …}}`, all of which must hold. Fields are top-level
 * keys of the item's value, as in LangGraph's in-memory store: `a.b` means a key of that spelling. A missing field is unequal to
 * everything and takes part in no order. Undefined when the filter is empty: everything matches.
 * @throws ApiError 422 for an unknown operator.
 */
export function compileFilter(
  filter: Readonly<Record<string, unknown>> | undefined,
): ((value: Readonly<Record<string, unknown>>) => boolean) | undefined {
  const fields = Object.entries(filter ?? {}).map(([field, wanted]) => [field, compileField(wanted)] as const);
  if (fields.length === 0) return undefined;
  return (value) => {
    for (const [field, test] of fields) {
      // `constructor` and the like are not fields of every value.
      if (!test(Object.hasOwn(value, field) ? value[field] : undefined)) return false;
    }
    return true;
  };
}

/** Whether a value is one of a list, which may be long. */
function among(operand: unknown): Test {
  if (!Array.isArray(operand)) return () => false;
  const scalars = new Set(operand);
  const others = operand.filter((one) => typeof one === "object" && one !== null);
  return (value) => scalars.has(value) || others.some((one) => equal(value, one));
}

function compileField(wanted: unknown): Test {
  if (typeof wanted !== "object" || wanted === null || !Object.keys(wanted).some((key) => key.startsWith("$"))) {
    return (value) => equal(value, wanted);
  }
  const tests = Object.entries(wanted).map(([name, operand]) => {
    const operator = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
    if (operator !== undefined) return operator(operand);
    throw new ApiError(422, `Unknown filter operator ${name}; there are ${Object.keys(OPERATORS).join(", ")}`);
  });
  return (value) => tests.every((test) => test(value));
}

/** Deep equality of JSON values, whatever the order of keys. */
function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]));
  }
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  return keys.every((key) => Object.hasOwn(right, key) && equal(left[key], right[key]));
}

/** Negative, zero or positive; NaN (which fails every comparison) where there is no order. Numbers in strings count as numbers. */
function compare(a: unknown, b: unknown): number {
  if (!isScalar(a) || !isScalar(b)) return Number.NaN;
  const difference = Number(a) - Number(b);
  // ISO dates and other words: the reference compares numbers only, which makes every range over dates empty.
  if (Number.isNaN(difference) && typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0;
  return difference;
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
