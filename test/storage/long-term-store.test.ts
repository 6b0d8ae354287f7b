import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Annotation, END, START, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { beforeEach, describe, expect, test } from "vitest";
import { ApiError } from "../../src/errors.ts";
import type { Database, Write } from "../../src/storage/database.ts";
import { lmdbDatabase } from "../../src/storage/lmdb-driver.ts";
import { ItemCache } from "../../src/storage/long-term-cache.ts";
import { ITEMS, storageKey } from "../../src/storage/long-term-record.ts";
import { type JsonObject, LongTermStore, type LongTermStoreOptions } from "../../src/storage/long-term-store.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";
import { drawing, seeded } from "./seeded.ts";

const MINUTE = 60_000;
const T0 = Date.UTC(2026, 10, 20, 7, 41, 33, 5);
/** Stands still until a test moves it. */
const clock = { ms: T0, now: () => clock.ms, at: () => () => undefined };

beforeEach(() => {
  clock.ms = T0;
});

function openStore(database: Database = memoryDatabase(), options: LongTermStoreOptions = {}) {
  return { database, store: new LongTermStore(database, { clock, ...options }) };
}

/** The same database after a restart of the server. */
const reopen = (database: Database, options: LongTermStoreOptions = {}) => openStore(database, options).store;

const keysOf = (items: readonly { readonly key: string }[]) => items.map(({ key }) => key);

function refusal(work: () => unknown): ApiError {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("as LangGraph's BaseStore", () => {
  test("serves a node through config.store", async () => {
    const { store, database } = openStore();
    const State = Annotation.Root({ seen: Annotation<unknown> });
    const graph = new StateGraph(State)
      .addNode("remember", async (_state, config: LangGraphRunnableConfig) => {
        const memory = config.store as BaseStore;
        await memory.put(["users", "u1"], "prefs", { theme: "dark" });
        const [item, found] = await Promise.all([
          memory.get(["users", "u1"], "prefs"),
          memory.search(["users"], { filter: { theme: "dark" } }),
        ]);
        await memory.delete(["users", "u1"], "gone");
        return { seen: { value: item?.value, found: keysOf(found) } };
      })
      .addEdge(START, "remember")
      .addEdge("remember", END)
      .compile({ store });
    const { seen } = await graph.invoke({});
    expect(seen).toEqual({ value: { theme: "dark" }, found: ["prefs"] });
    expect(reopen(database).getItem(["users", "u1"], "prefs")?.value).toEqual({ theme: "dark" });
  });

  test("returns items with dates, and null for what is not there", async () => {
    const { store } = openStore();
    await store.put(["a"], "k", { n: 1 });
    clock.ms += 1500;
    await store.put(["a"], "k", { n: 2 });
    const expected = {
      namespace: ["a"],
      key: "k",
      value: { n: 2 },
      createdAt: new Date(T0),
      updatedAt: new Date(T0 + 1500),
    };
    expect(await store.get(["a"], "k")).toEqual(expected);
    expect(await store.search(["a"])).toEqual([expected]);
    expect(await store.get(["a"], "other")).toBeNull();
    expect(await store.get([], "k")).toBeNull();
    await store.delete(["a"], "k");
    expect(await store.get(["a"], "k")).toBeNull();
  });

  test("runs a batch: reads see what was before, writes are stored together, the last one to an item wins", async () => {
    const { store, database } = openStore();
    await store.put(["a"], "old", { v: 0 });
    const results: unknown[] = await store.batch([
      { namespace: ["a"], key: "old" },
      { namespace: ["a"], key: "old", value: null },
      { namespace: ["a"], key: "new", value: { v: 1 } },
      { namespace: ["a"], key: "new", value: { v: 2 } },
      { namespace: ["a"], key: "brief", value: { v: 3 } },
      { namespace: ["a"], key: "brief", value: null },
      { namespacePrefix: ["a"], limit: 10, offset: 0 },
      { matchConditions: [{ matchType: "prefix", path: ["*"] }], limit: 10, offset: 0 },
    ]);
    expect(results[0]).toMatchObject({ value: { v: 0 } });
    expect(results.slice(1, 6)).toEqual([undefined, undefined, undefined, undefined, undefined]);
    expect(results[6]).toMatchObject([{ key: "old" }]);
    expect(results[7]).toEqual([["a"]]);
    for (const after of [store, reopen(database)]) {
      expect(after.searchItems()).toMatchObject([{ key: "new", value: { v: 2 } }]);
    }
  });

  test("orders the items of a batch by the last put to each", async () => {
    const { store, database } = openStore();
    await store.batch(["a", "b", "a"].map((key) => ({ namespace: ["n"], key, value: {} })));
    for (const after of [store, reopen(database)]) expect(keysOf(after.searchItems())).toEqual(["a", "b"]);
  });

  test("stores nothing of a batch of which one put is refused", async () => {
    const { store, database } = openStore();
    const batch = store.batch([
      { namespace: ["a"], key: "fine", value: { v: 1 } },
      { namespace: ["a.b"], key: "bad", value: { v: 1 } },
    ]);
    await expect(batch).rejects.toMatchObject({ status: 422 });
    expect(store.searchItems()).toEqual([]);
    expect(database.count(ITEMS.start, ITEMS.end)).toBe(0);
  });

  test("keeps its values from later changes of the caller's objects", async () => {
    const { store } = openStore();
    const value = { list: [1] };
    await store.put(["a"], "k", value);
    value.list.push(2);
    const item = await store.get(["a"], "k");
    const [found] = await store.search(["a"]);
    for (const got of [item, found]) {
      got?.namespace.push("b");
      Object.assign(got?.value ?? {}, { list: [3] });
    }
    expect(store.getItem(["a"], "k")).toMatchObject({ namespace: ["a"], value: { list: [1] } });
  });
});

describe("items on the wire", () => {
  test("carry ISO times with an offset; a search adds the score", () => {
    const { store } = openStore();
    store.putItem({ namespace: ["a", "b"], key: "k", value: { n: 1 } });
    clock.ms += 1000;
    store.putItem({ namespace: ["a", "b"], key: "k", value: { n: 2 } });
    const item = {
      namespace: ["a", "b"],
      key: "k",
      value: { n: 2 },
      created_at: "2026-11-20T07:41:33.005+00:00",
      updated_at: "2026-11-20T07:41:34.005+00:00",
    };
    expect(store.getItem(["a", "b"], "k")).toStrictEqual(item);
    expect(store.searchItems({ query: "ignored" })).toStrictEqual([{ ...item, score: null }]);
    expect(store.getItem(["a", "b"], "none")).toBeNull();
  });

  test("are deleted, and deleting nothing writes nothing", () => {
    const database = memoryDatabase();
    const writes: Write[] = [];
    const { store } = openStore({ ...database, write: (batch) => (writes.push(...batch), database.write(batch)) });
    store.putItem({ namespace: ["a"], key: "k", value: {} });
    store.deleteItem(["a"], "k");
    expect(writes.map(({ key, value }) => [key, value === undefined])).toEqual([
      ["s/a!!k", false],
      ["s/a!!k", true],
    ]);
    store.deleteItem(["a"], "k");
    expect(writes).toHaveLength(2);
    expect(store.getItem(["a"], "k")).toBeNull();
  });

  test("keep __proto__ and constructor as keys like any other", () => {
    const { store, database } = openStore();
    const text = '{"__proto__":{"admin":true},"constructor":1,"nested":{"__proto__":"x"}}';
    store.putItem({ namespace: ["__proto__", "constructor"], key: "__proto__", value: JSON.parse(text) as JsonObject });
    store.putItem({ namespace: ["toString"], key: "hasOwnProperty", value: { plain: true } });
    for (const after of [store, reopen(database)]) {
      const item = after.getItem(["__proto__", "constructor"], "__proto__");
      expect(JSON.stringify(item?.value)).toBe(text);
      expect(keysOf(after.searchItems({ filter: { constructor: 1 } }))).toEqual(["__proto__"]);
      expect(keysOf(after.searchItems({ filter: JSON.parse('{"__proto__":{"admin":true}}') as JsonObject }))).toEqual([
        "__proto__",
      ]);
      expect(after.listNamespacePaths()).toEqual([["__proto__", "constructor"], ["toString"]]);
    }
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
  });

  test("have values that are JSON objects", async () => {
    const { store } = openStore();
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    for (const value of [[1], "text", 5, new Date(), cyclic, { big: 1n }]) {
      const error = refusal(() => store.putItem({ namespace: ["a"], key: "k", value: value as JsonObject }));
      expect(error).toMatchObject({ status: 422, detail: expect.stringContaining("JSON") as string });
    }
    expect(store.searchItems()).toEqual([]);
  });
});

describe("namespaces", () => {
  test.each([
    [[], "Namespace is required"],
    [["a.b"], "Namespace labels cannot be empty or contain periods. Received: a.b"],
    [["a", ""], "Namespace labels cannot be empty or contain periods. Received: a."],
    [["langgraph", "x"], 'The first namespace label "langgraph" is reserved for LangGraph itself; choose another one'],
    [Array.from({ length: 101 }, () => "a"), "A namespace has at most 100 labels"],
  ])("%j is refused for an item", async (namespace, detail) => {
    const { store } = openStore();
    expect(refusal(() => store.putItem({ namespace, key: "k", value: {} }))).toMatchObject({ status: 422, detail });
    await expect(store.put(namespace, "k", {})).rejects.toMatchObject({ status: 422, detail });
  });

  test("and keys must be text, whatever a graph passes", async () => {
    const { store } = openStore();
    await expect(store.put("users" as unknown as string[], "k", {})).rejects.toMatchObject({ status: 422 });
    await expect(store.put([5] as unknown as string[], "k", {})).rejects.toMatchObject({ status: 422 });
    await expect(store.put(["n"], 5 as unknown as string, {})).rejects.toMatchObject({ status: 422 });
  });

  test("are checked for HTTP reads and deletes, too", () => {
    const { store } = openStore();
    expect(refusal(() => store.getItem([], "k")).detail).toBe("Namespace is required");
    expect(refusal(() => store.deleteItem(["a", "b.c"], "k")).detail).toContain("Received: a.b.c");
    expect(refusal(() => store.searchItems({ namespacePrefix: [""] })).status).toBe(422);
    expect(refusal(() => store.listNamespacePaths({ suffix: ["a.b"] })).status).toBe(422);
    expect(store.getItem(["langgraph"], "k")).toBeNull();
  });

  test("are matched label by label", () => {
    const { store } = openStore();
    for (const namespace of [["a"], ["a", "b"], ["ab"], ["a", "bc", "d"]]) {
      store.putItem({ namespace, key: namespace.join("+"), value: {} });
    }
    expect(keysOf(store.searchItems({ namespacePrefix: ["a"] }))).toEqual(["a+bc+d", "a+b", "a"]);
    expect(keysOf(store.searchItems({ namespacePrefix: ["a", "b"] }))).toEqual(["a+b"]);
    expect(keysOf(store.searchItems({ namespacePrefix: ["a", "b", "c"] }))).toEqual([]);
  });

  test("are listed by prefix, suffix, wildcard and depth, sorted, page by page", () => {
    const { store } = openStore();
    const all = [["a", "x", "v1"], ["a", "y", "v1"], ["a", "y", "v2"], ["b", "x", "v1"], ["b"]];
    for (const namespace of all) store.putItem({ namespace, key: "k", value: {} });
    const list = (options: Parameters<LongTermStore["listNamespacePaths"]>[0]) =>
      store.listNamespacePaths(options).map((path) => path.join("/"));
    expect(list({})).toEqual(["a/x/v1", "a/y/v1", "a/y/v2", "b", "b/x/v1"]);
    expect(list({ prefix: ["a"] })).toEqual(["a/x/v1", "a/y/v1", "a/y/v2"]);
    expect(list({ suffix: ["v1"] })).toEqual(["a/x/v1", "a/y/v1", "b/x/v1"]);
    expect(list({ prefix: ["*", "x"], suffix: ["v1"] })).toEqual(["a/x/v1", "b/x/v1"]);
    expect(list({ suffix: ["y", "*"] })).toEqual(["a/y/v1", "a/y/v2"]);
    expect(list({ prefix: ["b", "x", "v1", "more"] })).toEqual([]);
    expect(list({ maxDepth: 2 })).toEqual(["a/x", "a/y", "b", "b/x"]);
    expect(list({ maxDepth: 1, suffix: ["v2"] })).toEqual(["a"]);
    expect(list({ limit: 2, offset: 1 })).toEqual(["a/y/v1", "a/y/v2"]);
    store.deleteItem(["b", "x", "v1"], "k");
    expect(list({ prefix: ["b"] })).toEqual(["b"]);
  });
});

describe("search", () => {
  test("orders by last update, through restarts and whatever the clock says", () => {
    const { store, database } = openStore();
    for (const key of ["a", "b", "c"]) store.putItem({ namespace: ["n"], key, value: {} });
    clock.ms -= 5000;
    store.putItem({ namespace: ["n"], key: "a", value: {} });
    expect(keysOf(store.searchItems())).toEqual(["a", "c", "b"]);
    const later = reopen(database);
    later.putItem({ namespace: ["n"], key: "d", value: {} });
    for (const after of [later, reopen(database)]) {
      expect(keysOf(after.searchItems())).toEqual(["d", "a", "c", "b"]);
      expect(keysOf(after.searchItems({ limit: 2, offset: 1 }))).toEqual(["a", "c"]);
    }
  });

  test("returns ten items when no limit is given, and none for limit 0", async () => {
    const { store } = openStore();
    for (let i = 0; i < 12; i++) store.putItem({ namespace: ["n"], key: `k${i}`, value: {} });
    expect(store.searchItems()).toHaveLength(10);
    expect(await store.search([])).toHaveLength(10);
    expect(store.searchItems({ limit: 0 })).toEqual([]);
  });

  const values: Record<string, JsonObject> = {
    one: { n: 1, s: "apple", tags: ["x", "y"], deep: { p: 1, q: 2 }, when: "2026-01-05" },
    two: { n: 2, s: "berry", tags: ["y", "x"], deep: { q: 2, p: 1 }, when: "2026-02-01" },
    ten: { n: 10, s: "10", tags: [], "dotted.key": true, when: "2026-10-01" },
    nil: { n: null, s: "" },
  };
  test.each<[JsonObject, string[]]>([
    [{}, ["one", "two", "ten", "nil"]],
    [{ n: 1 }, ["one"]],
    [{ n: "1" }, []],
    [{ n: 1, s: "berry" }, []],
    [{ n: null }, ["nil"]],
    [{ missing: null }, []],
    [{ tags: ["x", "y"] }, ["one"]],
    [{ deep: { p: 1, q: 2 } }, ["one", "two"]],
    [{ deep: { p: 1 } }, []],
    [{ deep: {} }, []],
    [{ "dotted.key": true }, ["ten"]],
    [{ "deep.p": 1 }, []],
    [{ n: { $eq: 2 } }, ["two"]],
    [{ deep: { $eq: { q: 2, p: 1 } } }, ["one", "two"]],
    [{ n: { $ne: 2 } }, ["one", "ten", "nil"]],
    [{ n: { $gt: 1 } }, ["two", "ten"]],
    [{ n: { $gte: 2, $lt: 10 } }, ["two"]],
    [{ n: { $lte: 1 } }, ["one"]],
    [{ n: { $gt: "1" } }, ["two", "ten"]],
    [{ s: { $gt: "9" } }, ["one", "two", "ten"]],
    [{ when: { $gte: "2026-02-01" } }, ["two", "ten"]],
    [{ tags: { $gt: 0 } }, []],
    [{ missing: { $lt: 5 } }, []],
    [{ missing: { $ne: 5 } }, ["one", "two", "ten", "nil"]],
    [{ n: { $in: [1, 10] } }, ["one", "ten"]],
    [{ n: { $nin: [1, 10] } }, ["two", "nil"]],
  ])("filter %j", (filter, expected) => {
    const { store } = openStore();
    for (const [key, value] of Object.entries(values)) store.putItem({ namespace: ["n"], key, value });
    expect(keysOf(store.searchItems({ filter })).toReversed()).toEqual(expected);
  });

  test("refuses an operator that it does not have, naming those it has", () => {
    const { store } = openStore();
    const error = refusal(() => store.searchItems({ filter: { n: { $regex: "x" } } }));
    expect(error).toMatchObject({ status: 422, detail: expect.stringMatching(/\$regex.*\$eq, \$ne, \$gt/) as string });
  });
});

describe("storage keys", () => {
  const NASTY = [
    "a",
    "0",
    "Z",
    "-",
    "_",
    "/",
    ":",
    ";",
    "?",
    "!",
    '"',
    "#",
    "$",
    "%",
    ">",
    "[",
    "\\",
    "~",
    "\0",
    " ",
    "é",
    "\u{1f600}",
    "\ud800",
  ];

  test("are distinct for distinct names, sort like the names, and mean nothing to unstorage or LMDB", () => {
    const { integer, member } = drawing(seeded(11));
    const text = () => Array.from({ length: 1 + integer(3) }, () => member(NASTY)).join("");
    const names = Array.from({ length: 4000 }, () => ({
      namespace: Array.from({ length: 1 + integer(3) }, text),
      key: integer(10) === 0 ? "" : text(),
    }));
    const byName = new Map(names.map((name) => [JSON.stringify(name), name]));
    const keys = [...byName.values()].map(({ namespace, key }) => storageKey(namespace, key));
    expect(new Set(keys).size).toBe(byName.size);
    for (const key of keys) expect(key).toMatch(/^s\/[!-~]+$/);
    for (const key of keys) expect(key.slice(2)).not.toMatch(/[/:?\\$]/);
    const single = [...new Set(names.map(({ key }) => key))].toSorted((a, b) => (a < b ? -1 : 1));
    const sorted = single.map((key) => storageKey(["n"], key));
    expect(sorted.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(sorted);
  });

  test("let a shorter namespace sort before the ones that continue it", () => {
    const keys = [
      storageKey(["a"], "z"),
      storageKey(["a", "b"], "a"),
      storageKey(["a!"], "a"),
      storageKey(["aa"], "a"),
    ];
    expect(keys.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(keys);
  });

  test("hold every name in LMDB, also those that are longer than its keys", async () => {
    const folder = mkdtempSync(join(tmpdir(), "long-term-"));
    try {
      const names = [
        ...NASTY.flatMap((one) => [{ namespace: [one, `${one}${one}`], key: one }]),
        { namespace: ["n"], key: "" },
        ...["a", "b", "\u{1f600}"].map((end) => ({ namespace: ["long"], key: "k".repeat(5000) + end })),
        ...["a", "b"].map((end) => ({ namespace: ["é".repeat(600), end], key: "k" })),
        // As long as a key may be, and one longer.
        { namespace: ["n"], key: "k".repeat(1978 - "s/n!!".length) },
        { namespace: ["n"], key: "k".repeat(1979 - "s/n!!".length) },
      ];
      const database = lmdbDatabase(folder);
      const { store } = openStore(database);
      for (const [i, name] of names.entries()) store.putItem({ ...name, value: { i } });
      await database.close();
      const again = lmdbDatabase(folder);
      const after = reopen(again);
      for (const [i, { namespace, key }] of names.entries()) {
        expect(after.getItem(namespace, key)).toMatchObject({ namespace, key, value: { i } });
      }
      for (const { namespace, key } of names) after.deleteItem(namespace, key);
      expect(again.count(ITEMS.start, ITEMS.end)).toBe(0);
      await again.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("time to live", () => {
  const put = (store: LongTermStore, key: string, ttl?: number | null) =>
    store.putItem({ namespace: ["n"], key, value: {}, ...(ttl === undefined ? {} : { ttl }) });

  test("an expired item is absent for every reader, and is deleted when met", () => {
    const { store, database } = openStore();
    put(store, "brief", 1);
    put(store, "lasting");
    clock.ms += MINUTE - 1;
    expect(store.searchItems({ refreshTtl: false })).toHaveLength(2);
    clock.ms += 1;
    expect(keysOf(store.searchItems())).toEqual(["lasting"]);
    expect(database.count(ITEMS.start, ITEMS.end)).toBe(1);
    put(store, "brief", 1);
    clock.ms += MINUTE;
    expect(store.getItem(["n"], "brief")).toBeNull();
    expect(database.count(ITEMS.start, ITEMS.end)).toBe(1);
  });

  test("a namespace of expired items is not listed", () => {
    const { store } = openStore();
    store.putItem({ namespace: ["gone", "soon"], key: "k", value: {}, ttl: 1 });
    put(store, "lasting");
    clock.ms += MINUTE;
    expect(store.listNamespacePaths()).toEqual([["n"]]);
  });

  test("what nobody reads is deleted at a later write", () => {
    const { store, database } = openStore();
    put(store, "brief", 1);
    clock.ms += 2 * MINUTE;
    put(store, "lasting");
    expect(database.count(ITEMS.start, ITEMS.end)).toBe(1);
  });

  test("an item put again after its expiry is a new one", () => {
    const { store } = openStore();
    put(store, "k", 1);
    clock.ms += 5 * MINUTE;
    put(store, "k");
    expect(store.getItem(["n"], "k")?.created_at).toBe("2026-11-20T07:46:33.005+00:00");
  });

  test.each<[string, (store: LongTermStore) => unknown]>([
    ["get", (store) => store.getItem(["n"], "k")],
    ["search", (store) => store.searchItems()],
    ["a node's get", (store) => store.get(["n"], "k")],
  ])("%s starts it again, also for the next start of the server", async (_name, read) => {
    const { store, database } = openStore();
    put(store, "k", 10);
    clock.ms += 6 * MINUTE;
    await read(store);
    clock.ms += 6 * MINUTE;
    const after = reopen(database);
    expect(after.getItem(["n"], "k", { refreshTtl: false })).not.toBeNull();
    clock.ms += 4 * MINUTE;
    expect(after.getItem(["n"], "k")).toBeNull();
    expect(store.getItem(["n"], "k")).toBeNull();
  });

  test("reading does not start it again when told so by the call or the store", () => {
    const { store, database } = openStore();
    put(store, "k", 10);
    clock.ms += 6 * MINUTE;
    store.getItem(["n"], "k", { refreshTtl: false });
    store.searchItems({ refreshTtl: false });
    const still = reopen(database, { refreshOnRead: false });
    still.getItem(["n"], "k");
    clock.ms += 4 * MINUTE;
    expect(store.getItem(["n"], "k")).toBeNull();
    expect(still.getItem(["n"], "k")).toBeNull();
  });

  test("many reads in short time are exact but write nothing", () => {
    const database = memoryDatabase();
    let batches = 0;
    const { store } = openStore({ ...database, write: (writes) => (batches++, database.write(writes)) });
    put(store, "k", 100);
    for (let i = 0; i < 4; i++) {
      clock.ms += MINUTE;
      store.getItem(["n"], "k");
    }
    expect(batches).toBe(1);
    clock.ms += MINUTE;
    store.getItem(["n"], "k");
    expect(batches).toBe(2);
    clock.ms += 99 * MINUTE;
    expect(store.getItem(["n"], "k")).not.toBeNull();
  });

  test("the store's default holds unless a put says otherwise; null is for ever", () => {
    const { store, database } = openStore(memoryDatabase(), { defaultTtl: 1 });
    put(store, "default");
    put(store, "longer", 3);
    put(store, "forever", null);
    clock.ms += 2 * MINUTE;
    expect(keysOf(store.searchItems({ refreshTtl: false }))).toEqual(["forever", "longer"]);
    clock.ms += 2 * MINUTE;
    expect(keysOf(reopen(database).searchItems())).toEqual(["forever"]);
  });

  test.each([0, -1, Number.NaN, Infinity])("%d minutes are refused", (ttl) => {
    const { store } = openStore();
    expect(refusal(() => put(store, "k", ttl)).status).toBe(422);
  });
});

describe("durability and memory", () => {
  test("a write that fails changes nothing", () => {
    const database = memoryDatabase();
    let full = false;
    const { store } = openStore({
      ...database,
      write(writes) {
        if (full) throw new Error("disk full");
        database.write(writes);
      },
    });
    store.putItem({ namespace: ["n"], key: "k", value: { v: 1 } });
    full = true;
    expect(() => store.putItem({ namespace: ["n"], key: "k", value: { v: 2 } })).toThrow("disk full");
    expect(() => store.putItem({ namespace: ["n"], key: "new", value: {} })).toThrow("disk full");
    expect(() => store.deleteItem(["n"], "k")).toThrow("disk full");
    expect(store.searchItems()).toMatchObject([{ key: "k", value: { v: 1 } }]);
  });

  test("parsed values are kept within the bound, and the hot ones stay", () => {
    const cache = new ItemCache(1000);
    const entries = Array.from({ length: 50 }, (_, i) => ({
      head: { namespace: ["n"], key: `k${i}`, createdAt: T0, updatedAt: T0, sequence: i },
      storageKey: `s/n!!k${i}`,
      expiresAt: Infinity,
    }));
    const text = JSON.stringify({ text: "x".repeat(89) });
    const loads: string[] = [];
    const read = (i: number) => {
      const entry = entries[i] as (typeof entries)[number];
      return cache.read(entry, () => (loads.push(entry.head.key), text));
    };
    const [hot] = [0];
    for (let i = 1; i < entries.length; i++) {
      read(hot);
      read(i);
      expect(cache.chars).toBeLessThanOrEqual(1000);
    }
    expect(loads.filter((key) => key === "k0")).toHaveLength(1);
    expect(loads).toHaveLength(50);
    read(1);
    expect(loads).toHaveLength(51);
  });

  test.each([21, 22, 23, 24])("does what a plain list would do (seed %i)", (seed) => {
    const { integer, member } = drawing(seeded(seed));
    let { store, database } = openStore(memoryDatabase(), { cacheChars: 200 });
    /** Newest last. */
    let expected: { namespace: string[]; key: string; value: { kind: number; step: number } }[] = [];
    const labels = ["a", "b", "c"];
    const anyPath = (least: number) => Array.from({ length: least + integer(3) }, () => member(labels));
    for (let step = 0; step < 1500; step++) {
      const namespace = anyPath(1);
      const key = member(["k1", "k2", "k3"]);
      const others = expected.filter((item) => item.key !== key || item.namespace.join() !== namespace.join());
      if (integer(3) === 0) {
        store.deleteItem(namespace, key);
        expected = others;
      } else {
        const item = { namespace, key, value: { kind: integer(4), step } };
        store.putItem(item);
        expected = [...others, item];
      }
      if (integer(100) === 0) store = reopen(database, { cacheChars: 200 });
      if (step % 5 !== 0) continue;
      const namespacePrefix = anyPath(0);
      const search = {
        namespacePrefix,
        filter: { kind: { $lt: 1 + integer(4) } },
        limit: 1 + integer(8),
        offset: integer(4),
      };
      const under = expected.filter((item) => namespacePrefix.every((label, i) => item.namespace[i] === label));
      const matching = under.toReversed().filter((item) => item.value.kind < search.filter.kind.$lt);
      const wanted = matching.slice(search.offset, search.offset + search.limit);
      expect(
        store
          .searchItems(search)
          .map(({ namespace: path, key: name, value }) => ({ namespace: path, key: name, value })),
      ).toEqual(wanted);
      const paths = new Set(under.map((item) => item.namespace.join("/")));
      expect(store.listNamespacePaths({ prefix: namespacePrefix }).map((path) => path.join("/"))).toEqual(
        [...paths].toSorted(),
      );
      expect(store.getItem(namespace, key)?.value).toEqual(
        expected.find((item) => item.key === key && item.namespace.join() === namespace.join())?.value,
      );
    }
  });
});
