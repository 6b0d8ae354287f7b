// States of threads through the official client: reading, writing, the history, and going back in it.
import { MemorySaver } from "@langchain/langgraph";
import type { Checkpoint, Metadata, ThreadState } from "@langchain/langgraph-sdk";
import { describe, expect, test } from "vitest";
import { graph as counterBuilder } from "../fixtures/project/src/counter.ts";
import { useGates } from "./support/gates.ts";
import { call, collect } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer();
const gates = useGates();

interface Counter {
  readonly total: number;
  readonly trail: string[];
}

const newThread = async (): Promise<string> => (await server.client.threads.create()).thread_id;

/** A thread on which the counter ran once. */
async function counted(): Promise<string> {
  const threadId = await newThread();
  await server.client.runs.wait(threadId, "counter", { input: {} });
  return threadId;
}
/** The state that waits for this node. */
async function before(threadId: string, node: string): Promise<ThreadState<Counter>> {
  const history = await server.client.threads.getHistory<Counter>(threadId, { limit: 100 });
  return history.find(({ next }) => next[0] === node)!;
}

describe("reading", () => {
  test("a thread that never ran has an empty state", async () => {
    const { threads } = server.client;
    const threadId = await newThread();
    expect(await threads.getState(threadId)).toMatchObject({
      values: {},
      next: [],
      tasks: [],
      checkpoint: null,
      parent_checkpoint: null,
      created_at: null,
    });
    expect(await threads.getHistory(threadId)).toEqual([]);
    // Even when the graph is known.
    const known = await threads.create({ graphId: "counter" });
    expect(await threads.getState(known.thread_id)).toMatchObject({ values: {}, next: [], checkpoint: null });
  });

  test("the newest state has everything that is known of it", async () => {
    const threadId = await counted();
    const [run] = await server.client.runs.list(threadId);
    const state = await server.client.threads.getState<Counter>(threadId);
    expect(state).toEqual({
      values: { total: 111, trail: ["one", "ten", "hundred"] },
      next: [],
      tasks: [],
      interrupts: [],
      metadata: expect.objectContaining({
        source: "loop",
        step: 3,
        parents: {},
        run_id: run!.run_id,
        thread_id: threadId,
        graph_id: "counter",
        assistant_id: run!.assistant_id,
        run_attempt: 1,
      }),
      checkpoint: { thread_id: threadId, checkpoint_ns: "", checkpoint_id: expect.any(String) },
      parent_checkpoint: { thread_id: threadId, checkpoint_ns: "", checkpoint_id: expect.any(String) },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/),
    });
    const [newest, older] = await server.client.threads.getHistory(threadId);
    expect(newest).toEqual(state);
    expect(older!.checkpoint).toEqual(state.parent_checkpoint);
    expect((await server.client.threads.get(threadId)).values).toEqual(state.values);
  });

  test("a state is found by its checkpoint, in every spelling", async () => {
    const { threads } = server.client;
    const threadId = await counted();
    const wanted = await before(threadId, "hundred");
    expect(wanted.values).toEqual({ total: 11, trail: ["one", "ten"] });
    const id = wanted.checkpoint.checkpoint_id!;
    expect(await threads.getState(threadId, id)).toEqual(wanted);
    expect(await threads.getState(threadId, wanted.checkpoint)).toEqual(wanted);
    expect(await threads.getState(threadId, { checkpoint_id: id } as Checkpoint)).toEqual(wanted);
    expect(await threads.getState(threadId, wanted.checkpoint, { subgraphs: true })).toEqual(wanted);
    expect(wanted.tasks).toMatchObject([
      { name: "hundred", error: null, interrupts: [], checkpoint: null, state: null },
    ]);
    const alias = await call(server.url, "GET", `/thread/${threadId}/state/${id}?subgraphs=false`);
    expect(alias.json).toEqual(wanted);
  });

  test("a checkpoint that is not there is 404", async () => {
    const { threads } = server.client;
    const threadId = await counted();
    const missing = "1f0c0000-0000-6000-8000-000000000000";
    await expect(threads.getState(threadId, missing)).rejects.toMatchObject({ status: 404 });
    const checkpoint = { thread_id: threadId, checkpoint_ns: "", checkpoint_id: missing, checkpoint_map: null };
    await expect(threads.getState(threadId, checkpoint)).rejects.toMatchObject({ status: 404 });
    await expect(threads.getState(crypto.randomUUID())).rejects.toMatchObject({ status: 404 });
    // A checkpoint of another thread is not one of this.
    const { checkpoint: other } = await threads.getState(await counted());
    await expect(threads.getState(threadId, other.checkpoint_id!)).rejects.toMatchObject({ status: 404 });
  });

  test("a state shows the error of a task that failed", async () => {
    const threadId = await newThread();
    await server.client.runs.wait(threadId, "failing", { input: { how: "class" }, raiseError: false });
    const state = await server.client.threads.getState(threadId);
    expect(state.next).toEqual(["fail"]);
    expect(state.tasks).toHaveLength(1);
    expect(state.tasks[0]!.error).toContain("the card has expired");
    expect(state.values).toEqual({ how: "class", steps: 1 });
  });

  test("the history is what LangGraph itself would show", async () => {
    const own = counterBuilder.compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "oracle" } };
    await own.invoke({}, config);
    await own.invoke({ total: 1000 }, config);
    await own.updateState(config, { total: 5, trail: ["edited"] }, "ten");
    const expected = (await collect(own.getStateHistory(config))).map((state) => ({
      values: state.values as unknown,
      next: state.next,
      tasks: state.tasks.map(({ name, result }) => [name, result]),
      source: state.metadata!.source,
      step: state.metadata!.step,
    }));

    const { runs, threads } = server.client;
    const threadId = await newThread();
    await runs.wait(threadId, "counter", { input: {} });
    await runs.wait(threadId, "counter", { input: { total: 1000 } });
    await threads.updateState(threadId, { values: { total: 5, trail: ["edited"] }, asNode: "ten" });
    const history = await threads.getHistory<Counter>(threadId, { limit: 100 });
    const seen = history.map((state) => ({
      values: state.values as unknown,
      next: state.next,
      tasks: state.tasks.map(({ name, result }) => [name, result]),
      source: state.metadata!["source"],
      step: state.metadata!["step"],
    }));
    expect(seen).toEqual(expected);
  });
});

describe("history", () => {
  const steps = (states: readonly ThreadState[]): unknown[] => states.map(({ metadata }) => metadata!["step"]);

  test("newest first, ten unless told otherwise", async () => {
    const { threads, runs } = server.client;
    const threadId = await counted();
    for (let i = 0; i < 3; i++) {
      // oxlint-disable-next-line no-await-in-loop -- turn by turn
      await runs.wait(threadId, "counter", { input: {} });
    }
    expect(await threads.getHistory(threadId)).toHaveLength(10);
    expect(await threads.getHistory(threadId, { limit: 3 })).toHaveLength(3);
    const all = await threads.getHistory(threadId, { limit: 1000 });
    expect(all).toHaveLength(20);
    const times = all.map(({ created_at }) => created_at!);
    expect(times).toEqual(times.toSorted().toReversed());
    const get = await call(server.url, "GET", `/threads/${threadId}/history?limit=3`);
    expect(get.json).toEqual(all.slice(0, 3));
    const post = await call(server.url, "POST", `/threads/${threadId}/history`, { body: {} });
    expect(post.json).toEqual(all.slice(0, 10));
    // Every state but the first names the one behind it.
    for (const [i, state] of all.entries()) expect(state.parent_checkpoint).toEqual(all[i + 1]?.checkpoint ?? null);
  });

  test("before a checkpoint, in every spelling", async () => {
    const { threads } = server.client;
    const threadId = await counted();
    const all = await threads.getHistory(threadId);
    expect(steps(all)).toEqual([3, 2, 1, 0, -1]);
    const id = all[1]!.checkpoint.checkpoint_id!;
    const expected = all.slice(2);
    for (const spelling of [id, { checkpoint_id: id }, { configurable: { checkpoint_id: id } }, all[1]!.checkpoint]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await call(server.url, "POST", `/threads/${threadId}/history`, { body: { before: spelling } });
      expect(answer.json).toEqual(expected);
    }
    const get = await call(server.url, "GET", `/threads/${threadId}/history?before=${id}&limit=1`);
    expect(get.json).toEqual(expected.slice(0, 1));
    expect(await threads.getHistory(threadId, { before: { configurable: { checkpoint_id: id } }, limit: 1 })).toEqual(
      expected.slice(0, 1),
    );
  });

  test("by metadata", async () => {
    const { threads, runs } = server.client;
    const threadId = await counted();
    await runs.wait(threadId, "counter", { input: {}, metadata: { turn: "second" } });
    expect(steps(await threads.getHistory(threadId, { metadata: { source: "input" } }))).toEqual([4, -1]);
    expect(steps(await threads.getHistory(threadId, { metadata: { step: 2 } }))).toEqual([2]);
    expect(steps(await threads.getHistory(threadId, { metadata: { turn: "second" } }))).toEqual([8, 7, 6, 5, 4]);
    const [run] = await runs.list(threadId, { limit: 1 });
    expect(steps(await threads.getHistory(threadId, { metadata: { run_id: run!.run_id }, limit: 2 }))).toEqual([8, 7]);
    expect(await threads.getHistory(threadId, { metadata: { source: "nowhere" } })).toEqual([]);
  });
});

describe("history", () => {
  test("of a subgraph, by its namespace", async () => {
    const { threads, runs } = server.client;
    const threadId = await newThread();
    await runs.wait(threadId, "subgraph", { input: { ask: true } });
    const { tasks } = await threads.getState(threadId, undefined, { subgraphs: true });
    const { checkpoint } = tasks[0]!.state!;
    const history = await threads.getHistory(threadId, { checkpoint });
    expect(history.map(({ next }) => next)).toEqual([["check"], ["work"], ["__start__"]]);
    for (const state of history) expect(state.checkpoint.checkpoint_ns).toBe(checkpoint.checkpoint_ns);
    expect(history[0]!.checkpoint.checkpoint_id).toBe(checkpoint.checkpoint_id);
    const elsewhere = { ...checkpoint, checkpoint_ns: "nowhere" };
    expect(await threads.getHistory(threadId, { checkpoint: elsewhere })).toEqual([]);
  });

  test("by metadata inside of metadata", async () => {
    const { threads, runs } = server.client;
    const threadId = await newThread();
    await runs.wait(threadId, "counter", { input: {}, metadata: { labels: { team: "red", tags: ["a", "b"] } } });
    await runs.wait(threadId, "counter", { input: {}, metadata: { labels: { team: "blue" } } });
    const found = async (labels: object): Promise<number> =>
      (await threads.getHistory(threadId, { metadata: { labels } })).length;
    expect(await found({ team: "red" })).toBe(5);
    expect(await found({ tags: ["b"] })).toBe(5);
    expect(await found({})).toBe(10);
    expect(await found({ team: "green" })).toBe(0);
  });
});

describe("§8.3: metadata of a checkpoint", () => {
  test("is merged into that of the newest one", async () => {
    const { threads, runs } = server.client;
    const threadId = await counted();
    const first = await threads.getState<Counter>(threadId);
    expect(await threads.patchState(threadId, { rating: 5, notes: { a: 1 } })).toBeUndefined();
    await threads.patchState({ configurable: { thread_id: threadId } }, { notes: { b: 2 } });
    const patched = await threads.getState<Counter>(threadId);
    expect(patched).toEqual({ ...first, metadata: { ...first.metadata, rating: 5, notes: { b: 2 } } });
    const [newest, ...older] = await threads.getHistory<Counter>(threadId);
    expect(newest).toEqual(patched);
    for (const { metadata } of older) expect(metadata).not.toHaveProperty("rating");
    expect(await threads.getHistory(threadId, { metadata: { rating: 5 } })).toEqual([patched]);
    // It is that checkpoint's, and not the next one's.
    expect(await runs.wait(threadId, "counter", { input: {} })).toMatchObject({ total: 222 });
    expect((await threads.getState(threadId)).metadata).not.toHaveProperty("rating");
    expect(await threads.getState(threadId, first.checkpoint)).toEqual(patched);
  });

  test("what others set is left alone", async () => {
    const { threads, runs } = server.client;
    const threadId = await newThread();
    await runs.wait(threadId, "approval", { input: { topic: "tea" } });
    const first = await threads.getState(threadId);
    const mine = { source: "me", step: 99, parents: { x: 1 }, run_id: "r", run_attempt: 7, thread_id: "t" };
    await threads.patchState(threadId, { ...mine, own: 1 } as unknown as Metadata);
    expect(await threads.getState(threadId)).toEqual({ ...first, metadata: { ...first.metadata, own: 1 } });
    // What waits there is answered still.
    const end = await runs.wait(threadId, "approval", { command: { resume: "yes" } });
    expect(end).toMatchObject({ log: ["planned tea", 'answer "yes"', "did tea"] });
  });

  test("is an update of the thread, and not of its values", async () => {
    const { threads } = server.client;
    const threadId = await counted();
    const first = await threads.get(threadId);
    await threads.patchState(threadId, { rating: 5 });
    const after = await threads.get(threadId);
    expect(after).toEqual({ ...first, updated_at: after.updated_at });
    expect(after.updated_at > first.updated_at).toBe(true);
  });

  test("needs a thread with a checkpoint that is not busy", async () => {
    const { threads, runs } = server.client;
    await expect(threads.patchState(crypto.randomUUID(), { a: 1 })).rejects.toMatchObject({ status: 404 });
    await expect(threads.patchState(await newThread(), { a: 1 })).rejects.toMatchObject({ status: 404 });
    const threadId = await newThread();
    const run = await runs.create(threadId, "gated", { input: { name: "x", gate: gates.url("patch-busy") } });
    await gates.entered("patch-busy");
    await expect(threads.patchState(threadId, { a: 1 })).rejects.toMatchObject({ status: 409 });
    gates.open("patch-busy");
    await runs.join(threadId, run.run_id);
    for (const body of [{}, { metadata: null }, { metadata: [] }, { metadata: "x" }]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await call(server.url, "PATCH", `/threads/${threadId}/state`, { body })).status).toBe(422);
    }
  });
});

describe("updating", () => {
  test("adds a checkpoint as if a node had returned the values", async () => {
    const { threads, runs } = server.client;
    const threadId = await counted();
    const { checkpoint: from } = await threads.getState(threadId);
    const answer = await threads.updateState(threadId, { values: { total: 5, trail: ["edited"] }, asNode: "one" });
    expect(answer).toEqual({
      checkpoint: { thread_id: threadId, checkpoint_ns: "", checkpoint_id: expect.any(String) },
    });
    const state = await threads.getState<Counter>(threadId);
    expect(state.checkpoint).toEqual((answer as unknown as { checkpoint: Checkpoint }).checkpoint);
    expect(state.parent_checkpoint).toEqual(from);
    expect(state.values).toEqual({ total: 116, trail: ["one", "ten", "hundred", "edited"] });
    expect(state.next).toEqual(["ten"]);
    expect(state.metadata).toMatchObject({ source: "update", step: 4 });
    const thread = await threads.get<Counter>(threadId);
    expect(thread.values).toEqual(state.values);
    expect(thread.status).toBe("interrupted");
    // It goes on behind the node that was named.
    expect(await runs.wait(threadId, "counter", { input: null })).toMatchObject({ total: 226 });
    expect((await threads.get(threadId)).status).toBe("idle");
  });

  test("without a node it counts for the last one", async () => {
    const { threads } = server.client;
    const threadId = await counted();
    await threads.updateState(threadId, { values: { total: 1 } });
    const state = await threads.getState<Counter>(threadId);
    expect(state.values.total).toBe(112);
    expect(state.next).toEqual([]);
    expect((await threads.get(threadId)).status).toBe("idle");
  });

  test("with messages by role", async () => {
    const { threads, runs } = server.client;
    const threadId = await newThread();
    await runs.wait(threadId, "echo", { input: { messages: [{ role: "user", content: "hi" }] } });
    await threads.updateState(threadId, { values: { messages: [{ role: "assistant", content: "edited" }] } });
    const { values } = await threads.getState<{ messages: { type: string; content: string; id: string }[] }>(threadId);
    expect(values.messages.map(({ type, content }) => [type, content])).toEqual([
      ["human", "hi"],
      ["ai", "echo: hi"],
      ["ai", "edited"],
    ]);
    // A message of a known id takes the place of the old one.
    const [first] = values.messages;
    await threads.updateState(threadId, {
      values: { messages: [{ role: "user", content: "hello", id: first!.id }] },
      asNode: "__start__",
    });
    const changed = await threads.getState<typeof values>(threadId);
    expect(changed.values.messages.map(({ content }) => content)).toEqual(["hello", "echo: hi", "edited"]);
    expect(changed.next).toEqual(["echo"]);
  });

  test("at an earlier checkpoint makes a fork", async () => {
    const { threads, runs } = server.client;
    const threadId = await counted();
    const { checkpoint, values } = await before(threadId, "ten");
    expect(values.total).toBe(1);
    for (const spelling of [{ checkpoint }, { checkpointId: checkpoint.checkpoint_id! }]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { checkpoint: fork } = (await threads.updateState(threadId, {
        values: { total: 1000 },
        asNode: "one",
        ...spelling,
      })) as unknown as { checkpoint: Checkpoint };
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const state = await threads.getState<Counter>(threadId);
      expect(state.checkpoint).toEqual(fork);
      expect(state.parent_checkpoint).toEqual(checkpoint);
      expect(state.values).toEqual({ total: 1001, trail: ["one"] });
    }
    expect(await runs.wait(threadId, "counter", { input: null })).toEqual({
      total: 1111,
      trail: ["one", "ten", "hundred"],
    });
  });

  test("what cannot be done is refused, and changes nothing", async () => {
    const { threads } = server.client;
    const threadId = await counted();
    const unchanged = await threads.getState(threadId);
    await expect(threads.updateState(threadId, { values: {}, asNode: "nobody" })).rejects.toMatchObject({
      status: 422,
    });
    await expect(threads.updateState(crypto.randomUUID(), { values: {} })).rejects.toMatchObject({ status: 404 });
    const missing = { values: {}, checkpointId: "1f0c0000-0000-6000-8000-000000000000" };
    await expect(threads.updateState(threadId, missing)).rejects.toMatchObject({ status: 404 });
    expect(await threads.getState(threadId)).toEqual(unchanged);
    // A thread without a graph has nothing that could take the values.
    await expect(threads.updateState(await newThread(), { values: {} })).rejects.toMatchObject({ status: 400 });
  });

  test("§8.24: values that are null or a list are LangGraph's to judge", async () => {
    const { threads } = server.client;
    const threadId = await counted();
    const first = await threads.getState<Counter>(threadId);
    // No values: the same state in a checkpoint of its own.
    await threads.updateState(threadId, { values: null });
    const after = await threads.getState<Counter>(threadId);
    expect([after.values, after.next, after.parent_checkpoint]).toEqual([first.values, [], first.checkpoint]);
    expect(after.metadata).toMatchObject({ source: "update" });
    for (const values of [[], [{ total: 1 }], "text", 7]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { status, json } = await call(server.url, "POST", `/threads/${threadId}/state`, { body: { values } });
      expect([values, status]).toEqual([values, 422]);
      expect((json as { detail: string }).detail).toContain("return an object");
    }
    expect(await threads.getState(threadId)).toEqual(after);
  });

  test("in a namespace that is not there is 404", async () => {
    const { threads } = server.client;
    const threadId = await counted();
    const checkpoint = { thread_id: threadId, checkpoint_ns: "nowhere" } as Checkpoint;
    await expect(threads.updateState(threadId, { values: {}, checkpoint })).rejects.toMatchObject({ status: 404 });
  });

  test("a thread whose graph is gone cannot be changed, and that is no fault of the server", async () => {
    const { threads } = server.client;
    const { thread_id } = await threads.create({ graphId: "gone" });
    await expect(threads.updateState(thread_id, { values: {} })).rejects.toMatchObject({ status: 404 });
    // It can be read still.
    expect(await threads.getState(thread_id)).toMatchObject({ values: {}, next: [] });
  });

  test("a busy thread is 409", async () => {
    const { threads, runs } = server.client;
    const threadId = await newThread();
    const run = await runs.create(threadId, "gated", { input: { name: "busy", gate: gates.url("state-busy") } });
    await gates.entered("state-busy");
    await expect(threads.updateState(threadId, { values: { name: "x" } })).rejects.toMatchObject({ status: 409 });
    // Reading is always possible.
    const state = await threads.getState<{ log: string[] }>(threadId);
    expect(state.values.log).toEqual(["first busy"]);
    expect(state.next).toEqual(["second"]);
    gates.open("state-busy");
    await runs.join(threadId, run.run_id);
    await threads.updateState(threadId, { values: { log: ["after"] } });
    expect((await threads.getState<{ log: string[] }>(threadId)).values.log).toEqual([
      "first busy",
      "second busy",
      "after",
    ]);
  });

  test("many updates at once: none is lost", async () => {
    const { threads } = server.client;
    const threadId = await counted();
    await Promise.all(Array.from({ length: 10 }, () => threads.updateState(threadId, { values: { total: 1 } })));
    expect((await threads.getState<Counter>(threadId)).values.total).toBe(121);
    expect(await threads.getHistory(threadId, { metadata: { source: "update" }, limit: 100 })).toHaveLength(10);
  });

  test("removes what waits, or answers for it", async () => {
    const { threads, runs } = server.client;
    const threadId = await newThread();
    await runs.wait(threadId, "approval", { input: { topic: "tea" } });
    await threads.updateState(threadId, { values: { log: ["answered by hand"] }, asNode: "ask" });
    const thread = await threads.get(threadId);
    expect(thread.interrupts).toEqual({});
    expect((await threads.getState(threadId)).next).toEqual(["act"]);
    expect(await runs.wait(threadId, "approval", { input: null })).toMatchObject({
      log: ["planned tea", "answered by hand", "did tea"],
    });
  });

  test("ends a run early with __end__", async () => {
    const { threads, runs } = server.client;
    const threadId = await newThread();
    await runs.wait(threadId, "approval", { input: { topic: "tea" } });
    await threads.updateState(threadId, { values: null, asNode: "__end__" });
    expect((await threads.getState(threadId)).next).toEqual([]);
    const thread = await threads.get(threadId);
    expect([thread.status, thread.interrupts]).toEqual(["idle", {}]);
  });
});

describe("time travel", () => {
  test("a run from an earlier checkpoint does again what came behind it", async () => {
    const { threads, runs } = server.client;
    const threadId = await counted();
    const { checkpoint } = await before(threadId, "hundred");
    const length = (await threads.getHistory(threadId, { limit: 100 })).length;
    for (const spelling of [
      { checkpoint },
      { checkpointId: checkpoint.checkpoint_id! },
      { config: { configurable: { checkpoint_id: checkpoint.checkpoint_id! } } },
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const events = await collect(
        runs.stream(threadId, "counter", { input: null, streamMode: "updates", ...spelling }),
      );
      expect(events.slice(1).map(({ data }) => data)).toEqual([{ hundred: { total: 100, trail: ["hundred"] } }]);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const state = await threads.getState<Counter>(threadId);
      expect(state.values.total).toBe(111);
      expect((await threads.get<Counter>(threadId)).values.total).toBe(111);
    }
    // The old branch is there still.
    expect((await threads.getHistory(threadId, { limit: 100 })).length).toBeGreaterThan(length);
    expect(await threads.getState(threadId, checkpoint)).toMatchObject({ values: { total: 11 } });
  });

  test("new input at an earlier checkpoint begins another branch", async () => {
    const { threads, runs } = server.client;
    const threadId = await newThread();
    const say = (content: string) => ({ messages: [{ role: "user", content }] });
    await runs.wait(threadId, "echo", { input: say("one") });
    const { checkpoint } = await threads.getState(threadId);
    await runs.wait(threadId, "echo", { input: say("two") });
    const values = (await runs.wait(threadId, "echo", { input: say("three"), checkpoint })) as unknown as {
      messages: { content: string }[];
    };
    expect(values.messages.map(({ content }) => content)).toEqual(["one", "echo: one", "three", "echo: three"]);
    expect((await threads.get(threadId)).values).toEqual(values);
    expect((await threads.getState(threadId)).values).toEqual(values);
  });

  test("a question is asked again on another branch, and answered otherwise", async () => {
    const { threads, runs } = server.client;
    const threadId = await newThread();
    await runs.wait(threadId, "approval", { input: { topic: "tea" } });
    const { checkpoint } = await threads.getState(threadId);
    await runs.wait(threadId, "approval", { command: { resume: "yes" } });
    expect((await threads.get(threadId)).values).toMatchObject({ log: ["planned tea", 'answer "yes"', "did tea"] });
    await threads.updateState(threadId, { values: { topic: "cocoa" }, asNode: "plan", checkpoint });
    const asked = await runs.wait(threadId, "approval", { input: null });
    expect(asked).toMatchObject({ __interrupt__: [{ value: { question: "Do cocoa?" } }] });
    const answered = await runs.wait(threadId, "approval", { command: { resume: "no" } });
    expect(answered).toEqual({ topic: "cocoa", log: ["planned tea", 'answer "no"', "did cocoa"] });
  });

  test("from a checkpoint that is not there: 404, and nothing is created", async () => {
    const { runs } = server.client;
    const threadId = await counted();
    const checkpointId = "1f0c0000-0000-6000-8000-000000000000";
    await expect(runs.create(threadId, "counter", { input: null, checkpointId })).rejects.toMatchObject({
      status: 404,
    });
    const checkpoint = { checkpoint_ns: "", checkpoint_id: checkpointId, checkpoint_map: null };
    await expect(runs.wait(threadId, "counter", { input: null, checkpoint })).rejects.toMatchObject({ status: 404 });
    expect(await runs.list(threadId)).toHaveLength(1);
  });
});

describe("durability", () => {
  test.each(["sync", "async", "exit"] as const)("%s keeps the end", async (durability) => {
    const { threads, runs } = server.client;
    const threadId = await newThread();
    await runs.wait(threadId, "counter", { input: {}, durability });
    const state = await threads.getState<Counter>(threadId);
    expect(state.values.total).toBe(111);
    // `exit` writes once, the others with every step.
    expect(await threads.getHistory(threadId)).toHaveLength(durability === "exit" ? 1 : 5);
    expect(await runs.wait(threadId, "counter", { input: {}, durability })).toMatchObject({ total: 222 });
  });

  test("the older checkpoint_during means the same", async () => {
    const { threads, runs } = server.client;
    const threadId = await newThread();
    await runs.wait(threadId, "counter", { input: {}, checkpointDuring: false });
    expect(await threads.getHistory(threadId)).toHaveLength(1);
  });
});
