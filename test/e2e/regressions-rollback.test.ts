// What went wrong with runs that were taken back: runs that waited for them, what they left in storage, and who followed their threads.
import { join } from "node:path";
import type { Client } from "@langchain/langgraph-sdk";
import { describe, expect, test } from "vitest";
import { openStorage } from "../../src/storage/open.ts";
import { useGates } from "./support/gates.ts";
import { call, frames } from "./support/http.ts";
import { clientOf, place, useServer } from "./support/server.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "regression-project");
const server = useServer({ cwd: PROJECT });
const gates = useGates();
/** The type of the client knows another word. */
const KEPT = { onCompletion: "keep" as "complete" };

/** What LangGraph keeps of all threads in a folder that no server uses: keys and values. */
async function stored(dataDir: string): Promise<(readonly [key: string, value: string])[]> {
  const { database, storage, claim } = await openStorage(dataDir, {
    host: "127.0.0.1",
    onMovedAside: () => undefined,
    onError: () => undefined,
  });
  const entries = [...database.range({ start: "k/", end: "k0" })];
  await storage.dispose();
  claim?.release();
  return entries;
}

test("a run that waits to begin at a checkpoint fails when that is taken back, and the thread stays as it is", async () => {
  const { runs, threads } = server.client;
  const { thread_id } = await threads.create({ graphId: "steps" });
  await runs.wait(thread_id, "steps", { input: {} });
  const before = await threads.getHistory(thread_id);
  const taken = await runs.create(thread_id, "steps", { input: { gate: gates.url("taken"), at: "two" } });
  await gates.entered("taken");
  const { checkpoint } = await threads.getState(thread_id);
  const request = { input: { at: "" }, checkpointId: checkpoint.checkpoint_id! };
  const waiting = await runs.create(thread_id, "steps", request);
  const last = await runs.create(thread_id, "steps", { input: {} });
  await runs.cancel(thread_id, taken.run_id, true, "rollback");
  gates.open("taken");
  expect(await runs.join(thread_id, waiting.run_id)).toEqual({
    __error__: {
      error: "CheckpointNotFoundError",
      message: expect.stringContaining(checkpoint.checkpoint_id!),
    },
  });
  expect((await runs.get(thread_id, waiting.run_id)).status).toBe("error");
  // The run behind it finds the thread as it was.
  expect(await runs.join(thread_id, last.run_id)).toMatchObject({ log: { length: 6 } });
  expect((await threads.getHistory(thread_id, { limit: 100 })).slice(-before.length)).toEqual(before);
  expect((await threads.get(thread_id)).status).toBe("idle");
});

describe("a run that is rolled back", () => {
  /** Runs that leave large values and are taken back in their middle. @returns what was stored of the thread at the first gate. */
  const takeBack = async (client: Client, threadId: string, gate: string): Promise<void> => {
    const { runs } = client;
    const input = { gate: gates.url(gate), messages: [{ role: "user", content: "z".repeat(2000) }] };
    const run = await runs.create(threadId, "large", { input, metadata: { only: gate } });
    await gates.entered(gate);
    await runs.cancel(threadId, run.run_id, true, "rollback");
    gates.open(gate);
  };

  test.each([true, false])("leaves nothing in storage (on a thread with a state: %s)", async (withState) => {
    const { dataDir, up } = place(PROJECT);
    const [first, threadId] = [await up(), crypto.randomUUID()];
    const { threads, runs } = clientOf(first.url);
    await threads.create({ threadId, graphId: "large" });
    if (withState) await runs.wait(threadId, "large", { input: {} });
    await first.stop();
    const before = await stored(dataDir);
    expect(before.length > 0).toBe(withState);

    const second = await up();
    for (const gate of ["a", "b"]) await takeBack(clientOf(second.url), threadId, `left ${withState} ${gate}`);
    await second.stop();
    expect(await stored(dataDir)).toEqual(before);
  });

  test("leaves nothing when the server was started anew in its middle", async () => {
    const { dataDir, up } = place(PROJECT);
    const [first, threadId] = [await up(), crypto.randomUUID()];
    let client = clientOf(first.url);
    await client.threads.create({ threadId, graphId: "large" });
    await client.runs.wait(threadId, "large", { input: {} });
    await first.stop();
    const before = await stored(dataDir);

    const second = await up();
    client = clientOf(second.url);
    const input = { gate: gates.url("anew"), messages: [{ role: "user", content: "z".repeat(2000) }] };
    const { run_id } = await client.runs.create(threadId, "large", { input, metadata: { only: "anew" } });
    await gates.entered("anew");
    await second.stop();
    expect((await stored(dataDir)).length).toBeGreaterThan(before.length);

    const third = await up();
    client = clientOf(third.url);
    await gates.entered("anew", 2);
    await client.runs.cancel(threadId, run_id, true, "rollback");
    await third.stop();
    expect(await stored(dataDir)).toEqual(before);
  });

  test("leaves the fork of an earlier state as it was, and those that share values with it", async () => {
    const { runs, threads } = server.client;
    const { thread_id } = await threads.create({ graphId: "large" });
    for (let i = 0; i < 3; i++) await runs.wait(thread_id, "large", { input: {} });
    const before = await threads.getHistory(thread_id, { limit: 100 });
    const middle = before.find(
      ({ next, values }) => next.length === 0 && (values as unknown as State).messages.length === 2,
    )!;
    const run = await runs.create(thread_id, "large", {
      input: { gate: gates.url("fork") },
      checkpointId: middle.checkpoint.checkpoint_id!,
    });
    await gates.entered("fork");
    await runs.cancel(thread_id, run.run_id, true, "rollback");
    gates.open("fork");
    expect(await threads.getHistory(thread_id, { limit: 100 })).toEqual(before);
    expect(await runs.wait(thread_id, "large", { input: {} })).toMatchObject({ messages: { length: 4 } });
  });
});

interface State {
  readonly messages: unknown[];
}

test("the stream of a run that was taken back is gone with it", async () => {
  const { runs, threads } = server.client;
  const { thread_id } = await threads.create();
  const body = { assistant_id: "steps", input: { gate: gates.url("secret"), at: "two" }, stream_mode: "values" };
  const stream = await frames(server.url, "POST", `/threads/${thread_id}/runs/stream`, { body });
  const path = String(stream.headers["content-location"]);
  await gates.entered("secret");
  await runs.cancel(thread_id, path.split("/").at(-1)!, true, "rollback");
  gates.open("secret");
  // Who reads it to its end does.
  expect((await stream.all()).length).toBeGreaterThan(1);
  for (const part of ["", "/join", "/stream"]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect((await call(server.url, "GET", `${path}${part}`)).status).toBe(404);
  }
});

test("runs with input leave no records of what was before them, where their messages are kept as changes", async () => {
  const { dataDir, up } = place(PROJECT);
  const first = await up();
  const { threads, runs } = clientOf(first.url);
  const { thread_id } = await threads.create();
  for (let i = 0; i < 3; i++) {
    const input = { messages: [{ role: "user", content: `${i}` }] };
    await runs.wait(thread_id, "delta", { input, durability: "exit" });
  }
  await first.stop();
  const undo = (await stored(dataDir)).filter(([key]) => key.split("/")[2] === "u");
  expect(undo).toEqual([]);
});

describe("the thread of a run without one", () => {
  /** Those who follow a thread: its stream, and its protocol v2 events. */
  const follow = async (threadId: string) => {
    const body = { channels: ["lifecycle"] };
    const feed = await frames(server.url, "GET", `/threads/${threadId}/stream`);
    const events = await frames(server.url, "POST", `/threads/${threadId}/stream/events`, { body });
    return { feed: feed.all(), events: events.all() };
  };

  test("is not followed any more when the run is rolled back", async () => {
    const { runs } = server.client;
    const run = await runs.create(null, "steps", {
      input: { gate: gates.url("followed"), at: "two" },
      ...KEPT,
    });
    await gates.entered("followed");
    const { feed, events } = await follow(run.thread_id);
    await runs.cancel(run.thread_id, run.run_id, true, "rollback");
    gates.open("followed");
    expect((await feed).at(-1)).toMatchObject({ event: "run_done", data: { rolled_back: true } });
    expect((await events).at(-1)).toMatchObject({ event: "lifecycle" });
    expect((await call(server.url, "GET", `/threads/${run.thread_id}`)).status).toBe(404);
  });

  test("is not followed any more when the run has ended and goes", async () => {
    const run = await server.client.runs.create(null, "steps", { input: { gate: gates.url("gone"), at: "two" } });
    await gates.entered("gone");
    const { feed, events } = await follow(run.thread_id);
    gates.open("gone");
    expect((await feed).at(-1)).toMatchObject({ event: "run_done", data: { status: "success" } });
    expect((await events).at(-1)).toMatchObject({ event: "lifecycle" });
    expect((await call(server.url, "GET", `/threads/${run.thread_id}`)).status).toBe(404);
  });
});
