// What went wrong with runs that left nothing but their names: a thread that named the graph and the assistant of a run that was taken back or
// never began was shown by the wrong graph, and was deleted with the wrong assistant.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@langchain/langgraph-sdk";
import { describe, expect, onTestFinished, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { call } from "./support/http.ts";
import { clientOf, startTestServer, temporaryFolder, useServer } from "./support/server.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "regression-project");
const server = useServer({ cwd: PROJECT });
const gates = useGates();

const LATER = { afterSeconds: 1000 };
const metadataOf = async ({ threads }: Client, threadId: string) => (await threads.get(threadId)).metadata;

/** A thread that waits at an interrupt of `asking`. */
async function waiting({ threads, runs }: Client): Promise<string> {
  const { thread_id } = await threads.create({ metadata: { mine: 1 } });
  await runs.wait(thread_id, "asking", { input: {} });
  return thread_id;
}

describe("a run that leaves nothing", () => {
  test.each<[string, (client: Client, threadId: string, runId: string) => Promise<unknown>]>([
    ["rolled back while it waits", ({ runs }, thread, run) => runs.cancel(thread, run, true, "rollback")],
    ["cancelled while it waits", ({ runs }, thread, run) => runs.cancel(thread, run, true)],
    ["deleted while it waits", ({ runs }, thread, run) => runs.delete(thread, run)],
    ["taken back in favour of another", ({ runs }, thread) => takenBack(runs, thread, "rollback")],
    ["cancelled in favour of another", ({ runs }, thread) => takenBack(runs, thread, "interrupt")],
  ])("leaves its thread as it was: %s", async (_how, stop) => {
    const { client } = server;
    const threadId = await waiting(client);
    const [before, state] = [await metadataOf(client, threadId), await client.threads.getState(threadId)];
    expect(before).toMatchObject({ mine: 1, graph_id: "asking" });
    const { run_id } = await client.runs.create(threadId, "steps", { input: {}, ...LATER });
    expect(await metadataOf(client, threadId)).toMatchObject({ graph_id: "steps" });
    await stop(client, threadId, run_id);
    expect(await metadataOf(client, threadId)).toEqual(before);
    expect((await client.threads.get(threadId)).status).toBe("interrupted");
    expect(await client.threads.getState(threadId)).toEqual(state);
  });

  /** A new run takes the place of those that wait, and is deleted itself. */
  async function takenBack(runs: Client["runs"], threadId: string, strategy: "rollback" | "interrupt") {
    const input = { input: {}, multitaskStrategy: strategy, ...LATER };
    const { run_id } = await runs.create(threadId, "large", input);
    await runs.delete(threadId, run_id);
  }

  test("leaves its thread as it was when it had begun, and when that had no graph or another one", async () => {
    const { runs, threads } = server.client;
    for (const graphId of ["", "asking"]) {
      const { thread_id } = await threads.create(graphId === "" ? {} : { graphId });
      const gate = `begun ${graphId}`;
      const run = await runs.create(thread_id, "steps", { input: { gate: gates.url(gate), at: "two" } });
      await gates.entered(gate);
      await runs.cancel(thread_id, run.run_id, true, "rollback");
      gates.open(gate);
      expect(await metadataOf(server.client, thread_id)).toEqual(graphId === "" ? {} : { graph_id: graphId });
    }
  });

  test("does not take its thread with it when its assistant is deleted", async () => {
    const { runs, threads, assistants } = server.client;
    const [mine, other] = [
      await assistants.create({ graphId: "steps" }),
      await assistants.create({ graphId: "steps" }),
    ];
    const threadId = await waiting(server.client);
    const begun = await threads.create();
    await runs.wait(begun.thread_id, other.assistant_id, { input: {} });
    const { run_id } = await runs.create(threadId, mine.assistant_id, { input: {}, ...LATER });
    await runs.cancel(threadId, run_id, true, "rollback");
    // Not stopped before: the deletion does it.
    await runs.create(begun.thread_id, mine.assistant_id, { input: {}, ...LATER });
    await assistants.delete(mine.assistant_id, { deleteThreads: true });
    expect(await metadataOf(server.client, threadId)).toMatchObject({ graph_id: "asking" });
    expect(await metadataOf(server.client, begun.thread_id)).toMatchObject({ assistant_id: other.assistant_id });
    await assistants.delete(other.assistant_id, { deleteThreads: true });
    expect((await call(server.url, "GET", `/threads/${begun.thread_id}`)).status).toBe(404);
  });
});

describe("several runs on a thread", () => {
  const graphsOf = async (client: Client, threadId: string) => (await metadataOf(client, threadId))?.["graph_id"];

  /** Runs of three graphs that wait, in this order. */
  const queued = async ({ runs }: Client, threadId: string): Promise<string[]> => {
    const ids: string[] = [];
    for (const graph of ["steps", "large", "plain"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      ids.push((await runs.create(threadId, graph, { input: {}, ...LATER })).run_id);
    }
    return ids;
  };

  test.each([
    [
      [0, 1, 2],
      ["plain", "plain", "asking"],
    ],
    [
      [0, 2, 1],
      ["plain", "large", "asking"],
    ],
    [
      [1, 2, 0],
      ["plain", "steps", "asking"],
    ],
    [
      [2, 1, 0],
      ["large", "steps", "asking"],
    ],
  ])("it names the newest that is left, in whatever order they go: %j", async (order, expected) => {
    const { client } = server;
    const threadId = await waiting(client);
    const ids = await queued(client, threadId);
    const named: unknown[] = [];
    for (const [i, at] of order.entries()) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await client.runs.cancel(threadId, ids[at]!, true, i % 2 === 0 ? "rollback" : "interrupt");
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      named.push(await graphsOf(client, threadId));
    }
    expect(named).toEqual(expected);
  });

  test("what one has left is not forgotten with those that waited behind or before it", async () => {
    const { client } = server;
    const { runs } = client;
    const threadId = await waiting(client);
    const { run_id: early } = await runs.create(threadId, "large", { input: {}, ...LATER });
    const { run_id: same } = await runs.create(threadId, "steps", { input: {}, ...LATER });
    const { run_id: begun } = await runs.create(threadId, "steps", { input: { gate: gates.url("left"), at: "two" } });
    const { run_id: late } = await runs.create(threadId, "plain", { input: {}, ...LATER });
    await gates.entered("left");
    gates.open("left");
    await runs.join(threadId, begun);
    expect(await graphsOf(client, threadId)).toBe("plain");
    for (const runId of [early, late, same]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await runs.cancel(threadId, runId, true, "rollback");
    }
    expect(await graphsOf(client, threadId)).toBe("steps");
  });

  test("it is all known when the server was started anew", async () => {
    const dataDir = temporaryFolder();
    const up = async () => {
      const started = await startTestServer({ cwd: PROJECT, dataDir });
      onTestFinished(async () => void (await started.stop()));
      return { started, client: clientOf(started.url) };
    };
    const first = await up();
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const threadId = await waiting(first.client);
    const ids = await queued(first.client, threadId);
    await first.client.runs.cancel(threadId, ids[0]!, true, "rollback");
    await first.started.stop();
    const { client } = await up();
    await client.runs.cancel(threadId, ids[2]!, true, "rollback");
    expect(await graphsOf(client, threadId)).toBe("large");
    await client.runs.cancel(threadId, ids[1]!, true, "rollback");
    expect(await graphsOf(client, threadId)).toBe("asking");
  });
});

test("what a caller has set meanwhile stays", async () => {
  const { runs, threads } = server.client;
  const { thread_id } = await threads.create({ graphId: "large" });
  const { run_id } = await runs.create(thread_id, "steps", { input: {}, ...LATER });
  await threads.update(thread_id, { metadata: { graph_id: "plain", mine: 2 } });
  await runs.cancel(thread_id, run_id, true, "rollback");
  expect(await metadataOf(server.client, thread_id)).toMatchObject({ graph_id: "plain", mine: 2 });
});
