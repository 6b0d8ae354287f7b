// The limits of JSON from outside, at their edges, for texts of both ways to count: short ones and large ones.
import { describe, expect, test } from "vitest";
import { MAX_CONTAINERS, MAX_LEVELS, parseForeignJson } from "../src/json-text.ts";

const nested = (levels: number, inside: string): string => "[".repeat(levels) + inside + "]".repeat(levels);
/** What makes a text so large that its brackets are counted before it is parsed. */
const LONG = JSON.stringify("x".repeat(2 * 1024 * 1024));

describe.each([
  ["short", "1"],
  ["large", LONG],
])("a %s text", (_, inside) => {
  test("may have as many levels as are allowed, and no more", () => {
    const depth = (value: unknown): number => (Array.isArray(value) ? 1 + depth(value[0]) : 0);
    expect(depth(parseForeignJson(nested(MAX_LEVELS, inside)))).toBe(MAX_LEVELS);
    expect(() => parseForeignJson(nested(MAX_LEVELS + 1, inside))).toThrow(/more than 1000 levels/);
    const objects = '{"a":'.repeat(MAX_LEVELS + 1) + inside + "}".repeat(MAX_LEVELS + 1);
    expect(() => parseForeignJson(objects)).toThrow(/more than 1000 levels/);
  });

  test("may have deep values side by side", () => {
    const value = `[${nested(MAX_LEVELS - 1, "1")},${nested(MAX_LEVELS - 1, "2")},${inside}]`;
    expect(parseForeignJson(value)).toHaveLength(3);
  });

  test("is what JSON.parse makes of it", () => {
    const brackets = "[{".repeat(MAX_LEVELS);
    const value = {
      a: `${brackets}"${brackets}\\`,
      [`\\"${brackets}`]: [brackets, '\\\\"'],
      b: JSON.parse(inside) as unknown,
    };
    expect(parseForeignJson(JSON.stringify(value))).toEqual(value);
    for (const broken of [`[${inside}`, `${inside}"`, `[${inside}]]`, `${inside}\\"`, ""])
      expect(() => parseForeignJson(broken)).toThrow(SyntaxError);
  });
});

test("a value may hold two million objects and lists", () => {
  const list = (length: number): string => `[${"{},".repeat(length - 2)}{}]`;
  expect(parseForeignJson(list(MAX_CONTAINERS))).toHaveLength(MAX_CONTAINERS - 1);
  expect(() => parseForeignJson(list(MAX_CONTAINERS + 1))).toThrow(/more than 2000000 objects and lists/);
});
