// Versions of list channels: what is written for each kind of change, and that every version reads back whole.
import { expect, test } from "vitest";
import type { Write } from "../../src/storage/database.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";
import { ValueLog, type ValueRef } from "../../src/storage/value-log.ts";

const THREAD = "t";
const part = (n: number | string): string => `j"${String(n).padStart(40, "x")}"`;
const list = (...items: (number | string)[]): string[] => items.map(part);
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

function setup() {
  const db = memoryDatabase();
  const log = new ValueLog(db);
  const place = (parts: string[], base: ValueRef | undefined): { ref: ValueRef; written: number } => {
    const writes: Write[] = [];
    const ref = log.place(THREAD, "", "messages", { parts, live: [] }, base, writes);
    db.write(writes);
    return { ref, written: writes.length };
  };
  const read = (ref: ValueRef, from = log): readonly string[] => {
    const found = from.read(THREAD, "", "messages", ref);
    return "parts" in found ? found.parts : [found.stored];
  };
  return { db, log, place, read };
}

test("appending writes only what is new", () => {
  const { place, read } = setup();
  const first = place(list(...range(0, 10)), undefined);
  const second = place(list(...range(0, 12)), first.ref);
  expect(first.written).toBe(10);
  expect(second.written).toBe(2);
  expect(second.ref).toEqual([[0, 12]]);
  expect(read(first.ref)).toEqual(list(...range(0, 10)));
  expect(read(second.ref)).toEqual(list(...range(0, 12)));
});

test("cutting off the front writes nothing", () => {
  const { place, read } = setup();
  const first = place(list(...range(0, 50)), undefined);
  const second = place(list(...range(20, 50)), first.ref);
  expect(second.written).toBe(0);
  expect(second.ref).toEqual([[20, 50]]);
  const third = place(list(...range(20, 52)), second.ref);
  expect(third.written).toBe(2);
  expect(read(third.ref)).toEqual(list(...range(20, 52)));
});

test("changing one element writes that one", () => {
  const { place, read } = setup();
  const first = place(list(...range(0, 30)), undefined);
  const changed = list(...range(0, 30));
  changed[7] = part("other");
  const second = place(changed, first.ref);
  expect(second.written).toBe(1);
  expect(read(second.ref)).toEqual(changed);
  expect(read(first.ref)).toEqual(list(...range(0, 30)));
});

test("a fork shares what it has in common and never overwrites", () => {
  const { place, read } = setup();
  const trunk = place(list(...range(0, 10)), undefined);
  const one = place(list(...range(0, 10), "a1", "a2"), trunk.ref);
  const two = place(list(...range(0, 10), "b1"), trunk.ref);
  expect(two.written).toBe(1);
  expect(read(one.ref)).toEqual(list(...range(0, 10), "a1", "a2"));
  expect(read(two.ref)).toEqual(list(...range(0, 10), "b1"));
});

test("another process reads and goes on where this one stopped", () => {
  const { db, place, read } = setup();
  const first = place(list(...range(0, 10)), undefined);
  const other = new ValueLog(db);
  expect(read(first.ref, other)).toEqual(list(...range(0, 10)));
  const writes: Write[] = [];
  const ref = other.place(THREAD, "", "messages", { parts: list(...range(0, 11)), live: [] }, first.ref, writes);
  expect(writes).toHaveLength(1);
  expect(ref).toEqual([[0, 11]]);
});

test("random edits of a list read back as they were, in every version, and stay in few ranges", () => {
  const { db, place, read } = setup();
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const versions: { ref: ValueRef; items: string[] }[] = [];
  let items: string[] = [];
  let ref: ValueRef | undefined;
  for (let i = 0; i < 300; i++) {
    const at = random(items.length + 1);
    items = items.toSpliced(at, random(3), ...list(...range(i * 10, i * 10 + random(4))));
    ref = place(items, ref).ref;
    expect((ref as unknown[]).length).toBeLessThanOrEqual(48);
    versions.push({ ref, items });
    if (random(10) === 0) ({ ref, items } = versions[random(versions.length)]!);
  }
  const cold = new ValueLog(db);
  for (const version of versions) {
    expect(read(version.ref, cold)).toEqual(version.items);
    expect(read(version.ref)).toEqual(version.items);
  }
});
