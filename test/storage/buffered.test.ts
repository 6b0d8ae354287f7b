// Group commit: a write that cannot be made does not stand in the way of those that can.
import { expect, test } from "vitest";
import { buffered } from "../../src/storage/buffered.ts";
import { type Database, MAX_KEY_BYTES, type Write } from "../../src/storage/database.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";

/** The next turn of the event loop is over: what was to be stored soon is stored. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const ALL = { start: "", end: "\uffff" };
const one = (key: string, value = key): Write[] => [{ key, value }];

/** A database whose writes fail while `broken`. */
function fragile(): Database & { broken: boolean } {
  const inner = memoryDatabase();
  const database = Object.assign(Object.create(inner) as Database, { broken: false });
  database.write = (writes) => {
    if (database.broken) throw new Error("the disk is full");
    inner.write(writes);
  };
  for (const name of ["get", "range", "count", "size", "close"] as const) {
    database[name] = inner[name].bind(inner) as never;
  }
  return database;
}

test.each([
  ["ASCII", "k".repeat(MAX_KEY_BYTES + 1)],
  ["characters of three bytes", "\u20ac".repeat(MAX_KEY_BYTES / 3 + 1)],
])("a key that is too long is refused at once, and later writes work (%s)", async (_what, key) => {
  const errors: unknown[] = [];
  const inner = memoryDatabase();
  const db = buffered(inner, (error) => errors.push(error));
  db.writeSoon(one("before"));
  expect(() => db.writeSoon([...one("beside"), ...one(key)])).toThrow(RangeError);
  expect(() => db.write([...one("beside"), ...one(key)])).toThrow(RangeError);
  expect(db.get("beside")).toBeUndefined();
  db.writeSoon(one("soon"));
  db.write(one("now"));
  await turn();
  expect([...inner.range(ALL)].map(([stored]) => stored)).toEqual(["before", "now", "soon"]);
  expect(errors).toEqual([]);
  await db.close();
});

test("a key of just the greatest length is taken", () => {
  const db = buffered(memoryDatabase());
  const key = "k".repeat(MAX_KEY_BYTES);
  db.write(one(key, "v"));
  expect(db.get(key)).toBe("v");
});

test("a batch that fails is not tried again with what comes after it; what was to be stored soon is", async () => {
  const inner = fragile();
  const errors: unknown[] = [];
  const db = buffered(inner, (error) => errors.push(error));
  db.writeSoon(one("soon"));
  inner.broken = true;
  expect(() => db.write([...one("lost"), { key: "soon", value: undefined }])).toThrow("the disk is full");
  expect([db.get("lost"), db.get("soon")]).toEqual([undefined, "soon"]);
  await turn();
  expect(errors).toHaveLength(1);
  inner.broken = false;
  db.write(one("later"));
  expect([...inner.range(ALL)].map(([stored]) => stored)).toEqual(["later", "soon"]);
});
