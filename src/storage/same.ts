// Structural snapshots: they tell whether an object that user code may have changed in place is still what was serialised.
// Comparing is several times cheaper than serialising again, because unchanged strings are the same pointers.

/** A deep copy of plain data (strings are shared). Only call it on values that `isPlain` accepts. */
export function snapshot(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(snapshot);
  const copy: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value)) copy[key] = snapshot((value as Record<string, unknown>)[key]);
  return copy;
}

/** Whether plain `value` still has the content of `snap`. */
export function same(value: unknown, snap: unknown): boolean {
  if (value === snap) return true;
  if (typeof value !== "object" || typeof snap !== "object" || value === null || snap === null) return false;
  if (Array.isArray(value)) {
    if (!Array.isArray(snap) || value.length !== snap.length) return false;
    for (let i = 0; i < value.length; i++) if (!same(value[i], snap[i])) return false;
    return true;
  }
  if (Array.isArray(snap)) return false;
  const record = value as Record<string, unknown>;
  const copy = snap as Record<string, unknown>;
  const keys = Object.keys(record);
  let count = 0;
  for (const key of keys) {
    if (!(key in copy) || !same(record[key], copy[key])) return false;
    count++;
  }
  return count === Object.keys(copy).length;
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
