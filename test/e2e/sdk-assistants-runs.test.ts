// What an assistant means for its runs, through the official client: its settings reach them, and deleting it stops them.
import { describe, expect, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { call } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer();
const gates = useGates();

type Payload = NonNullable<Parameters<typeof server.client.runs.wait>[2]>;

/** What a node of the graph `mirror` sees. */
interface Seen {
  readonly configurable: Record<string, unknown>;
  readonly metadata: Record<string, unknown>;
  readonly tags: string[];
  readonly context: unknown;
  readonly recursionLimit: number;
}

async function look(assistantId: string, payload: Payload = {}, threadId: string | null = null): Promise<Seen> {
  const values = await server.client.runs.wait(threadId as string, assistantId, { input: {}, ...payload });
  return (values as unknown as { seen: Seen }).seen;
}

describe("settings", () => {
  test("config, context and metadata of an assistant reach its runs", async () => {
    const { assistants, threads, runs } = server.client;
    const { assistant_id: id } = await assistants.create({
      graphId: "mirror",
      config: {
        tags: ["of the assistant"],
        recursion_limit: 11,
        configurable: { model: "a" },
        metadata: { from_config: true },
      } as never,
      metadata: { team: "red" },
    });
    const { thread_id } = await threads.create();
    const seen = await look(id, { config: { tags: ["of the run"] } }, thread_id);
    const [run] = await runs.list(thread_id);
    expect(seen.tags).toEqual(expect.arrayContaining(["of the assistant", "of the run"]));
    expect(seen.recursionLimit).toBe(11);
    expect(seen.configurable).toMatchObject({ model: "a", graph_id: "mirror", assistant_id: id, thread_id });
    expect(seen.context).toEqual({ model: "a" });
    expect(seen.metadata).toMatchObject({ team: "red", from_config: true, assistant_id: id, graph_id: "mirror" });
    expect(seen.metadata).not.toHaveProperty("created_by");
    expect(run).toMatchObject({ assistant_id: id, metadata: { team: "red", from_config: true } });
    expect((await threads.get(thread_id)).metadata).toMatchObject({ assistant_id: id, graph_id: "mirror" });
    expect((await threads.getState(thread_id)).metadata).toMatchObject({ team: "red", assistant_id: id });
    // Without a thread as well.
    expect((await look(id)).context).toEqual({ model: "a" });
  });

  test("metadata of the assistant count, those of the thread count more, and those of the run count most", async () => {
    const { assistants, threads } = server.client;
    const metadata = { a: "assistant", b: "assistant", c: "assistant" };
    const { assistant_id: id } = await assistants.create({ graphId: "mirror", metadata });
    const { thread_id } = await threads.create({ metadata: { b: "thread", c: "thread" } });
    const seen = await look(id, { metadata: { c: "run" } }, thread_id);
    expect(seen.metadata).toMatchObject({ a: "assistant", b: "thread", c: "run" });
  });

  test("what a run gives counts more, under both names of a setting", async () => {
    const { assistants } = server.client;
    const { assistant_id: id } = await assistants.create({ graphId: "mirror", context: { model: "a", mood: "good" } });
    expect(await look(id)).toMatchObject({
      context: { model: "a", mood: "good" },
      configurable: { model: "a", mood: "good" },
    });
    expect(await look(id, { context: { model: "b" } })).toMatchObject({
      context: { model: "b", mood: "good" },
      configurable: { model: "b", mood: "good" },
    });
    const seen = await look(id, { config: { configurable: { model: "c", own: 1 } } });
    expect(seen).toMatchObject({ context: { model: "c", mood: "good" }, configurable: { model: "c", own: 1 } });
    // A setting that only the run has is where the run put it.
    expect(seen.context).not.toHaveProperty("own");
  });

  test("an assistant cannot pretend that its runs are others", async () => {
    const lies = { run_id: "lie", thread_id: "lie", graph_id: "lie", assistant_id: "lie" };
    const { assistant_id: id } = await server.client.assistants.create({
      graphId: "mirror",
      config: { configurable: lies },
      metadata: { ...lies, run_attempt: 9 },
    });
    const { thread_id } = await server.client.threads.create();
    const seen = await look(id, {}, thread_id);
    const truth = { graph_id: "mirror", assistant_id: id, thread_id };
    expect(seen.configurable).toMatchObject(truth);
    expect(seen.metadata).toMatchObject({ ...truth, run_attempt: 1 });
  });

  test("the recursion limit of an assistant is the limit of its runs, unless they have their own", async () => {
    const { assistants, runs } = server.client;
    const { assistant_id: id } = await assistants.create({ graphId: "counter", config: { recursion_limit: 2 } });
    const failed = await runs.wait(null, id, { input: {}, raiseError: false });
    expect(failed).toMatchObject({ __error__: { error: "GraphRecursionError" } });
    expect(await runs.wait(null, id, { input: {}, config: { recursion_limit: 9 } })).toMatchObject({ total: 111 });
  });

  test("a graph that is made by a function is made with the settings of the assistant", async () => {
    const { assistants, runs } = server.client;
    const { assistant_id: id } = await assistants.create({ graphId: "factory", context: { voice: "loud" } });
    const drawn = await assistants.getGraph(id);
    expect(drawn.nodes.map((node) => node.id)).toEqual(["__start__", "speak_loud", "__end__"]);
    expect(await runs.wait(null, id, { input: {} })).toEqual({ said: "hello from the environment (loud)" });
    const soft = { input: {}, config: { configurable: { voice: "soft" } } };
    expect(await runs.wait(null, id, soft)).toEqual({ said: "hello from the environment (soft)" });
  });

  test("a changed assistant is another for the next run, and not for the one that runs", async () => {
    const { assistants, threads, runs } = server.client;
    const { assistant_id: id } = await assistants.create({ graphId: "gated", metadata: { round: 1 } });
    const { thread_id } = await threads.create();
    const first = await runs.create(thread_id, id, { input: { name: "x", gate: gates.url("changed") } });
    await gates.entered("changed");
    await assistants.update(id, { graphId: "mirror", metadata: { round: 2 } });
    gates.open("changed");
    expect(await runs.join(thread_id, first.run_id)).toMatchObject({ log: ["first x", "second x"] });
    expect((await runs.get(thread_id, first.run_id)).metadata).toMatchObject({ round: 1, graph_id: "gated" });
    expect((await look(id)).metadata).toMatchObject({ round: 2, graph_id: "mirror" });
    await assistants.setLatest(id, 1);
    const again = await runs.wait(null, id, { input: { name: "y", gate: gates.url("changed") } });
    expect(again).toMatchObject({ log: ["first y", "second y"] });
  });
});

describe("deleting an assistant", () => {
  /** An assistant with a run that stands at a gate, and one that waits behind it. */
  async function busyAssistant(gate: string): Promise<{ id: string; threadId: string; runIds: string[] }> {
    const { assistants, threads, runs } = server.client;
    const { assistant_id: id } = await assistants.create({ graphId: "gated" });
    const { thread_id: threadId } = await threads.create();
    const input = { name: gate, gate: gates.url(gate) };
    const first = await runs.create(threadId, id, { input });
    await gates.entered(gate);
    const second = await runs.create(threadId, id, { input });
    return { id, threadId, runIds: [first.run_id, second.run_id] };
  }

  test("stops its runs and nobody else's, and leaves threads and records", async () => {
    const { assistants, threads, runs } = server.client;
    const gone = await busyAssistant("delete-gone");
    const stays = await busyAssistant("delete-stays");
    // A run of another assistant waits on the same thread.
    const other = await runs.create(gone.threadId, "gated", {
      input: { name: "other", gate: gates.url("delete-other") },
    });
    const waiting = runs.join(gone.threadId, gone.runIds[0]!);
    await assistants.delete(gone.id);
    expect(await waiting).toMatchObject({ log: ["first delete-gone"] });
    for (const runId of gone.runIds) expect((await runs.get(gone.threadId, runId)).status).toBe("interrupted");
    await gates.entered("delete-other");
    gates.open("delete-other");
    await runs.join(gone.threadId, other.run_id);
    expect((await runs.get(gone.threadId, other.run_id)).status).toBe("success");
    expect((await threads.get(gone.threadId)).status).toBe("idle");
    expect(gates.visits("delete-gone")).toBe(1);

    expect((await runs.get(stays.threadId, stays.runIds[0]!)).status).toBe("running");
    gates.open("delete-stays");
    for (const runId of stays.runIds) {
      await runs.join(stays.threadId, runId);
      expect((await runs.get(stays.threadId, runId)).status).toBe("success");
    }
    const input = { input: {} };
    await expect(runs.create(gone.threadId, gone.id, input)).rejects.toMatchObject({ status: 404 });
    await expect(runs.wait(null, gone.id, input)).rejects.toMatchObject({ status: 404 });
  });

  test("deletes its threads when asked to, with runs and checkpoints", async () => {
    const { assistants, threads, runs } = server.client;
    const gone = await busyAssistant("threads-gone");
    const done = await threads.create();
    await runs.create(done.thread_id, gone.id, { input: { name: "x", gate: gates.url("threads-done") } });
    gates.open("threads-done");
    const named = await threads.create({ metadata: { assistant_id: gone.id } });
    const stays = await busyAssistant("threads-stays");
    const free = await threads.create({ metadata: { mine: gone.id } });

    await assistants.delete(gone.id, { deleteThreads: true });
    for (const threadId of [gone.threadId, done.thread_id, named.thread_id]) {
      await expect(threads.get(threadId)).rejects.toMatchObject({ status: 404 });
      await expect(threads.getState(threadId)).rejects.toMatchObject({ status: 404 });
    }
    await expect(runs.get(gone.threadId, gone.runIds[0]!)).rejects.toMatchObject({ status: 404 });
    await expect(assistants.get(gone.id)).rejects.toMatchObject({ status: 404 });
    expect(await threads.search({ metadata: { assistant_id: gone.id } })).toEqual([]);
    // The id of a thread is free again, without what it had.
    await threads.create({ threadId: gone.threadId });
    expect((await threads.getState(gone.threadId)).values).toEqual({});

    expect(await threads.get(free.thread_id)).toEqual(free);
    expect((await threads.get(stays.threadId)).status).toBe("busy");
    gates.open("threads-stays");
    expect(await runs.join(stays.threadId, stays.runIds[1]!)).toMatchObject({ log: { length: 4 } });
  });

  test("keeps its threads unless asked", async () => {
    const { assistants, threads, runs } = server.client;
    for (const query of ["", "?delete_threads=false", "?delete_threads=0"]) {
      const { assistant_id: id } = await assistants.create({ graphId: "counter" });
      const { thread_id } = await threads.create();
      await runs.wait(thread_id, id, { input: {} });
      expect((await call(server.url, "DELETE", `/assistants/${id}${query}`)).status).toBe(204);
      expect((await threads.get(thread_id)).values).toMatchObject({ total: 111 });
      expect(await runs.list(thread_id)).toHaveLength(1);
      // They go on with another assistant.
      expect(await runs.wait(thread_id, "counter", { input: {} })).toMatchObject({ total: 222 });
    }
    const { assistant_id: id } = await assistants.create({ graphId: "counter" });
    expect((await call(server.url, "DELETE", `/assistants/${id}?delete_threads=maybe`)).status).toBe(422);
    expect((await assistants.get(id)).assistant_id).toBe(id);
  });
});
