import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { TestClock, type Timers } from "../../src/clock.ts";
import type { Database } from "../../src/storage/database.ts";
import { lmdbDatabase } from "../../src/storage/lmdb-driver.ts";
import { parsePath, textsAt } from "../../src/storage/long-term-paths.ts";
import { ITEMS, VECTORS } from "../../src/storage/long-term-record.ts";
import { type Embedder, LongTermStore, type LongTermStoreOptions } from "../../src/storage/long-term-store.ts";
import { VectorMatrix } from "../../src/storage/long-term-vectors.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";
import { drawing, seeded } from "./seeded.ts";

const DIMS = 5;

/** A vector that depends on every letter of a text, the same in every run. */
function vectorOf(text: string): number[] {
  const vector = Array.from({ length: DIMS }, (_, i) => (i === 0 ? 0.5 : 0));
  for (const [i, letter] of [...text].entries()) vector[i % DIMS]! += ((letter.charCodeAt(0) * 37) % 19) - 9.5;
  return vector;
}

/** Embeds at once, and keeps what it was asked. */
function embedder(change: Partial<Embedder> = {}): Embedder & { asked: string[][] } {
  const asked: string[][] = [];
  return {
    asked,
    async embedDocuments(texts) {
      asked.push(texts);
      return texts.map(vectorOf);
    },
    embedQuery: async (text) => vectorOf(text),
    ...change,
  };
}

/** An embedder whose answers a test gives, one call after the other. */
function held() {
  const calls: { texts: string[]; answer(): void; refuse(error: Error): void }[] = [];
  const made = embedder({
    embedDocuments: (texts) =>
      new Promise((resolve, reject) => {
        calls.push({ texts, answer: () => resolve(texts.map(vectorOf)), refuse: reject });
      }),
  });
  return { made, calls };
}

function openStore(made: Embedder, database: Database = memoryDatabase(), more: LongTermStoreOptions = {}) {
  const index = { dims: DIMS, fields: ["text"], model: "fake", embedder: made };
  return { database, store: new LongTermStore(database, { index, ...more }) };
}

const find = async (store: LongTermStore, query: string, more: object = {}) =>
  (await store.findItems({ query, ...more })).map(({ key, score }) => [
    key,
    score === null ? null : Number(score.toFixed(4)),
  ]);
const keysFound = async (store: LongTermStore, query: string, more: object = {}) =>
  (await find(store, query, more)).map(([key]) => key);

describe("like LangGraph's in-memory store", () => {
  test.each([31, 32, 33])("it ranks, filters and pages (seed %i)", async (seed) => {
    const { integer, member } = drawing(seeded(seed));
    const made = embedder();
    const { store } = openStore(made);
    const theirs = new InMemoryStore({ index: { dims: DIMS, embeddings: made as never, fields: ["text"] } });
    const word = () => Array.from({ length: 1 + integer(6) }, () => member([..."abcdefgh"])).join("");
    for (let i = 0; i < 60; i++) {
      const fields = member([undefined, undefined, ["more[*]"], ["text", "more[-1]"]]);
      const value = { kind: integer(3), text: word(), more: [word(), word()] };
      // oxlint-disable-next-line no-await-in-loop -- in this order
      for (const one of [store, theirs]) await one.put(["n", member(["a", "b"])], `k${i}`, value, fields);
    }
    for (let i = 0; i < 30; i++) {
      const options = {
        query: word(),
        filter: { kind: { $lte: integer(3) } },
        limit: 1 + integer(12),
        offset: integer(5),
      };
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const [ours, expected] = await Promise.all([store.search(["n"], options), theirs.search(["n"], options)]);
      expect(ours.map(({ score }) => score)).toEqual(expected.map(({ score }) => expect.closeTo(score!, 5) as number));
    }
  });

  const value = {
    text: "plain",
    count: 3,
    flag: false,
    none: null,
    blank: " ",
    list: ["a", "b", { c: "d" }],
    deep: { er: { est: "bottom" }, other: ["x", "y"] },
    chapters: [{ title: "one", pages: [{ n: 1 }, { n: 2 }] }, { title: "two" }],
  };
  test.each([
    "text",
    "count",
    "flag",
    "none",
    "missing",
    "list",
    "deep",
    "deep.er.est",
    "deep.missing.est",
    "list[0]",
    "list[-1]",
    "list[2].c",
    "list[9]",
    "list[x]",
    "list[*]",
    "deep[0]",
    "chapters[*].title",
    "chapters[*].pages[*].n",
    "deep.*",
    "*",
    "{text,count}",
    "{text, deep.er.est}",
    "chapters[1].title",
    "deep.other[-2]",
    "",
  ])("the path %j has the same texts", async (path) => {
    const made = embedder();
    const theirs = new InMemoryStore({ index: { dims: DIMS, embeddings: made as never, fields: [path] } });
    await theirs.put(["n"], "k", value);
    const expected = made.asked.flat().filter((text) => text.trim() !== "");
    expect([...new Set(textsAt(value, parsePath(path)))].toSorted()).toEqual(expected.toSorted());
  });

  test("$ is the whole value", () => {
    for (const path of ["$", ""]) expect(textsAt({ a: [1] }, parsePath(path))).toEqual(['{\n  "a": [\n    1\n  ]\n}']);
    expect(textsAt({ a: "x" }, parsePath("$.a"))).toEqual(["x"]);
  });

  test("what objects inherit is no field", () => {
    expect(textsAt({}, parsePath("constructor"))).toEqual([]);
    expect(textsAt({ __proto__: { a: "x" } }, parsePath("a"))).toEqual([]);
  });
});

describe("vectors", () => {
  test("keep their rows in a matrix that grows, and give them free", () => {
    const matrix = new VectorMatrix(50_000);
    const unit = (at: number) => new Float32Array(50_000).fill(1, at, at + 1);
    // Five rows fill a block.
    const rows = Array.from({ length: 23 }, (_, i) => matrix.add(unit(i)));
    expect(new Set(rows).size).toBe(23);
    for (const [i, row] of rows.entries())
      expect([matrix.dot(unit(i), row), matrix.dot(unit(i + 1), row)]).toEqual([1, 0]);
    const { bytes } = matrix;
    matrix.remove(rows[3]!);
    expect(matrix.add(unit(49_999))).toBe(rows[3]);
    expect(matrix.dot(unit(49_999), rows[3]!)).toBe(1);
    expect(matrix.bytes).toBe(bytes);
  });

  test("lie beside their items and go with them", async () => {
    const { store, database } = openStore(embedder());
    const stored = () => database.count(VECTORS.start, VECTORS.end);
    await store.put(["n"], "a", { text: "x" });
    await store.put(["n"], "b", { text: "y" });
    await store.put(["n"], "c", { other: "z" });
    expect(stored()).toBe(2);
    await store.delete(["n"], "a");
    expect(stored()).toBe(1);
    await store.put(["n"], "b", { text: "y" }, false);
    expect(stored()).toBe(0);
    await store.put(["n"], "d", { text: "y" });
    // Without an index, too, nothing is left behind.
    const bare = new LongTermStore(database);
    bare.putItem({ namespace: ["n"], key: "d", value: {} });
    expect(stored()).toBe(0);
    expect(await find(bare, "y")).toEqual([
      ["d", null],
      ["b", null],
      ["c", null],
    ]);
  });

  test("go with an item that expires", async () => {
    const clock = new TestClock(1e12);
    const { store, database } = openStore(embedder(), memoryDatabase(), { clock, defaultTtl: 1 });
    await store.put(["n"], "a", { text: "x" });
    await clock.advance(60_000);
    expect(await find(store, "x")).toEqual([]);
    expect(database.count(VECTORS.start, VECTORS.end)).toBe(0);
  });

  test("survive a restart on disk, of every size of text and several to an item", async () => {
    const folder = mkdtempSync(join(tmpdir(), "long-term-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const database = lmdbDatabase(folder);
    const { store } = openStore(embedder(), database);
    await store.put(["n"], "several", { text: "", more: Array.from({ length: 40 }, (_, i) => `text ${i}`) }, [
      "more[*]",
    ]);
    await store.put(["n"], "one", { text: "alone" });
    await store.put(["long".repeat(600)], "k".repeat(3000), { text: "far" });
    const before = await find(store, "text 17");
    expect(before[0]).toEqual(["several", 1]);
    await database.close();
    const again = lmdbDatabase(folder);
    const made = embedder();
    expect(await find(openStore(made, again).store, "text 17")).toEqual(before);
    expect(made.asked).toEqual([]);
    await again.close();
  });

  test("that point nowhere are as far from everything as others", async () => {
    const { store } = openStore(embedder({ embedDocuments: async (texts) => texts.map(() => [0, 0, 0, 0, 0]) }));
    await store.put(["n"], "zero", { text: "x" });
    expect(await find(store, "x")).toEqual([["zero", 0]]);
  });

  test("may be typed arrays, but only of finite numbers", async () => {
    const { store } = openStore(
      embedder({ embedDocuments: async (texts) => texts.map(() => new Float64Array(vectorOf("q"))) }),
    );
    await store.put(["n"], "k", { text: "x" });
    expect(await find(store, "q")).toEqual([["k", 1]]);
    for (const bad of [[1, 2, 3, 4, "5"], [1, 2, 3, 4, Number.NaN], [1, 2, 3, 4, null], "12345", null]) {
      store.configure({
        index: {
          dims: DIMS,
          fields: ["text"],
          model: "fake",
          embedder: embedder({ embedDocuments: async () => [bad] }),
        },
      });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(store.put(["n"], "k", { text: "y" })).rejects.toMatchObject({ status: 422 });
    }
  });
});

describe("while a put waits for its embedding", () => {
  test("a later put or delete of the same item wins, whichever is ready first", async () => {
    const { made, calls } = held();
    const { store } = openStore(made);
    const first = store.put(["n"], "a", { text: "first" });
    const second = store.put(["n"], "a", { text: "second" });
    const other = store.put(["n"], "b", { text: "other" });
    const plain = store.put(["n"], "c", { text: "embedded" });
    await store.put(["n"], "c", { text: "not embedded" }, false);
    await store.delete(["n"], "b");
    for (const call of calls.toReversed()) call.answer();
    await Promise.all([first, second, other, plain]);
    expect(store.searchItems().map(({ key, value }) => [key, value["text"]])).toEqual([
      ["a", "second"],
      ["c", "not embedded"],
    ]);
    const last = store.put(["n"], "b", { text: "again" });
    calls.at(-1)!.answer();
    await last;
    expect(await keysFound(store, "again")).toEqual(["b", "a", "c"]);
  });

  test("the item is not there yet, and is stored as it was when it was put", async () => {
    const { made, calls } = held();
    const { store } = openStore(made);
    const value = { text: "before" };
    const put = store.put(["n"], "a", value);
    value.text = "after";
    expect(store.searchItems()).toEqual([]);
    calls[0]!.answer();
    await put;
    expect(await find(store, "before")).toEqual([["a", 1]]);
    expect(store.getItem(["n"], "a")?.value).toEqual({ text: "before" });
  });

  test("nothing of a batch is stored when it fails", async () => {
    const { made, calls } = held();
    const { store } = openStore(made);
    const batch = store.batch([
      { namespace: ["n"], key: "a", value: { text: "x" } },
      { namespace: ["n"], key: "b", value: { other: 1 } },
    ]);
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    calls[0]!.refuse(new Error("no connection"));
    await expect(batch).rejects.toThrow("no connection");
    expect(store.searchItems()).toEqual([]);
  });

  test("a stop refuses it", async () => {
    const { made, calls } = held();
    const { store } = openStore(made);
    const put = store.put(["n"], "a", { text: "x" });
    store.stop();
    calls[0]!.answer();
    await expect(put).rejects.toMatchObject({ status: 503 });
    expect(store.searchItems()).toEqual([]);
  });
});

test("a batch embeds its puts in one call, and its searches see the store as it was before", async () => {
  const made = embedder();
  const { store } = openStore(made);
  await store.put(["n"], "a", { text: "same" });
  const [found] = await store.batch([
    { namespacePrefix: ["n"], query: "same" },
    { namespace: ["n"], key: "b", value: { text: "same" } },
    { namespace: ["n"], key: "c", value: { text: "different" } },
  ]);
  expect(found).toMatchObject([{ key: "a", score: expect.closeTo(1, 5) as number }]);
  expect(made.asked).toEqual([["same"], ["same", "different"]]);
});

test("what changes while a search waits is in its result as it is then", async () => {
  let answer: (() => void) | undefined;
  const made = embedder({
    embedQuery: (text) => new Promise((resolve) => (answer = () => resolve(vectorOf(text)))),
  });
  const { store } = openStore(made);
  for (const key of ["a", "b", "c"]) store.putItem({ namespace: ["n"], key, value: { other: key } });
  const search = store.findItems({ query: "x" });
  await store.delete(["n"], "a");
  await store.put(["n"], "b", { text: "x" });
  answer!();
  expect((await search).map(({ key, value }) => [key, value])).toEqual([
    ["b", { text: "x" }],
    ["c", { other: "c" }],
  ]);
});

test("a semantic search starts the ttl of what it finds again", async () => {
  const clock = new TestClock(1e12);
  const { store } = openStore(embedder(), memoryDatabase(), { clock, defaultTtl: 10 });
  await store.put(["n"], "a", { text: "x" });
  await clock.advance(6 * 60_000);
  await store.findItems({ query: "x" });
  await clock.advance(6 * 60_000);
  await store.findItems({ query: "x", refreshTtl: false });
  await clock.advance(4 * 60_000);
  expect(await find(store, "x")).toEqual([]);
});

describe("items without vectors of the present settings", () => {
  const put = (database: Database, count: number) => {
    const bare = new LongTermStore(database);
    for (let i = 0; i < count; i++) bare.putItem({ namespace: ["n"], key: `k${i}`, value: { text: `text ${i}` } });
  };

  test("are embedded by the first search when they are few, once for all who search", async () => {
    const database = memoryDatabase();
    put(database, 100);
    const made = embedder();
    const { store } = openStore(made, database);
    const found = await Promise.all([find(store, "text 7", { limit: 1 }), find(store, "text 8", { limit: 1 })]);
    expect(found).toEqual([[["k7", 1]], [["k8", 1]]]);
    expect(made.asked.map(({ length }) => length)).toEqual([100]);
  });

  test("are embedded behind it when they are many, and come last until then", async () => {
    const database = memoryDatabase();
    put(database, 250);
    const { made, calls } = held();
    const notices: string[] = [];
    const { store } = openStore(made, database, { onNotice: (_level, message) => notices.push(message) });
    expect(await find(store, "text 249", { limit: 2 })).toEqual([
      ["k249", null],
      ["k248", null],
    ]);
    expect(notices).toEqual(["Embedding 250 store items for semantic search; until then they come last."]);
    for (const [i, count] of [100, 100, 50].entries()) {
      // oxlint-disable-next-line no-await-in-loop -- one batch after the other
      await vi.waitFor(() => expect(calls).toHaveLength(i + 1));
      expect(calls[i]!.texts).toHaveLength(count);
      calls[i]!.answer();
    }
    await vi.waitFor(async () => expect(await keysFound(store, "text 3", { limit: 1 })).toEqual(["k3"]));
    expect(calls).toHaveLength(3);
    expect(notices).toHaveLength(1);
  });

  test("are left alone after a stop", async () => {
    const database = memoryDatabase();
    put(database, 150);
    const { made, calls } = held();
    const { store } = openStore(made, database);
    await find(store, "x");
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    store.stop();
    calls[0]!.answer();
    // The answer has gone through all that waits for it.
    await new Promise(setImmediate);
    expect(database.count(VECTORS.start, VECTORS.end)).toBe(0);
  });

  test("do not hold up the others when one of them is refused", async () => {
    const database = memoryDatabase();
    put(database, 5);
    const made = embedder();
    const { embedDocuments } = made;
    made.embedDocuments = (texts) =>
      texts.includes("text 2") ? Promise.reject(new Error("too long")) : embedDocuments(texts);
    const notices: string[] = [];
    const { store } = openStore(made, database, { onNotice: (_level, message) => notices.push(message) });
    const found = await find(store, "text 4");
    expect(found[0]).toEqual(["k4", 1]);
    expect(found.at(-1)).toEqual(["k2", null]);
    expect(notices).toEqual(["Not embedded, so last in semantic searches: n/k2: too long"]);
    made.asked.length = 0;
    expect(await find(store, "text 4")).toEqual(found);
    expect(made.asked).toEqual([]);
  });

  test("are tried again by a later search when nothing could be embedded", async () => {
    const database = memoryDatabase();
    put(database, 5);
    const made = embedder();
    const { embedDocuments } = made;
    let calls = 0;
    made.embedDocuments = () => (calls++, Promise.reject(new Error("no connection")));
    const notices: string[] = [];
    const { store } = openStore(made, database, { onNotice: (_level, message) => notices.push(message) });
    for (let i = 0; i < 2; i++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await find(store, "text 4", { limit: 1 })).toEqual([["k4", null]]);
    }
    // All at once, then three by themselves: twice.
    expect(calls).toBe(8);
    expect(notices).toEqual([
      "Items of the store cannot be embedded now; semantic searches have them last: no connection",
    ]);
    made.embedDocuments = embedDocuments;
    expect(await find(store, "text 4", { limit: 1 })).toEqual([["k4", 1]]);
  });

  test.each([
    ["another model", { model: "other" }],
    ["other dims", { dims: 3 }],
    ["other fields", { fields: ["text", "more"] }],
  ])("%s: they are made anew", async (_name, change) => {
    const { store } = openStore(embedder());
    await store.put(["n"], "k", { text: "x" });
    const made = embedder();
    const dims = "dims" in change ? change.dims : DIMS;
    const cut = async (texts: string[]) =>
      ((await embedder().embedDocuments(texts)) as number[][]).map((one) => one.slice(0, dims));
    made.embedDocuments = (texts) => (made.asked.push(texts), cut(texts));
    made.embedQuery = async (text) => (await cut([text]))[0];
    store.configure({ index: { dims: DIMS, fields: ["text"], model: "fake", embedder: made, ...change } });
    expect(await find(store, "x")).toEqual([["k", 1]]);
    expect(made.asked).toEqual([["x"]]);
  });

  test("the same settings again cost nothing", async () => {
    const { store } = openStore(embedder());
    await store.put(["n"], "k", { text: "x" });
    await find(store, "x");
    const made = embedder();
    store.configure({ index: { dims: DIMS, fields: ["text"], model: "fake", embedder: made } });
    expect(await find(store, "x")).toEqual([["k", 1]]);
    expect(made.asked).toEqual([]);
  });
});

test("a search over very many items lets others in between", async () => {
  const { store } = openStore(embedder());
  const count = 20_000;
  await store.batch(
    Array.from({ length: count }, (_, i) => ({ namespace: ["n"], key: `k${i}`, value: { text: `t${i % 50}` } })),
  );
  const events: string[] = [];
  const search = find(store, "t7", { limit: 3, offset: 2 }).then((found) => (events.push("found"), found));
  setImmediate(() => events.push("other"));
  expect(await search).toEqual([
    ["k19857", 1],
    ["k19807", 1],
    ["k19757", 1],
  ]);
  expect(events).toEqual(["other", "found"]);
});

describe("sweeps", () => {
  let clock: TestClock;
  beforeEach(() => {
    clock = new TestClock(1e12);
  });
  const minutes = (count: number) => clock.advance(count * 60_000);
  const items = (database: Database) => database.count(ITEMS.start, ITEMS.end);
  const put = (store: LongTermStore, key: string, ttl: number | null) =>
    store.putItem({ namespace: ["n"], key, value: {}, ttl });

  test("delete at the interval what nobody reads, also after a restart", async () => {
    const database = memoryDatabase();
    const store = new LongTermStore(database, { clock, sweepMinutes: 10 });
    put(store, "a", 1);
    put(store, "b", 15);
    put(store, "c", null);
    await minutes(9);
    expect(items(database)).toBe(3);
    await minutes(1);
    expect(items(database)).toBe(2);
    store.stop();
    await minutes(20);
    expect(items(database)).toBe(2);
    const again = new LongTermStore(database, { clock, sweepMinutes: 10 });
    await minutes(10);
    expect(items(database)).toBe(1);
    again.stop();
  });

  test("have no timer without an interval, without items, or for items that live for ever", async () => {
    let timers = 0;
    const counting: Timers = {
      now: () => clock.now(),
      at(time, wake) {
        timers++;
        return clock.at(time, wake);
      },
    };
    put(new LongTermStore(memoryDatabase(), { clock: counting }), "a", 1);
    const store = new LongTermStore(memoryDatabase(), { clock: counting, sweepMinutes: 1 });
    put(store, "a", null);
    await minutes(100);
    expect(timers).toBe(0);
    put(store, "b", 1);
    put(store, "c", 1);
    expect(timers).toBe(1);
    await minutes(100);
    // Nothing is left that could expire.
    expect(timers).toBe(1);
    store.stop();
    put(store, "d", 1);
    expect(timers).toBe(1);
  });

  test("follow a changed interval", async () => {
    const database = memoryDatabase();
    const store = new LongTermStore(database, { clock, sweepMinutes: 1000 });
    put(store, "a", 1);
    store.configure({ sweepMinutes: 2 });
    await minutes(2);
    expect(items(database)).toBe(0);
    put(store, "b", 1);
    store.configure({});
    await minutes(2000);
    expect(items(database)).toBe(1);
  });

  test("that fail are told and tried again", async () => {
    const database = memoryDatabase();
    let full = false;
    const notices: string[] = [];
    const options = { clock, sweepMinutes: 5, onNotice: (_level: string, message: string) => notices.push(message) };
    const write: Database["write"] = (writes) => {
      if (full) throw new Error("disk full");
      database.write(writes);
    };
    const store = new LongTermStore({ ...database, write }, options);
    put(store, "a", 1);
    full = true;
    await minutes(5);
    expect(notices).toEqual(["Expired store items could not be deleted: Error: disk full"]);
    full = false;
    await minutes(5);
    expect(items(database)).toBe(0);
    store.stop();
  });
});

test("a changed default ttl and refresh hold from then on", async () => {
  const clock = new TestClock(1e12);
  const store = new LongTermStore(memoryDatabase(), { clock });
  const put = (key: string) => store.putItem({ namespace: ["n"], key, value: {} });
  put("before");
  store.configure({ defaultTtl: 10, refreshOnRead: false });
  put("after");
  await clock.advance(6 * 60_000);
  expect(store.searchItems()).toHaveLength(2);
  await clock.advance(6 * 60_000);
  expect(store.searchItems().map(({ key }) => key)).toEqual(["before"]);
});
