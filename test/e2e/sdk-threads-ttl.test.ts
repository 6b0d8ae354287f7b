// Threads with a time to live, through the official client, on a clock that the tests own.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Client, Run, Thread } from "@langchain/langgraph-sdk";
import { afterAll, describe, expect, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import { useGates } from "./support/gates.ts";
import { call } from "./support/http.ts";
import { clientOf, complaints, PROJECT, startTestServer, temporaryFolder, useServer } from "./support/server.ts";

/** Ahead of the machine's, because time never goes backwards. All servers of this file share it. */
const clock = new TestClock(Date.now() + 86_400_000);
const MINUTE = 60_000;
const minutes = (count: number): Promise<void> => clock.advance(count * MINUTE);

const server = useServer({ clock });
const gates = useGates();

type Mortal = Thread & { ttl?: { strategy: string; ttl_minutes: number; expires_at: string } | null };

const isThere = async (threadId: string, client: Client = server.client): Promise<boolean> => {
  try {
    await client.threads.get(threadId);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ status: 404 });
    return false;
  }
};
const ttlOf = async (threadId: string, client: Client = server.client) =>
  ((await client.threads.get(threadId, { include: ["ttl"] })) as Mortal).ttl;
/** The type of the client knows one strategy only. */
const keepLatest = (ttl: number) => ({ ttl, strategy: "keep_latest" as "delete" });

describe("setting", () => {
  test("§8.5, §8.6: ttl is heeded on create and shown with include=ttl only", async () => {
    const { threads } = server.client;
    const plain = await threads.create();
    const short = await threads.create({ ttl: 5 });
    const long = await threads.create({ ttl: { ttl: 90.5, strategy: "delete" } });
    const kept = await threads.create({ ttl: keepLatest(5) });
    for (const thread of [short, await threads.get(short.thread_id)]) expect(thread).not.toHaveProperty("ttl");
    expect(await ttlOf(plain.thread_id)).toBeNull();
    const after = (thread: Thread, count: number): string =>
      `${new Date(Date.parse(thread.updated_at) + count * MINUTE).toISOString().slice(0, -1)}000+00:00`;
    expect(await ttlOf(short.thread_id)).toEqual({
      strategy: "delete",
      ttl_minutes: 5,
      expires_at: after(short, 5),
    });
    expect(await ttlOf(long.thread_id)).toMatchObject({ ttl_minutes: 90.5, expires_at: after(long, 90.5) });
    expect(await ttlOf(kept.thread_id)).toMatchObject({ strategy: "keep_latest", ttl_minutes: 5 });
    // A search shows none.
    const [found] = await threads.search({ ids: [short.thread_id] });
    expect(found).not.toHaveProperty("ttl");
  });

  test("an update sets it, and another one leaves it", async () => {
    const { threads } = server.client;
    const { thread_id } = await threads.create();
    await threads.update(thread_id, { ttl: 7 });
    expect(await ttlOf(thread_id)).toMatchObject({ strategy: "delete", ttl_minutes: 7 });
    await threads.update(thread_id, { metadata: { a: 1 } });
    expect(await ttlOf(thread_id)).toMatchObject({ ttl_minutes: 7 });
    await call(server.url, "PATCH", `/threads/${thread_id}`, { body: { ttl: null } });
    expect(await ttlOf(thread_id)).toMatchObject({ ttl_minutes: 7 });
    await threads.update(thread_id, { ttl: keepLatest(9) });
    expect(await ttlOf(thread_id)).toMatchObject({ strategy: "keep_latest", ttl_minutes: 9 });
  });

  test("with if_exists: do_nothing an existing thread keeps what it has", async () => {
    const { threads } = server.client;
    const { thread_id } = await threads.create({ ttl: 7 });
    await threads.create({ threadId: thread_id, ifExists: "do_nothing", ttl: 1 });
    expect(await ttlOf(thread_id)).toMatchObject({ ttl_minutes: 7 });
  });

  test.for([
    { ttl: 0 },
    { ttl: -1 },
    { ttl: "5" },
    { ttl: true },
    { ttl: [] },
    { ttl: {} },
    { ttl: { strategy: "delete" } },
    { ttl: { ttl: 0 } },
    { ttl: { ttl: "5" } },
    { ttl: { ttl: 5, strategy: "archive" } },
    { ttl: { ttl: 1e12 } },
  ])("%j is refused", async (body) => {
    const { thread_id } = await server.client.threads.create();
    for (const [method, path] of [
      ["POST", "/threads"],
      ["PATCH", `/threads/${thread_id}`],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { status, json } = await call(server.url, method, path, { body });
      expect([method, status]).toEqual([method, 422]);
      expect((json as { detail: string }).detail).toMatch(/^ttl(?:\.ttl)?: /);
    }
  });

  test("include takes a list, and nothing but ttl", async () => {
    const { thread_id } = await server.client.threads.create({ ttl: 5 });
    const get = (query: string) => call(server.url, "GET", `/threads/${thread_id}${query}`);
    for (const query of ["?include=ttl", "?include=ttl,ttl", "?include=%20ttl%20,", "?include=ttl&include=ttl"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await get(query)).json, query).toMatchObject({ thread_id, ttl: { ttl_minutes: 5 } });
    }
    expect((await get("?include=")).json).not.toHaveProperty("ttl");
    for (const query of ["?include=state", "?include=ttl,state", "?include=TTL"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await get(query)).status, query).toBe(422);
    }
  });
});

describe("expiry", () => {
  test("takes the thread with its runs and states, and no other thread", async () => {
    const { threads, runs } = server.client;
    const other = await threads.create();
    const { thread_id } = await threads.create({ ttl: 10 });
    await runs.wait(thread_id, "counter", { input: {} });
    const [run] = await runs.list(thread_id);
    await minutes(9);
    expect(await isThere(thread_id)).toBe(true);
    await minutes(2);
    for (const gone of [
      () => threads.get(thread_id),
      () => threads.getState(thread_id),
      () => runs.list(thread_id),
      () => runs.get(thread_id, run!.run_id),
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other, to name the one that fails
      await expect(gone(), gone.toString()).rejects.toMatchObject({ status: 404 });
    }
    expect(await isThere(other.thread_id)).toBe(true);
    // Nothing of it comes back under the same id.
    const again = await threads.create({ threadId: thread_id, graphId: "counter" });
    expect(again.values).toBeNull();
    expect(await threads.getHistory(thread_id)).toEqual([]);
    expect(await ttlOf(thread_id)).toBeNull();
  });

  test("counts from the last activity", async () => {
    const { threads, runs } = server.client;
    const { thread_id } = await threads.create({ ttl: 10, graphId: "counter" });
    for (const act of [
      () => threads.update(thread_id, { metadata: { a: 1 } }),
      () => runs.wait(thread_id, "counter", { input: {} }),
      () => threads.updateState(thread_id, { values: { total: 1 } }),
      () => threads.patchState(thread_id, { mark: 1 }),
    ]) {
      // oxlint-disable no-await-in-loop -- one after the other
      await minutes(9);
      await act();
      const { expires_at } = (await ttlOf(thread_id))!;
      expect(Math.round((Date.parse(expires_at) - clock.now()) / MINUTE), act.toString()).toBe(10);
      // oxlint-enable no-await-in-loop
    }
    // Reading is none.
    await minutes(9);
    expect(await isThere(thread_id)).toBe(true);
    await threads.getState(thread_id);
    await minutes(2);
    expect(await isThere(thread_id)).toBe(false);
  });

  test("a shorter time counts at once", async () => {
    const { threads } = server.client;
    const { thread_id } = await threads.create({ ttl: 1000 });
    await threads.update(thread_id, { ttl: 3 });
    await minutes(4);
    expect(await isThere(thread_id)).toBe(false);
  });

  test("a longer time counts as well", async () => {
    const { threads } = server.client;
    const { thread_id } = await threads.create({ ttl: 3 });
    await threads.update(thread_id, { ttl: 30 });
    await minutes(29);
    expect(await isThere(thread_id)).toBe(true);
    await minutes(2);
    expect(await isThere(thread_id)).toBe(false);
  });

  test("a busy thread has all its time when its run has ended", async () => {
    const { threads, runs } = server.client;
    const { thread_id } = await threads.create({ ttl: 10 });
    const run = await runs.create(thread_id, "gated", { input: { name: "busy", gate: gates.url("ttl-busy") } });
    await gates.entered("ttl-busy");
    await minutes(25);
    expect((await threads.get(thread_id)).status).toBe("busy");
    gates.open("ttl-busy");
    expect(await runs.join(thread_id, run.run_id)).toMatchObject({ log: ["first busy", "second busy"] });
    await minutes(9);
    expect(await isThere(thread_id)).toBe(true);
    await minutes(2);
    expect(await isThere(thread_id)).toBe(false);
  });

  test("many threads in one sweep", async () => {
    const { threads } = server.client;
    const of = crypto.randomUUID();
    await Promise.all(Array.from({ length: 70 }, () => threads.create({ metadata: { of }, ttl: 2 })));
    await minutes(1);
    expect(await threads.count({ metadata: { of } })).toBe(70);
    await minutes(2);
    // More than one slice: others have had a turn in between, as this test has now.
    for (let i = 0; i < 10; i++) await new Promise((turn) => setImmediate(turn)); // oxlint-disable-line no-await-in-loop
    expect(await threads.count({ metadata: { of } })).toBe(0);
  });
});

describe("keep_latest", () => {
  test("leaves the thread with its state, and takes the history", async () => {
    const { threads, runs } = server.client;
    const { thread_id } = await threads.create({ ttl: keepLatest(10) });
    await runs.wait(thread_id, "approval", { input: { topic: "tea" } });
    const thread = await threads.get(thread_id);
    const { parent_checkpoint: _, ...state } = await threads.getState(thread_id);
    expect(await threads.getHistory(thread_id)).toHaveLength(3);
    const later = await threads.create();
    await minutes(11);
    expect(await threads.getHistory(thread_id)).toHaveLength(1);
    expect(await threads.getState(thread_id)).toEqual({ ...state, parent_checkpoint: null });
    // It is no activity.
    expect(await threads.get(thread_id)).toEqual(thread);
    const [newest] = await threads.search({ limit: 1 });
    expect(newest!.thread_id).toBe(later.thread_id);
    expect(await runs.list(thread_id)).toHaveLength(1);
    // What it waited for is answered still.
    const end = await runs.wait(thread_id, "approval", { command: { resume: "yes" } });
    expect(end).toMatchObject({ log: ["planned tea", 'answer "yes"', "did tea"] });
  });

  test("once per activity", async () => {
    const { threads, runs } = server.client;
    const { thread_id } = await threads.create({ ttl: keepLatest(10) });
    await runs.wait(thread_id, "counter", { input: {} });
    await minutes(11);
    const [only] = await threads.getHistory(thread_id);
    const before = await ttlOf(thread_id);
    await minutes(1000);
    expect(await threads.getHistory(thread_id)).toEqual([only]);
    expect(await ttlOf(thread_id)).toEqual(before);
    await runs.wait(thread_id, "counter", { input: {} });
    expect(await threads.getHistory(thread_id)).toHaveLength(6);
    await minutes(9);
    expect(await threads.getHistory(thread_id)).toHaveLength(6);
    await minutes(2);
    expect(await threads.getHistory(thread_id)).toHaveLength(1);
    expect((await threads.getState<{ total: number }>(thread_id)).values.total).toBe(222);
  });
});

describe("over a restart", () => {
  const dataDir = temporaryFolder();
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  test("what expired meanwhile goes at the start, the rest at its time", async () => {
    const first = await startTestServer({ dataDir, clock });
    const { threads, runs } = clientOf(first.url);
    const create = async (ttl?: number): Promise<string> =>
      (await threads.create(ttl === undefined ? {} : { ttl })).thread_id;
    const [forever, soon, later] = [await create(), await create(10), await create(100)];
    const kept = (await threads.create({ ttl: keepLatest(10) })).thread_id;
    for (const id of [forever, soon, later, kept]) await runs.wait(id, "counter", { input: {} }); // oxlint-disable-line no-await-in-loop
    await first.stop();
    await minutes(50);

    const second = await startTestServer({ dataDir, clock });
    const client = clientOf(second.url);
    await clock.advance(0);
    const there = await Promise.all([forever, soon, later, kept].map((id) => isThere(id, client)));
    expect(there).toEqual([true, false, true, true]);
    expect(await client.threads.getHistory(kept)).toHaveLength(1);
    expect(await client.threads.getHistory(later)).toHaveLength(5);
    await minutes(51);
    expect(await isThere(later, client)).toBe(false);
    await second.stop();

    // It remembers what it has done.
    const third = await startTestServer({ dataDir, clock });
    const again = clientOf(third.url);
    await minutes(1000);
    expect(await isThere(forever, again)).toBe(true);
    expect(await again.threads.getHistory(kept)).toHaveLength(1);
    await third.stop();
    expect(complaints([...first.events, ...second.events, ...third.events])).toEqual([]);
  });
});

describe("checkpointer.ttl of the config", () => {
  const config = join(PROJECT, "langgraph.threads.json");

  test("is for threads that are made afterwards, by whatever way, and not for those that say otherwise", async () => {
    const dataDir = temporaryFolder();
    const first = await startTestServer({ dataDir, clock });
    const before = (await clientOf(first.url).threads.create()).thread_id;
    await first.stop();

    const second = await startTestServer({ dataDir, clock, config });
    const client = clientOf(second.url);
    const { threads, runs } = client;
    const made = (await threads.create()).thread_id;
    const own = (await threads.create({ ttl: 7 })).thread_id;
    const byRun = crypto.randomUUID();
    await runs.wait(byRun, "counter", { input: {}, ifNotExists: "create" });
    const copied = (await threads.copy(before)).thread_id;
    const copyOfOwn = (await threads.copy(own)).thread_id;
    await runs.wait(before, "counter", { input: {} });
    const body = { assistant_id: "counter", input: {}, on_completion: "keep" };
    const stateless = (await call(second.url, "POST", "/runs", { body })).json as Run;
    await runs.join(stateless.thread_id, stateless.run_id);
    const byDefault = { strategy: "keep_latest", ttl_minutes: 30 };
    const ttls = await Promise.all(
      [before, made, own, byRun, copied, copyOfOwn, stateless.thread_id].map((id) => ttlOf(id, client)),
    );
    expect(ttls).toMatchObject([
      null,
      byDefault,
      { strategy: "delete", ttl_minutes: 7 },
      byDefault,
      byDefault,
      { strategy: "delete", ttl_minutes: 7 },
      byDefault,
    ]);
    await second.stop();

    // Without the config, threads keep what they were made with.
    const third = await startTestServer({ dataDir, clock });
    expect(await ttlOf(byRun, clientOf(third.url))).toMatchObject(byDefault);
    expect(await ttlOf((await clientOf(third.url).threads.create()).thread_id, clientOf(third.url))).toBeNull();
    await third.stop();
    expect(complaints([...first.events, ...second.events, ...third.events])).toEqual([]);
    rmSync(dataDir, { recursive: true, force: true });
  });

  test("sweeps at its intervals, and so many threads at most", async () => {
    const own = await startTestServer({ clock, config });
    const { threads } = clientOf(own.url);
    const create = async (ttl: number): Promise<string> => (await threads.create({ ttl })).thread_id;
    const first = await create(5);
    await minutes(6);
    // The first sweep; the next one is ten minutes later at the earliest.
    await expect(threads.get(first)).rejects.toMatchObject({ status: 404 });
    for (let i = 0; i < 5; i++) await create(1); // oxlint-disable-line no-await-in-loop -- in this order
    const counts: number[] = [];
    for (let i = 0; i < 4; i++) {
      counts.push(await threads.count()); // oxlint-disable-line no-await-in-loop -- in this order
      await minutes(10); // oxlint-disable-line no-await-in-loop -- in this order
    }
    expect(counts).toEqual([5, 3, 1, 0]);
    await own.stop();
    expect(complaints(own.events)).toEqual([]);
  });
});
