// Values as a JSON schema of the API document describes them, with names and ids of things that exist, so that a fuzzed request comes further
// than the validation.
import { Fields, hostile, jsonOf, type Json } from "./fuzz-json.ts";
import type { Random } from "./fuzz-random.ts";
import { TEXTS } from "./fuzz-values.ts";

type Schema = Record<string, unknown>;

export interface Making {
  readonly random: Random;
  /** Good values by the name of a field or parameter. */
  readonly known: Readonly<Record<string, readonly unknown[]>>;
  /** What a reference of the document leads to. */
  readonly resolve: (reference: string) => unknown;
}

/** A value that fits a schema, more or less. @param name of the field; its good values are preferred. */
export function valueOf(schema: Schema, making: Making, name = "", depth = 0): Json {
  const { random, known, resolve } = making;
  const values = Object.hasOwn(known, name) ? known[name]! : [];
  if (values.length > 0 && random.percent(90)) return jsonOf(random.pick(values));
  const { $ref } = schema;
  if (typeof $ref === "string") return valueOf(resolve($ref) as Schema, making, name, depth);
  for (const choice of ["anyOf", "oneOf"])
    if (Array.isArray(schema[choice])) return valueOf(random.pick(schema[choice] as Schema[]), making, name, depth);
  if ("const" in schema) return jsonOf(schema["const"]);
  if (Array.isArray(schema["enum"])) return jsonOf(random.pick(schema["enum"] as unknown[]));
  switch (schema["type"]) {
    case "object":
      return objectOf(schema, making, depth);
    case "array":
      return listOf(schema, making, name, depth);
    case "integer":
      return random.pick([
        number(schema["minimum"], 0),
        number(schema["maximum"], 10),
        number(schema["minimum"], 0) + 1,
      ]);
    case "number":
      return random.pick([number(schema["minimum"], 0), number(schema["exclusiveMinimum"], 0) + 1, 0.01]);
    case "boolean":
      return random.percent(50);
    case "null":
      return null;
    case "string":
      return schema["format"] === "uuid" ? crypto.randomUUID() : random.pick(["a", "one", "echo", random.pick(TEXTS)]);
    default:
      return depth > 0 ? hostile(random) : new Fields();
  }
}

const number = (bound: unknown, fallback: number): number => (typeof bound === "number" ? bound : fallback);

function objectOf(schema: Schema, making: Making, depth: number): Json {
  const { random } = making;
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, Schema>);
  const required = new Set(schema["required"] as string[] | undefined);
  // Deeper down there is less of everything.
  const often = 30 / (depth + 1);
  const chosen = properties.filter(([key]) => required.has(key) || random.percent(often));
  const entries: [string, Json][] = chosen.map(([key, property]) => [key, valueOf(property, making, key, depth + 1)]);
  if (properties.length === 0 && random.percent(50)) entries.push(["a", random.percent(70) ? 1 : hostile(random)]);
  return new Fields(entries);
}

function listOf(schema: Schema, making: Making, name: string, depth: number): Json {
  const fixed = schema["prefixItems"] as Schema[] | undefined;
  if (fixed !== undefined) return fixed.map((item) => valueOf(item, making, "", depth + 1));
  const length = Math.max(number(schema["minItems"], 0), making.random.int(3));
  const items = schema["items"] as Schema | boolean | undefined;
  const item = typeof items === "object" ? items : {};
  return Array.from({ length }, () => valueOf(item, making, `${name}[]`, depth + 1));
}
