import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/storage/database.ts";
import { lmdbDatabase } from "../../src/storage/lmdb-driver.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";
import { slices } from "../../src/storage/slices.ts";

const ALL = { start: "a", end: "b" };
const key = (i: number): string => `a${String(i).padStart(5, "0")}`;

function lmdb(): Database {
  const folder = mkdtempSync(join(tmpdir(), "agent-server-slices-"));
  const database = lmdbDatabase(folder);
  onTestFinished(async () => {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return database;
}

describe.each([
  ["memory", memoryDatabase],
  ["lmdb", lmdb],
])("%s", (_name, open) => {
  test("all slices are of one snapshot, and others get their turn between them", async () => {
    const database = open();
    const entries = Array.from({ length: 2500 }, (_, i) => ({ key: key(i), value: String(i) }));
    database.write(entries);
    const seen: string[] = [];
    let turns = 0;
    let done = false;
    const others = (): void => {
      turns++;
      if (!done) setImmediate(others);
    };
    setImmediate(others);
    const sizes: number[] = [];
    for await (const slice of slices(database.range(ALL))) {
      sizes.push(slice.length);
      for (const [, value] of slice) seen.push(value);
      // What comes changes, goes and is added behind the reader's back.
      database.write([
        { key: key(2400), value: "changed" },
        { key: key(2401), value: undefined },
        { key: key(9999), value: "new" },
      ]);
    }
    done = true;
    expect(seen).toEqual(entries.map(({ value }) => value));
    expect(sizes).toEqual([1000, 1000, 500]);
    expect(turns).toBeGreaterThanOrEqual(2);
    expect(database.get(key(2401))).toBeUndefined();
  });

  test("large values make small slices, and one that is left early does no harm", async () => {
    const database = open();
    const value = "x".repeat(600_000);
    database.write(Array.from({ length: 5 }, (_, i) => ({ key: key(i), value })));
    const sizes: number[] = [];
    for await (const slice of slices(database.range(ALL))) sizes.push(slice.length);
    expect(sizes).toEqual([2, 2, 1]);
    for await (const slice of slices(database.range(ALL))) {
      expect(slice).toHaveLength(2);
      break;
    }
    database.write([{ key: key(0), value: "after" }]);
    expect(database.get(key(0))).toBe("after");
  });

  test("nothing makes no slice", async () => {
    for await (const slice of slices(open().range(ALL))) expect(slice).toBeUndefined();
  });
});
