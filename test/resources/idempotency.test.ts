import { describe, expect, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import { Idempotency, requestMark } from "../../src/resources/idempotency.ts";
import type { RunRecord } from "../../src/resources/runs.ts";
import { buffered } from "../../src/storage/buffered.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

function record(runId: string, key: string, asks: unknown = {}): RunRecord {
  const run = { run_id: runId, thread_id: `thread of ${runId}` } as RunRecord["run"];
  return { run, graphId: "agent", attempt: 1, once: requestMark(key, asks) };
}

/** Keys over a database, on a clock that stands at 0; `add` stores one as the ledger does. */
function setUp(maxKeys?: number, db = buffered(memoryDatabase())) {
  const clock = new TestClock(0);
  const keys = new Idempotency(db, clock, maxKeys);
  keys.load();
  const add = (made: RunRecord): RunRecord => {
    db.write(keys.writesOf(made));
    return made;
  };
  /** Keys and ends that are stored. */
  const stored = (): number => db.count("i/", "j");
  return { clock, keys, db, add, stored };
}

describe("requestMark", () => {
  test("is the same for the same data in any order of its fields, and another for other data", () => {
    const asks = (value: unknown): string => requestMark("k", value).asks;
    expect(asks({ a: undefined })).toBe(asks({}));
    expect(asks({ a: 1, b: { c: [1, 2], 2: 0, 1: 0 } })).toBe(asks({ b: { 1: 0, 2: 0, c: [1, 2] }, a: 1 }));
    const others = [{ a: 1 }, { a: "1" }, [["a", 1]], { a: [1] }, { a: { pairs: [] } }, { a: {} }, null, {}];
    expect(new Set(others.map(asks)).size).toBe(others.length);
  });

  test("does not show the key", () => {
    expect(JSON.stringify(requestMark("secret key", {}))).not.toContain("secret");
  });
});

describe("Idempotency", () => {
  const end = (of: RunRecord) => ({ run: of.run, attempt: 1, status: "success", json: "{}" }) as const;

  test("forgets a key after a day, in storage as well", async () => {
    const { clock, keys, db, add, stored } = setUp();
    const first = add(record("run-1", "a"));
    db.write(keys.endOf(first, end(first)));
    await clock.advance(DAY - 1);
    expect(keys.find(first.once!)).toMatchObject({ runId: "run-1", threadId: "thread of run-1" });
    expect(stored()).toBe(2);
    await clock.advance(1);
    expect(keys.find(first.once!)).toBeUndefined();
    const second = add(record("run-2", "b"));
    await clock.advance(HOUR);
    expect(stored()).toBe(1);
    expect(keys.find(second.once!)).toMatchObject({ runId: "run-2" });
  });

  test("takes an expired key for a new request, without the end of the old run", async () => {
    const { clock, keys, db, add } = setUp();
    const first = add(record("run-1", "a"));
    db.write(keys.endOf(first, end(first)));
    await clock.advance(DAY);
    const second = record("run-2", "a", { other: true });
    expect(keys.find(second.once!)).toBeUndefined();
    add(second);
    await clock.advance(HOUR);
    expect(keys.find(second.once!)).toMatchObject({ runId: "run-2" });
    expect(keys.end(second.once!)).toBeUndefined();
    // The old run ends late: the key is not its own any more.
    expect(keys.endOf(first, end(first))).toEqual([]);
  });

  test("finds its keys in storage again and drops those that have expired", async () => {
    const before = setUp();
    const old = before.add(record("run-1", "a"));
    await before.clock.advance(DAY / 2);
    const young = before.add(record("run-2", "b"));
    await before.keys.stop();
    const after = setUp(undefined, before.db);
    await after.clock.advance(DAY);
    expect(after.keys.find(old.once!)).toBeUndefined();
    expect(after.keys.find(young.once!)).toMatchObject({ runId: "run-2" });
    expect(after.stored()).toBe(1);
  });

  test("forgets no key before its time, however many there are", async () => {
    const { clock, keys, add } = setUp();
    const made = Array.from({ length: 20_000 }, (_, i) => add(record(`run-${i}`, `key-${i}`)));
    await clock.advance(DAY - 1);
    expect(made.filter(({ once }) => keys.find(once!) === undefined)).toEqual([]);
  });

  test("refuses new keys when there are too many, and takes them again when some have expired", async () => {
    const { clock, keys, add } = setUp(3);
    const made = ["a", "b", "c"].map((key) => add(record(`run of ${key}`, key)));
    const late = record("late", "d");
    expect(() => keys.find(late.once!)).toThrow("3 Idempotency-Keys were used");
    expect(made.map(({ once }) => keys.find(once!)?.runId)).toEqual(["run of a", "run of b", "run of c"]);
    await clock.advance(DAY);
    // One that had expired may be used again at once.
    expect(keys.find(made[0]!.once!)).toBeUndefined();
    await clock.advance(HOUR);
    expect(keys.find(late.once!)).toBeUndefined();
  });

  test("a sweep goes on beside new keys, and stops when storage is closed", async () => {
    const { clock, keys, db, add, stored } = setUp();
    /** Time, and a turn for each slice of a sweep. */
    const pass = async (ms: number): Promise<void> => {
      await clock.advance(ms);
      for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
    };
    const made = Array.from({ length: 3000 }, (_, i) => add(record(`run-${i}`, `key-${i}`)));
    for (let hour = 0; hour < 23; hour++) await pass(HOUR);
    expect(stored()).toBe(3000);
    const sweeping = pass(HOUR);
    // It has begun, and not got to all of them.
    await new Promise((resolve) => setImmediate(resolve));
    expect(stored()).toBe(2000);
    const again = made.filter(({ once }) => db.get(`i/k/${once!.key}`) !== undefined).map(({ once }) => once!);
    for (const { key } of again) db.write(keys.writesOf({ ...record("again", "again"), once: { key, asks: "new" } }));
    await sweeping;
    expect(stored()).toBe(2000);
    expect(keys.find({ key: again[0]!.key, asks: "new" })).toMatchObject({ runId: "again" });
    await keys.stop();
    db.range = () => {
      throw new Error("storage is closed");
    };
    await clock.advance(DAY);
  });

  test("a key that was used for something else is refused", () => {
    const { keys, add } = setUp();
    add(record("run-1", "a", { input: 1 }));
    expect(() => keys.find(requestMark("a", { input: 2 }))).toThrow("another request");
  });
});
