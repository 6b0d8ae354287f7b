// Threads through the official client: create, get, update, delete, search, count, copy of a state through supersteps.
import type { Thread } from "@langchain/langgraph-sdk";
import { describe, expect, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { call } from "./support/http.ts";
import { clientOf, complaints, startTestServer, temporaryFolder, useServer } from "./support/server.ts";
import { rmSync } from "node:fs";

const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const server = useServer();
const gates = useGates();

/** A mark that only the threads of one test carry. */
const mark = (): string => crypto.randomUUID();
const say = (text: string) => ({ messages: [{ role: "user", content: text }] });
const idsOf = (threads: Pick<Thread, "thread_id">[]): string[] => threads.map(({ thread_id }) => thread_id);

describe("create and get", () => {
  test("a new thread is idle and empty", async () => {
    const { threads } = server.client;
    const thread = await threads.create();
    expect(thread).toEqual({
      thread_id: expect.stringMatching(UUID),
      created_at: expect.stringMatching(STAMP),
      updated_at: expect.stringMatching(STAMP),
      state_updated_at: expect.stringMatching(STAMP),
      metadata: {},
      config: {},
      status: "idle",
      values: null,
      interrupts: {},
    });
    expect(await threads.get(thread.thread_id)).toEqual(thread);
  });

  test("takes an id, metadata and a graph", async () => {
    const { threads } = server.client;
    const threadId = crypto.randomUUID();
    const thread = await threads.create({ threadId, metadata: { owner: "ada" }, graphId: "echo" });
    expect(thread.thread_id).toBe(threadId);
    expect(thread.metadata).toEqual({ owner: "ada", graph_id: "echo" });
  });

  test("an id in capitals is the same thread", async () => {
    const { threads } = server.client;
    const threadId = crypto.randomUUID();
    const created = await threads.create({ threadId: threadId.toUpperCase() });
    expect(created.thread_id).toBe(threadId);
    expect((await threads.get(threadId)).thread_id).toBe(threadId);
    expect((await threads.get(threadId.toUpperCase())).thread_id).toBe(threadId);
    await expect(threads.create({ threadId: threadId.toUpperCase() })).rejects.toMatchObject({ status: 409 });
    const again = await threads.create({ threadId: threadId.toUpperCase(), ifExists: "do_nothing" });
    expect(again.thread_id).toBe(threadId);
  });

  test("if_exists decides about a taken id", async () => {
    const { threads } = server.client;
    const threadId = crypto.randomUUID();
    const first = await threads.create({ threadId, metadata: { a: 1 } });
    await expect(threads.create({ threadId })).rejects.toMatchObject({ status: 409 });
    await expect(threads.create({ threadId, ifExists: "raise" })).rejects.toMatchObject({ status: 409 });
    expect(await threads.create({ threadId, ifExists: "do_nothing", metadata: { b: 2 } })).toEqual(first);
  });

  test("a run leaves its mark on the thread", async () => {
    const { threads, runs, assistants } = server.client;
    const { thread_id } = await threads.create({ metadata: { owner: "ada" } });
    await runs.wait(thread_id, "echo", { input: say("hi") });
    const thread = await threads.get(thread_id);
    const { assistant_id } = await assistants.get("echo");
    expect(thread.metadata).toEqual({ owner: "ada", graph_id: "echo", assistant_id });
    expect(thread.status).toBe("idle");
    expect(thread.values).toEqual({
      messages: [
        expect.objectContaining({ type: "human", content: "hi" }),
        expect.objectContaining({ type: "ai", content: "echo: hi" }),
      ],
    });
    expect(thread.updated_at > thread.created_at).toBe(true);
  });

  test("§8.20: state_updated_at moves only when a run has written a state", async () => {
    const { threads, runs } = server.client;
    const { thread_id, created_at } = await threads.create();
    const at = async (): Promise<{ created_at: string; updated_at: string; state_updated_at: string }> =>
      (await threads.get(thread_id)) as Thread & { state_updated_at: string };
    await runs.wait(thread_id, "counter", { input: {} });
    const ran = await at();
    // A run that is cancelled before it began.
    const waits = await runs.create(thread_id, "counter", { input: {}, afterSeconds: 1000 });
    await runs.cancel(thread_id, waits.run_id, true);
    const cancelled = await at();
    expect(cancelled.updated_at > ran.updated_at).toBe(true);
    expect(cancelled.state_updated_at).toBe(ran.state_updated_at);
    // One that is taken back.
    const gate = gates.url("stamp-rollback");
    const undone = await runs.create(thread_id, "gated", { input: { name: "x", gate } });
    await gates.entered("stamp-rollback");
    await runs.cancel(thread_id, undone.run_id, true, "rollback");
    expect((await at()).state_updated_at).toBe(ran.state_updated_at);
    // Answers to what waits, and updates from outside.
    await runs.wait(thread_id, "approval", { input: { topic: "tea" } });
    const asked = await at();
    expect(asked.state_updated_at > ran.state_updated_at).toBe(true);
    await runs.wait(thread_id, "approval", { command: { resume: "yes" } });
    const answered = await at();
    expect(answered.state_updated_at > asked.state_updated_at).toBe(true);
    await threads.updateState(thread_id, { values: { topic: "cocoa" } });
    const updated = await at();
    expect(updated.state_updated_at > answered.state_updated_at).toBe(true);
    expect(updated.state_updated_at).toBe(updated.updated_at);
    expect(updated.created_at).toBe(created_at);
  });

  test("§8.20: state_updated_at moves when one of two questions is answered", async () => {
    const { threads, runs } = server.client;
    const { thread_id } = await threads.create();
    await runs.wait(thread_id, "pair", { input: { topic: "tea" } });
    const before = (await threads.get(thread_id)) as Thread & { state_updated_at: string };
    const [first] = Object.values(before.interrupts).flat();
    await runs.wait(thread_id, "pair", { command: { resume: { [first!.id!]: "yes" } } });
    const after = (await threads.get(thread_id)) as Thread & { state_updated_at: string };
    expect(after.values).not.toEqual(before.values);
    expect(after.state_updated_at > before.state_updated_at).toBe(true);
  });

  test("§8.21: a cancelled run leaves the values that it got to, and the thread can go on", async () => {
    const { threads, runs } = server.client;
    const { thread_id } = await threads.create();
    gates.open("cancel-keeps-0");
    await runs.wait(thread_id, "gated", { input: { name: "first", gate: gates.url("cancel-keeps-0") } });
    const gate = gates.url("cancel-keeps");
    const run = await runs.create(thread_id, "gated", { input: { name: "again", gate } });
    await gates.entered("cancel-keeps");
    await runs.cancel(thread_id, run.run_id, true);
    const thread = await threads.get<{ log: string[] }>(thread_id);
    expect(thread.values.log).toEqual(["first first", "second first", "first again"]);
    expect(thread.status).toBe("interrupted");
    gates.open("cancel-keeps");
    const end = await runs.wait(thread_id, "gated", { input: null });
    expect(end).toMatchObject({ log: [...thread.values.log, "second again"] });
    expect((await threads.get(thread_id)).status).toBe("idle");
  });

  test("state_updated_at moves with the values and not with the metadata", async () => {
    const { threads, runs } = server.client;
    const created = await threads.create();
    const at = async (): Promise<{ updated_at: string; state_updated_at: string }> =>
      (await threads.get(created.thread_id)) as Thread & { state_updated_at: string };
    const before = await at();
    await threads.update(created.thread_id, { metadata: { a: 1 } });
    const patched = await at();
    expect(patched.updated_at > before.updated_at).toBe(true);
    expect(patched.state_updated_at).toBe(before.state_updated_at);
    await runs.wait(created.thread_id, "echo", { input: say("hi") });
    expect((await at()).state_updated_at > patched.state_updated_at).toBe(true);
  });
});

describe("update", () => {
  test("merges metadata one level deep", async () => {
    const { threads } = server.client;
    const { thread_id } = await threads.create({ metadata: { a: 1, deep: { x: 1 } } });
    const updated = await threads.update(thread_id, { metadata: { b: 2, deep: { y: 2 } } });
    expect((updated as Thread).metadata).toEqual({ a: 1, b: 2, deep: { y: 2 } });
    expect((await threads.get(thread_id)).metadata).toEqual({ a: 1, b: 2, deep: { y: 2 } });
  });

  test("Prefer: return=minimal answers without a body", async () => {
    const { threads } = server.client;
    const { thread_id } = await threads.create();
    expect(await threads.update(thread_id, { metadata: { a: 1 }, returnMinimal: true })).toBeUndefined();
    expect((await threads.get(thread_id)).metadata).toEqual({ a: 1 });
    const raw = await call(server.url, "PATCH", `/threads/${thread_id}`, {
      headers: { prefer: "return=minimal" },
      body: { metadata: { b: 2 } },
    });
    expect([raw.status, raw.text]).toEqual([204, ""]);
  });

  test("§8.6: Prefer is read as HTTP has it", async () => {
    const { thread_id } = await server.client.threads.create();
    const patch = async (prefer: string): Promise<number> =>
      (await call(server.url, "PATCH", `/threads/${thread_id}`, { headers: { prefer }, body: {} })).status;
    expect(await patch("Return=Minimal")).toBe(204);
    expect(await patch("respond-async, return=minimal; x=y")).toBe(204);
    expect(await patch("return=representation")).toBe(200);
    expect(await patch("noreturn=minimal")).toBe(200);
    const { headers } = await call(server.url, "PATCH", `/threads/${thread_id}`, {
      headers: { prefer: "return=minimal" },
      body: {},
    });
    expect(headers["preference-applied"]).toBe("return=minimal");
  });

  test("a missing thread is 404", async () => {
    const { threads } = server.client;
    await expect(threads.update(crypto.randomUUID(), { metadata: {} })).rejects.toMatchObject({ status: 404 });
    await expect(threads.get(crypto.randomUUID())).rejects.toMatchObject({ status: 404 });
  });
});

describe("delete", () => {
  test("takes the thread with its runs, states and history", async () => {
    const { threads, runs } = server.client;
    const { thread_id } = await threads.create({ graphId: "echo" });
    const run = await runs.create(thread_id, "echo", { input: say("hi") });
    await runs.join(thread_id, run.run_id);
    expect(await threads.delete(thread_id)).toBeUndefined();
    for (const gone of [
      () => threads.get(thread_id),
      () => threads.getState(thread_id),
      () => threads.getHistory(thread_id),
      () => runs.list(thread_id),
      () => runs.get(thread_id, run.run_id),
      () => runs.join(thread_id, run.run_id),
      () => threads.delete(thread_id),
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other, to name the one that fails
      await expect(gone(), gone.toString()).rejects.toMatchObject({ status: 404 });
    }
    // Nothing of it comes back under the same id.
    const again = await threads.create({ threadId: thread_id, graphId: "echo" });
    expect(again.values).toBeNull();
    expect(await runs.list(thread_id)).toEqual([]);
    expect(await threads.getHistory(thread_id)).toEqual([]);
  });
});

describe("search", () => {
  test("filters by metadata, status, ids and values", async () => {
    const { threads, runs } = server.client;
    const of = mark();
    const make = (metadata: Record<string, unknown>): Promise<Thread> =>
      threads.create({ metadata: { of, ...metadata } });
    const plain = await make({ team: { name: "red", size: 3 }, tags: ["a", "b"] });
    const waiting = await make({ team: { name: "blue", size: 3 } });
    const broken = await make({});
    await runs.wait(waiting.thread_id, "approval", { input: { topic: "tea" } });
    await runs.wait(broken.thread_id, "failing", { input: { how: "plain" }, raiseError: false });
    const search = async (query: Parameters<typeof threads.search>[0]): Promise<string[]> =>
      idsOf(await threads.search({ ...query, metadata: { of, ...query?.metadata } }));

    expect(await search({})).toEqual(idsOf([broken, waiting, plain]));
    expect(await search({ metadata: { team: { name: "red" } } })).toEqual([plain.thread_id]);
    expect(await search({ metadata: { team: { size: 3 } } })).toEqual(idsOf([waiting, plain]));
    expect(await search({ metadata: { tags: ["b"] } })).toEqual([plain.thread_id]);
    expect(await search({ metadata: { tags: ["c"] } })).toEqual([]);
    expect(await search({ status: "idle" })).toEqual([plain.thread_id]);
    expect(await search({ status: "interrupted" })).toEqual([waiting.thread_id]);
    expect(await search({ status: "error" })).toEqual([broken.thread_id]);
    expect(await search({ status: "busy" })).toEqual([]);
    expect(await search({ ids: [plain.thread_id, broken.thread_id] })).toEqual(idsOf([broken, plain]));
    expect(await search({ values: { topic: "tea" } })).toEqual([waiting.thread_id]);
    // A thread without values matches no filter on values.
    expect(await search({ values: { topic: "coffee" } })).toEqual([]);
    expect(await threads.count({ metadata: { of } })).toBe(3);
    expect(await threads.count({ metadata: { of }, status: "error" })).toBe(1);
    expect(await threads.count({ metadata: { of }, values: { topic: "tea" } })).toBe(1);
    expect(await threads.count({ metadata: { of: "nothing" } })).toBe(0);
  });

  test("sorts by every field, both ways", async () => {
    const { threads } = server.client;
    const of = mark();
    const made: Thread[] = [];
    // oxlint-disable-next-line no-await-in-loop -- in this order
    for (let i = 0; i < 3; i++) made.push(await threads.create({ metadata: { of } }));
    const [first, second, third] = idsOf(made) as [string, string, string];
    await threads.update(first, { metadata: { touched: true } });
    const search = async (sortBy: "created_at" | "updated_at" | "thread_id" | "status", sortOrder: "asc" | "desc") =>
      idsOf(await threads.search({ metadata: { of }, sortBy, sortOrder }));
    expect(await search("created_at", "asc")).toEqual([first, second, third]);
    expect(await search("created_at", "desc")).toEqual([third, second, first]);
    expect(await search("updated_at", "asc")).toEqual([second, third, first]);
    expect(await search("updated_at", "desc")).toEqual([first, third, second]);
    expect(await search("thread_id", "asc")).toEqual([first, second, third].toSorted());
    expect((await search("status", "asc")).toSorted()).toEqual([first, second, third].toSorted());
    // Last updated first, when nothing is said.
    expect(idsOf(await threads.search({ metadata: { of } }))).toEqual([first, third, second]);
    const bySate = await call(server.url, "POST", "/threads/search", {
      body: { metadata: { of }, sort_by: "state_updated_at", sort_order: "asc" },
    });
    expect(idsOf(bySate.json as Thread[])).toEqual([first, second, third]);
  });

  test("selects fields", async () => {
    const { threads, runs } = server.client;
    const of = mark();
    const { thread_id } = await threads.create({ metadata: { of } });
    await runs.wait(thread_id, "counter", { input: {} });
    expect(await threads.search({ metadata: { of }, select: ["thread_id", "status"] })).toEqual([
      { thread_id, status: "idle" },
    ]);
    expect(await threads.search({ metadata: { of }, select: ["values"] })).toEqual([
      { values: { total: 111, trail: ["one", "ten", "hundred"] } },
    ]);
    const bad = await call(server.url, "POST", "/threads/search", { body: { select: ["secrets"] } });
    expect(bad.status).toBe(422);
  });

  test("§8.13: pages, and says how many there are and where the next page begins", async () => {
    const { threads } = server.client;
    const of = mark();
    // oxlint-disable-next-line no-await-in-loop -- in this order
    for (let i = 0; i < 5; i++) await threads.create({ metadata: { of, i } });
    const page = async (limit: number, offset: number) => {
      const answer = await call(server.url, "POST", "/threads/search", { body: { metadata: { of }, limit, offset } });
      const { "x-pagination-total": total, "x-pagination-next": next } = answer.headers;
      return { found: (answer.json as { metadata: { i: number } }[]).map(({ metadata }) => metadata.i), total, next };
    };
    expect(await page(2, 0)).toEqual({ found: [4, 3], total: "5", next: "2" });
    expect(await page(2, 2)).toEqual({ found: [2, 1], total: "5", next: "4" });
    expect(await page(2, 4)).toEqual({ found: [0], total: "5", next: undefined });
    expect(await page(5, 0)).toEqual({ found: [4, 3, 2, 1, 0], total: "5", next: undefined });
    expect(await page(2, 9)).toEqual({ found: [], total: "5", next: undefined });
    // The page over all threads, which needs no filter, follows the same rules.
    const all = await threads.count({});
    const last = await call(server.url, "POST", "/threads/search", { body: { limit: 1, offset: all - 1 } });
    expect(last.headers["x-pagination-total"]).toBe(String(all));
    expect(last.headers["x-pagination-next"]).toBeUndefined();
    expect(last.json).toHaveLength(1);
    const notLast = await call(server.url, "POST", "/threads/search", { body: { limit: 1, offset: all - 2 } });
    expect(notLast.headers["x-pagination-next"]).toBe(String(all - 1));
  });
});

describe("supersteps", () => {
  test("bring a state along, and its history", async () => {
    const { threads, runs } = server.client;
    const { thread_id } = await threads.create({
      graphId: "counter",
      supersteps: [
        { updates: [{ values: { total: 5, trail: ["imported"] }, asNode: "__start__" }] },
        { updates: [{ values: { total: 1, trail: ["one"] }, asNode: "one" }] },
      ],
    });
    const state = await threads.getState<{ total: number; trail: string[] }>(thread_id);
    expect(state.values).toEqual({ total: 6, trail: ["imported", "one"] });
    expect(state.next).toEqual(["ten"]);
    expect((await threads.get(thread_id)).values).toEqual({ total: 6, trail: ["imported", "one"] });
    const history = await threads.getHistory<{ total: number }>(thread_id);
    expect(history.map(({ values }) => values.total)).toEqual([6, 5]);
    // It goes on from there.
    expect(await runs.wait(thread_id, "counter", { input: null })).toEqual({
      total: 116,
      trail: ["imported", "one", "ten", "hundred"],
    });
  });

  test("that cannot be applied leave no thread behind", async () => {
    const { threads } = server.client;
    const threadId = crypto.randomUUID();
    const supersteps = [{ updates: [{ values: { total: 1 }, asNode: "nobody" }] }];
    await expect(threads.create({ threadId, graphId: "counter", supersteps })).rejects.toMatchObject({ status: 422 });
    await expect(threads.get(threadId)).rejects.toMatchObject({ status: 404 });
    await expect(threads.create({ threadId, supersteps })).rejects.toMatchObject({ status: 400 });
    await expect(threads.get(threadId)).rejects.toMatchObject({ status: 404 });
  });

  test("of a graph that is not here are refused as such", async () => {
    const { threads } = server.client;
    const threadId = crypto.randomUUID();
    const supersteps = [{ updates: [{ values: { total: 1 }, asNode: "one" }] }];
    await expect(threads.create({ threadId, graphId: "missing", supersteps })).rejects.toMatchObject({ status: 404 });
    await expect(threads.get(threadId)).rejects.toMatchObject({ status: 404 });
  });
});

test("everything is there again after a restart", async () => {
  const dataDir = temporaryFolder();
  try {
    const first = await startTestServer({ dataDir });
    const before = clientOf(first.url);
    const thread = await before.threads.create({ metadata: { owner: "ada" } });
    await before.runs.wait(thread.thread_id, "approval", { input: { topic: "tea" } });
    const run = (await before.runs.list(thread.thread_id))[0]!;
    await before.store.putItem(["users", "ada"], "fact", { text: "likes tea" });
    const read = async (client: typeof before) => ({
      thread: await client.threads.get(thread.thread_id),
      state: await client.threads.getState(thread.thread_id),
      history: await client.threads.getHistory(thread.thread_id),
      runs: await client.runs.list(thread.thread_id),
      join: await client.runs.join(thread.thread_id, run.run_id),
      search: await client.threads.search({ metadata: { owner: "ada" } }),
      item: await client.store.getItem(["users", "ada"], "fact"),
      assistant: await client.assistants.get("approval"),
    });
    const stored = await read(before);
    await first.stop();
    const second = await startTestServer({ dataDir });
    const after = clientOf(second.url);
    expect(await read(after)).toEqual(stored);
    const resumed = await after.runs.wait(thread.thread_id, "approval", { command: { resume: "yes" } });
    expect(resumed).toMatchObject({ log: ["planned tea", 'answer "yes"', "did tea"] });
    await second.stop();
    expect(complaints([...first.events, ...second.events])).toEqual([]);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
