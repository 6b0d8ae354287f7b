// What the JS dev server does badly with runs (wire-api §8), through the official client: each test is named after its defect.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Run } from "@langchain/langgraph-sdk";
import { describe, expect, onTestFinished, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import { useGates } from "./support/gates.ts";
import { call, collect, frames, open } from "./support/http.ts";
import { clientOf, startTestServer, temporaryFolder, useServer } from "./support/server.ts";

const RUNS_PROJECT = join(import.meta.dirname, "..", "fixtures", "runs-project");
const server = useServer({ cwd: RUNS_PROJECT });
const gates = useGates();

const newThread = async (): Promise<string> => (await server.client.threads.create()).thread_id;
const gated = (name: string, more = {}) => ({ input: { name, gate: gates.url(name), ...more } });
const statusOf = async (run: Run): Promise<string> => (await server.client.runs.get(run.thread_id, run.run_id)).status;

/** A run that stands at its gate. */
async function running(threadId: string, name: string, more = {}): Promise<Run> {
  const run = await server.client.runs.create(threadId, "gated", gated(name, more));
  await gates.entered(name);
  return run;
}

/** A thread whose run asked something, and a second run that holds the answer and stands at its gate. */
async function answering(name: string): Promise<{ thread_id: string; run: Run }> {
  const { runs } = server.client;
  const thread_id = await newThread();
  await runs.wait(thread_id, "asking", { input: { gate: gates.url(name) } });
  const run = await runs.create(thread_id, "asking", { command: { resume: "yes" } });
  await gates.entered(name);
  return { thread_id, run };
}

describe("§8.7: rollback", () => {
  test("of a running run, stream and join of it end, and nothing is left but what was before", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    await runs.wait(thread_id, "counter", { input: {} });
    const before = { state: await threads.getState(thread_id), thread: await threads.get(thread_id) };
    const run = await running(thread_id, "back-running");
    const stream = await frames(server.url, "GET", `/threads/${thread_id}/runs/${run.run_id}/stream`);
    const joined = runs.join(thread_id, run.run_id);
    await runs.cancel(thread_id, run.run_id, true, "rollback");
    expect((await stream.all()).map(({ event }) => event)).toEqual(["metadata"]);
    expect(await joined).toEqual(before.thread.values);
    await expect(runs.get(thread_id, run.run_id)).rejects.toMatchObject({ status: 404 });
    expect(await threads.getState(thread_id)).toEqual(before.state);
    const after = await threads.get(thread_id);
    expect([after.status, after.values]).toEqual(["idle", before.thread.values]);
    gates.open("back-running");
  });

  test("of a run that answered a question asks it again", async () => {
    const { runs, threads } = server.client;
    const { thread_id, run } = await answering("back-answer");
    await runs.cancel(thread_id, run.run_id, true, "rollback");
    const thread = await threads.get(thread_id);
    expect(thread.status).toBe("interrupted");
    expect(Object.values(thread.interrupts).flat()).toMatchObject([{ value: "really?" }]);
    expect((await threads.getState(thread_id)).tasks).toMatchObject([{ interrupts: [{ value: "really?" }] }]);
    gates.open("back-answer");
    const values = await runs.wait(thread_id, "asking", { command: { resume: "no" } });
    expect(values).toMatchObject({ log: ['answer "no"', "acted"] });
  });

  test("by a new run, of one that answered a question", async () => {
    const { runs } = server.client;
    const { thread_id, run } = await answering("back-by-new");
    const next = runs.wait(thread_id, "asking", { command: { resume: "instead" }, multitaskStrategy: "rollback" });
    await gates.entered("back-by-new", 2);
    gates.open("back-by-new");
    expect(await next).toMatchObject({ log: ['answer "instead"', "acted"] });
    await expect(runs.get(thread_id, run.run_id)).rejects.toMatchObject({ status: 404 });
  });

  test.each(["create", "stream", "wait"] as const)("and the other strategies work with %s", async (kind) => {
    const { runs, threads } = server.client;
    const start = async (threadId: string, strategy: "interrupt" | "rollback" | "reject"): Promise<unknown> => {
      const payload = { input: {}, multitaskStrategy: strategy };
      if (kind === "stream") return (await collect(runs.stream(threadId, "counter", payload))).at(-1)!.data;
      if (kind === "wait") return runs.wait(threadId, "counter", payload);
      const run = await runs.create(threadId, "counter", payload);
      return runs.join(threadId, run.run_id);
    };
    for (const strategy of ["interrupt", "rollback"] as const) {
      const name = `${strategy}-${kind}`;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const thread_id = await newThread();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const first = await running(thread_id, name, { deaf: true });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const pending = [await runs.create(thread_id, "gated", gated(`${name}-2`))];
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      pending.push(await runs.create(thread_id, "gated", gated(`${name}-3`)));
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(start(thread_id, "reject")).rejects.toMatchObject({ status: 409 });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await start(thread_id, strategy)).toMatchObject({ total: 111 });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const left = await runs.list(thread_id);
      expect(left.map(({ status }) => status)).toEqual(
        strategy === "rollback" ? ["success"] : ["success", "interrupted", "interrupted", "interrupted"],
      );
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await threads.get(thread_id)).status).toBe("idle");
      expect(gates.visits(`${name}-2`) + gates.visits(`${name}-3`)).toBe(0);
      expect([first, ...pending].every(({ thread_id: id }) => id === thread_id)).toBe(true);
      gates.open(name);
    }
  });

  test("strategies hold for runs that are created at the same time", async () => {
    const { runs } = server.client;
    const thread_id = await newThread();
    const create = (multitaskStrategy: "interrupt" | "rollback" | "reject") =>
      runs.create(thread_id, "gated", { ...gated("crowd"), multitaskStrategy });
    const rejected = await Promise.allSettled(Array.from({ length: 5 }, () => create("reject")));
    expect(rejected.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const made = await Promise.all(Array.from({ length: 5 }, () => create("interrupt")));
    const statuses = (await runs.list(thread_id)).map(({ status }) => status);
    expect(statuses.filter((status) => status === "interrupted")).toHaveLength(5);
    await Promise.all(Array.from({ length: 5 }, () => create("rollback")));
    expect(await runs.list(thread_id)).toHaveLength(6);
    expect(made).toHaveLength(5);
    gates.open("crowd");
    const [newest] = await runs.list(thread_id, { limit: 1 });
    expect(await runs.join(thread_id, newest!.run_id)).toMatchObject({ name: "crowd" });
  });
});

test("§8.8: the default is to wait in line; a busy thread is 409 with reject, a missing one 404", async () => {
  const { runs } = server.client;
  const thread_id = await newThread();
  const first = await running(thread_id, "default");
  const second = await runs.create(thread_id, "counter", { input: {} });
  expect(second.multitask_strategy).toBe("enqueue");
  const path = `/threads/${thread_id}/runs`;
  const body = { assistant_id: "counter", input: {}, multitask_strategy: "reject" };
  expect(await call(server.url, "POST", path, { body })).toMatchObject({
    status: 409,
    json: { detail: expect.stringContaining("already running") },
  });
  const missing = `/threads/${crypto.randomUUID()}/runs`;
  expect(await call(server.url, "POST", missing, { body })).toMatchObject({
    status: 404,
    json: { detail: expect.stringContaining("not found") },
  });
  gates.open("default");
  await runs.join(thread_id, second.run_id);
  expect(await statusOf(first)).toBe("success");
});

test.each(["0", "false"])("§8.9: cancel?wait=%s does not wait", async (wait) => {
  const thread_id = await newThread();
  const run = await running(thread_id, `wait-${wait}`);
  const path = `/threads/${thread_id}/runs/${run.run_id}/cancel`;
  expect((await call(server.url, "POST", `${path}?wait=${wait}`)).status).toBe(202);
  await server.client.runs.join(thread_id, run.run_id);
  expect((await call(server.url, "POST", `${path}?wait=${wait}`)).status).toBe(409);
  gates.open(`wait-${wait}`);
});

test("§8.10: every refusal is {detail} in JSON", async () => {
  const thread_id = await newThread();
  const runs = `/threads/${thread_id}/runs`;
  const answers = await Promise.all([
    call(server.url, "POST", runs, { body: "{not json" }),
    call(server.url, "POST", runs, { body: { assistant_id: 1 } }),
    call(server.url, "POST", runs, { body: { assistant_id: "counter", stream_mode: "nothing" } }),
    call(server.url, "POST", runs, { body: { assistant_id: "counter", multitask_strategy: "x" } }),
    call(server.url, "POST", runs, { body: { assistant_id: "counter", after_seconds: -1 } }),
    call(server.url, "POST", "/threads/not-a-uuid/runs", { body: { assistant_id: "counter" } }),
    call(server.url, "GET", `${runs}?limit=0`),
    call(server.url, "GET", `${runs}?status=asleep`),
    call(server.url, "GET", `${runs}?select=password`),
    call(server.url, "GET", `${runs}/${crypto.randomUUID()}`),
    call(server.url, "GET", `${runs}/${crypto.randomUUID()}/join`),
    call(server.url, "GET", `${runs}/${crypto.randomUUID()}/stream`),
    call(server.url, "POST", `${runs}/${crypto.randomUUID()}/cancel`),
    call(server.url, "DELETE", `${runs}/${crypto.randomUUID()}`),
    call(server.url, "GET", "/runs/search"),
  ]);
  const statuses = [400, 422, 422, 422, 422, 422, 422, 422, 422, 404, 404, 404, 404, 404, 404];
  expect(answers.map(({ status }) => status)).toEqual(statuses);
  for (const { headers, json } of answers) {
    expect(headers["content-type"]).toBe("application/json");
    expect(json).toEqual({ detail: expect.stringMatching(/./) });
  }
});

describe("§8.11: wait and join", () => {
  test("answer with JSON: the state and what it waits for, or the error, once encoded and also later", async () => {
    const { runs } = server.client;
    const thread_id = await newThread();
    const wait = (body: object) => call(server.url, "POST", `/threads/${thread_id}/runs/wait`, { body });
    const asked = await wait({ assistant_id: "approval", input: { topic: "tea" } });
    expect(asked.headers["content-type"]).toBe("application/json");
    expect(asked.json).toMatchObject({ topic: "tea", __interrupt__: [{ value: { question: "Do tea?" } }] });
    const failed = await wait({ assistant_id: "failing", input: { how: "class" } });
    expect(failed.json).toEqual({ __error__: { error: "PaymentRefused", message: "the card has expired" } });
    const [run] = await runs.list(thread_id, { status: "error" });
    expect(await runs.join(thread_id, run!.run_id)).toEqual(failed.json);
  });

  test("of a run that others followed: join gives its own values", async () => {
    const { runs } = server.client;
    const thread_id = await newThread();
    const first = await runs.wait(thread_id, "counter", { input: {} });
    const second = await runs.wait(thread_id, "counter", { input: {} });
    const [later, earlier] = await runs.list(thread_id);
    expect(await runs.join(thread_id, earlier!.run_id)).toEqual(first);
    expect(await runs.join(thread_id, later!.run_id)).toEqual(second);
    expect(first).not.toEqual(second);
  });

  test("a run that takes long: headers and newlines come before the JSON", async () => {
    const clock = new TestClock(Date.now());
    const up = await startTestServer({ cwd: RUNS_PROJECT, clock });
    onTestFinished(async () => void (await up.stop()));
    const { thread_id } = await clientOf(up.url).threads.create();
    const opening = open(up.url, "POST", `/threads/${thread_id}/runs/wait`, {
      body: { assistant_id: "gated", ...gated("long") },
    });
    await gates.entered("long");
    await clock.advance(1000);
    const response = await opening;
    expect(response.headers["content-type"]).toBe("application/json");
    const chunks = response.setEncoding("utf8")[Symbol.asyncIterator]();
    expect((await chunks.next()).value).toBe("\n");
    await clock.advance(5000);
    expect((await chunks.next()).value).toBe("\n");
    gates.open("long");
    let text = "";
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) text += next.value as string;
    expect(JSON.parse(text)).toMatchObject({ log: ["first long", "second long"] });
  });
});

test("§8.14: pages of the list are pages", async () => {
  const { runs } = server.client;
  const thread_id = await newThread();
  for (let i = 0; i < 5; i++) {
    const how = i % 2 === 0 ? "never" : "plain";
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await runs.wait(thread_id, i === 2 ? "counter" : "failing", {
      // The status of another run stands in this one's input.
      input: { how, note: '"status":"pending" "status":"success"' },
      metadata: { i },
      raiseError: false,
    });
  }
  const last = await running(thread_id, "page");
  const waiting = await runs.create(thread_id, "counter", { input: {}, metadata: { i: 6 } });
  const numbers = async (query: Parameters<typeof runs.list>[1]): Promise<unknown[]> =>
    (await runs.list(thread_id, query)).map(({ metadata }) => (metadata as { i?: number }).i);
  expect(await numbers({ limit: 3, offset: 0 })).toEqual([6, undefined, 4]);
  expect(await numbers({ limit: 3, offset: 3 })).toEqual([3, 2, 1]);
  expect(await numbers({ limit: 3, offset: 6 })).toEqual([0]);
  expect(await numbers({ limit: 3, offset: 7 })).toEqual([]);
  expect(await numbers({ status: "success" })).toEqual([2]);
  expect(await numbers({ status: "error", limit: 2, offset: 1 })).toEqual([3, 1]);
  expect(await numbers({ status: "running" })).toEqual([undefined]);
  expect(await numbers({ status: "pending" })).toEqual([6]);
  expect(await numbers({ status: "pending", offset: 1 })).toEqual([]);
  const [selected] = await runs.list(thread_id, { status: "pending", select: ["run_id", "kwargs", "created_at"] });
  expect(Object.keys(selected!).toSorted()).toEqual(["created_at", "kwargs", "run_id"]);
  gates.open("page");
  await runs.join(thread_id, waiting.run_id);
  expect(await statusOf(last)).toBe("success");
});

describe("§8.21: after a cancel", () => {
  test("the thread keeps its values and says that there is more to do", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    const run = await running(thread_id, "keep-values");
    await runs.cancel(thread_id, run.run_id, true);
    const thread = await threads.get(thread_id);
    expect([thread.status, thread.values]).toMatchObject(["interrupted", { log: ["first keep-values"] }]);
    expect((await threads.getState(thread_id)).next).toEqual(["second"]);
    expect((await threads.getHistory(thread_id, { limit: 10 })).length).toBeGreaterThan(1);
    gates.open("keep-values");
  });

  test("of a run that had not begun, the thread is what it was before", async () => {
    const { runs, threads } = server.client;
    const look = async (threadId: string): Promise<unknown> => {
      const { status, values, interrupts, error } = (await threads.get(threadId)) as unknown as Record<string, unknown>;
      return { status, values, interrupts, error };
    };
    const interrupted = await newThread();
    await runs.wait(interrupted, "counter", { input: {}, interruptBefore: ["ten"] });
    const failed = await newThread();
    await runs.wait(failed, "failing", { input: { how: "class" }, raiseError: false });
    for (const thread_id of [interrupted, failed]) {
      for (const action of ["interrupt", "rollback"] as const) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const before = await look(thread_id);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const run = await runs.create(thread_id, "counter", { input: {}, afterSeconds: 3600 });
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const behind = await runs.create(thread_id, "counter", { input: {}, afterSeconds: 3600 });
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        expect((await threads.get(thread_id)).status).toBe("busy");
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await runs.cancel(thread_id, run.run_id, true, action);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await runs.cancel(thread_id, behind.run_id, true, action);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        expect(await look(thread_id)).toEqual(before);
      }
    }
  });
});

describe("§8.22: without a thread", () => {
  test("a graph may ask", async () => {
    const values = await server.client.runs.wait(null, "approval", { input: { topic: "tea" } });
    expect(values).toMatchObject({ log: ["planned tea"], __interrupt__: [{ value: { question: "Do tea?" } }] });
  });

  test.each(["stream", "wait"])("a client that leaves %s takes the run along if it asked for that", async (kind) => {
    const { client, url } = server;
    const name = `leave-${kind}`;
    const controller = new AbortController();
    const answered = fetch(`${url}/runs/${kind}`, {
      method: "POST",
      body: JSON.stringify({
        assistant_id: "gated",
        ...gated(name),
        on_completion: "keep",
        on_disconnect: "cancel",
        metadata: { name },
      }),
      signal: controller.signal,
    });
    await gates.entered(name);
    const [thread] = await client.threads.search({ metadata: { name } });
    const [run] = await client.runs.list(thread!.thread_id);
    const joined = client.runs.join(run!.thread_id, run!.run_id);
    if (kind === "stream") await answered;
    controller.abort();
    await answered.catch(() => undefined);
    expect(await joined).toMatchObject({ log: [`first ${name}`] });
    expect(await statusOf(run!)).toBe("interrupted");
    gates.open(name);
  });
});

test("§8.26: feedback_keys without LangSmith: no event, no delay, no difference", async () => {
  const { runs } = server.client;
  const thread_id = await newThread();
  const payload = { input: {}, feedbackKeys: ["user_score"] };
  const events = await collect(runs.stream(thread_id, "counter", payload));
  expect(new Set(events.map(({ event }) => event))).toEqual(new Set(["metadata", "values"]));
  const values = await runs.wait(thread_id, "counter", payload as never);
  expect(values).not.toHaveProperty("__feedback__");
  const all = await runs.list(thread_id);
  expect(all.map(({ status }) => status)).toEqual(["success", "success"]);
});

test("§8.28: deleting threads with runs on them leaves every place free", async () => {
  const other = await startTestServer({ cwd: RUNS_PROJECT, jobs: 2, persist: false });
  try {
    const { runs, threads } = clientOf(other.url);
    for (const name of ["place-1", "place-2", "place-3"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { thread_id } = await threads.create();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const run = await runs.create(thread_id, "gated", gated(name, { deaf: true }));
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await runs.create(thread_id, "gated", gated(`${name}-behind`));
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await gates.entered(name);
      const joined = runs.join(thread_id, run.run_id);
      const streamed = collect(runs.joinStream(thread_id, run.run_id));
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await open(other.url, "GET", `/threads/${thread_id}/runs/${run.run_id}/stream`);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await threads.delete(thread_id);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await joined).toEqual({});
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await streamed;
      expect(gates.visits(`${name}-behind`)).toBe(0);
    }
    expect(await runs.wait(null, "counter", { input: {} })).toMatchObject({ total: 111 });
    expect(other.events.filter(({ type }) => type === "log")).toEqual([]);
    for (const name of ["place-1", "place-2", "place-3"]) gates.open(name);
  } finally {
    await other.stop();
  }
});

test("§8.30: what waited when the server stopped runs when it starts again; a delay goes on, and can be cancelled", async () => {
  const dataDir = temporaryFolder();
  try {
    const first = await startTestServer({ cwd: RUNS_PROJECT, dataDir });
    const client = clientOf(first.url);
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, "gated", gated("restart"));
    await gates.entered("restart");
    const behind = await client.runs.create(thread_id, "counter", { input: {} });
    const elsewhere = await client.threads.create();
    const delayed = await client.runs.create(elsewhere.thread_id, "counter", { input: {}, afterSeconds: 3600 });
    // When it is made, and not when it is to begin.
    expect(Date.parse(delayed.created_at)).toBeLessThan(Date.now() + 1_800_000);
    const stopped = first.stop();
    gates.open("restart");
    await stopped;
    const second = await startTestServer({ cwd: RUNS_PROJECT, dataDir });
    try {
      const { runs, threads } = clientOf(second.url);
      expect(await runs.join(thread_id, behind.run_id)).toMatchObject({ total: 111 });
      expect((await runs.get(thread_id, run.run_id)).status).toBe("success");
      expect((await threads.get(thread_id)).status).toBe("idle");
      const later = await runs.get(elsewhere.thread_id, delayed.run_id);
      expect([later.status, later.created_at]).toEqual(["pending", delayed.created_at]);
      expect((await threads.get(elsewhere.thread_id)).status).toBe("busy");
      const reject = { input: {}, multitaskStrategy: "reject" } as const;
      await expect(runs.create(elsewhere.thread_id, "counter", reject)).rejects.toMatchObject({ status: 409 });
      await runs.cancel(elsewhere.thread_id, delayed.run_id, true);
      expect((await runs.get(elsewhere.thread_id, delayed.run_id)).status).toBe("interrupted");
      expect((await threads.get(elsewhere.thread_id)).status).toBe("idle");
    } finally {
      await second.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
