// Runs on threads through the official client: create, wait, join, list, get, delete, cancel, and the strategies for a busy thread.
import type { Run } from "@langchain/langgraph-sdk";
import { describe, expect, onTestFinished, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import { useGates } from "./support/gates.ts";
import { call, collect, open } from "./support/http.ts";
import { clientOf, startTestServer, useServer } from "./support/server.ts";

const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const server = useServer();
const gates = useGates();

interface Gated {
  readonly name: string;
  readonly log: string[];
}

const newThread = async (): Promise<string> => (await server.client.threads.create()).thread_id;
const gated = (name: string, more: Record<string, unknown> = {}) => ({
  input: { name, gate: gates.url(name), ...more },
});
const statusOf = async (threadId: string, run: Pick<Run, "run_id">): Promise<string> =>
  (await server.client.runs.get(threadId, run.run_id)).status;

/** A run that stands at its gate. */
async function running(threadId: string, name: string, more: Record<string, unknown> = {}): Promise<Run> {
  const run = await server.client.runs.create(threadId, "gated", gated(name, more));
  await gates.entered(name);
  return run;
}

describe("create", () => {
  test("answers with the run, pending, and says where it is", async () => {
    const { runs, assistants } = server.client;
    const thread_id = await newThread();
    let created: unknown;
    const run = await runs.create(thread_id, "gated", {
      ...gated("create"),
      metadata: { reason: "test" },
      config: { tags: ["one"], configurable: { user: "ada" }, recursion_limit: 7 },
      streamMode: ["updates", "values"],
      multitaskStrategy: "enqueue",
      onRunCreated: (info) => (created = info),
    });
    const { assistant_id } = await assistants.get("gated");
    expect(run).toEqual({
      run_id: expect.stringMatching(UUID),
      thread_id,
      assistant_id,
      created_at: expect.stringMatching(STAMP),
      updated_at: expect.stringMatching(STAMP),
      status: "pending",
      metadata: { created_by: "system", reason: "test", graph_id: "gated", assistant_id },
      kwargs: {
        ...gated("create"),
        config: {
          tags: ["one"],
          recursion_limit: 7,
          configurable: { user: "ada", run_id: run.run_id, thread_id, graph_id: "gated", assistant_id },
          metadata: run.metadata,
        },
        stream_mode: ["updates", "values"],
        subgraphs: false,
        resumable: false,
        temporary: false,
      },
      multitask_strategy: "enqueue",
    });
    expect(created).toEqual({ run_id: run.run_id, thread_id });
    await gates.entered("create");
    expect(await statusOf(thread_id, run)).toBe("running");
    expect((await server.client.threads.get(thread_id)).status).toBe("busy");
    gates.open("create");
    await runs.join(thread_id, run.run_id);
    expect(await statusOf(thread_id, run)).toBe("success");
    expect((await server.client.threads.get(thread_id)).status).toBe("idle");
  });

  test("a missing thread is 404, unless it shall be created", async () => {
    const { runs, threads } = server.client;
    const threadId = crypto.randomUUID();
    await expect(runs.create(threadId, "counter", {})).rejects.toMatchObject({ status: 404 });
    await expect(runs.wait(threadId, "counter", {})).rejects.toMatchObject({ status: 404 });
    await expect(collect(runs.stream(threadId, "counter", {}))).rejects.toMatchObject({ status: 404 });
    await expect(threads.get(threadId)).rejects.toMatchObject({ status: 404 });
    const values = await runs.wait(threadId, "counter", {
      input: {},
      ifNotExists: "create",
      metadata: { from: "run" },
    });
    expect(values).toEqual({ total: 111, trail: ["one", "ten", "hundred"] });
    const { assistant_id } = await server.client.assistants.get("counter");
    expect((await threads.get(threadId)).metadata).toEqual({ from: "run", graph_id: "counter", assistant_id });
  });

  test("an unknown assistant is 404 and leaves the thread alone", async () => {
    const thread_id = await newThread();
    const { runs, threads } = server.client;
    await expect(runs.create(thread_id, "nobody", {})).rejects.toMatchObject({
      status: 404,
      message: expect.stringMatching(/No assistant found for .*nobody/),
    });
    expect(await runs.list(thread_id)).toEqual([]);
    expect((await threads.get(thread_id)).status).toBe("idle");
  });

  test("fields that mean something elsewhere are tolerated", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    const run = await runs.create(thread_id, "counter", {
      input: {},
      onCompletion: "delete",
      checkpointDuring: true,
      feedbackKeys: ["score"],
      _langsmithTracer: { projectName: "project", exampleId: "example" },
    } as never);
    expect(await runs.join(thread_id, run.run_id)).toMatchObject({ total: 111 });
    expect(await statusOf(thread_id, run)).toBe("success");
    expect((await threads.get(thread_id)).values).toMatchObject({ total: 111 });
  });

  test("after_seconds lets a run begin when its time has come, and not before", async () => {
    const clock = new TestClock(Date.now());
    const up = await startTestServer({ clock });
    onTestFinished(async () => void (await up.stop()));
    const { runs, threads } = clientOf(up.url);
    const { thread_id } = await threads.create();
    const run = await runs.create(thread_id, "counter", { input: {}, afterSeconds: 60 });
    await clock.advance(59_999);
    // One that came later and need not wait goes first.
    expect(await runs.wait(thread_id, "counter", { input: {} })).toMatchObject({ total: 111 });
    expect((await runs.get(thread_id, run.run_id)).status).toBe("pending");
    await clock.advance(1);
    expect(await runs.join(thread_id, run.run_id)).toMatchObject({ total: 222 });
    expect((await runs.get(thread_id, run.run_id)).status).toBe("success");
  });

  test("after_seconds keeps a run pending, and in the way of others", async () => {
    const { runs } = server.client;
    const thread_id = await newThread();
    const run = await runs.create(thread_id, "counter", { input: {}, afterSeconds: 3600 });
    expect(await statusOf(thread_id, run)).toBe("pending");
    const reject = { input: {}, multitaskStrategy: "reject" } as const;
    await expect(runs.create(thread_id, "counter", reject)).rejects.toMatchObject({ status: 409 });
    await runs.cancel(thread_id, run.run_id, true);
    expect(await statusOf(thread_id, run)).toBe("interrupted");
    expect(await runs.wait(thread_id, "counter", reject)).toMatchObject({ total: 111 });
  });
});

describe("wait and join", () => {
  test("wait answers with the final values, as JSON, and says where the run is", async () => {
    const thread_id = await newThread();
    let created: unknown;
    const values = await server.client.runs.wait(thread_id, "counter", {
      input: { total: 1000 },
      onRunCreated: (info) => (created = info),
    });
    expect(values).toEqual({ total: 1111, trail: ["one", "ten", "hundred"] });
    const [run] = await server.client.runs.list(thread_id);
    expect(created).toEqual({ run_id: run!.run_id, thread_id });
    const raw = await call(server.url, "POST", `/threads/${thread_id}/runs/wait`, {
      body: { assistant_id: "counter", input: {} },
    });
    expect(raw.headers["content-type"]).toBe("application/json");
    expect(raw.headers["content-location"]).toMatch(new RegExp(`^/threads/${thread_id}/runs/[0-9a-f-]{36}$`));
    expect(raw.headers["location"]).toBe(`${raw.headers["content-location"]}/join`);
  });

  test("a failed run: wait throws, or shows the error", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    const failing = (how: string) => ({ input: { how } });
    await expect(runs.wait(thread_id, "failing", failing("class"))).rejects.toThrow(
      "PaymentRefused: the card has expired",
    );
    const shown = await runs.wait(thread_id, "failing", { ...failing("class"), raiseError: false });
    expect(shown).toEqual({ __error__: { error: "PaymentRefused", message: "the card has expired" } });
    const [run] = await runs.list(thread_id, { limit: 1 });
    expect(run!.status).toBe("error");
    // Also for those who come later.
    expect(await runs.join(thread_id, run!.run_id)).toEqual(shown);
    const thread = await threads.get(thread_id);
    expect(thread.status).toBe("error");
    expect(thread.values).toEqual({ how: "class", steps: 1 });
    expect((thread as { error?: unknown }).error).toEqual({
      error: "PaymentRefused",
      message: "the card has expired",
    });
    const text = await runs.wait(thread_id, "failing", { ...failing("text"), raiseError: false });
    // LangGraph itself stumbles over what is no Error, but the text is not lost.
    expect(text).toEqual({ __error__: { error: expect.any(String), message: expect.stringContaining("only a text") } });
    const lines = await runs.wait(thread_id, "failing", { ...failing("plain"), raiseError: false });
    expect(lines).toEqual({ __error__: { error: "Error", message: 'it went wrong: "plain"\nsecond line' } });
  });

  test("a run that never ends meets its recursion limit, the given one too", async () => {
    const { runs } = server.client;
    const thread_id = await newThread();
    const wait = (config?: { recursion_limit: number }) =>
      runs.wait(thread_id, "failing", { input: { how: "never" }, raiseError: false, ...(config ? { config } : {}) });
    expect(await wait()).toMatchObject({
      __error__: { error: "GraphRecursionError", message: expect.stringContaining("limit of 25") },
    });
    expect(await wait({ recursion_limit: 3 })).toMatchObject({
      __error__: { error: "GraphRecursionError", message: expect.stringContaining("limit of 3") },
    });
  });

  test("a thread recovers from a failed run", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    await runs.wait(thread_id, "failing", { input: { how: "plain" }, raiseError: false });
    await runs.wait(thread_id, "counter", { input: {} });
    const thread = await threads.get(thread_id);
    expect(thread.status).toBe("idle");
    expect(thread).not.toHaveProperty("error");
  });

  test("an interrupted run: the state, and the interrupts beside it", async () => {
    const { runs } = server.client;
    const thread_id = await newThread();
    const values = await runs.wait(thread_id, "approval", { input: { topic: "tea" } });
    const __interrupt__ = [{ id: expect.any(String), value: { question: "Do tea?" } }];
    expect(values).toEqual({ topic: "tea", log: ["planned tea"], __interrupt__ });
    const [run] = await runs.list(thread_id);
    expect(await runs.join(thread_id, run!.run_id)).toEqual(values);
  });

  test("join waits for the end, for any number of clients", async () => {
    const { runs } = server.client;
    const thread_id = await newThread();
    const run = await running(thread_id, "join");
    const joined = [runs.join(thread_id, run.run_id), runs.join(thread_id, run.run_id)];
    gates.open("join");
    for (const values of await Promise.all(joined)) {
      expect(values).toEqual({ name: "join", gate: gates.url("join"), log: ["first join", "second join"] });
    }
    const raw = await call(server.url, "GET", `/threads/${thread_id}/runs/${run.run_id}/join`);
    expect(raw.headers["content-type"]).toBe("application/json");
    expect(raw.headers["location"]).toBe(`/threads/${thread_id}/runs/${run.run_id}/join`);
    expect(raw.json).toMatchObject({ name: "join" });
  });

  test("a graph without output ends with an object", async () => {
    const thread_id = await newThread();
    const raw = await call(server.url, "POST", `/threads/${thread_id}/runs/wait`, {
      body: { assistant_id: "memory", input: null, interrupt_before: "*" },
    });
    expect(raw.status).toBe(200);
    expect(raw.json).toBeTypeOf("object");
    expect(raw.json).not.toBeNull();
  });
});

describe("list, get, delete", () => {
  test("list shows the newest first, in pages, by status, with the fields asked for", async () => {
    const { runs } = server.client;
    const thread_id = await newThread();
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (let i = 0; i < 3; i++) await runs.wait(thread_id, "counter", { input: {}, metadata: { i } });
    await runs.wait(thread_id, "failing", { input: { how: "plain" }, metadata: { i: 3 }, raiseError: false });
    const numbers = async (query: Parameters<typeof runs.list>[1]): Promise<unknown[]> =>
      (await runs.list(thread_id, query)).map(({ metadata }) => (metadata as { i: number }).i);
    expect(await numbers({})).toEqual([3, 2, 1, 0]);
    expect(await numbers({ limit: 2 })).toEqual([3, 2]);
    expect(await numbers({ limit: 2, offset: 1 })).toEqual([2, 1]);
    expect(await numbers({ limit: 2, offset: 3 })).toEqual([0]);
    expect(await numbers({ status: "error" })).toEqual([3]);
    expect(await numbers({ status: "success", limit: 1, offset: 1 })).toEqual([1]);
    expect(await numbers({ status: "pending" })).toEqual([]);
    const selected = await runs.list(thread_id, { limit: 1, select: ["status", "thread_id"] });
    expect(selected).toEqual([{ status: "error", thread_id }]);
    await expect(runs.list(crypto.randomUUID())).rejects.toMatchObject({ status: 404 });
  });

  test("get returns what create returned", async () => {
    const { runs } = server.client;
    const thread_id = await newThread();
    const created = await runs.create(thread_id, "counter", { input: { total: 1 } });
    await runs.join(thread_id, created.run_id);
    const { status, updated_at, ...rest } = await runs.get(thread_id, created.run_id);
    expect(status).toBe("success");
    expect(updated_at > created.updated_at).toBe(true);
    expect({ ...rest, status: "pending", updated_at: created.updated_at }).toEqual(created);
    expect((await runs.list(thread_id))[0]).toEqual({ ...rest, status, updated_at });
    // A run is found on its own thread only.
    await expect(runs.get(await newThread(), created.run_id)).rejects.toMatchObject({ status: 404 });
    await expect(runs.get(thread_id, crypto.randomUUID())).rejects.toMatchObject({ status: 404 });
  });

  test("delete removes a run that has ended and leaves the state", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    await runs.wait(thread_id, "counter", { input: {} });
    const [run] = await runs.list(thread_id);
    expect(await runs.delete(thread_id, run!.run_id)).toBeUndefined();
    await expect(runs.get(thread_id, run!.run_id)).rejects.toMatchObject({ status: 404 });
    await expect(runs.delete(thread_id, run!.run_id)).rejects.toMatchObject({ status: 404 });
    expect(await runs.list(thread_id)).toEqual([]);
    expect((await threads.get(thread_id)).values).toMatchObject({ total: 111 });
  });

  test("delete stops a run that has not ended", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    const run = await running(thread_id, "delete-running");
    const waiting = await runs.create(thread_id, "gated", gated("delete-waiting"));
    await runs.delete(thread_id, waiting.run_id);
    await runs.delete(thread_id, run.run_id);
    expect(await runs.list(thread_id)).toEqual([]);
    expect((await threads.get(thread_id)).status).toBe("idle");
    gates.open("delete-running");
    expect(await runs.wait(thread_id, "counter", { input: {} })).toMatchObject({ total: 111 });
    expect(gates.visits("delete-waiting")).toBe(0);
  });

  test("deleting a thread ends what runs on it", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    const run = await running(thread_id, "delete-thread");
    const joined = runs.join(thread_id, run.run_id);
    const stream = collect(runs.joinStream(thread_id, run.run_id));
    await threads.delete(thread_id);
    expect(await joined).toEqual({});
    await stream;
    gates.open("delete-thread");
    await expect(threads.get(thread_id)).rejects.toMatchObject({ status: 404 });
    // The place of the run is free again, and nothing of it comes back.
    await threads.create({ threadId: thread_id });
    expect(await runs.wait(thread_id, "counter", { input: {} })).toEqual({
      total: 111,
      trail: ["one", "ten", "hundred"],
    });
  });
});

describe("cancel", () => {
  test("wait: stops a running run, keeps its record and what it did", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    const run = await running(thread_id, "cancel-wait");
    await runs.cancel(thread_id, run.run_id, true);
    expect(await statusOf(thread_id, run)).toBe("interrupted");
    const thread = await threads.get(thread_id);
    expect(thread.values).toMatchObject({ log: ["first cancel-wait"] });
    expect(thread.status).not.toBe("busy");
    expect((await threads.getState(thread_id)).next).toEqual(["second"]);
    // It can be continued.
    gates.open("cancel-wait");
    const values = await runs.wait(thread_id, "gated", { input: null });
    expect((values as unknown as Gated).log).toEqual(["first cancel-wait", "second cancel-wait"]);
  });

  test("no wait: answers at once", async () => {
    const { runs } = server.client;
    const thread_id = await newThread();
    const run = await running(thread_id, "cancel-now");
    const joined = runs.join(thread_id, run.run_id);
    const path = `/threads/${thread_id}/runs/${run.run_id}/cancel`;
    expect(await call(server.url, "POST", `${path}?wait=0&action=interrupt`)).toMatchObject({ status: 202, text: "" });
    expect(await joined).toMatchObject({ log: ["first cancel-now"] });
    expect(await statusOf(thread_id, run)).toBe("interrupted");
    // And again: it has ended.
    expect((await call(server.url, "POST", `${path}?wait=false`)).status).toBe(409);
  });

  test("wait answers 204, a finished run 409, an unknown one 404, an unknown action 422", async () => {
    const { runs } = server.client;
    const thread_id = await newThread();
    const run = await running(thread_id, "cancel-codes");
    const path = `/threads/${thread_id}/runs/${run.run_id}/cancel`;
    expect((await call(server.url, "POST", `${path}?action=explode`)).status).toBe(422);
    expect(await statusOf(thread_id, run)).toBe("running");
    expect(await call(server.url, "POST", `${path}?wait=true`)).toMatchObject({ status: 204, text: "" });
    for (const wait of [true, false]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(runs.cancel(thread_id, run.run_id, wait)).rejects.toMatchObject({ status: 409 });
    }
    await expect(runs.cancel(thread_id, crypto.randomUUID())).rejects.toMatchObject({ status: 404 });
    await expect(runs.cancel(await newThread(), run.run_id)).rejects.toMatchObject({ status: 404 });
  });

  test("a pending run is cancelled without ever starting; the one before it goes on", async () => {
    const { runs } = server.client;
    const thread_id = await newThread();
    const first = await running(thread_id, "cancel-first");
    const second = await runs.create(thread_id, "gated", gated("cancel-second"));
    await runs.cancel(thread_id, second.run_id, true);
    expect(await statusOf(thread_id, second)).toBe("interrupted");
    expect(await statusOf(thread_id, first)).toBe("running");
    gates.open("cancel-first");
    expect(await runs.join(thread_id, first.run_id)).toMatchObject({
      log: ["first cancel-first", "second cancel-first"],
    });
    expect(gates.visits("cancel-second")).toBe(0);
    expect((await server.client.threads.get(thread_id)).status).toBe("idle");
  });

  test("a graph that does not listen is left behind", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    const run = await running(thread_id, "deaf", { deaf: true });
    await runs.cancel(thread_id, run.run_id, true);
    expect(await statusOf(thread_id, run)).toBe("interrupted");
    await runs.wait(thread_id, "counter", { input: {} });
    const before = await threads.getState(thread_id);
    gates.open("deaf");
    // A second visit to the same gate comes behind everything that the abandoned node does with its answer.
    await running(await newThread(), "deaf-after");
    gates.open("deaf-after");
    expect(await threads.getState(thread_id)).toEqual(before);
  });

  test("rollback removes the run and what it did", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    await runs.wait(thread_id, "counter", { input: {} });
    const before = await threads.getState(thread_id);
    const run = await running(thread_id, "cancel-rollback");
    const joined = runs.join(thread_id, run.run_id);
    await runs.cancel(thread_id, run.run_id, true, "rollback");
    await expect(runs.get(thread_id, run.run_id)).rejects.toMatchObject({ status: 404 });
    await joined;
    expect(await runs.list(thread_id)).toHaveLength(1);
    const after = await threads.getState(thread_id);
    expect(after.checkpoint).toEqual(before.checkpoint);
    expect(after.values).toEqual(before.values);
    expect((await threads.get(thread_id)).status).toBe("idle");
    gates.open("cancel-rollback");
  });

  test("rollback brings back what waited before the run", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    await runs.wait(thread_id, "approval", { input: { topic: "tea" } });
    const before = await threads.get(thread_id);
    expect(before.status).toBe("interrupted");
    const run = await running(thread_id, "rollback-waiting");
    await runs.cancel(thread_id, run.run_id, true, "rollback");
    const after = await threads.get(thread_id);
    expect([after.status, after.interrupts, after.values]).toEqual([before.status, before.interrupts, before.values]);
    expect(await runs.wait(thread_id, "approval", { command: { resume: "yes" } })).toMatchObject({
      log: ["planned tea", 'answer "yes"', "did tea"],
    });
    gates.open("rollback-waiting");
  });

  test("a client that goes away cancels when it asked for that, and only then", async () => {
    const { runs } = server.client;
    const leave = async (name: string, path: string, body: Record<string, unknown>): Promise<Run> => {
      const thread_id = await newThread();
      const controller = new AbortController();
      const request = fetch(`${server.url}/threads/${thread_id}/runs/${path}`, {
        method: "POST",
        body: JSON.stringify({ assistant_id: "gated", input: gated(name).input, ...body }),
        signal: controller.signal,
      });
      await gates.entered(name);
      const [run] = await runs.list(thread_id);
      if (path === "stream") await request;
      controller.abort();
      await request.catch(() => undefined);
      return run!;
    };
    for (const path of ["stream", "wait"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const cancelled = await leave(`leave-${path}`, path, { on_disconnect: "cancel" });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await runs.join(cancelled.thread_id, cancelled.run_id);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await statusOf(cancelled.thread_id, cancelled)).toBe("interrupted");
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const kept = await leave(`stay-${path}`, path, {});
      // The server hears of this after it heard of the broken connection.
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await statusOf(kept.thread_id, kept)).toBe("running");
      gates.open(`stay-${path}`);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await runs.join(kept.thread_id, kept.run_id);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await statusOf(kept.thread_id, kept)).toBe("success");
    }
  });

  test.each(["stream", "join"])("who left a %s with cancel_on_disconnect takes the run along", async (path) => {
    const { runs } = server.client;
    const thread_id = await newThread();
    const run = await running(thread_id, `leave-by-${path}`);
    // Resolves with the head of the answer, so the server knows of this client.
    const response = await open(
      server.url,
      "GET",
      `/threads/${thread_id}/runs/${run.run_id}/${path}?cancel_on_disconnect=1`,
    );
    response.destroy();
    await runs.join(thread_id, run.run_id);
    expect(await statusOf(thread_id, run)).toBe("interrupted");
    gates.open(`leave-by-${path}`);
  });
});

describe("a busy thread", () => {
  test("enqueue, the default, runs one after the other in the order of receipt", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    const first = await running(thread_id, "queue-0");
    const others: Run[] = [];
    for (let i = 1; i < 4; i++) {
      // oxlint-disable-next-line no-await-in-loop -- in this order
      others.push(await runs.create(thread_id, "gated", { input: { name: `queue-${i}`, gate: "" } }));
    }
    expect(await Promise.all(others.map((run) => statusOf(thread_id, run)))).toEqual(["pending", "pending", "pending"]);
    expect((await runs.list(thread_id, { status: "pending" })).map(({ run_id }) => run_id)).toEqual(
      others.map(({ run_id }) => run_id).toReversed(),
    );
    gates.open("queue-0");
    await runs.join(thread_id, first.run_id);
    const last = await runs.join(thread_id, others.at(-1)!.run_id);
    expect((last as unknown as Gated).log).toEqual(
      [0, 1, 2, 3].flatMap((i) => [`first queue-${i}`, `second queue-${i}`]),
    );
    expect((await threads.get(thread_id)).status).toBe("idle");
  });

  test("twenty runs created at once run one after the other, and none is lost", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    const ends = await Promise.all(Array.from({ length: 20 }, () => runs.wait(thread_id, "counter", { input: {} })));
    const totals = ends.map((values) => (values as unknown as { total: number }).total);
    expect(totals.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => 111 * (i + 1)));
    expect((await threads.get(thread_id)).values).toMatchObject({ total: 20 * 111 });
    expect(await runs.list(thread_id, { limit: 100, status: "success" })).toHaveLength(20);
  });

  test("what changes on the thread meanwhile is kept", async () => {
    const { runs, threads } = server.client;
    const { thread_id } = await threads.create({ metadata: { a: 1 } });
    const run = await running(thread_id, "patched");
    await threads.update(thread_id, { metadata: { b: 2 } });
    expect((await threads.get(thread_id)).status).toBe("busy");
    gates.open("patched");
    await runs.join(thread_id, run.run_id);
    const thread = await threads.get(thread_id);
    expect(thread.metadata).toMatchObject({ a: 1, b: 2, graph_id: "gated" });
    expect(thread.status).toBe("idle");
  });

  test("other threads do not wait", async () => {
    const { runs } = server.client;
    const run = await running(await newThread(), "alone");
    expect(await runs.wait(await newThread(), "counter", { input: {} })).toMatchObject({ total: 111 });
    expect(await statusOf(run.thread_id, run)).toBe("running");
    gates.open("alone");
    await runs.join(run.thread_id, run.run_id);
  });

  test("reject answers 409 and creates nothing", async () => {
    const { runs } = server.client;
    const thread_id = await newThread();
    const first = await running(thread_id, "reject");
    const payload = { input: {}, multitaskStrategy: "reject" } as const;
    await expect(runs.create(thread_id, "counter", payload)).rejects.toMatchObject({ status: 409 });
    await expect(runs.wait(thread_id, "counter", payload)).rejects.toMatchObject({ status: 409 });
    await expect(collect(runs.stream(thread_id, "counter", payload))).rejects.toMatchObject({ status: 409 });
    expect(await runs.list(thread_id)).toHaveLength(1);
    gates.open("reject");
    await runs.join(thread_id, first.run_id);
    expect(
      await runs.wait(thread_id, "gated", { input: { name: "free", gate: "" }, multitaskStrategy: "reject" }),
    ).toMatchObject({
      log: ["first reject", "second reject", "first free", "second free"],
    });
  });

  test("interrupt stops what runs and what waits, and starts from what is there", async () => {
    const { runs } = server.client;
    const thread_id = await newThread();
    const first = await running(thread_id, "interrupted");
    const waiting = await runs.create(thread_id, "gated", gated("never"));
    const values = await runs.wait(thread_id, "gated", {
      input: { name: "next", gate: "" },
      multitaskStrategy: "interrupt",
    });
    expect((values as unknown as Gated).log).toEqual(["first interrupted", "first next", "second next"]);
    expect(await statusOf(thread_id, first)).toBe("interrupted");
    expect(await statusOf(thread_id, waiting)).toBe("interrupted");
    expect(gates.visits("never")).toBe(0);
    gates.open("interrupted");
  });

  test("rollback deletes what ran, with its checkpoints, and keeps what was before", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    await runs.wait(thread_id, "gated", { input: { name: "earlier", gate: "" } });
    const first = await running(thread_id, "rolled-back");
    const waiting = await runs.create(thread_id, "gated", gated("rolled-back-too"));
    const joined = runs.join(thread_id, first.run_id);
    const stream = collect(runs.joinStream(thread_id, first.run_id));
    const values = await runs.wait(thread_id, "gated", {
      input: { name: "instead", gate: "" },
      multitaskStrategy: "rollback",
    });
    expect((values as unknown as Gated).log).toEqual([
      "first earlier",
      "second earlier",
      "first instead",
      "second instead",
    ]);
    await expect(runs.get(thread_id, first.run_id)).rejects.toMatchObject({ status: 404 });
    await expect(runs.get(thread_id, waiting.run_id)).rejects.toMatchObject({ status: 404 });
    expect(await runs.list(thread_id)).toHaveLength(2);
    const history = await threads.getHistory<Gated>(thread_id, { limit: 100 });
    expect(history.filter(({ values: { log } }) => log?.join().includes("rolled-back"))).toEqual([]);
    // Those who waited are let go.
    expect(await joined).toBeTypeOf("object");
    await stream;
    gates.open("rolled-back");
  });
});
