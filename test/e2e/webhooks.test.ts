// Webhooks that arrive: what is sent, from every operation, whatever the end of the run, and what is refused.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { call } from "./support/http.ts";
import { useGates } from "./support/gates.ts";
import { startReceiver, type Receiver } from "./support/receiver.ts";
import { useServer } from "./support/server.ts";

const server = useServer();
const gates = useGates();
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());
beforeEach(() => {
  (receiver.hooks as unknown[]).length = 0;
  receiver.react = () => ({ status: 200 });
});

const input = { messages: [{ role: "user", content: "hello" }] };
const hookUrl = (path = "/hook"): string => `${receiver.url}${path}`;
const newThread = async (): Promise<string> => (await server.client.threads.create()).thread_id;

test("sends the run as JSON, with its kwargs, times, values, and messages in wire form", async () => {
  const thread = await newThread();
  const run = await server.client.runs.create(thread, "echo", {
    input,
    metadata: { project: "x" },
    config: { configurable: { tone: "dry" } },
    webhook: hookUrl("/hook?token=a%20b"),
  });
  const [hook] = await receiver.received(1);
  expect(hook!.path).toBe("/hook?token=a%20b");
  expect(hook!.headers["content-type"]).toBe("application/json");
  expect(hook!.headers["webhook-id"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(hook!.run).toMatchObject({
    run_id: run.run_id,
    thread_id: thread,
    assistant_id: run.assistant_id,
    status: "success",
    error: null,
    metadata: { project: "x", graph_id: "echo" },
    kwargs: { input, config: { configurable: { tone: "dry" } }, webhook: hookUrl("/hook?token=a%20b") },
    multitask_strategy: "enqueue",
  });
  const { values, run_started_at, run_ended_at, webhook_sent_at, created_at } = hook!.run as Record<string, string>;
  expect((values as unknown as { messages: object[] }).messages[0]).toMatchObject({ type: "human", content: "hello" });
  const times = [created_at, run_started_at, run_ended_at, webhook_sent_at].map((time = "") => {
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/);
    return Date.parse(time);
  });
  expect(times[2]).toBeGreaterThanOrEqual(times[1]!);
  expect(times[3]).toBeGreaterThanOrEqual(times[2]!);
  // Sent after the final status was stored.
  expect(await server.client.runs.get(thread, run.run_id)).toMatchObject({ status: "success" });
});

describe("is accepted by every operation that creates runs", () => {
  test.each(["/threads/:t/runs", "/threads/:t/runs/stream", "/threads/:t/runs/wait", "/thread/:t/runs/wait"])(
    "POST %s",
    async (path) => {
      const thread = await newThread();
      const body = { assistant_id: "echo", input, webhook: hookUrl() };
      expect((await call(server.url, "POST", path.replace(":t", thread), { body })).status).toBe(200);
      const [hook] = await receiver.received(1);
      expect(hook!.run).toMatchObject({ thread_id: thread, status: "success" });
    },
  );

  test.each(["/runs", "/runs/stream", "/runs/wait"])(
    "POST %s: values are there although nothing is kept",
    async (path) => {
      const body = { assistant_id: "echo", input, webhook: hookUrl() };
      expect((await call(server.url, "POST", path, { body })).status).toBe(200);
      const [hook] = await receiver.received(1);
      expect(hook!.run).toMatchObject({ status: "success", kwargs: { temporary: true } });
      expect(JSON.stringify(hook!.run["values"])).toContain("hello");
    },
  );

  test("POST /runs/batch", async () => {
    const body = [1, 2, 3].map(() => ({ assistant_id: "echo", input, webhook: hookUrl() }));
    const { json } = await call(server.url, "POST", "/runs/batch", { body });
    const hooks = await receiver.received(3);
    const ids = (json as { run_id: string }[]).map(({ run_id }) => run_id);
    expect(hooks.map(({ run }) => run["run_id"]).toSorted()).toEqual(ids.toSorted());
  });
});

describe("is sent whatever the end of the run", () => {
  test("error, with what went wrong and the state so far", async () => {
    await server.client.runs.create(await newThread(), "failing", { input: { how: "class" }, webhook: hookUrl() });
    const [hook] = await receiver.received(1);
    expect(hook!.run).toMatchObject({
      status: "error",
      error: { error: "PaymentRefused", message: "the card has expired" },
      values: { steps: 1 },
    });
  });

  test("cancelled", async () => {
    const thread = await newThread();
    const run = await server.client.runs.create(thread, "gated", {
      input: { name: "a", gate: gates.url("cancelled") },
      webhook: hookUrl(),
    });
    await gates.entered("cancelled");
    await server.client.runs.cancel(thread, run.run_id, true, "interrupt");
    const [hook] = await receiver.received(1);
    expect(hook!.run).toMatchObject({ status: "interrupted", values: { log: ["first a"] } });
  });

  test("stopped at an interrupt", async () => {
    await server.client.runs.create(await newThread(), "approval", { input: { topic: "it" }, webhook: hookUrl() });
    const [hook] = await receiver.received(1);
    expect(hook!.run).toMatchObject({ status: "success", values: { log: ["planned it"] } });
  });

  test("but not for a run that was rolled back", async () => {
    const thread = await newThread();
    const first = { input: { name: "a", gate: gates.url("rolled back") }, webhook: hookUrl("/first") };
    await server.client.runs.create(thread, "gated", first);
    await gates.entered("rolled back");
    await server.client.runs.wait(thread, "gated", {
      input: { name: "b" },
      webhook: hookUrl("/second"),
      multitaskStrategy: "rollback",
    });
    const [hook] = await receiver.received(1);
    expect(hook!.path).toBe("/second");
    const { json } = await call(server.url, "GET", "/internal/webhooks?limit=1000");
    expect((json as { url: string }[]).map(({ url }) => url)).not.toContain(hookUrl("/first"));
  });
});

test("a path calls this server itself", async () => {
  const thread = await newThread();
  await server.client.runs.wait(thread, "echo", { input, webhook: "/store/namespaces" });
  await expect
    .poll(async () => ((await call(server.url, "GET", "/internal/webhooks?limit=1")).json as { status: string }[])[0])
    .toMatchObject({ url: "/store/namespaces", status: "delivered", attempts: [{ status: 200 }] });
});

test.each(["ftp://example.com/", "example.com", "//example.com", "", "http://"])(
  "%j is refused, and nothing is created",
  async (webhook) => {
    const thread = await newThread();
    const body = { assistant_id: "echo", input, webhook };
    for (const path of [
      `/threads/${thread}/runs`,
      `/threads/${thread}/runs/wait`,
      `/threads/${thread}/runs/stream`,
      "/runs",
      "/runs/wait",
    ]) {
      const answer = await call(server.url, "POST", path, { body });
      expect([path, answer.status]).toEqual([path, 422]);
      expect((answer.json as { detail: string }).detail).toMatch(/webhook/i);
    }
    expect(await server.client.runs.list(thread)).toEqual([]);
    expect(await server.client.threads.get(thread)).toMatchObject({ status: "idle" });
  },
);

describe("what was delivered", () => {
  test("is listed, shown and sent once more under a new id", async () => {
    await server.client.runs.wait(await newThread(), "echo", { input, webhook: hookUrl() });
    const [hook] = await receiver.received(1);
    const id = hook!.headers["webhook-id"] as string;
    await expect
      .poll(async () => (await call(server.url, "GET", `/internal/webhooks/${id}`)).json)
      .toMatchObject({ status: "delivered", attempt_count: 1, body: { run_id: hook!.run["run_id"] } });
    const { status, json } = await call(server.url, "POST", `/internal/webhooks/${id}/replay`);
    expect(status).toBe(200);
    const [, again] = await receiver.received(2);
    expect(again!.headers["webhook-id"]).toBe((json as { delivery_id: string }).delivery_id);
    expect(again!.headers["webhook-id"]).not.toBe(id);
    expect(again!.run["run_id"]).toBe(hook!.run["run_id"]);
    expect(json).toMatchObject({ replay_of: id });
    const { json: ofRun } = await call(server.url, "GET", `/internal/webhooks?run_id=${String(hook!.run["run_id"])}`);
    expect(ofRun).toHaveLength(2);
  });

  test("unknown ids are 404", async () => {
    const id = "00000000-0000-4000-8000-000000000000";
    expect((await call(server.url, "GET", `/internal/webhooks/${id}`)).status).toBe(404);
    expect((await call(server.url, "POST", `/internal/webhooks/${id}/replay`)).status).toBe(404);
  });
});

test("what was sent about a thread goes with it", async () => {
  const thread = await newThread();
  await server.client.runs.wait(thread, "echo", { input, webhook: hookUrl() });
  const [hook] = await receiver.received(1);
  const path = `/internal/webhooks/${String(hook!.headers["webhook-id"])}`;
  await expect.poll(async () => (await call(server.url, "GET", path)).json).toMatchObject({ status: "delivered" });
  await server.client.threads.delete(thread);
  expect((await call(server.url, "GET", path)).status).toBe(404);
});

test("a thread that is deleted meanwhile does not hold the delivery up", async () => {
  const thread = await newThread();
  let release!: () => void;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  receiver.react = async () => {
    await held;
    return { status: 503 };
  };
  await server.client.runs.wait(thread, "echo", { input, webhook: hookUrl() });
  const [hook] = await receiver.received(1);
  await server.client.threads.delete(thread);
  receiver.react = () => ({ status: 200 });
  release();
  const [, again] = await receiver.received(2);
  expect(again!.headers["webhook-id"]).toBe(hook!.headers["webhook-id"]);
  expect(again!.run["values"]).toEqual(hook!.run["values"]);
});
