// The long-term store through the official client, and from inside graphs.
import { beforeEach, describe, expect, test } from "vitest";
import { call } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}(\+00:00|Z)$/;
const server = useServer();

/** A part of the store that only one test uses. */
let own: string;
beforeEach(() => {
  own = `t-${crypto.randomUUID()}`;
});

describe("items", () => {
  test("are put, read, changed and deleted", async () => {
    const { store } = server.client;
    const value = { text: "likes tea", deep: { list: [1, null, "ü"] } };
    expect(await store.putItem([own, "ada"], "fact", value)).toBeUndefined();
    const item = await store.getItem([own, "ada"], "fact");
    expect(item).toEqual({
      namespace: [own, "ada"],
      key: "fact",
      value,
      createdAt: expect.stringMatching(STAMP),
      updatedAt: expect.stringMatching(STAMP),
      // The client adds its own spelling to that of the wire.
      created_at: item!.createdAt,
      updated_at: item!.updatedAt,
    });
    await store.putItem([own, "ada"], "fact", { text: "likes coffee" });
    const changed = await store.getItem([own, "ada"], "fact");
    expect(changed!.value).toEqual({ text: "likes coffee" });
    expect(changed!.createdAt).toBe(item!.createdAt);
    expect(changed!.updatedAt >= item!.updatedAt).toBe(true);
    await store.deleteItem([own, "ada"], "fact");
    expect(await store.getItem([own, "ada"], "fact")).toBeNull();
    // Deleting what is not there is done already.
    await store.deleteItem([own, "ada"], "fact");
  });

  test("that are missing are null, with 200", async () => {
    expect(await server.client.store.getItem([own], "nothing")).toBeNull();
    const raw = await call(server.url, "GET", `/store/items?namespace=${own}&key=nothing`);
    expect([raw.status, raw.text]).toEqual([200, "null"]);
  });

  test("have the fields of the wire", async () => {
    await server.client.store.putItem([own, "ada"], "fact", { a: 1 });
    for (const query of [`namespace=${own}.ada`, `namespace=${own}&namespace=ada`]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const raw = await call(server.url, "GET", `/store/items?${query}&key=fact`);
      expect(raw.json).toEqual({
        namespace: [own, "ada"],
        key: "fact",
        value: { a: 1 },
        created_at: expect.stringMatching(STAMP),
        updated_at: expect.stringMatching(STAMP),
      });
    }
  });

  test("with keys of every kind", async () => {
    const { store } = server.client;
    for (const key of ["a.b", "a/b", "ü ü", "%41", "__proto__", "x".repeat(300)]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await store.putItem([own], key, { key });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await store.getItem([own], key))?.value).toEqual({ key });
    }
    expect((await store.searchItems([own])).items).toHaveLength(6);
  });
});

describe("search", () => {
  beforeEach(async () => {
    const { store } = server.client;
    await store.putItem([own, "a"], "1", { color: "red", size: 1 });
    await store.putItem([own, "a"], "2", { color: "blue", size: 2 });
    await store.putItem([own, "a", "deep"], "3", { color: "red", size: 3 });
    await store.putItem([own, "ab"], "4", { color: "red", size: 4 });
  });
  const keys = async (prefix: string[], options?: Parameters<typeof server.client.store.searchItems>[1]) =>
    (await server.client.store.searchItems(prefix, options)).items.map(({ key }) => key);

  test("finds what lies under a prefix, label by label, last put first", async () => {
    expect(await keys([own])).toEqual(["4", "3", "2", "1"]);
    expect(await keys([own, "a"])).toEqual(["3", "2", "1"]);
    expect(await keys([own, "a", "deep"])).toEqual(["3"]);
    expect(await keys([own, "nothing"])).toEqual([]);
    await server.client.store.putItem([own, "a"], "1", { color: "green" });
    expect(await keys([own])).toEqual(["1", "4", "3", "2"]);
  });

  test("filters, and pages", async () => {
    expect(await keys([own], { filter: { color: "red" } })).toEqual(["4", "3", "1"]);
    expect(await keys([own], { filter: { color: "red", size: 3 } })).toEqual(["3"]);
    expect(await keys([own], { filter: { size: { $gte: 2, $lt: 4 } } })).toEqual(["3", "2"]);
    expect(await keys([own], { filter: { color: { $ne: "red" } } })).toEqual(["2"]);
    expect(await keys([own], { limit: 2 })).toEqual(["4", "3"]);
    expect(await keys([own], { limit: 2, offset: 3 })).toEqual(["1"]);
    // Nothing is ranked here, so a query hides nothing.
    expect(await keys([own], { query: "anything" })).toEqual(["4", "3", "2", "1"]);
  });
});

describe("namespaces", () => {
  test("are listed by prefix, suffix and depth", async () => {
    const { store } = server.client;
    for (const namespace of [
      [own, "a", "x"],
      [own, "a", "y"],
      [own, "b", "x"],
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await store.putItem(namespace, "k", {});
    }
    const list = async (options: Parameters<typeof store.listNamespaces>[0]) =>
      (await store.listNamespaces({ prefix: [own], ...options })).namespaces;
    expect(await list({})).toEqual([
      [own, "a", "x"],
      [own, "a", "y"],
      [own, "b", "x"],
    ]);
    expect(await list({ prefix: [own, "a"] })).toHaveLength(2);
    expect(await list({ suffix: ["x"] })).toEqual([
      [own, "a", "x"],
      [own, "b", "x"],
    ]);
    expect(await list({ maxDepth: 2 })).toEqual([
      [own, "a"],
      [own, "b"],
    ]);
    expect(await list({ limit: 1, offset: 1 })).toEqual([[own, "a", "y"]]);
    await store.deleteItem([own, "b", "x"], "k");
    expect(await list({})).toHaveLength(2);
  });

  test("must have labels without periods", async () => {
    for (const [body, status] of [
      [{ namespace: [], key: "k", value: {} }, 422],
      [{ namespace: ["a.b"], key: "k", value: {} }, 422],
      [{ namespace: ["", "b"], key: "k", value: {} }, 422],
      [{ namespace: "a", key: "k", value: {} }, 422],
      [{ namespace: ["a"], value: {} }, 422],
      [{ namespace: ["a"], key: "k", value: "text" }, 422],
      [{ namespace: ["a"], key: "k", value: [1] }, 422],
      [{ namespace: ["a"], key: "k" }, 422],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await call(server.url, "PUT", "/store/items", { body });
      expect([answer.status, answer.json], JSON.stringify(body)).toEqual([status, { detail: expect.any(String) }]);
    }
    const answer = await call(server.url, "GET", "/store/items?key=k");
    expect(answer.status).toBe(422);
  });
});

describe("graphs", () => {
  const ask = async (text: string, user: string): Promise<unknown> => {
    const values = (await server.client.runs.wait(null, "memory", {
      input: { messages: [{ role: "user", content: text }] },
      config: { configurable: { user } },
    })) as { messages: { content: string }[] };
    return JSON.parse(values.messages.at(-1)!.content);
  };

  test("see what clients put, and clients what graphs put", async () => {
    const { store } = server.client;
    const user = own;
    await store.putItem(["users", user], "fact", { text: "from outside" });
    expect(await ask("get", user)).toMatchObject({ fact: { text: "from outside" }, created: true });
    await ask("put from inside", user);
    expect((await store.getItem(["users", user], "fact"))!.value).toEqual({ text: "from inside" });
    expect(await ask("get", user)).toMatchObject({ fact: { text: "from inside" } });
    await ask("forget", user);
    expect(await store.getItem(["users", user], "fact")).toBeNull();
  });

  test("share it over threads and runs", async () => {
    const { store, threads, runs } = server.client;
    const { thread_id } = await threads.create();
    const input = { messages: [{ role: "user", content: "put shared" }] };
    await runs.wait(thread_id, "memory", { input, config: { configurable: { user: own } } });
    expect(await ask("get", own)).toMatchObject({ fact: { text: "shared" } });
    await threads.delete(thread_id);
    expect((await store.getItem(["users", own], "fact"))!.value).toEqual({ text: "shared" });
    expect(await ask("get", `${own}-other`)).toMatchObject({ fact: null });
  });
});
