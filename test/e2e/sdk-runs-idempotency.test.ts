// Idempotency-Key through the official client: a request that comes again gets the run that the first one made, whatever became
// of it and of the server meanwhile.
import { rmSync } from "node:fs";
import type { Client } from "@langchain/langgraph-sdk";
import { describe, expect, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { call, collect, frames } from "./support/http.ts";
import { clientOf, startTestServer, temporaryFolder, useServer } from "./support/server.ts";

const server = useServer();
const gates = useGates();

const newThread = async (): Promise<string> => (await server.client.threads.create()).thread_id;
const keyed = (key: string, url = server.url): Client => clientOf(url, { "idempotency-key": key });
const gated = (name: string) => ({ input: { name, gate: gates.url(name) } });
const post = (path: string, key: string, body: unknown) =>
  call(server.url, "POST", path, { body, headers: { "idempotency-key": key } });

describe("on a thread", () => {
  test("create answers with the same run, as it is by then", async () => {
    const thread_id = await newThread();
    const { runs } = keyed("create");
    const first = await runs.create(thread_id, "gated", gated("once"));
    await gates.entered("once");
    const again = await runs.create(thread_id, "gated", gated("once"));
    expect(again).toEqual({ ...first, status: "running", updated_at: again.updated_at });
    gates.open("once");
    await runs.join(thread_id, first.run_id);
    expect(await runs.create(thread_id, "gated", gated("once"))).toMatchObject({
      run_id: first.run_id,
      status: "success",
    });
    expect(await server.client.runs.list(thread_id)).toHaveLength(1);
    expect(gates.visits("once")).toBe(1);
  });

  test("wait answers with the result of that run, also when the thread has moved on", async () => {
    const thread_id = await newThread();
    const { runs } = keyed("wait");
    const values = await runs.wait(thread_id, "counter", { input: {} });
    expect(values).toMatchObject({ total: 111 });
    await server.client.runs.wait(thread_id, "counter", { input: {} });
    expect(await runs.wait(thread_id, "counter", { input: {} })).toEqual(values);
    expect((await server.client.threads.get(thread_id)).values).toMatchObject({ total: 222 });
    expect(await server.client.runs.list(thread_id)).toHaveLength(2);
  });

  test("stream joins that run from its first event, and ends at once when it has ended", async () => {
    const thread_id = await newThread();
    const path = `/threads/${thread_id}/runs/stream`;
    const headers = { "idempotency-key": "stream" };
    const body = { assistant_id: "gated", ...gated("stream-once"), stream_mode: "custom" };
    const first = await frames(server.url, "POST", path, { body, headers });
    await gates.entered("stream-once");
    const second = await frames(server.url, "POST", path, { body, headers });
    expect(second.headers["content-location"]).toBe(first.headers["content-location"]);
    gates.open("stream-once");
    const events = await first.all();
    expect(events.map(({ event }) => event)).toEqual(["metadata", "custom", "custom"]);
    expect(await second.all()).toEqual(events);
    const late = await (await frames(server.url, "POST", path, { body, headers })).all();
    expect(late[0]).toMatchObject({ event: "metadata", data: events[0]!.data });
    expect(await server.client.runs.list(thread_id)).toHaveLength(1);
  });

  test("requests at the same time make one run", async () => {
    const thread_id = await newThread();
    const { runs } = keyed("crowd");
    const ends = await Promise.all(Array.from({ length: 10 }, () => runs.wait(thread_id, "counter", { input: {} })));
    expect(new Set(ends.map((values) => JSON.stringify(values))).size).toBe(1);
    expect(await server.client.runs.list(thread_id)).toHaveLength(1);
  });

  test("a key is for one request: another body, thread or operation is 409", async () => {
    const thread_id = await newThread();
    const path = `/threads/${thread_id}/runs`;
    const body = { assistant_id: "counter", input: { total: 1, trail: ["a"] } };
    const first = await post(`${path}/wait`, "one request", body);
    expect(first.status).toBe(200);
    // The order of the fields does not matter, nor do fields that the server does not know.
    const same = { unknown: 1, input: { trail: ["a"], total: 1 }, assistant_id: "counter" };
    expect((await post(`${path}/wait`, "one request", same)).text).toBe(first.text);
    const other = { ...body, input: { total: 2, trail: ["a"] } };
    const refused = await post(`${path}/wait`, "one request", other);
    expect(refused).toMatchObject({ status: 409, json: { detail: expect.stringContaining("Idempotency-Key") } });
    expect((await post(path, "one request", body)).status).toBe(409);
    expect((await post(`/threads/${await newThread()}/runs/wait`, "one request", body)).status).toBe(409);
    expect((await post("/runs/wait", "one request", body)).status).toBe(409);
    expect(await server.client.runs.list(thread_id)).toHaveLength(1);
  });

  test("a request that was refused leaves its key free", async () => {
    const thread_id = await newThread();
    const path = `/threads/${thread_id}/runs/wait`;
    expect((await post(path, "free", { assistant_id: "nobody" })).status).toBe(404);
    expect((await post(path, "free", { assistant_id: "counter", input: {} })).json).toMatchObject({ total: 111 });
  });

  test("a run that was deleted is not made again", async () => {
    const thread_id = await newThread();
    const { runs } = keyed("deleted");
    const run = await runs.create(thread_id, "gated", gated("delete-once"));
    await gates.entered("delete-once");
    await runs.cancel(thread_id, run.run_id, true, "rollback");
    await expect(runs.create(thread_id, "gated", gated("delete-once"))).rejects.toMatchObject({ status: 404 });
    expect(gates.visits("delete-once")).toBe(1);
    gates.open("delete-once");
  });

  test("a key has 1 to 255 characters", async () => {
    const body = { assistant_id: "counter", input: {} };
    expect((await post("/runs/wait", "", body)).status).toBe(422);
    expect((await post("/runs/wait", "k".repeat(256), body)).status).toBe(422);
    expect((await post("/runs/wait", "k".repeat(255), body)).status).toBe(200);
  });
});

describe("without a thread", () => {
  test("wait gives its result again although nothing else is left of the run", async () => {
    const before = await server.client.threads.count({});
    const first = await keyed("stateless").runs.wait(null, "gated", { input: { name: "x" } });
    expect(await keyed("stateless").runs.wait(null, "gated", { input: { name: "x" } })).toEqual(first);
    const failing = { input: { how: "class" }, raiseError: false };
    const error = { __error__: { error: "PaymentRefused", message: "the card has expired" } };
    expect(await keyed("failing").runs.wait(null, "failing", failing)).toEqual(error);
    expect(await keyed("failing").runs.wait(null, "failing", failing)).toEqual(error);
    expect(await server.client.threads.count({})).toBe(before);
  });

  test("create gives its record again", async () => {
    const { runs } = keyed("stateless create");
    const run = await runs.create(null, "gated", gated("record"));
    await gates.entered("record");
    const joined = runs.join(run.thread_id, run.run_id);
    gates.open("record");
    await joined;
    expect(await runs.create(null, "gated", gated("record"))).toMatchObject({
      run_id: run.run_id,
      status: "success",
      kwargs: { input: gated("record").input },
    });
    expect(gates.visits("record")).toBe(1);
  });

  test("stream says how the run ended", async () => {
    const body = { assistant_id: "failing", input: { how: "class" } };
    const read = async () =>
      (await frames(server.url, "POST", "/runs/stream", { body, headers: { "idempotency-key": "sse" } })).all();
    const first = await read();
    expect(first.at(-1)).toMatchObject({ event: "error", data: { error: "PaymentRefused" } });
    const again = await read();
    expect([again[0]!.data, again.at(-1)!.data]).toEqual([first[0]!.data, first.at(-1)!.data]);
  });

  test("a result that is too large is not given again, and the run not made again", async () => {
    const body = { assistant_id: "gated", input: { name: "x".repeat(256 * 1024) } };
    expect((await post("/runs/wait", "large", body)).status).toBe(200);
    expect(await post("/runs/wait", "large", body)).toMatchObject({
      status: 409,
      json: { detail: expect.stringContaining("not kept") },
    });
  });
});

test("keys and results outlive a restart, and so does what was made with them", async () => {
  const dataDir = temporaryFolder();
  try {
    const first = await startTestServer({ dataDir });
    const done = await keyed("done", first.url).runs.wait(null, "counter", { input: {} });
    const { thread_id } = await clientOf(first.url).threads.create();
    const create = (url: string) => keyed("parked", url).runs.create(thread_id, "gated", gated("parked"));
    const blocker = await clientOf(first.url).runs.create(thread_id, "gated", gated("blocker"));
    await gates.entered("blocker");
    const run = await create(first.url);
    const stopped = first.stop();
    gates.open("blocker");
    await stopped;
    const second = await startTestServer({ dataDir });
    try {
      expect(await keyed("done", second.url).runs.wait(null, "counter", { input: {} })).toEqual(done);
      await gates.entered("parked");
      expect(await create(second.url)).toMatchObject({ run_id: run.run_id, status: "running" });
      gates.open("parked");
      const { runs } = clientOf(second.url);
      await runs.join(thread_id, run.run_id);
      expect((await runs.list(thread_id)).map(({ run_id }) => run_id)).toEqual([run.run_id, blocker.run_id]);
    } finally {
      await second.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test("without a key two requests are two runs", async () => {
  const thread_id = await newThread();
  const { runs } = server.client;
  await runs.wait(thread_id, "counter", { input: {} });
  await runs.wait(thread_id, "counter", { input: {} });
  expect(await runs.list(thread_id)).toHaveLength(2);
  expect(await collect(runs.stream(null, "counter", { input: {} }))).not.toEqual([]);
});
