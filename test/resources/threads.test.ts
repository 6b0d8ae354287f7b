// Searching threads by their values, which may be large and many: others get their turn meanwhile, and what changes meanwhile is heeded.
import { expect, test } from "vitest";
import { Threads } from "../../src/resources/threads.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";

/** So many threads, each with 200,000 characters of values; every fifth has what is searched for. */
function setUp(count: number) {
  const threads = new Threads(memoryDatabase());
  const ids = Array.from({ length: count }, () => threads.create({ ifExists: "raise" }).thread_id);
  const wanted = ids.filter((_, i) => i % 5 === 0);
  const read: string[] = [];
  const valuesOf = (threadId: string): string => {
    read.push(threadId);
    return JSON.stringify({ wanted: wanted.includes(threadId), filling: "x".repeat(200_000) });
  };
  return { threads, ids, wanted, read, valuesOf };
}

const ALL = { limit: 1000, offset: 0 };

test("others get their turn while values are looked at", async () => {
  const { threads, wanted, valuesOf } = setUp(100);
  let turns = 0;
  let over = false;
  const count = (): void => {
    turns++;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  const found = await threads.searchBy({ ...ALL, values: { wanted: true } }, valuesOf);
  expect(turns).toBeGreaterThan(10);
  expect(found.items.map(({ thread_id }) => thread_id)).toEqual(wanted.toReversed());
  turns = 0;
  expect(await threads.countBy({ values: { wanted: true } }, valuesOf)).toBe(20);
  expect(turns).toBeGreaterThan(10);
  over = true;
});

test("values are looked at last, and not at all if nobody asks for them", async () => {
  const { threads, ids, read, valuesOf } = setUp(10);
  threads.patch(ids[0]!, { metadata: { a: 1 } });
  const found = await threads.searchBy({ ...ALL, metadata: { a: 1 }, values: { wanted: true } }, valuesOf);
  expect([found.items.map(({ thread_id }) => thread_id), read]).toEqual([[ids[0]], [ids[0]]]);
  read.length = 0;
  await threads.searchBy(ALL, valuesOf);
  await threads.countBy({ metadata: { a: 1 } }, valuesOf);
  expect(read).toEqual([]);
});

test("threads that change or go meanwhile are shown as they are then", async () => {
  const { threads, ids, wanted, valuesOf } = setUp(20);
  const searching = threads.searchBy({ ...ALL, values: { wanted: true } }, valuesOf);
  threads.removed(ids[0]!);
  threads.patch(ids[5]!, { metadata: { changed: true } });
  const { items, total } = await searching;
  expect(items.map(({ thread_id }) => thread_id).toSorted()).toEqual(wanted.slice(1).toSorted());
  expect(total).toBe(3);
  expect(items.find(({ thread_id }) => thread_id === ids[5])!.metadata).toEqual({ changed: true });
});
