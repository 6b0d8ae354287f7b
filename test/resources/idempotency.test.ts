import { describe, expect, test } from "vitest";
import { Idempotency, requestMark } from "../../src/resources/idempotency.ts";
import type { RunRecord } from "../../src/resources/runs.ts";
import type { Database } from "../../src/storage/database.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";

const DAY = 24 * 60 * 60 * 1000;

function record(runId: string, key: string, asks: unknown = {}): RunRecord {
  const run = { run_id: runId, thread_id: `thread of ${runId}` } as RunRecord["run"];
  return { run, graphId: "agent", attempt: 1, once: requestMark(key, asks) };
}

/** Stores a key as the ledger does. */
function add(db: Database, keys: Idempotency, made: RunRecord, now: number): void {
  const writes = keys.writesOf(made, now);
  db.write(writes);
  keys.committed(writes);
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
  test("forgets a key after a day, in storage as well", () => {
    const db = memoryDatabase();
    const keys = new Idempotency(db);
    const first = record("run-1", "a");
    add(db, keys, first, 0);
    expect(keys.find(first.once!, DAY - 1)).toMatchObject({ runId: "run-1", threadId: "thread of run-1" });
    expect(keys.find(first.once!, DAY)).toBeUndefined();
    db.write(keys.endOf(first, { run: first.run, attempt: 1, status: "success", json: "{}" }));
    // The next key takes away what has expired.
    add(db, keys, record("run-2", "b"), DAY);
    expect(db.count("i/", "j")).toBe(1);
  });

  test("takes an expired key for a new request, without the end of the old run", () => {
    const db = memoryDatabase();
    const keys = new Idempotency(db);
    const first = record("run-1", "a");
    add(db, keys, first, 0);
    db.write(keys.endOf(first, { run: first.run, attempt: 1, status: "success", json: "{}" }));
    const second = record("run-2", "a", { other: true });
    expect(keys.find(second.once!, DAY)).toBeUndefined();
    add(db, keys, second, DAY);
    expect(keys.find(second.once!, DAY)).toMatchObject({ runId: "run-2" });
    expect(keys.end(second.once!)).toBeUndefined();
    // The old run ends late: the key is not its own any more.
    expect(keys.endOf(first, { run: first.run, attempt: 1, status: "success", json: "{}" })).toEqual([]);
  });

  test("finds its keys in storage again and drops those that have expired", () => {
    const db = memoryDatabase();
    const before = new Idempotency(db);
    const [old, young] = [record("run-1", "a"), record("run-2", "b")];
    add(db, before, old, 0);
    add(db, before, young, DAY / 2);
    const after = new Idempotency(db);
    after.load(DAY);
    expect(after.find(old.once!, DAY)).toBeUndefined();
    expect(after.find(young.once!, DAY)).toMatchObject({ runId: "run-2" });
    expect(db.count("i/", "j")).toBe(1);
  });

  test("keeps ten thousand keys and forgets the oldest first", () => {
    const db = memoryDatabase();
    const keys = new Idempotency(db);
    const made = Array.from({ length: 10_001 }, (_, i) => record(`run-${i}`, `key-${i}`));
    for (const one of made) add(db, keys, one, 0);
    expect(db.count("i/", "j")).toBe(10_000);
    expect(keys.find(made[0]!.once!, 1)).toBeUndefined();
    expect(keys.find(made[1]!.once!, 1)).toMatchObject({ runId: "run-1" });
  });

  test("a key that was used for something else is refused", () => {
    const db = memoryDatabase();
    const keys = new Idempotency(db);
    add(db, keys, record("run-1", "a", { input: 1 }), 0);
    expect(() => keys.find(requestMark("a", { input: 2 }), 1)).toThrow("another request");
  });
});
