import { describe, expect, test } from "vitest";
import type { Range, Write } from "../../src/storage/database.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";
import { drawing, seeded } from "./seeded.ts";

/** The contract, written down without any thought of speed. */
function model() {
  const values = new Map<string, string>();
  const entries = ({ start, end, reverse, limit }: Range): [string, string][] => {
    const found = [...values].filter(([key]) => key >= start && key < end).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return (reverse === true ? found.toReversed() : found).slice(0, limit);
  };
  return {
    values,
    entries,
    write(writes: readonly Write[]) {
      for (const { key, value } of writes) {
        if (value === undefined) values.delete(key);
        else values.set(key, value);
      }
    },
  };
}

const put = (key: string, value = key): Write => ({ key, value });
const remove = (key: string): Write => ({ key, value: undefined });
const everything: Range = { start: "", end: "\uffff" };

describe("memoryDatabase", () => {
  test.each([1, 2, 3, 4, 5, 6])("does what a sorted list would do (seed %i)", (seed) => {
    const { integer, member } = drawing(seeded(seed));
    const database = memoryDatabase();
    const expected = model();
    // Seeds differ in how crowded the keys are, and the first half grows past several chunks.
    const alphabet = seed % 2 === 0 ? ["a", "b", "é", "\u{1f600}", "~", "!", "\0"] : [..."0123456789abcdef"];
    const anyKey = () => Array.from({ length: 1 + integer(6) }, () => member(alphabet)).join("");
    const anyRange = (): Range => ({
      start: anyKey(),
      end: anyKey(),
      reverse: member([true, false]),
      ...(integer(2) === 0 ? { limit: integer(20) } : {}),
    });
    for (let step = 0; step < 3000; step++) {
      const growing = step < 1500;
      const writes = Array.from({ length: integer(4) }, () =>
        integer(10) < (growing ? 1 : 6)
          ? remove(member([anyKey(), ...expected.values.keys()].slice(0, 50)))
          : put(anyKey(), String(step)),
      );
      database.write(writes);
      expected.write(writes);
      if (step % 20 !== 0) continue;
      const range = anyRange();
      expect([...database.range(range)]).toEqual(expected.entries(range));
      expect(database.count(range.start, range.end)).toBe(
        expected.entries({ start: range.start, end: range.end }).length,
      );
      const key = anyKey();
      expect(database.get(key)).toBe(expected.values.get(key));
    }
    expect([...database.range(everything)]).toEqual(expected.entries(everything));
    database.write([...expected.values.keys()].map(remove));
    expect([...database.range(everything)]).toEqual([]);
  });

  test.each(["increasing", "decreasing"])("keeps %s keys in order over many chunks", (direction) => {
    const database = memoryDatabase();
    const keys = Array.from({ length: 5000 }, (_, i) => `k/${String(i).padStart(6, "0")}`);
    for (const key of direction === "increasing" ? keys : keys.toReversed()) database.write([put(key)]);
    expect(Array.from(database.range({ start: "k/", end: "k0" }), ([key]) => key)).toEqual(keys);
    expect(database.count("k/000700", "k/004100")).toBe(3400);
  });

  test.each([false, true])("shows what was there when the iteration started (reverse: %s)", (reverse) => {
    const database = memoryDatabase();
    const keys = Array.from({ length: 1500 }, (_, i) => `k${String(i).padStart(4, "0")}`);
    database.write(keys.map((key) => put(key, "old")));
    const seen: (readonly [string, string])[] = [];
    for (const entry of database.range({ start: "k", end: "l", reverse })) {
      seen.push(entry);
      database.write([
        put(`k${seen.length}x`),
        remove(`k${String(1499 - seen.length).padStart(4, "0")}`),
        put(entry[0], "new"),
      ]);
    }
    const ordered = reverse ? keys.toReversed() : keys;
    expect(seen).toEqual(ordered.map((key) => [key, "old"]));
  });

  test("gives every iteration its own snapshot", () => {
    const database = memoryDatabase();
    database.write([put("a"), put("b"), put("c")]);
    const range = database.range(everything);
    const early = range[Symbol.iterator]();
    expect(early.next().value).toEqual(["a", "a"]);
    database.write([remove("b"), put("d")]);
    const late = range[Symbol.iterator]();
    database.write([remove("c")]);
    const rest = (iterator: Iterator<readonly [string, string]>) => {
      const keys: string[] = [];
      for (let next = iterator.next(); next.done !== true; next = iterator.next()) keys.push(next.value[0]);
      return keys;
    };
    expect(rest(early)).toEqual(["b", "c"]);
    expect(rest(late)).toEqual(["a", "c", "d"]);
    expect(rest(early)).toEqual([]);
  });

  test("applies the changes of one batch in their order", () => {
    const database = memoryDatabase();
    database.write([put("a", "1"), remove("a"), put("a", "2"), put("b"), remove("b"), remove("never there")]);
    expect([...database.range(everything)]).toEqual([["a", "2"]]);
  });

  test("stores empty values and finds nothing in an empty or turned range", () => {
    const database = memoryDatabase();
    database.write([put("a", "")]);
    expect(database.get("a")).toBe("");
    expect([...database.range({ start: "a", end: "a" }), ...database.range({ start: "b", end: "a" })]).toEqual([]);
    expect(database.count("b", "a")).toBe(0);
    expect([...database.range({ ...everything, limit: 0 })]).toEqual([]);
  });

  test("keeps its contents over close, so that a server can be restarted on it", async () => {
    const database = memoryDatabase();
    database.write([put("a")]);
    await database.close();
    expect(database.get("a")).toBe("a");
    expect(database.size()).toBe(0);
  });
});
