// Reads the schema as data: which keys an object knows, which schema stands at a path, what a value should have been.
import { z } from "zod";
import { keyMeta } from "./schema-keys.ts";
import type { ConfigKey, KeyMeta } from "./schema-keys.ts";
import type { ConfigPath } from "./source.ts";

type Schema = z.core.$ZodType;

/** A row for every key below `schema` that is no group of others. */
export function keyRows(schema: Schema, prefix = ""): ConfigKey[] {
  return Object.entries(knownKeys(schema) ?? {}).flatMap(([name, child]) => {
    const meta = metaOf(child);
    if (!meta) return [];
    const { type, default: fallback, effect, description } = meta;
    // `graphs` and `env` hold the user's own names; only objects with fixed keys have rows below them.
    const below = unwrap(child) instanceof z.ZodObject ? keyRows(child, `${prefix}${name}.`) : [];
    return below.length > 0 ? below : [{ key: prefix + name, type, default: fallback, effect, description }];
  });
}

/** The keys of an object schema, looking through `optional` and unions; undefined when any key is fine. */
export function knownKeys(schema: Schema): Record<string, Schema> | undefined {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject) return inner.shape as Record<string, Schema>;
  if (!(inner instanceof z.ZodUnion)) return undefined;
  const option = inner.options.find((candidate) => unwrap(candidate) instanceof z.ZodObject);
  return option && knownKeys(option);
}

/** The schema of the child `part`, or undefined when the schema does not say. */
export function childSchema(schema: Schema, part: string | number): Schema | undefined {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject) {
    const shape = inner.shape as Record<string, Schema>;
    return Object.hasOwn(shape, part) ? shape[part] : undefined;
  }
  if (inner instanceof z.ZodRecord) return inner.valueType;
  if (inner instanceof z.ZodArray) return typeof part === "number" ? inner.element : undefined;
  if (!(inner instanceof z.ZodUnion)) return undefined;
  for (const option of inner.options) {
    const found = childSchema(option, part);
    if (found) return found;
  }
  return undefined;
}

/** Where a key called `name` belongs, as `http.cors`; undefined when there is none. */
export function pathOfKey(schema: Schema, name: string, prefix = ""): string | undefined {
  const known = unwrap(schema) instanceof z.ZodObject ? Object.entries(knownKeys(schema) ?? {}) : [];
  if (known.some(([candidate]) => candidate === name)) return prefix + name;
  for (const [parent, child] of known) {
    const found = pathOfKey(child, name, `${prefix}${parent}.`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The schema at `path` below `root`. */
export function schemaIn(root: Schema, path: ConfigPath): Schema | undefined {
  let schema: Schema | undefined = root;
  for (const part of path) schema = schema && childSchema(schema, part);
  return schema;
}

/** What is registered for a schema, if anything. */
export function metaOf(schema: Schema): KeyMeta | undefined {
  return keyMeta.get(schema as z.ZodType);
}

/** Whether a schema accepts nothing but true and false. */
export function isBoolean(schema: Schema): boolean {
  return unwrap(schema) instanceof z.ZodBoolean;
}

/** What a value should be, to follow "must be": `true or false`, `a list of strings`. */
export function expectedForm(schema: Schema): string {
  const stated = metaOf(schema)?.expected;
  if (stated !== undefined) return stated;
  const inner = unwrap(schema);
  if (inner instanceof z.ZodBoolean) return "true or false";
  if (inner instanceof z.ZodString) return "a string";
  if (inner instanceof z.ZodNumber) return "a number";
  if (inner instanceof z.ZodEnum) return inner.options.map((option) => JSON.stringify(option)).join(" or ");
  if (inner instanceof z.ZodArray) return `a list of ${expectedForm(inner.element).replace(/^an? /, "")}s`;
  if (inner instanceof z.ZodUnion) return inner.options.map((option) => expectedForm(option)).join(" or ");
  return "an object";
}

function unwrap(schema: Schema): Schema {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) inner = inner.unwrap();
  return inner;
}
