// Pruning threads, and what they take of the storage, through the official client.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@langchain/langgraph-sdk";
import { describe, expect, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { call } from "./support/http.ts";
import { clientOf, complaints, PROJECT, startTestServer, temporaryFolder, useServer } from "./support/server.ts";

const server = useServer();
const changes = useServer({ cwd: join(import.meta.dirname, "..", "fixtures", "regression-project") });
const lasting = useServer({ config: join(PROJECT, "langgraph.threads.json") });
const gates = useGates();

interface Storage {
  readonly thread_id: string;
  readonly total_bytes: number;
  readonly checkpoints: { readonly count: number; readonly bytes: number };
  readonly channel_values: {
    readonly count: number;
    readonly bytes: number;
    readonly by_channel: Record<string, { readonly versions: number; readonly bytes: number }>;
  };
  readonly pending_writes: { readonly count: number; readonly bytes: number };
}

const say = (text: string) => ({ messages: [{ role: "user", content: text }] });
const newThread = async (client: Client = server.client): Promise<string> => (await client.threads.create()).thread_id;
/** Prunes one thread to its latest checkpoint; its state is the same afterwards. */
async function keepLatest(threadId: string, client: Client = server.client): Promise<void> {
  const { threads } = client;
  const thread = await threads.get(threadId);
  const { parent_checkpoint: _, ...state } = await threads.getState(threadId);
  expect(await threads.prune([threadId], { strategy: "keep_latest" })).toEqual({ pruned_count: 1 });
  expect(await threads.get(threadId)).toEqual(thread);
  const { parent_checkpoint, ...after } = await threads.getState(threadId);
  expect(after).toEqual(state);
  const [newest, ...older] = await threads.getHistory(threadId, { limit: 1000 });
  expect(newest).toMatchObject({ checkpoint: state.checkpoint, parent_checkpoint });
  // Nothing points to what is gone.
  expect((older.at(-1) ?? newest)!.parent_checkpoint).toBeNull();
}
const storageOf = async (threadId: string): Promise<Storage> =>
  (await call(server.url, "GET", `/threads/${threadId}/storage`)).json as Storage;

describe("§8.3: prune, delete", () => {
  test("takes threads with all that is theirs, and counts them", async () => {
    const { threads, runs } = server.client;
    const [one, two, other] = [await newThread(), await newThread(), await newThread()];
    await runs.wait(one, "counter", { input: {} });
    const [run] = await runs.list(one);
    const ids = [one, crypto.randomUUID(), two, one.toUpperCase()];
    expect(await threads.prune(ids)).toEqual({ pruned_count: 2 });
    for (const gone of [() => threads.get(one), () => threads.get(two), () => runs.get(one, run!.run_id)]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(gone()).rejects.toMatchObject({ status: 404 });
    }
    expect((await threads.get(other)).thread_id).toBe(other);
    expect(await threads.prune([one], { strategy: "delete" })).toEqual({ pruned_count: 0 });
    expect(await threads.prune([])).toEqual({ pruned_count: 0 });
  });

  test("stops what runs, as DELETE does", async () => {
    const { threads, runs } = server.client;
    const threadId = await newThread();
    const run = await runs.create(threadId, "gated", { input: { name: "x", gate: gates.url("prune-busy") } });
    await gates.entered("prune-busy");
    expect(await threads.prune([threadId])).toEqual({ pruned_count: 1 });
    await expect(runs.get(threadId, run.run_id)).rejects.toMatchObject({ status: 404 });
    gates.open("prune-busy");
  });

  test.for([
    {},
    { thread_ids: null },
    { thread_ids: "x" },
    { thread_ids: ["nonsense"] },
    { thread_ids: [], strategy: "archive" },
  ])("%j is refused", async (body) => {
    expect((await call(server.url, "POST", "/threads/prune", { body })).status).toBe(422);
  });
});

describe("§8.3: prune, keep_latest", () => {
  test("leaves the latest checkpoint, from which everything goes on", async () => {
    const { threads, runs } = server.client;
    const threadId = await newThread();
    await runs.wait(threadId, "counter", { input: {} });
    await runs.wait(threadId, "counter", { input: {} });
    expect(await threads.getHistory(threadId, { limit: 100 })).toHaveLength(10);
    await keepLatest(threadId);
    expect(await threads.getHistory(threadId)).toHaveLength(1);
    expect(await runs.list(threadId)).toHaveLength(2);
    expect(await runs.wait(threadId, "counter", { input: {} })).toMatchObject({ total: 333 });
    expect(await threads.getHistory(threadId)).toHaveLength(6);
    await threads.updateState(threadId, { values: { total: 1 } });
    expect((await threads.getState<{ total: number }>(threadId)).values.total).toBe(334);
    // Again, and again without anything to do.
    await keepLatest(threadId);
    await keepLatest(threadId);
    expect(await threads.getHistory(threadId)).toHaveLength(1);
  });

  test("keeps a long conversation, and what waits", async () => {
    const { runs, threads } = server.client;
    const long = (i: number): string => `${i} ${"x".repeat(300)}`;
    const conversation = await newThread();
    for (let i = 0; i < 5; i++) await runs.wait(conversation, "echo", { input: say(long(i)) }); // oxlint-disable-line no-await-in-loop
    // Some of what is stored is in no state any more.
    const { values } = await threads.getState<{ messages: { id: string }[] }>(conversation);
    await threads.updateState(conversation, {
      values: { messages: [{ role: "user", content: "shorter", id: values.messages[4]!.id }] },
    });
    const before = (await storageOf(conversation)).channel_values.by_channel["messages"]!.bytes;
    await keepLatest(conversation);
    expect((await storageOf(conversation)).channel_values.by_channel["messages"]!.bytes).toBeLessThan(before - 300);
    const after = (await runs.wait(conversation, "echo", { input: say("more") })) as unknown as typeof values;
    expect(after.messages).toHaveLength(12);
    expect(after.messages[4]).toMatchObject({ content: "shorter" });

    const asking = await newThread();
    await runs.wait(asking, "approval", { input: { topic: "tea" } });
    await keepLatest(asking);
    const answered = await runs.wait(asking, "approval", { command: { resume: "yes" } });
    expect(answered).toMatchObject({ log: ["planned tea", 'answer "yes"', "did tea"] });

    const inside = await newThread();
    await runs.wait(inside, "subgraph", { input: { ask: true } });
    const { tasks } = await threads.getState(inside, undefined, { subgraphs: true });
    await keepLatest(inside);
    const [task] = (await threads.getState(inside, undefined, { subgraphs: true })).tasks;
    expect(task!.state!.values).toEqual(tasks[0]!.state!.values);
    expect(task!.interrupts).toEqual(tasks[0]!.interrupts);
    expect(await runs.wait(inside, "subgraph", { command: { resume: "fine" } })).toMatchObject({
      log: expect.arrayContaining(["work: words from inside", "check: fine", "after"]),
    });

    const pair = await newThread();
    await runs.wait(pair, "pair", { input: { topic: "tea" } });
    const waiting = Object.values((await threads.get(pair)).interrupts).flat();
    const [left, right] = ["left?", "right?"].map(
      (value) => waiting.find((interrupt) => interrupt.value === value)!.id!,
    );
    await runs.wait(pair, "pair", { command: { resume: { [left!]: "yes" } } });
    await keepLatest(pair);
    expect(await runs.wait(pair, "pair", { command: { resume: { [right!]: "no" } } })).toMatchObject({
      log: ['left "yes"', 'right "no"', "joined 2"],
    });
  });

  test("keeps messages that are stored as changes", async () => {
    const { runs, threads } = changes.client;
    const threadId = await newThread(changes.client);
    await runs.wait(threadId, "delta", { input: say("a") });
    await runs.wait(threadId, "delta", { input: say("b") });
    await keepLatest(threadId, changes.client);
    const end = (await runs.wait(threadId, "delta", { input: say("c") })) as unknown as { messages: object[] };
    const contents = ["a", "answer 1", "b", "answer 3", "c", "answer 5"];
    expect(end.messages).toMatchObject(contents.map((content) => ({ content })));
    const copy = await threads.copy(threadId);
    expect(copy.values).toEqual((await threads.get(threadId)).values);
    expect((await threads.getState(copy.thread_id)).values).toEqual(copy.values);
  });

  test("keeps what a subgraph remembers from run to run", async () => {
    const { runs } = lasting.client;
    const threadId = await newThread(lasting.client);
    const turn = async (text: string) => runs.wait(threadId, "lasting", { input: { turn: text } });
    await turn("one");
    expect(await turn("two")).toMatchObject({ told: "one two" });
    await keepLatest(threadId, lasting.client);
    expect(await turn("three")).toMatchObject({ told: "one two three" });
  });

  test("leaves out threads that are busy or unknown", async () => {
    const { threads, runs } = server.client;
    const [busy, idle, empty] = [await newThread(), await newThread(), await newThread()];
    await runs.wait(idle, "counter", { input: {} });
    const run = await runs.create(busy, "gated", { input: { name: "x", gate: gates.url("keep-busy") } });
    await gates.entered("keep-busy");
    const history = await threads.getHistory(busy);
    expect(history.length).toBeGreaterThan(1);
    const ids = [busy, crypto.randomUUID(), idle, empty];
    expect(await threads.prune(ids, { strategy: "keep_latest" })).toEqual({ pruned_count: 2 });
    expect(await threads.getHistory(busy)).toEqual(history);
    expect(await threads.getHistory(idle)).toHaveLength(1);
    expect(await threads.getState(empty)).toMatchObject({ values: {}, checkpoint: null });
    gates.open("keep-busy");
    expect(await runs.join(busy, run.run_id)).toMatchObject({ log: ["first x", "second x"] });
  });

  test("holds over a restart", async () => {
    const dataDir = temporaryFolder();
    const first = await startTestServer({ dataDir });
    const before = clientOf(first.url);
    const threadId = await newThread(before);
    for (const text of ["one", "two"]) await before.runs.wait(threadId, "echo", { input: say(text.repeat(200)) }); // oxlint-disable-line no-await-in-loop
    await keepLatest(threadId, before);
    const state = await before.threads.getState(threadId);
    await first.stop();
    const second = await startTestServer({ dataDir });
    const after = clientOf(second.url);
    expect(await after.threads.getState(threadId)).toEqual(state);
    expect(await after.threads.getHistory(threadId)).toEqual([state]);
    expect(await after.runs.wait(threadId, "echo", { input: say("three") })).toMatchObject({ messages: { length: 6 } });
    await second.stop();
    expect(complaints([...first.events, ...second.events])).toEqual([]);
    rmSync(dataDir, { recursive: true, force: true });
  });
});

describe("§8.3: storage", () => {
  test("of a thread that never ran is nothing", async () => {
    const threadId = await newThread();
    expect(await storageOf(threadId)).toEqual({
      thread_id: threadId,
      total_bytes: 0,
      checkpoints: { count: 0, bytes: 0 },
      channel_values: { count: 0, bytes: 0, by_channel: {} },
      pending_writes: { count: 0, bytes: 0 },
    });
  });

  test("adds up, and says which channel takes most", async () => {
    const { runs, threads } = server.client;
    const threadId = await newThread();
    const text = "x".repeat(10_000);
    await runs.wait(threadId, "echo", { input: say(text) });
    const sizes = await storageOf(threadId);
    expect(sizes.checkpoints.count).toBe((await threads.getHistory(threadId)).length);
    expect(sizes.total_bytes).toBe(sizes.checkpoints.bytes + sizes.channel_values.bytes + sizes.pending_writes.bytes);
    const channels = Object.entries(sizes.channel_values.by_channel);
    const sum = (of: (size: { versions: number; bytes: number }) => number): number =>
      channels.reduce((total, [, size]) => total + of(size), 0);
    expect(sizes.channel_values.bytes).toBe(sum(({ bytes }) => bytes));
    expect(sizes.channel_values.count).toBe(sum(({ versions }) => versions));
    expect(channels[0]![0]).toBe("messages");
    // The message, and the answer that repeats it, once each.
    const { versions, bytes } = sizes.channel_values.by_channel["messages"]!;
    expect(versions).toBe(2);
    expect(bytes).toBeGreaterThan(20_000);
    expect(bytes).toBeLessThan(22_000);
    expect(sizes.pending_writes.count).toBeGreaterThan(0);
  });

  test("grows with what is stored, and shrinks when it is pruned", async () => {
    const { runs, threads } = server.client;
    const threadId = await newThread();
    const total = async (): Promise<number> => (await storageOf(threadId)).total_bytes;
    await runs.wait(threadId, "echo", { input: say("ä".repeat(1000)) });
    const first = await total();
    // Characters of two bytes.
    expect(first).toBeGreaterThan(4000);
    await runs.wait(threadId, "echo", { input: say("more") });
    const second = await total();
    expect(second).toBeGreaterThan(first);
    await threads.prune([threadId], { strategy: "keep_latest" });
    const { total_bytes, checkpoints, pending_writes } = await storageOf(threadId);
    expect(total_bytes).toBeLessThan(second);
    expect(checkpoints.count).toBe(1);
    expect(pending_writes.count).toBe(0);
    // A copy takes as much.
    const { thread_id: copy } = await threads.copy(threadId);
    expect((await storageOf(copy)).total_bytes).toBe(total_bytes);
  });

  test("of a missing thread is 404", async () => {
    expect((await call(server.url, "GET", `/threads/${crypto.randomUUID()}/storage`)).status).toBe(404);
    expect((await call(server.url, "GET", "/threads/nonsense/storage")).status).toBe(422);
  });
});
