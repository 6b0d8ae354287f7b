// No body may cost more than it weighs: a list that is wrong in each of its elements must not become as many complaints. All operations
// are looked at, so that a new one cannot forget it.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import * as protocol from "../../src/protocol/bodies.ts";
import { validated } from "../../src/resources/schema.ts";
import { pathTemplate, type Operation } from "../../src/server/operation.ts";
import { registerRoutes } from "../../src/server/routes.ts";

const schemas: [name: string, schema: z.ZodType][] = [];
registerRoutes(
  (({ method, path, body }: Operation) => {
    if (body !== undefined) schemas.push([`${method} ${pathTemplate(path)}`, body]);
  }) as never,
  { http: {} } as never,
);
for (const [name, schema] of Object.entries(protocol))
  if (schema instanceof z.ZodType) schemas.push([`the protocol's ${name}`, schema]);

interface JsonSchema {
  readonly type?: string;
  readonly items?: JsonSchema | boolean;
  readonly prefixItems?: JsonSchema[];
  readonly maxItems?: number;
  readonly anyOf?: JsonSchema[];
  readonly properties?: Record<string, JsonSchema>;
  readonly additionalProperties?: JsonSchema | boolean;
}

/** A place in a body: object keys, and `*` for the elements of a list. */
type Place = readonly string[];

/** All lists and all maps of checked values in a body, with their limits. */
function* containers(
  schema: JsonSchema,
  at: Place = [],
): Generator<{ readonly at: Place; readonly most: number | undefined }> {
  for (const variant of schema.anyOf ?? []) yield* containers(variant, at);
  for (const [name, field] of Object.entries(schema.properties ?? {})) yield* containers(field, [...at, name]);
  const { items, prefixItems, additionalProperties: rest } = schema;
  if (schema.type === "array") yield { at, most: prefixItems === undefined ? schema.maxItems : prefixItems.length };
  if (typeof items === "object") yield* containers(items, [...at, "*"]);
  for (const item of prefixItems ?? []) yield* containers(item, [...at, "*"]);
  if (typeof rest === "object" && Object.keys(rest).length > 0) yield { at, most: undefined };
}

const shapeOf = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" }) as JsonSchema;

/** Lists whose elements nobody looks at. */
const UNCHECKED = ["POST /mcp"];

const lists = schemas.flatMap(([name, schema]) =>
  UNCHECKED.includes(name)
    ? []
    : [...containers(shapeOf(schema))].map(({ at, most }) => ({ name, schema, at, most, place: at.join(".") })),
);

test("there are lists to look at", () => {
  expect(lists.length).toBeGreaterThan(30);
});

test("every list of a body says how much may be in it", () => {
  expect(lists.filter(({ most }) => most === undefined).map(({ name, place }) => `${name}: ${place}`)).toEqual([]);
});

/** Long lists of elements that are wrong in different ways. */
const WRONG: readonly unknown[][] = [1, "", "x", {}, { a: 1 }, [], [[]], null].map((element) =>
  Array.from({ length: 100_000 }, () => element),
);

/** The body that has `value` at a place, and nothing else. */
function bodyWith(at: Place, value: unknown): unknown {
  const [first, ...rest] = at;
  if (first === undefined) return value;
  const inner = bodyWith(rest, value);
  return first === "*" ? [inner] : { [first]: inner };
}

/** Everything that was found wrong, in all variants of it. */
function countOf(issues: readonly z.core.$ZodIssue[]): number {
  let count = 0;
  for (const issue of issues) {
    count++;
    if (issue.code === "invalid_union") for (const variant of issue.errors) count += countOf(variant);
  }
  return count;
}

describe("a body that is wrong in every element is refused with few words", () => {
  test.each(lists)("$name: $place", ({ schema, at, most = 0 }) => {
    for (const wrong of WRONG) {
      for (const list of [wrong.slice(0, most), wrong]) {
        let found = 0;
        try {
          validated(schema, bodyWith(at, list));
        } catch (error) {
          found = countOf((error as z.ZodError).issues);
        }
        expect(found, `${list.length} × ${JSON.stringify(list[0])}`).toBeLessThan(100);
      }
    }
  });
});

test("a short body is told everything that is wrong with it", () => {
  const schema = z.object({ a: z.string(), b: z.string() });
  expect(() => validated(schema, {}, 2)).toThrow(/"a"[\s\S]*"b"/);
});
