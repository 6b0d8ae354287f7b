// Structural snapshots: they tell whether an object that user code may have changed in place is still what was serialised.
// Comparing is several times cheaper than serialising again, because unchanged strings are the same pointers.

/** The snapshot of an object. Two lists are a third of the size of an object without a prototype. */
export class ObjectSnapshot {
  readonly keys: readonly string[];
  readonly values: readonly unknown[];
  constructor(keys: readonly string[], values: readonly unknown[]) {
    this.keys = keys;
    this.values = values;
  }
}

const EMPTY = new ObjectSnapshot([], []);

/** A deep copy of plain data (strings are shared). Only call it on values that `isPlain` accepts. */
export function snapshot(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(snapshot);
  const keys = Object.keys(value);
  if (keys.length === 0) return EMPTY;
  return new ObjectSnapshot(
    keys,
    keys.map((key) => snapshot((value as Record<string, unknown>)[key])),
  );
}

/** Whether plain `value` still has the content of `snap`, in the same order. */
export function same(value: unknown, snap: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === snap;
  if (Array.isArray(value)) {
    if (!Array.isArray(snap) || value.length !== snap.length) return false;
    for (let i = 0; i < value.length; i++) if (!same(value[i], snap[i])) return false;
    return true;
  }
  if (!(snap instanceof ObjectSnapshot)) return false;
  const keys = Object.keys(value);
  if (keys.length !== snap.keys.length) return false;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if (key !== snap.keys[i] || !same((value as Record<string, unknown>)[key], snap.values[i])) return false;
  }
  return true;
}

/**
 * Whether JSON carries `value` without loss: no class instances, dates, maps, bigints, NaN, functions or cycles.
 * Properties that are `undefined` count as absent, as JSON has it.
 */
export function isPlain(value: unknown, depth = 0): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value);
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return true;
  // Deeper than this it may be a cycle; the lossless path knows how to break those.
  if (depth > 100) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!isPlain(item, depth + 1)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  const record = value as Record<string, unknown>;
  for (const key of Object.keys(record)) {
    const item = record[key];
    if (item !== undefined && !isPlain(item, depth + 1)) return false;
  }
  return typeof record["toJSON"] !== "function";
}
