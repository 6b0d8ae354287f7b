// Many runs with one request, through the official client: created all together or not at all, and stopped by status or by name.
import type { Client, Run } from "@langchain/langgraph-sdk";
import { describe, expect, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { call } from "./support/http.ts";
import { clientOf, startTestServer, useServer } from "./support/server.ts";

const server = useServer();
const gates = useGates();

const newThread = async (): Promise<string> => (await server.client.threads.create()).thread_id;
const gated = (name: string) => ({ input: { name, gate: gates.url(name) } });
const statusOf = async (run: Run): Promise<string> => (await server.client.runs.get(run.thread_id, run.run_id)).status;

/** A run that stands at its gate. */
async function running(threadId: string, name: string): Promise<Run> {
  const run = await server.client.runs.create(threadId, "gated", gated(name));
  await gates.entered(name);
  return run;
}

/** A server of its own for tests that stop everything there is. */
async function alone(jobs: number, use: (client: Client) => Promise<void>): Promise<void> {
  const other = await startTestServer({ persist: false, jobs });
  try {
    await use(clientOf(other.url));
  } finally {
    await other.stop();
  }
}

describe("createBatch", () => {
  test("starts every run of the list, in its order", async () => {
    const { client } = server;
    const before = await client.threads.count({});
    const made = await client.runs.createBatch([
      { assistantId: "gated", ...gated("batch-a"), metadata: { place: 0 } },
      { assistantId: "gated", ...gated("batch-b"), metadata: { place: 1 } },
    ]);
    expect(made.map(({ metadata }) => (metadata as { place: number }).place)).toEqual([0, 1]);
    expect(made.map(({ status }) => status)).toEqual(["pending", "pending"]);
    expect(new Set(made.map(({ thread_id }) => thread_id)).size).toBe(2);
    await Promise.all([gates.entered("batch-a"), gates.entered("batch-b")]);
    const joined = made.map((run) => client.runs.join(run.thread_id, run.run_id));
    gates.open("batch-a");
    gates.open("batch-b");
    expect(await Promise.all(joined)).toMatchObject([
      { log: ["first batch-a", "second batch-a"] },
      { log: ["first batch-b", "second batch-b"] },
    ]);
    expect(await client.threads.count({})).toBe(before);
  });

  test("says pending of runs that find no place", async () => {
    await alone(1, async (client) => {
      const made = await client.runs.createBatch([
        { assistantId: "gated", ...gated("narrow-a") },
        { assistantId: "gated", ...gated("narrow-b") },
      ]);
      await gates.entered("narrow-a");
      const status = async (run: Run): Promise<string> => (await client.runs.get(run.thread_id, run.run_id)).status;
      expect(await Promise.all(made.map(status))).toEqual(["running", "pending"]);
      gates.open("narrow-a");
      await gates.entered("narrow-b");
      expect(await status(made[1]!)).toBe("running");
      const joined = client.runs.join(made[1]!.thread_id, made[1]!.run_id);
      gates.open("narrow-b");
      await joined;
    });
  });

  test("creates nothing when one of them cannot be created", async () => {
    const before = await server.client.threads.count({});
    const good = { assistant_id: "gated", ...gated("batch-never") };
    const post = (body: unknown, headers = {}) => call(server.url, "POST", "/runs/batch", { body, headers });
    expect(await post([good, { assistant_id: "nobody" }])).toMatchObject({
      status: 404,
      json: { detail: expect.stringContaining("nobody") },
    });
    expect(await post([good, { input: {} }])).toMatchObject({
      status: 422,
      json: { detail: expect.stringContaining("1.assistant_id") },
    });
    expect((await post([])).status).toBe(422);
    expect((await post(good)).status).toBe(422);
    expect((await post(Array.from({ length: 1001 }, () => good))).status).toBe(422);
    expect(await post([good], { "idempotency-key": "a" })).toMatchObject({
      status: 422,
      json: { detail: expect.stringContaining("Idempotency-Key") },
    });
    expect(await server.client.threads.count({})).toBe(before);
    expect(gates.visits("batch-never")).toBe(0);
  });
});

describe("cancelMany", () => {
  test("stops the named runs of a thread, waiting and running, and leaves the others", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    const first = await running(thread_id, "many-first");
    const second = await runs.create(thread_id, "gated", gated("many-second"));
    const third = await runs.create(thread_id, "gated", gated("many-third"));
    const other = await running(await newThread(), "many-other");
    const unknown = crypto.randomUUID();
    await runs.cancelMany({ threadId: thread_id, runIds: [first.run_id, third.run_id, other.run_id, unknown] });
    expect([await statusOf(first), await statusOf(third)]).toEqual(["interrupted", "interrupted"]);
    expect(await statusOf(other)).toBe("running");
    await gates.entered("many-second");
    expect(await statusOf(second)).toBe("running");
    expect(gates.visits("many-third")).toBe(0);
    gates.open("many-second");
    await runs.join(thread_id, second.run_id);
    expect((await threads.get(thread_id)).status).toBe("idle");
    gates.open("many-other");
    await runs.join(other.thread_id, other.run_id);
  });

  test("rolls back when asked to", async () => {
    const { runs, threads } = server.client;
    const thread_id = await newThread();
    await runs.wait(thread_id, "counter", { input: {} });
    const before = await threads.getState(thread_id);
    const first = await running(thread_id, "many-back");
    const second = await runs.create(thread_id, "gated", gated("many-back-waits"));
    await runs.cancelMany({ threadId: thread_id, runIds: [first.run_id, second.run_id], action: "rollback" });
    await expect(runs.get(thread_id, first.run_id)).rejects.toMatchObject({ status: 404 });
    await expect(runs.get(thread_id, second.run_id)).rejects.toMatchObject({ status: 404 });
    expect(await threads.getState(thread_id)).toEqual(before);
    expect((await threads.get(thread_id)).status).toBe("idle");
    expect(gates.visits("many-back-waits")).toBe(0);
  });

  test("stops by status, over all threads", async () => {
    await alone(1, async (client) => {
      const create = async (name: string): Promise<Run> =>
        client.runs.create((await client.threads.create()).thread_id, "gated", gated(name));
      const status = async (run: Run): Promise<string> => (await client.runs.get(run.thread_id, run.run_id)).status;
      const first = await create("status-first");
      await gates.entered("status-first");
      const waiting = [await create("status-second"), await create("status-third")];
      await client.runs.cancelMany({ status: "pending" });
      expect(await Promise.all(waiting.map(status))).toEqual(["interrupted", "interrupted"]);
      expect(await status(first)).toBe("running");
      const fourth = await create("status-fourth");
      await client.runs.cancelMany({ status: "running" });
      expect(await status(first)).toBe("interrupted");
      await gates.entered("status-fourth");
      const fifth = await create("status-fifth");
      await client.runs.cancelMany({ status: "all" });
      expect([await status(fourth), await status(fifth)]).toEqual(["interrupted", "interrupted"]);
      // Nobody took the place that became free while all were being stopped.
      expect(gates.visits("status-fifth")).toBe(0);
      await expect(client.runs.cancelMany({ status: "all" })).rejects.toMatchObject({ status: 404 });
    });
  });

  test("answers 404 when there is nothing, 409 when all have ended, 422 when it is not clear what to stop", async () => {
    const { runs } = server.client;
    const thread_id = await newThread();
    await runs.wait(thread_id, "counter", { input: {} });
    const [ended] = await runs.list(thread_id);
    const cancel = async (body: unknown, query = ""): Promise<number> =>
      (await call(server.url, "POST", `/runs/cancel${query}`, { body })).status;
    const run_ids = [crypto.randomUUID()];
    expect(await cancel({ thread_id, run_ids })).toBe(404);
    expect(await cancel({ thread_id: crypto.randomUUID(), run_ids })).toBe(404);
    expect(await cancel({ thread_id: await newThread(), run_ids: [ended!.run_id] })).toBe(404);
    expect(await cancel({ thread_id, run_ids: [...run_ids, ended!.run_id] })).toBe(409);
    const unclear = [
      {},
      { thread_id },
      { run_ids },
      { thread_id, run_ids: [] },
      { thread_id, run_ids: ["x"] },
      { status: "success" },
      { status: "all", thread_id, run_ids },
    ];
    for (const body of unclear) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await cancel(body), JSON.stringify(body)).toBe(422);
    }
    expect(await cancel({ thread_id, run_ids }, "?action=explode")).toBe(422);
  });
});
