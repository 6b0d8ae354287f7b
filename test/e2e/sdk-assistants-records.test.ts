// Assistants that callers make, through the official client: creating, changing, versions, searching, deleting.
import type { Assistant } from "@langchain/langgraph-sdk";
import { describe, expect, test } from "vitest";
import { call } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer();

const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** What a refused call says. */
async function refusal(method: string, path: string, body?: unknown): Promise<{ status: number; detail: string }> {
  const answer = await call(server.url, method, path, body === undefined ? {} : { body });
  const { detail, ...rest } = answer.json as { detail: string };
  expect(answer.headers["content-type"]).toMatch(/^application\/json/);
  expect(rest).toEqual({});
  return { status: answer.status, detail };
}

describe("creating", () => {
  test("a bare assistant has the defaults", async () => {
    const made = await server.client.assistants.create({ graphId: "echo" });
    expect(made).toEqual({
      assistant_id: expect.stringMatching(UUID),
      graph_id: "echo",
      config: {},
      context: {},
      created_at: expect.stringMatching(STAMP),
      updated_at: made.created_at,
      metadata: {},
      version: 1,
      name: "Untitled",
      description: null,
    });
    expect(await server.client.assistants.get(made.assistant_id)).toEqual(made);
    expect(await server.client.assistants.get(made.assistant_id.toUpperCase())).toEqual(made);
  });

  test("a whole one keeps everything", async () => {
    const assistantId = crypto.randomUUID();
    const made = await server.client.assistants.create({
      graphId: "mirror",
      assistantId,
      config: { tags: ["t"], recursion_limit: 9, configurable: { model: "a" } },
      metadata: { team: "red" },
      name: "Mirror in red",
      description: "Looks at itself",
    });
    expect(made).toMatchObject({
      assistant_id: assistantId,
      graph_id: "mirror",
      config: { tags: ["t"], recursion_limit: 9, configurable: { model: "a" } },
      context: { model: "a" },
      metadata: { team: "red" },
      version: 1,
      name: "Mirror in red",
      description: "Looks at itself",
    });
  });

  test("null stands for what is left out", async () => {
    const fields = ["assistant_id", "config", "context", "metadata", "if_exists", "name", "description"];
    const nulls = Object.fromEntries(fields.map((field) => [field, null]));
    const answer = await call(server.url, "POST", "/assistants", { body: { graph_id: "echo", ...nulls } });
    expect(answer.json).toMatchObject({ name: "Untitled", config: {}, context: {}, metadata: {}, description: null });
  });

  test("one that exists is a conflict, or comes back as it is", async () => {
    const { assistants } = server.client;
    const made = await assistants.create({ graphId: "echo", name: "First" });
    const again = { graphId: "counter", assistantId: made.assistant_id, name: "Second" };
    await expect(assistants.create(again)).rejects.toMatchObject({ status: 409 });
    await expect(assistants.create({ ...again, ifExists: "raise" })).rejects.toMatchObject({ status: 409 });
    expect(await assistants.create({ ...again, ifExists: "do_nothing" })).toEqual(made);
    expect(await assistants.get(made.assistant_id)).toEqual(made);
    expect(await assistants.getVersions(made.assistant_id)).toHaveLength(1);
    const system = await assistants.get("echo");
    expect(
      await assistants.create({ graphId: "echo", assistantId: system.assistant_id, ifExists: "do_nothing" }),
    ).toEqual(system);
  });

  test("§8.23: an unknown graph is not accepted, and the answer names those that exist", async () => {
    const { status, detail } = await refusal("POST", "/assistants", { graph_id: "nobody" });
    expect(status).toBe(404);
    expect(detail).toMatch(/"nobody".*agent, echo, /);
    expect(await server.client.assistants.count({ graphId: "nobody" })).toBe(0);
  });

  test.each([
    [{}, "graph_id"],
    [{ graph_id: "echo", assistant_id: "mine" }, "assistant_id"],
    [{ graph_id: "echo", if_exists: "maybe" }, "if_exists"],
    [{ graph_id: "echo", config: [] }, "config"],
    [{ graph_id: "echo", config: { tags: "t" } }, "config.tags"],
    [{ graph_id: "echo", config: { recursion_limit: 0 } }, "config.recursion_limit"],
    [{ graph_id: "echo", context: "text" }, "context"],
    [{ graph_id: "echo", metadata: 1 }, "metadata"],
    [{ graph_id: "echo", name: 1 }, "name"],
  ])("%j is refused, and the answer says which field is wrong", async (body, field) => {
    const { status, detail } = await refusal("POST", "/assistants", body);
    expect(status).toBe(422);
    expect(detail.startsWith(`${field}: `)).toBe(true);
  });

  test("config.configurable and context that differ are refused", async () => {
    const body = { graph_id: "echo", config: { configurable: { model: "a" } }, context: { model: "b" } };
    const { status, detail } = await refusal("POST", "/assistants", body);
    expect(status).toBe(400);
    expect(detail).toContain("two names of one thing");
  });
});

describe("changing", () => {
  test("makes a version that has what was not mentioned", async () => {
    const { assistants } = server.client;
    const made = await assistants.create({
      graphId: "echo",
      name: "Keeps",
      description: "everything",
      config: { tags: ["t"], configurable: { model: "a" } },
      metadata: { a: 1, deep: { x: 1 } },
    });
    const renamed = await assistants.update(made.assistant_id, { name: "Renamed" });
    expect(renamed).toEqual({ ...made, name: "Renamed", version: 2, updated_at: expect.stringMatching(STAMP) });
    expect(renamed.updated_at > made.updated_at).toBe(true);
    expect(await assistants.get(made.assistant_id)).toEqual(renamed);

    const merged = await assistants.update(made.assistant_id, { metadata: { b: 2, deep: { y: 2 } } });
    expect(merged).toMatchObject({ version: 3, name: "Renamed", metadata: { a: 1, b: 2, deep: { y: 2 } } });
    // One level deep only.
    expect(merged.metadata).toEqual({ a: 1, b: 2, deep: { y: 2 } });

    const moved = await assistants.update(made.assistant_id, { graphId: "counter", context: { model: "b" } });
    expect(moved).toEqual({
      ...merged,
      graph_id: "counter",
      config: { tags: ["t"], configurable: { model: "b" } },
      context: { model: "b" },
      version: 4,
      updated_at: expect.stringMatching(STAMP),
    });
    const described = await assistants.update(made.assistant_id, { description: "less", config: { tags: [] } });
    expect(described).toMatchObject({
      description: "less",
      config: { tags: [], configurable: { model: "b" } },
      context: { model: "b" },
      version: 5,
    });
  });

  test("is refused for what does not exist, and changes nothing then", async () => {
    const made = await server.client.assistants.create({ graphId: "echo" });
    const path = `/assistants/${made.assistant_id}`;
    expect(await refusal("PATCH", path, { graph_id: "nobody" })).toMatchObject({
      status: 404,
      detail: expect.stringContaining("agent, echo"),
    });
    expect(await refusal("PATCH", path, { metadata: [] })).toMatchObject({ status: 422 });
    expect(await refusal("PATCH", path, { config: { configurable: { a: 1 } }, context: { a: 2 } })).toMatchObject({
      status: 400,
    });
    expect(await server.client.assistants.get(made.assistant_id)).toEqual(made);
    expect(await refusal("PATCH", `/assistants/${crypto.randomUUID()}`, {})).toMatchObject({ status: 404 });
    expect(await refusal("PATCH", "/assistants/nobody", {})).toMatchObject({ status: 404 });
  });

  test("works on the assistant of a graph, by its name", async () => {
    const { assistants } = server.client;
    const before = await assistants.get("pair");
    const after = await assistants.update("pair", { name: "Pair of us", metadata: { mine: true } });
    expect(after).toMatchObject({
      assistant_id: before.assistant_id,
      version: 2,
      name: "Pair of us",
      metadata: { created_by: "system", mine: true },
    });
    expect(await assistants.setLatest("pair", 1)).toMatchObject({ name: "pair", version: 1 });
  });

  test("at the same time loses nothing", async () => {
    const { assistants } = server.client;
    const { assistant_id: id } = await assistants.create({ graphId: "echo" });
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
    const made = await Promise.all(keys.map((key) => assistants.update(id, { metadata: { [key]: 1 } })));
    expect(made.map(({ version }) => version).toSorted((a, b) => a - b)).toEqual(keys.map((_, index) => index + 2));
    expect(Object.keys((await assistants.get(id)).metadata!).toSorted()).toEqual(keys.toSorted());
    expect(await assistants.getVersions(id, { limit: 100 })).toHaveLength(21);
  });
});

describe("versions", () => {
  async function withVersions(count: number): Promise<string> {
    const { assistants } = server.client;
    const { assistant_id: id } = await assistants.create({ graphId: "echo", metadata: { n: 1 } });
    for (let n = 2; n <= count; n++)
      await assistants.update(id, { metadata: { n, [n % 2 === 0 ? "even" : "odd"]: true } });
    return id;
  }

  test("come newest first, in pages", async () => {
    const id = await withVersions(12);
    const { assistants } = server.client;
    const numbers = (versions: readonly { version: number }[]): number[] => versions.map(({ version }) => version);
    expect(numbers(await assistants.getVersions(id))).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
    expect(numbers(await assistants.getVersions(id, { offset: 10 }))).toEqual([2, 1]);
    const page = (body: unknown) => call(server.url, "POST", `/assistants/${id}/versions`, { body });
    const first = await page({ limit: 5 });
    expect(first.headers).toMatchObject({ "x-pagination-total": "12", "x-pagination-next": "5" });
    const last = await page({ limit: 5, offset: 10 });
    expect(last.headers["x-pagination-total"]).toBe("12");
    expect(last.headers["x-pagination-next"]).toBeUndefined();
    expect((await page({ limit: 0 })).status).toBe(422);
    expect((await page({ limit: 1001 })).status).toBe(422);
  });

  test("are whole assistants as they were, and can be filtered by metadata", async () => {
    const id = await withVersions(4);
    const { assistants } = server.client;
    const latest = await assistants.get(id);
    const [newest, , , oldest] = await assistants.getVersions(id);
    expect(newest).toEqual({ ...latest, created_at: latest.updated_at });
    expect(oldest).toEqual({ ...latest, version: 1, metadata: { n: 1 }, updated_at: latest.created_at });
    const odd = await assistants.getVersions(id, { metadata: { odd: true } });
    expect(odd.map(({ version }) => version)).toEqual([4, 3]);
    const filtered = await call(server.url, "POST", `/assistants/${id}/versions`, {
      body: { metadata: { odd: true }, limit: 1 },
    });
    expect(filtered.headers).toMatchObject({ "x-pagination-total": "2", "x-pagination-next": "1" });
  });

  test("of an assistant that does not exist are 404", async () => {
    const missing = crypto.randomUUID();
    for (const id of [missing, "nobody"]) {
      expect(await refusal("POST", `/assistants/${id}/versions`, {})).toMatchObject({ status: 404 });
      expect(await refusal("POST", `/assistants/${id}/latest`, { version: 1 })).toMatchObject({ status: 404 });
    }
    expect(await server.client.assistants.getVersions("echo")).toHaveLength(1);
  });

  test("§8.23: set latest restores graph_id, context, description", async () => {
    const { assistants } = server.client;
    const first = await assistants.create({
      graphId: "mirror",
      config: { tags: ["one"], configurable: { model: "a" } },
      metadata: { first: true },
      name: "One",
      description: "the first",
    });
    const id = first.assistant_id;
    const second = await assistants.update(id, {
      graphId: "echo",
      config: { tags: ["two"] },
      context: { model: "b" },
      metadata: { second: true },
      name: "Two",
      description: "the second",
    });
    const back = await assistants.setLatest(id, 1);
    expect(back).toEqual({ ...first, updated_at: expect.stringMatching(STAMP) });
    expect(back.updated_at > second.updated_at).toBe(true);
    expect(await assistants.get(id)).toEqual(back);
    // And forth again; the versions stay as they are.
    expect(await assistants.setLatest(id, 2)).toEqual({ ...second, updated_at: expect.stringMatching(STAMP) });
    await assistants.setLatest(id, 1);
    expect((await assistants.getVersions(id)).map(({ version }) => version)).toEqual([2, 1]);
    // A change goes on from the one that is the latest, under a number of its own.
    expect(await assistants.update(id, { metadata: { third: true } })).toMatchObject({
      version: 3,
      name: "One",
      graph_id: "mirror",
      metadata: { first: true, third: true },
    });
  });

  test("the version to make the latest is in the body or in the query", async () => {
    const id = await withVersions(3);
    const path = `/assistants/${id}/latest`;
    const latest = async (query: string, body?: unknown): Promise<unknown> => {
      const answer = await call(server.url, "POST", path + query, body === undefined ? {} : { body });
      expect(answer.status).toBe(200);
      return (answer.json as Assistant).version;
    };
    expect(await latest("", { version: 1 })).toBe(1);
    expect(await latest("?version=2")).toBe(2);
    expect(await latest("?version=2", {})).toBe(2);
    expect(await latest("?version=2", { version: 3 })).toBe(3);
    expect(await refusal("POST", path, { version: 9 })).toEqual({
      status: 404,
      detail: `Assistant ${id} has no version 9`,
    });
    for (const body of [{}, { version: "1" }, { version: 0 }, { version: 1.5 }]) {
      expect(await refusal("POST", path, body)).toMatchObject({
        status: 422,
        detail: expect.stringMatching(/^version: /),
      });
    }
    expect((await call(server.url, "POST", `${path}?version=two`)).status).toBe(422);
  });
});

describe("searching", () => {
  const TEAM = { team: crypto.randomUUID() };
  let made: Assistant[];
  const ids = (found: readonly { assistant_id: string }[]): string[] => found.map(({ assistant_id }) => assistant_id);

  async function team(): Promise<Assistant[]> {
    const { assistants } = server.client;
    made ??= [
      await assistants.create({ graphId: "echo", name: "Beta", metadata: { ...TEAM, level: 1 } }),
      await assistants.create({ graphId: "counter", name: "alpha", metadata: { ...TEAM, level: 2, tags: ["x", "y"] } }),
      await assistants.create({ graphId: "echo", name: "Alpha", metadata: { ...TEAM, level: 2 } }),
      await assistants.create({ graphId: "echo", name: "Alpha", metadata: { ...TEAM, level: 3 } }),
    ];
    return made;
  }

  test("finds by metadata, graph and part of the name", async () => {
    const all = await team();
    const { assistants } = server.client;
    const find = async (query: Parameters<typeof assistants.search>[0]): Promise<number[]> => {
      const found = await assistants.search({ metadata: TEAM, ...query });
      expect(await assistants.count({ metadata: TEAM, ...query })).toBe(found.length);
      return ids(found).map((id) => ids(all).indexOf(id));
    };
    // Newest first.
    expect(await find({})).toEqual([3, 2, 1, 0]);
    expect(await find({ graphId: "echo" })).toEqual([3, 2, 0]);
    expect(await find({ name: "ALP" })).toEqual([3, 2, 1]);
    expect(await find({ name: "alp", graphId: "counter" })).toEqual([1]);
    expect(await find({ metadata: { ...TEAM, level: 2 } })).toEqual([2, 1]);
    expect(await find({ metadata: { ...TEAM, tags: ["y"] } })).toEqual([1]);
    expect(await find({ metadata: { ...TEAM, level: 9 } })).toEqual([]);
  });

  test("§8.20: sort_by and sort_order count, for every field", async () => {
    const all = await team();
    const { assistants } = server.client;
    await assistants.update(all[0]!.assistant_id, {});
    const now = await Promise.all(all.map(({ assistant_id }) => assistants.get(assistant_id)));
    for (const sortBy of ["assistant_id", "created_at", "updated_at", "name", "graph_id"] as const) {
      const found = {
        asc: await assistants.search({ metadata: TEAM, sortBy, sortOrder: "asc" }),
        desc: await assistants.search({ metadata: TEAM, sortBy, sortOrder: "desc" }),
      };
      const values = now.map((assistant) => assistant[sortBy]).toSorted((a, b) => (a < b ? -1 : 1));
      expect(found.asc.map((assistant) => assistant[sortBy])).toEqual(values);
      expect(found.desc.map((assistant) => assistant[sortBy])).toEqual(values.toReversed());
      expect(ids(await assistants.search({ metadata: TEAM, sortBy }))).toEqual(ids(found.desc));
    }
    expect(await refusal("POST", "/assistants/search", { sort_by: "version" })).toMatchObject({ status: 422 });
  });

  test("pages of equals do not overlap", async () => {
    await team();
    const { assistants } = server.client;
    const all = await assistants.search({ metadata: TEAM, sortBy: "graph_id", sortOrder: "asc" });
    const single: Assistant[] = [];
    for (let offset = 0; offset < all.length; offset++)
      single.push(
        ...(await assistants.search({ metadata: TEAM, sortBy: "graph_id", sortOrder: "asc", limit: 1, offset })),
      );
    expect(ids(single)).toEqual(ids(all));
  });

  test("§8.13: pagination headers are right on every page", async () => {
    await team();
    const headers = async (limit: number, offset: number): Promise<unknown[]> => {
      const answer = await call(server.url, "POST", "/assistants/search", { body: { metadata: TEAM, limit, offset } });
      return [answer.headers["x-pagination-total"], answer.headers["x-pagination-next"], (answer.json as []).length];
    };
    expect(await headers(2, 0)).toEqual(["4", "2", 2]);
    expect(await headers(2, 1)).toEqual(["4", "3", 2]);
    expect(await headers(2, 2)).toEqual(["4", undefined, 2]);
    expect(await headers(3, 3)).toEqual(["4", undefined, 1]);
    expect(await headers(4, 0)).toEqual(["4", undefined, 4]);
    expect(await headers(10, 0)).toEqual(["4", undefined, 4]);
    expect(await headers(2, 9)).toEqual(["4", undefined, 0]);
    const { assistants } = server.client;
    expect((await assistants.search({ metadata: TEAM, limit: 3, includePagination: true })).next).toBe("3");
    expect((await assistants.search({ metadata: TEAM, limit: 4, includePagination: true })).next).toBeNull();
  });

  test("gives the fields that were asked for", async () => {
    await team();
    const select = ["name", "version"] as ("name" | "version")[];
    const found = await server.client.assistants.search({ metadata: TEAM, sortBy: "name", sortOrder: "asc", select });
    expect(found.map(({ name, version, ...rest }) => [name, typeof version, rest])).toEqual([
      ["Alpha", "number", {}],
      ["Alpha", "number", {}],
      ["Beta", "number", {}],
      ["alpha", "number", {}],
    ]);
    expect(await refusal("POST", "/assistants/search", { select: ["secrets"] })).toMatchObject({ status: 422 });
  });
});

describe("deleting", () => {
  test("takes the assistant with its versions, and no other", async () => {
    const { assistants } = server.client;
    const [gone, stays] = await Promise.all([
      assistants.create({ graphId: "echo", name: "Gone" }),
      assistants.create({ graphId: "echo", name: "Stays" }),
    ]);
    await assistants.update(gone.assistant_id, { name: "Gone two" });
    await assistants.update(stays.assistant_id, { name: "Stays two" });
    const answer = await call(server.url, "DELETE", `/assistants/${gone.assistant_id}`);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    for (const [method, path, body] of [
      ["GET", "", undefined],
      ["PATCH", "", {}],
      ["DELETE", "", undefined],
      ["POST", "/versions", {}],
      ["POST", "/latest", { version: 1 }],
      ["GET", "/graph", undefined],
      ["GET", "/schemas", undefined],
    ] as const) {
      expect(await refusal(method, `/assistants/${gone.assistant_id}${path}`, body)).toMatchObject({ status: 404 });
    }
    expect(await assistants.count({ name: "gone" })).toBe(0);
    expect(await assistants.getVersions(stays.assistant_id)).toHaveLength(2);
    // The id is free again, and nothing of the first one is left.
    const again = await assistants.create({ graphId: "counter", assistantId: gone.assistant_id });
    expect(again).toMatchObject({ version: 1, name: "Untitled" });
    expect(await assistants.getVersions(gone.assistant_id)).toHaveLength(1);
    await expect(server.client.runs.create(null, stays.assistant_id, { input: {} })).resolves.toBeDefined();
  });

  test("twice at the same time is no failure of the server", async () => {
    const { assistant_id: id } = await server.client.assistants.create({ graphId: "echo" });
    const answers = await Promise.all([1, 2].map(() => call(server.url, "DELETE", `/assistants/${id}`)));
    for (const { status } of answers) expect([204, 404]).toContain(status);
    expect(answers.map(({ status }) => status)).toContain(204);
  });
});
