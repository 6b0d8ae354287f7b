// Lists that are longer than what a call may have arguments.
import { expect, test } from "vitest";
import type { Write } from "../../src/storage/database.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";
import { ValueLog, type ValueRef } from "../../src/storage/value-log.ts";

test("a list of 150 000 elements reads back whole, from memory and from storage", () => {
  const db = memoryDatabase();
  const log = new ValueLog(db);
  const parts = Array.from({ length: 150_000 }, (_, i) => `j${i}`);
  const place = (list: string[], base?: ValueRef): ValueRef => {
    const writes: Write[] = [];
    const ref = log.place("t", "", "list", { parts: list, live: [] }, base, writes);
    db.write(writes);
    return ref;
  };
  const first = place(parts);
  const longer = [...parts, "j-1"];
  const second = place(longer, first);
  for (const reader of [log, new ValueLog(db)]) {
    for (const [ref, whole] of [
      [second, longer],
      [first, parts],
      [second, longer],
    ] as const) {
      const read = reader.read("t", "", "list", ref) as { parts: readonly string[] };
      // Not compared by `expect`, which takes seconds for it.
      expect(read.parts.length).toBe(whole.length);
      expect(read.parts.every((part, i) => part === whole[i])).toBe(true);
    }
  }
});
