// Staged writes: whoever works on them sees one database, and nobody else sees anything of them.
import { expect, test } from "vitest";
import { buffered } from "../../src/storage/buffered.ts";
import { MAX_KEY_BYTES, type Range } from "../../src/storage/database.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";
import { StagedDatabase } from "../../src/storage/staged.ts";

const NAMES = ["a", "b", "c", "d", "e", "f", "g"];

/** A database with every other name, one staged over it that changed, added and removed some, and one that has it all stored. */
function setup() {
  const [base, whole] = [buffered(memoryDatabase()), buffered(memoryDatabase())];
  const stored = ["b", "d", "f"].map((key) => ({ key, value: `stored ${key}` }));
  for (const each of [base, whole]) each.write(stored);
  const staged = new StagedDatabase(base);
  for (const each of [staged, whole]) {
    each.writeSoon([
      { key: "a", value: "new a" },
      { key: "d", value: undefined },
      { key: "c", value: undefined },
    ]);
    each.write([
      { key: "f", value: "new f" },
      { key: "g", value: "new g" },
      { key: "e", value: "to be removed" },
      { key: "e", value: undefined },
    ]);
  }
  return { base, staged, whole };
}

test("reads see what is staged, and nobody else does", () => {
  const { base, staged, whole } = setup();
  expect(NAMES.map((key) => staged.get(key))).toEqual(NAMES.map((key) => whole.get(key)));
  expect(NAMES.map((key) => base.get(key) !== undefined)).toEqual([false, true, false, true, false, true, false]);
});

test("ranges and counts are those of a database that has it all", () => {
  const { staged, whole } = setup();
  const bounds = [...NAMES, "h"];
  for (const start of bounds) {
    for (const end of bounds) {
      expect(staged.count(start, end)).toBe(whole.count(start, end));
      for (const reverse of [false, true]) {
        for (const limit of [undefined, 0, 1, 2, 3, 9]) {
          const range: Range = { start, end, reverse, ...(limit === undefined ? {} : { limit }) };
          expect([range, ...staged.range(range)]).toEqual([range, ...whole.range(range)]);
        }
      }
    }
  }
});

test("its writes make the one of the other", () => {
  const { base, staged, whole } = setup();
  base.write(staged.writes);
  const all = { start: "", end: "z" };
  expect([...base.range(all)]).toEqual([...whole.range(all)]);
});

test("a key that is too long is refused at once", () => {
  const staged = new StagedDatabase(buffered(memoryDatabase()));
  expect(() => staged.writeSoon([{ key: "k".repeat(MAX_KEY_BYTES + 1), value: "" }])).toThrow(RangeError);
  expect(staged.writes).toEqual([]);
});
