// Copies of threads through the official client.
import { rmSync } from "node:fs";
import type { Client, Thread } from "@langchain/langgraph-sdk";
import { describe, expect, test } from "vitest";
import { prefixRange } from "../../src/storage/database.ts";
import { keys } from "../../src/storage/keys.ts";
import { openStorage } from "../../src/storage/open.ts";
import { useGates } from "./support/gates.ts";
import { call } from "./support/http.ts";
import { clientOf, complaints, startTestServer, temporaryFolder, useServer } from "./support/server.ts";

const server = useServer();
const gates = useGates();

const say = (text: string) => ({ messages: [{ role: "user", content: text }] });
/** Everything that is shown of a thread's states. */
const shown = async (threadId: string, client: Client = server.client) => ({
  state: await client.threads.getState(threadId, undefined, { subgraphs: true }),
  history: await client.threads.getHistory(threadId, { limit: 1000 }),
});
/** The same as another thread would show it. */
const as = <T>(value: T, from: string, to: string): T => JSON.parse(JSON.stringify(value).replaceAll(from, to)) as T;

/** Copies a thread, and expects the copy to show what the original does. */
async function copied(threadId: string, client: Client = server.client): Promise<Thread> {
  const before = await shown(threadId, client);
  const copy = await client.threads.copy(threadId);
  expect(copy.thread_id).not.toBe(threadId);
  const after = await shown(copy.thread_id, client);
  expect(after).toEqual(as(before, threadId, copy.thread_id));
  expect(JSON.stringify(after)).not.toContain(threadId);
  expect(await shown(threadId, client)).toEqual(before);
  return copy;
}

describe("§8.23: a copy", () => {
  test("has the metadata, the config, the values, the status and the history", async () => {
    const { threads, runs } = server.client;
    const source = await threads.create({ metadata: { owner: "ada" } });
    await runs.wait(source.thread_id, "counter", { input: {} });
    await runs.wait(source.thread_id, "counter", { input: { total: 1000 }, metadata: { turn: "second" } });
    const original = await threads.get(source.thread_id);
    const copy = await copied(source.thread_id);
    const { thread_id, created_at, updated_at, ...rest } = original as Thread & { state_updated_at?: string };
    expect(await threads.get(copy.thread_id)).toEqual(copy);
    expect(copy).toEqual({
      ...rest,
      thread_id: expect.not.stringContaining(thread_id),
      created_at: expect.any(String),
      updated_at: expect.any(String),
      state_updated_at: expect.any(String),
    });
    expect(copy.created_at > updated_at && copy.created_at > created_at).toBe(true);
    // Runs stay with the original.
    expect(await runs.list(copy.thread_id)).toEqual([]);
    const [found] = await threads.search({ limit: 1 });
    expect(found).toEqual(copy);
  });

  test("goes its own way", async () => {
    const { threads, runs } = server.client;
    const { thread_id: source } = await threads.create();
    await runs.wait(source, "echo", { input: say("x".repeat(500)) });
    await runs.wait(source, "echo", { input: say("two") });
    const { thread_id: copy } = await copied(source);
    await runs.wait(copy, "echo", { input: say("of the copy") });
    await runs.wait(source, "echo", { input: say("of the original") });
    const contents = async (threadId: string): Promise<unknown[]> =>
      (await threads.getState<{ messages: { content: unknown }[] }>(threadId)).values.messages.map(
        ({ content }) => content,
      );
    const both = ["x".repeat(500), `echo: ${"x".repeat(500)}`, "two", "echo: two"];
    expect(await contents(copy)).toEqual([...both, "of the copy", "echo: of the copy"]);
    expect(await contents(source)).toEqual([...both, "of the original", "echo: of the original"]);
    // And back in its own history.
    const { checkpoint } = (await threads.getHistory(copy, { limit: 100 })).find(
      ({ metadata }) => metadata?.["step"] === 1,
    )!;
    expect(checkpoint.thread_id).toBe(copy);
    const forked = await runs.wait(copy, "echo", { input: say("fork"), checkpoint });
    expect((forked as unknown as { messages: unknown[] }).messages).toHaveLength(4);
    await threads.delete(source);
    expect(await contents(copy)).toHaveLength(4);
  });

  test("waits where the original waits, and is answered by itself", async () => {
    const { threads, runs } = server.client;
    const { thread_id: source } = await threads.create();
    await runs.wait(source, "approval", { input: { topic: "tea" } });
    const copy = await copied(source);
    const original = await threads.get(source);
    expect([copy.status, copy.interrupts]).toEqual(["interrupted", original.interrupts]);
    expect(Object.values(copy.interrupts)).toMatchObject([[{ value: { question: "Do tea?" } }]]);
    const answer = (threadId: string, resume: string) => runs.wait(threadId, "approval", { command: { resume } });
    expect(await answer(copy.thread_id, "yes")).toMatchObject({ log: ["planned tea", 'answer "yes"', "did tea"] });
    expect((await threads.get(source)).status).toBe("interrupted");
    expect(await answer(source, "no")).toMatchObject({ log: ["planned tea", 'answer "no"', "did tea"] });
  });

  test("waits at a breakpoint as well", async () => {
    const { threads, runs } = server.client;
    const { thread_id: source } = await threads.create();
    await runs.wait(source, "counter", { input: {}, interruptBefore: ["hundred"] });
    const copy = await copied(source);
    expect([copy.status, copy.interrupts]).toEqual(["interrupted", {}]);
    expect(await runs.wait(copy.thread_id, "counter", { input: null })).toMatchObject({ total: 111 });
  });

  test("shows what one of two questions was answered with", async () => {
    const { threads, runs } = server.client;
    const { thread_id: source } = await threads.create();
    await runs.wait(source, "pair", { input: { topic: "tea" } });
    const left = Object.values((await threads.get(source)).interrupts)
      .flat()
      .find(({ value }) => value === "left?");
    await runs.wait(source, "pair", { command: { resume: { [left!.id!]: "yes" } } });
    const copy = await copied(source);
    const original = await threads.get(source);
    expect([copy.values, copy.interrupts]).toEqual([original.values, original.interrupts]);
    const [right] = Object.values(copy.interrupts).flat();
    expect(right!.value).toBe("right?");
    const end = await runs.wait(copy.thread_id, "pair", { command: { resume: { [right!.id!]: "no" } } });
    expect(end).toMatchObject({ log: expect.arrayContaining(['left "yes"', 'right "no"', "joined 2"]) });
  });

  test("waits inside of a subgraph", async () => {
    const { threads, runs } = server.client;
    const { thread_id: source } = await threads.create();
    await runs.wait(source, "subgraph", { input: { ask: true } });
    const copy = await copied(source);
    const end = await runs.wait(copy.thread_id, "subgraph", { command: { resume: "fine" } });
    expect(end).toMatchObject({ log: expect.arrayContaining(["check: fine", "after"]) });
    expect((await threads.get(source)).status).toBe("interrupted");
  });

  test("of a thread that never ran is as empty", async () => {
    const { threads } = server.client;
    const { thread_id: source } = await threads.create({ metadata: { a: 1 } });
    const copy = await threads.copy(source);
    expect(copy).toMatchObject({ metadata: { a: 1 }, values: null, status: "idle", interrupts: {} });
    expect(await threads.getHistory(copy.thread_id)).toEqual([]);
  });

  test("of a thread whose run failed is not an error", async () => {
    const { threads, runs } = server.client;
    const { thread_id: source } = await threads.create();
    await runs.wait(source, "failing", { input: { how: "plain" }, raiseError: false });
    const original = await threads.get(source);
    expect([original.status, "error" in original]).toEqual(["error", true]);
    const copy = await copied(source);
    expect([copy.status, copy.values, "error" in copy]).toEqual(["idle", original.values, false]);
  });

  test("of a missing thread is 409", async () => {
    const { threads } = server.client;
    await expect(threads.copy(crypto.randomUUID())).rejects.toMatchObject({ status: 409 });
    const bad = await call(server.url, "POST", "/threads/nonsense/copy");
    expect(bad.status).toBe(422);
  });
});

describe("a copy of a busy thread", () => {
  test("has what is stored by now, is not busy, and goes on from there", async () => {
    const { threads, runs } = server.client;
    const { thread_id: source } = await threads.create();
    const run = await runs.create(source, "gated", { input: { name: "busy", gate: gates.url("copy-busy") } });
    await gates.entered("copy-busy");
    const copy = await threads.copy(source);
    expect(copy).toMatchObject({ status: "interrupted", values: { log: ["first busy"] }, interrupts: {} });
    expect((await threads.getState(copy.thread_id)).next).toEqual(["second"]);
    expect((await threads.get(source)).status).toBe("busy");
    expect(await runs.list(copy.thread_id)).toEqual([]);
    gates.open("copy-busy");
    const log = ["first busy", "second busy"];
    expect(await runs.join(source, run.run_id)).toMatchObject({ log });
    expect((await threads.get(copy.thread_id)).values).toMatchObject({ log: ["first busy"] });
    expect(await runs.wait(copy.thread_id, "gated", { input: null })).toMatchObject({ log });
  });

  test("does not know of runs that have not begun", async () => {
    const { threads, runs } = server.client;
    const { thread_id: idle } = await threads.create();
    await runs.wait(idle, "counter", { input: {} });
    const { thread_id: waiting } = await threads.create();
    await runs.wait(waiting, "approval", { input: { topic: "tea" } });
    await Promise.all(
      [idle, waiting].map((source) => runs.create(source, "counter", { input: {}, afterSeconds: 1000 })),
    );
    expect((await threads.get(idle)).status).toBe("busy");
    expect(await threads.copy(idle)).toMatchObject({ status: "idle", values: { total: 111 } });
    expect(await threads.copy(waiting)).toMatchObject({
      status: "interrupted",
      interrupts: { [Object.keys((await threads.get(waiting)).interrupts)[0]!]: [{ value: { question: "Do tea?" } }] },
    });
    for (const threadId of [idle, waiting]) await threads.delete(threadId); // oxlint-disable-line no-await-in-loop
  });
});

test("a long history is copied whole, while the original goes on", async () => {
  const { threads, runs } = server.client;
  const { thread_id: source } = await threads.create();
  // More entries than are copied in one go.
  for (let i = 0; i < 80; i++) await runs.wait(source, "counter", { input: { trail: [`turn ${i}`] } }); // oxlint-disable-line no-await-in-loop
  const before = await shown(source);
  expect(before.history).toHaveLength(400);
  const [copy] = await Promise.all([threads.copy(source), runs.wait(source, "counter", { input: {} })]);
  const after = await shown(copy.thread_id);
  // As much of the run as was stored when the copy was asked for.
  const more = after.history.length - 400;
  expect(more).toBeLessThanOrEqual(5);
  expect(after.history.slice(more)).toEqual(as(before.history, source, copy.thread_id));
  expect(after.state.checkpoint).toEqual(after.history[0]!.checkpoint);
  expect(after.state.values).toEqual((await threads.get(copy.thread_id)).values);
  await threads.delete(source);
  expect(await shown(copy.thread_id)).toEqual(after);
}, 60_000);

describe("over a restart", () => {
  test("a copy is there", async () => {
    const dataDir = temporaryFolder();
    const first = await startTestServer({ dataDir });
    const source = (await clientOf(first.url).threads.create()).thread_id;
    await clientOf(first.url).runs.wait(source, "echo", { input: say("x".repeat(1000)) });
    const copy = await copied(source, clientOf(first.url));
    const stored = await shown(copy.thread_id, clientOf(first.url));
    await first.stop();
    const second = await startTestServer({ dataDir });
    const client = clientOf(second.url);
    expect(await shown(copy.thread_id, client)).toEqual(stored);
    expect(await client.threads.get(copy.thread_id)).toEqual(copy);
    expect(await client.runs.wait(copy.thread_id, "echo", { input: say("more") })).toMatchObject({
      messages: { length: 4 },
    });
    await second.stop();
    expect(complaints([...first.events, ...second.events])).toEqual([]);
    rmSync(dataDir, { recursive: true, force: true });
  });

  test("half a copy is not", async () => {
    const dataDir = temporaryFolder();
    const first = await startTestServer({ dataDir });
    const source = (await clientOf(first.url).threads.create()).thread_id;
    await clientOf(first.url).runs.wait(source, "counter", { input: {} });
    await first.stop();
    // What a crash leaves in the middle of a copy: entries, and the mark that they are not whole.
    const half = crypto.randomUUID();
    const options = { host: "127.0.0.1", onMovedAside: () => undefined, onError: () => undefined };
    const { database, storage, claim } = await openStorage(dataDir, options);
    const prefix = keys.checkpointsOf(source);
    const entries = Array.from(database.range(prefixRange(prefix)), ([key, value]) => ({
      key: keys.checkpointsOf(half) + key.slice(prefix.length),
      value,
    }));
    expect(entries.length).toBeGreaterThan(5);
    database.write([...entries, { key: keys.copying(half), value: "" }]);
    await storage.dispose();
    claim?.release();
    const second = await startTestServer({ dataDir });
    const { threads } = clientOf(second.url);
    await expect(threads.get(half)).rejects.toMatchObject({ status: 404 });
    await threads.create({ threadId: half, graphId: "counter" });
    expect(await threads.getHistory(half)).toEqual([]);
    expect(await threads.getHistory(source)).toHaveLength(5);
    await second.stop();
    expect(complaints([...first.events, ...second.events])).toEqual([]);
    rmSync(dataDir, { recursive: true, force: true });
  });
});
