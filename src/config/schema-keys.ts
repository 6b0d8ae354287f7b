// The vocabulary in which schema.ts is written: a zod type together with what the docs and the warnings say about the key.
import { z } from "zod";

/** What this version of the server does with a key. */
export type Effect = "acts" | "tolerated" | "not yet";

/** One row of the README's table of config keys. */
export interface ConfigKey {
  key: string;
  type: string;
  default: string;
  effect: Effect;
  description: string;
}

/** What is known about a key beside its zod type. */
export interface KeyMeta {
  /** The type as the README's table shows it. */
  readonly type: string;
  readonly default: string;
  readonly effect: Effect;
  /** One line. */
  readonly description: string;
  /** What a value of the wrong type should have been; derived from the zod type when absent. */
  readonly expected?: string;
  /** How to write it: a sentence that is shown when a required key is missing. */
  readonly write?: string;
  /** What the JSON Schema for editors says beyond the zod type: examples, patterns. Nothing here is checked by the server. */
  readonly json?: Readonly<Record<string, unknown>>;
  /** For "not yet": what does not happen although the key asks for it. Said once, at the outermost key that has it. */
  readonly missing?: string;
}

/** Where the schema keeps the `KeyMeta` of each key. */
export const keyMeta = z.registry<KeyMeta>();

/** `null` counts as absent: in YAML it is what remains when everything under a key is commented out. */
export function key<T extends z.ZodType>(meta: KeyMeta, type: T): z.ZodOptional<z.ZodNullable<T>> {
  const optional = type.nullish();
  keyMeta.add(optional, meta);
  return optional;
}

/** A key that must be there. */
export function required<T extends z.ZodType>(meta: Omit<KeyMeta, "default">, type: T): T {
  keyMeta.add(type, { ...meta, default: "required" });
  return type;
}

type Details = Partial<Pick<KeyMeta, "default" | "expected" | "missing" | "type" | "json">>;

/** True or false; false unless told. */
export function flag(effect: Effect, description: string, details: Details = {}) {
  return key({ type: "boolean", default: "false", effect, description, ...details }, z.boolean());
}

/** A string. */
export function text(effect: Effect, description: string, details: Details = {}) {
  return key({ type: "string", default: "", effect, description, ...details }, z.string());
}

/** A list of strings. */
export function texts(effect: Effect, description: string, details: Details = {}) {
  return key({ type: "string[]", default: "", effect, description, ...details }, z.array(z.string()));
}

/** A whole number, 0 or more. */
export function count(effect: Effect, description: string, details: Details = {}) {
  const expected = "a whole number, 0 or more";
  return key({ type: "integer", default: "", effect, description, expected, ...details }, z.int().min(0));
}

/** An object whose keys this server has no business to know. */
export function free(effect: Effect, description: string, details: Details = {}) {
  return key({ type: "object", default: "", effect, description, ...details }, z.record(z.string(), z.unknown()));
}

/** An object with known keys, each with a row of its own in the table. */
export function group<T extends z.ZodRawShape>(effect: Effect, description: string, shape: T, missing?: string) {
  const meta: KeyMeta = { type: "object", default: "", effect, description, ...(missing ? { missing } : {}) };
  return key(meta, z.object(shape));
}

/** A version: YAML reads `3.11` and `20` as numbers, and both are fine. */
export function version(description: string, fallback: string, examples: readonly string[] = []) {
  return key(
    { type: "string", default: fallback, effect: "tolerated", description, json: { examples } },
    z.union([z.string(), z.number()]),
  );
}

/** A choice of headers. */
export function headerFilter(effect: Effect, description: string, missing?: string) {
  const shape = {
    includes: texts(effect, "Header names to take; `*` stands for any characters."),
    excludes: texts(effect, "Header names to leave out, even if `includes` has them; `*` stands for any characters."),
    include: texts(effect, "The same as `includes`."),
    exclude: texts(effect, "The same as `excludes`."),
  };
  return group(effect, description, shape, missing);
}
