// The types that need no look at their parts: primitives, literals, enums, and what a union has of them.
import { ts } from "@ts-morph/common";
import type { JsonSchema } from "../json-schema.ts";

const { TypeFlags } = ts;

type Literal = string | number | boolean;

/** The schema of a primitive or a literal; undefined for every other type. */
export function literalSchema(type: ts.Type): JsonSchema | undefined {
  const value = literalOf(type);
  if (value !== undefined) return { type: typeof value, const: value };
  if (type.flags & TypeFlags.StringLike) return { type: "string" };
  // An enum is a union of its members, except when it has computed ones.
  if (type.flags & (TypeFlags.Number | TypeFlags.Enum) && !type.isUnion()) return { type: "number" };
  if (type.flags & TypeFlags.BigIntLike) return { type: "integer" };
  if (type.flags & TypeFlags.Boolean) return { type: "boolean" };
  if (type.flags & TypeFlags.Null) return { type: "null" };
  return undefined;
}

/** Takes the literals out of the members of a union: one schema for each of their types, and the members that are left. */
export function literals(types: readonly ts.Type[]): { schemas: JsonSchema[]; rest: ts.Type[] } {
  const values = new Map<string, Literal[]>();
  const rest: ts.Type[] = [];
  for (const type of types) {
    const value = literalOf(type);
    if (value === undefined) rest.push(type);
    else values.set(typeof value, [...(values.get(typeof value) ?? []), value]);
  }
  const schemas = [...values].map(([type, found]): JsonSchema => {
    if (type === "boolean" && found.length === 2) return { type };
    return found.length === 1 ? { type, const: found[0] } : { type, enum: found };
  });
  return { schemas, rest };
}

function literalOf(type: ts.Type): Literal | undefined {
  if (type.isStringLiteral() || type.isNumberLiteral()) return type.value;
  if (type.flags & TypeFlags.BooleanLiteral)
    return (type as ts.Type & { intrinsicName?: string }).intrinsicName === "true";
  return undefined;
}
