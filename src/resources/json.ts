// Rules that several resources share: JSON containment for filters, selection of fields, merging.

/** A JSON object. */
export type Json = Record<string, unknown>;

/** Whether `value` is an object that JSON would write as `{…}`. */
export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * JSON containment as PostgreSQL's `@>` has it, which the platform's filters follow: objects contain objects with a subset of
 * the keys, arrays contain arrays whose every element they contain, everything else must be equal.
 */
export function contains(value: unknown, part: unknown): boolean {
  if (isObject(part)) {
    return (
      isObject(value) && Object.keys(part).every((key) => Object.hasOwn(value, key) && contains(value[key], part[key]))
    );
  }
  if (Array.isArray(part)) {
    return Array.isArray(value) && containsAll(value, part);
  }
  return value === part;
}

/** Elements of a list from which on it is worth a set. */
const MANY = 16;

/** The same for the elements of two lists, which may both be long. */
function containsAll(value: readonly unknown[], part: readonly unknown[]): boolean {
  const known = part.length < MANY ? undefined : new Set(value);
  return part.every((wanted) => {
    if (typeof wanted === "object" && wanted !== null) return value.some((item) => contains(item, wanted));
    return known === undefined ? value.includes(wanted) : known.has(wanted);
  });
}

/** The fields of `record` named in `select`, in that order; all of them without `select`. */
export function pick(record: Json, select: readonly string[] | undefined): Json {
  if (select === undefined) return record;
  return Object.fromEntries(
    select.filter((field) => Object.hasOwn(record, field)).map((field) => [field, record[field]]),
  );
}

/** One page of results with what the pagination headers say. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Number of matches on all pages. */
  readonly total: number;
  /** Offset of the next page; undefined on the last one. */
  readonly next: number | undefined;
}

/** Cuts a page out of all matches. */
export function page<T>(all: readonly T[], limit: number, offset: number): Page<T> {
  const end = offset + limit;
  return { items: all.slice(offset, end), total: all.length, next: end < all.length ? end : undefined };
}
