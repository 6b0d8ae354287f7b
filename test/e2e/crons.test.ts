// Crons through the official SDK, on the test's own clock.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "@langchain/langgraph-sdk";
import { TestClock } from "../../src/clock.ts";
import { projectWith } from "./support/config.ts";
import { call } from "./support/http.ts";
import { startReceiver } from "./support/receiver.ts";
import { clientOf, startTestServer, type TestServer } from "./support/server.ts";

let clock: TestClock;
let server: TestServer;
let client: Client;
let folder: string;

const MINUTE = 60_000;
const NOW = "2026-03-01T00:00:30Z";
const input = { messages: [{ role: "user", content: "hello" }] };

beforeEach(async () => {
  clock = new TestClock(NOW);
  folder = projectWith({});
  await start();
});
afterEach(() => server.stop());

async function start(): Promise<void> {
  server = await startTestServer({ cwd: folder, dataDir: `${folder}/state`, clock });
  client = clientOf(server.url);
}

/** Threads that runs of a cron have left. */
const threadsOf = async (cronId: string): Promise<{ thread_id: string }[]> =>
  client.threads.search({ metadata: { cron_id: cronId }, limit: 1000 });

describe("every method of the SDK", () => {
  test("crons.create: all fields, with their defaults", async () => {
    const cron = await client.crons.create("echo", { schedule: "0 9 * * 1-5", input, metadata: { team: "a" } });
    expect(cron).toMatchObject({
      thread_id: null,
      schedule: "0 9 * * 1-5",
      timezone: null,
      end_time: null,
      enabled: true,
      on_run_completed: "delete",
      user_id: null,
      metadata: { team: "a" },
      next_run_date: "2026-03-02T09:00:00.000000+00:00",
      payload: { input, schedule: "0 9 * * 1-5", assistant_id: cron.assistant_id },
    });
    const [assistant] = await client.assistants.search({ graphId: "echo" });
    expect(cron.assistant_id).toBe(assistant!.assistant_id);
    expect((await call(server.url, "GET", `/runs/crons/${cron.cron_id}`)).json).toEqual(cron);
  });

  test("crons.createForThread", async () => {
    const { thread_id: thread } = await client.threads.create();
    const cron = await client.crons.createForThread(thread, "echo", { schedule: "* * * * *", input });
    expect(cron).toMatchObject({ thread_id: thread, on_run_completed: null });
  });

  test("crons.update: absent fields stay, metadata is merged, null clears", async () => {
    const { cron_id: id } = await client.crons.create("echo", {
      schedule: "0 9 * * *",
      input,
      metadata: { a: 1, b: 2 },
      endTime: "2026-12-31T00:00:00Z",
      timezone: "Europe/Zurich",
    });
    const first = await client.crons.update(id, { schedule: "0 10 * * *", metadata: { b: 3 } });
    expect(first).toMatchObject({
      schedule: "0 10 * * *",
      timezone: "Europe/Zurich",
      end_time: "2026-12-31T00:00:00.000+00:00",
      metadata: { a: 1, b: 3 },
      next_run_date: "2026-03-01T09:00:00.000000+00:00",
      payload: { input, schedule: "0 10 * * *" },
    });
    const { json } = await call(server.url, "PATCH", `/runs/crons/${id}`, { body: { end_time: null, timezone: null } });
    expect(json).toMatchObject({ end_time: null, timezone: null, next_run_date: "2026-03-01T10:00:00.000000+00:00" });
    expect((json as { payload: object }).payload).not.toHaveProperty("end_time");
    expect(await client.crons.update(id, { enabled: false })).toMatchObject({ enabled: false, next_run_date: null });
  });

  test("crons.search and crons.count: filters, order, select, pages", async () => {
    const made = [];
    for (const [minute, graph] of [
      [3, "echo"],
      [1, "echo"],
      [2, "counter"],
    ] as const) {
      made.push(await client.crons.create(graph, { schedule: `${minute} * * * *`, metadata: { minute } }));
    }
    const ids = made.map(({ cron_id }) => cron_id);
    expect((await client.crons.search()).map(({ cron_id }) => cron_id)).toEqual(ids.toReversed());
    const sorted = await client.crons.search({ sortBy: "next_run_date", sortOrder: "asc" });
    expect(sorted.map(({ schedule }) => schedule)).toEqual(["1 * * * *", "2 * * * *", "3 * * * *"]);
    expect(await client.crons.search({ assistantId: "counter" })).toHaveLength(1);
    expect(await client.crons.search({ metadata: { minute: 3 } } as never)).toHaveLength(1);
    expect(await client.crons.search({ limit: 1, offset: 2 })).toMatchObject([{ cron_id: ids[0] }]);
    expect(await client.crons.search({ select: ["cron_id", "schedule"], limit: 1 } as never)).toEqual([
      { cron_id: ids[2], schedule: "2 * * * *" },
    ]);
    expect(await client.crons.count()).toBe(3);
    expect(await client.crons.count({ assistantId: "echo" })).toBe(2);
    const page = await call(server.url, "POST", "/runs/crons/search", { body: { limit: 2 } });
    expect(page.headers["x-pagination-total"]).toBe("3");
    expect(page.headers["x-pagination-next"]).toBe("2");
  });

  test("crons.delete", async () => {
    const { cron_id: id } = await client.crons.create("echo", { schedule: "* * * * *", input });
    await client.crons.delete(id);
    expect((await call(server.url, "GET", `/runs/crons/${id}`)).status).toBe(404);
    await expect(client.crons.delete(id)).rejects.toThrow("404");
    await expect(client.crons.update(id, { enabled: true })).rejects.toThrow("404");
    await clock.advance(2 * MINUTE);
    expect(await client.threads.count()).toBe(0);
  });
});

describe("a firing", () => {
  test("of a stateless cron runs on a new thread, which goes or stays", async () => {
    const keep = await client.crons.create("echo", { schedule: "* * * * *", input, onRunCompleted: "keep" });
    const drop = await client.crons.create("echo", { schedule: "* * * * *", input, metadata: { team: "b" } });
    const ended = async (): Promise<string> => (await call(server.url, "GET", "/metrics")).text;
    await clock.advance(3 * MINUTE);
    await expect.poll(ended).toMatch(/status="success"[^\n]* 6\n/);
    expect(await threadsOf(drop.cron_id)).toEqual([]);
    await expect.poll(async () => (await client.threads.search({ status: "idle" })).length).toBe(3);
    const threads = await threadsOf(keep.cron_id);
    expect(threads).toHaveLength(3);
    const [run] = await client.runs.list(threads[0]!.thread_id);
    expect(run).toMatchObject({
      status: "success",
      metadata: { cron_id: keep.cron_id },
      assistant_id: keep.assistant_id,
    });
  });

  test("of a cron on a thread runs there, in order, with the same input", async () => {
    const { thread_id: thread } = await client.threads.create();
    const cron = await client.crons.createForThread(thread, "counter", {
      schedule: "* * * * *",
      input: {},
      metadata: { why: "test" },
    });
    await clock.advance(3 * MINUTE);
    await expect.poll(async () => (await client.runs.list(thread, { status: "success" })).length).toBe(3);
    for (const run of await client.runs.list(thread))
      expect(run.metadata).toMatchObject({ cron_id: cron.cron_id, why: "test" });
  });

  test("with reject on a busy thread is left out, and the next one runs", async () => {
    const gate = await startReceiver();
    try {
      const { thread_id: thread } = await client.threads.create();
      let release!: () => void;
      const held = new Promise<void>((resolve) => (release = resolve));
      gate.react = async () => {
        await held;
        return { status: 200 };
      };
      const busy = await client.runs.create(thread, "gated", { input: { name: "a", gate: gate.url } });
      await gate.received(1);
      await client.crons.createForThread(thread, "gated", {
        schedule: "* * * * *",
        input: { name: "cron" },
        multitaskStrategy: "reject",
      });
      await clock.advance(MINUTE);
      expect(await client.runs.list(thread)).toHaveLength(1);
      expect(JSON.stringify(server.events)).toContain("could not run: Thread is already running a task");
      release();
      await client.runs.join(thread, busy.run_id);
      await clock.advance(MINUTE);
      await expect.poll(async () => (await client.runs.list(thread, { status: "success" })).length).toBe(2);
    } finally {
      await gate.close();
    }
  });

  test("tells the webhook of the cron", async () => {
    const receiver = await startReceiver();
    try {
      const cron = await client.crons.create("echo", { schedule: "* * * * *", input, webhook: receiver.url });
      await clock.advance(MINUTE);
      const [hook] = await receiver.received(1);
      expect(hook!.run).toMatchObject({ status: "success", metadata: { cron_id: cron.cron_id } });
    } finally {
      await receiver.close();
    }
  });

  test("does not come while the cron is disabled, and comes again when it is enabled", async () => {
    const { cron_id: id } = await client.crons.create("echo", {
      schedule: "* * * * *",
      input,
      enabled: false,
      onRunCompleted: "keep",
    });
    await clock.advance(5 * MINUTE);
    expect(await threadsOf(id)).toEqual([]);
    await client.crons.update(id, { enabled: true });
    await clock.advance(MINUTE);
    await expect.poll(async () => (await threadsOf(id)).length).toBe(1);
  });

  test("can be asked for: run-now", async () => {
    const cron = await client.crons.create("echo", { schedule: "0 0 1 1 *", input, onRunCompleted: "keep" });
    const { status, json } = await call(server.url, "POST", `/internal/crons/${cron.cron_id}/run`);
    expect(status).toBe(200);
    const run = json as { run_id: string; thread_id: string };
    await client.runs.join(run.thread_id, run.run_id);
    expect(await client.runs.get(run.thread_id, run.run_id)).toMatchObject({
      status: "success",
      metadata: { cron_id: cron.cron_id },
    });
    expect((await call(server.url, "GET", `/runs/crons/${cron.cron_id}`)).json).toMatchObject({
      next_run_date: cron.next_run_date,
    });
  });

  test("runs with as much metadata as it may have", async () => {
    const metadata = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 1]));
    const cron = await client.crons.create("echo", { schedule: "0 0 1 1 *", input, metadata });
    const { json } = await call(server.url, "POST", `/internal/crons/${cron.cron_id}/run`);
    expect(json).toMatchObject({ metadata: { k9999: 1, cron_id: cron.cron_id } });
  });
});

test("a restart resumes the schedule; what was missed is left out and said", async () => {
  const cron = await client.crons.create("echo", { schedule: "0 * * * *", input, onRunCompleted: "keep" });
  await server.stop();
  await clock.advance(5 * 60 * MINUTE);
  await start();
  await expect.poll(() => JSON.stringify(server.events)).toContain(`Cron ${cron.cron_id} was to run at`);
  expect(await threadsOf(cron.cron_id)).toEqual([]);
  await clock.advance(60 * MINUTE);
  await expect.poll(async () => (await threadsOf(cron.cron_id)).length).toBe(1);
});

test("catch_up once: what was missed runs once at start", async () => {
  folder = projectWith({ agent_server: { crons: { catch_up: "once" } } });
  await server.stop();
  await start();
  const cron = await client.crons.create("echo", { schedule: "0 * * * *", input, onRunCompleted: "keep" });
  await server.stop();
  await clock.advance(5 * 60 * MINUTE);
  await start();
  await expect.poll(async () => (await threadsOf(cron.cron_id)).length).toBe(1);
});

describe("what does not fit is refused", () => {
  test.each([
    [{ schedule: "* * * * * *" }, 422, "there is no field for seconds"],
    [{ schedule: "whenever" }, 422, "five fields"],
    [{ schedule: "0 0 31 2 *" }, 422, "has no next date"],
    [{ schedule: "* * * * *", timezone: "Mars/Olympus" }, 422, "IANA name"],
    [{ schedule: "* * * * *", end_time: "soon" }, 422, "end_time"],
    [{ schedule: "* * * * *", assistant_id: "nobody" }, 404, 'No assistant found for "nobody"'],
    [{ schedule: "* * * * *", input: 1, webhook: "ftp://x/" }, 422, "http:// or https://"],
    [{}, 422, "schedule"],
  ])("%j", async (fields, status, detail) => {
    const answer = await call(server.url, "POST", "/runs/crons", { body: { assistant_id: "echo", ...fields } });
    expect(answer.status).toBe(status);
    expect((answer.json as { detail: string }).detail).toContain(detail);
    expect(await client.crons.count()).toBe(0);
  });

  test("a thread that is not there", async () => {
    const thread = "00000000-0000-4000-8000-000000000000";
    await expect(client.crons.createForThread(thread, "echo", { schedule: "* * * * *" })).rejects.toThrow("404");
  });

  test("a bad change leaves the cron as it was", async () => {
    const cron = await client.crons.create("echo", { schedule: "* * * * *", input });
    const answer = await call(server.url, "PATCH", `/runs/crons/${cron.cron_id}`, { body: { schedule: "nonsense" } });
    expect(answer.status).toBe(422);
    expect((await call(server.url, "GET", `/runs/crons/${cron.cron_id}`)).json).toEqual(cron);
  });
});

test("a change that is not about the schedule leaves what is due, and null takes the webhook away", async () => {
  const cron = await client.crons.create("echo", { schedule: "0 * * * *", input, webhook: "http://127.0.0.1:1/" });
  const other = await client.crons.update(cron.cron_id, { metadata: { a: 1 } });
  expect(other).toMatchObject({ next_run_date: cron.next_run_date, payload: { webhook: "http://127.0.0.1:1/" } });
  const { json } = await call(server.url, "PATCH", `/runs/crons/${cron.cron_id}`, { body: { webhook: null } });
  expect((json as { payload: object }).payload).not.toHaveProperty("webhook");
});

test("an end time that passes stops its own cron only", async () => {
  const ending = await client.crons.create("echo", {
    schedule: "* * * * *",
    input,
    endTime: "2026-03-01T00:02:30Z",
    onRunCompleted: "keep",
  });
  const going = await client.crons.create("echo", { schedule: "* * * * *", input, onRunCompleted: "keep" });
  await clock.advance(4 * MINUTE);
  await expect.poll(async () => (await threadsOf(going.cron_id)).length).toBe(4);
  expect(await threadsOf(ending.cron_id)).toHaveLength(2);
  expect((await call(server.url, "GET", `/runs/crons/${ending.cron_id}`)).json).toMatchObject({ next_run_date: null });
});
