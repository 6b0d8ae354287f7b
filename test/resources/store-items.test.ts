import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  deleteItem,
  deleteItemBody,
  getItem,
  getItemQuery,
  listNamespaces,
  listNamespacesBody,
  putItem,
  putItemBody,
  searchItems,
  searchItemsBody,
} from "../../src/resources/store-items.ts";
import { LongTermStore } from "../../src/storage/long-term-store.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";

const newStore = () => new LongTermStore(memoryDatabase());
const item = { namespace: ["users", "u1"], key: "k", value: { n: 1 } };

describe("bodies and queries", () => {
  test("have the documented defaults, and take null for absent", () => {
    const empty = {
      namespace_prefix: undefined,
      filter: undefined,
      limit: 10,
      offset: 0,
      query: undefined,
      refresh_ttl: undefined,
    };
    const nulls = (fields: object) => Object.fromEntries(Object.keys(fields).map((field) => [field, null]));
    expect(searchItemsBody.parse({})).toEqual(empty);
    expect(searchItemsBody.parse(nulls(empty))).toEqual(empty);
    const all = { prefix: undefined, suffix: undefined, max_depth: undefined, limit: 100, offset: 0 };
    expect(listNamespacesBody.parse({})).toEqual(all);
    expect(listNamespacesBody.parse(nulls(all))).toEqual(all);
    expect(deleteItemBody.parse({ key: "k", namespace: null })).toEqual({ key: "k", namespace: undefined });
    expect(putItemBody.parse({ ...item, index: null, ttl: null })).toEqual({ ...item, index: null, ttl: null });
  });

  test("ignore fields that they do not know", () => {
    expect(putItemBody.parse({ ...item, refreshTtl: true, extra: 1 })).toEqual(item);
    expect(searchItemsBody.parse({ namespacePrefix: ["x"] })).not.toHaveProperty("namespacePrefix");
  });

  test.each([
    [putItemBody, { ...item, namespace: "users" }],
    [putItemBody, { ...item, namespace: [1] }],
    [putItemBody, { ...item, namespace: null }],
    [putItemBody, { ...item, key: 5 }],
    [putItemBody, { ...item, value: [1] }],
    [putItemBody, { ...item, value: null }],
    [putItemBody, { ...item, value: "text" }],
    [putItemBody, { ...item, index: true }],
    [putItemBody, { ...item, ttl: 0 }],
    [putItemBody, { ...item, ttl: "5" }],
    [putItemBody, { namespace: ["a"], key: "k" }],
    [deleteItemBody, { namespace: ["a"] }],
    [getItemQuery, { namespace: "a" }],
    [getItemQuery, { namespace: "a", key: "k", refresh_ttl: "maybe" }],
    [searchItemsBody, { limit: 0 }],
    [searchItemsBody, { limit: 1001 }],
    [searchItemsBody, { limit: 1.5 }],
    [searchItemsBody, { offset: -1 }],
    [searchItemsBody, { filter: [] }],
    [listNamespacesBody, { limit: 1001 }],
    [listNamespacesBody, { max_depth: 0 }],
    [listNamespacesBody, null],
  ])("refuse what does not fit (%#)", (schema: z.ZodType, body) => {
    expect(schema.safeParse(body).success).toBe(false);
  });

  test("take limits up to 1000", () => {
    expect(searchItemsBody.parse({ limit: 1000 }).limit).toBe(1000);
    expect(listNamespacesBody.parse({ limit: 1 }).limit).toBe(1);
  });

  test.each([
    ["users.u1", ["users", "u1"]],
    ["users", ["users"]],
    [
      ["users", "u1"],
      ["users", "u1"],
    ],
    [
      ["users.u1", "prefs"],
      ["users", "u1", "prefs"],
    ],
    ["", []],
    [undefined, []],
    ["a..b", ["a", "", "b"]],
  ])("a query's namespace %j means %j", (namespace, expected) => {
    expect(getItemQuery.parse({ namespace, key: "k" }).namespace).toEqual(expected);
  });

  test.each([
    ["true", true],
    ["1", true],
    [true, true],
    ["false", false],
    ["0", false],
    [null, undefined],
    [undefined, undefined],
  ])("a query's refresh_ttl %j means %j", (refresh_ttl, expected) => {
    expect(getItemQuery.parse({ key: "k", refresh_ttl }).refresh_ttl).toBe(expected);
  });

  test("pass values and filters on as they came, __proto__ and all", () => {
    const text = '{"namespace":["a"],"key":"k","value":{"__proto__":{"x":1},"list":[{"__proto__":2}]}}';
    expect(JSON.stringify(putItemBody.parse(JSON.parse(text)))).toBe(text);
    const { filter } = searchItemsBody.parse(JSON.parse('{"filter":{"__proto__":{"x":1}}}'));
    expect(JSON.stringify(filter)).toBe('{"__proto__":{"x":1}}');
  });

  test("can be written as JSON schema for the API document", () => {
    const schema = (of: z.ZodType) => z.toJSONSchema(of, { io: "input" });
    expect(schema(putItemBody)).toMatchObject({
      required: ["namespace", "key", "value"],
      properties: { value: { type: "object" } },
    });
    expect(schema(searchItemsBody)).toMatchObject({ properties: { limit: { default: 10 } } });
    expect(schema(listNamespacesBody)).toMatchObject({ properties: { limit: { default: 100 } } });
    expect(schema(getItemQuery)).toMatchObject({ required: ["key"] });
    expect(schema(deleteItemBody)).toMatchObject({ required: ["key"] });
  });
});

describe("operations", () => {
  test("put, get, search, list and delete", async () => {
    const store = newStore();
    await putItem(store, putItemBody.parse({ ...item, index: ["n"] }));
    const stored = getItem(store, getItemQuery.parse({ namespace: "users.u1", key: "k" }));
    expect(stored).toMatchObject(item);
    expect(stored).not.toHaveProperty("score");
    expect(
      await searchItems(store, searchItemsBody.parse({ namespace_prefix: ["users"], filter: { n: 1 }, query: "any" })),
    ).toEqual({
      items: [{ ...stored, score: null }],
    });
    expect(await searchItems(store, searchItemsBody.parse({ offset: 1 }))).toEqual({ items: [] });
    expect(listNamespaces(store, listNamespacesBody.parse({ max_depth: 1 }))).toEqual({ namespaces: [["users"]] });
    expect(listNamespaces(store, listNamespacesBody.parse({ suffix: ["u2"] }))).toEqual({ namespaces: [] });
    deleteItem(store, deleteItemBody.parse({ namespace: ["users", "u1"], key: "k" }));
    expect(getItem(store, getItemQuery.parse({ namespace: "users.u1", key: "k" }))).toBeNull();
  });

  test("a ttl reaches the store; refresh_ttl=false does not start it again", async () => {
    const clock = { ms: 0, now: () => clock.ms, at: () => () => undefined };
    const store = new LongTermStore(memoryDatabase(), { clock });
    await putItem(store, putItemBody.parse({ ...item, ttl: 1 }));
    clock.ms = 40_000;
    getItem(store, getItemQuery.parse({ namespace: "users.u1", key: "k", refresh_ttl: "false" }));
    await searchItems(store, searchItemsBody.parse({ refresh_ttl: false }));
    clock.ms = 50_000;
    expect(getItem(store, getItemQuery.parse({ namespace: "users.u1", key: "k" }))).not.toBeNull();
    clock.ms = 105_000;
    expect(getItem(store, getItemQuery.parse({ namespace: "users.u1", key: "k", refresh_ttl: "0" }))).not.toBeNull();
    clock.ms = 110_000;
    expect(getItem(store, getItemQuery.parse({ namespace: "users.u1", key: "k" }))).toBeNull();
  });

  test("index and query reach the store", async () => {
    const embed = async (texts: string[]) => texts.map((text) => [text.length, 1]);
    const embedder = { embedDocuments: embed, embedQuery: async (text: string) => (await embed([text]))[0] };
    const store = new LongTermStore(memoryDatabase(), { index: { dims: 2, fields: ["n"], model: "m", embedder } });
    for (const [key, index] of [
      ["own", ["s"]],
      ["default", null],
      ["none", false],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await putItem(store, putItemBody.parse({ namespace: ["a"], key, value: { n: "x", s: "xxxxx" }, index }));
    }
    const { items } = await searchItems(store, searchItemsBody.parse({ query: "abcde" }));
    expect(items.map(({ key, score }) => [key, score])).toEqual([
      ["own", expect.closeTo(1, 5)],
      ["default", expect.closeTo(0.832, 3)],
      ["none", null],
    ]);
  });

  test("a namespace is required, except to delete nothing", async () => {
    const store = newStore();
    expect(() => getItem(store, getItemQuery.parse({ key: "k" }))).toThrow("Namespace is required");
    await expect(putItem(store, { ...item, namespace: [] })).rejects.toThrow("Namespace is required");
    expect(() => deleteItem(store, { namespace: [], key: "k" })).toThrow("Namespace is required");
    await putItem(store, item);
    deleteItem(store, deleteItemBody.parse({ key: "k" }));
    expect(store.searchItems()).toHaveLength(1);
  });
});
