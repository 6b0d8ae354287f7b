// Requests that are small on the wire and large in what they ask for: refused with a word, or answered like any other.
import { describe, expect, test } from "vitest";
import { call, type Answer } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer({ persist: false });
const send = (method: string, path: string, body: unknown): Promise<Answer> => call(server.url, method, path, { body });
const many = <T>(count: number, item: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => item(i));
const keys = (count: number): Record<string, number> => Object.fromEntries(many(count, (i) => [`k${i}`, 1]));
const newThread = async (metadata: object = {}): Promise<string> =>
  ((await send("POST", "/threads", { metadata })).json as { thread_id: string }).thread_id;
const RUN = { assistant_id: "counter", input: {} };

// As megabytes of text, each of these took gigabytes of memory.
test.each([
  ["/threads/prune", "thread_ids", {}],
  ["/threads/search", "ids", {}],
  ["/runs/cancel", "run_ids", { thread_id: crypto.randomUUID() }],
  ["/runs/wait", "interrupt_before", RUN],
  ["/runs/wait", "feedback_keys", RUN],
])("POST %s with a million wrong %s is refused at once", async (path, field, rest) => {
  const { status, json } = await send("POST", path, { ...rest, [field]: many(1_000_000, () => 1) });
  expect(status).toBe(422);
  expect((json as { detail: string }).detail.length).toBeLessThan(200);
});

test.each([
  ["parts", { message: { role: "ROLE_USER", messageId: "m", parts: many(300_000, () => 1) } }],
  [
    "output modes",
    {
      message: { role: "ROLE_USER", messageId: "m", parts: [{ text: "a" }] },
      configuration: { acceptedOutputModes: many(300_000, () => 1) },
    },
  ],
])("A2A with very many wrong %s is refused at once", async (_, params) => {
  const body = { jsonrpc: "2.0", id: 1, method: "SendMessage", params };
  const { json, text } = await send("POST", "/a2a/counter", body);
  expect(json).toMatchObject({ error: { code: -32_602 } });
  expect(text.length).toBeLessThan(500);
});

describe("metadata and settings", () => {
  const LIMIT = expect.stringContaining("has more than 10000 keys in all, or more than 1 MiB of JSON");
  const TOO_MANY = keys(10_001);
  const TOO_LONG = { text: "\u0000".repeat(180_000) };

  test.each([
    ["a thread", "POST", "/threads", (metadata: object) => ({ metadata })],
    ["an assistant", "POST", "/assistants", (metadata: object) => ({ graph_id: "counter", metadata })],
    ["a run", "POST", "/runs/wait", (metadata: object) => ({ ...RUN, metadata })],
    ["a run's config", "POST", "/runs/wait", (metadata: object) => ({ ...RUN, config: { metadata } })],
    ["a run's settings", "POST", "/runs/wait", (configurable: object) => ({ ...RUN, config: { configurable } })],
    ["a run's context", "POST", "/runs/wait", (context: object) => ({ ...RUN, context })],
    ["a cron", "POST", "/runs/crons", (metadata: object) => ({ ...RUN, schedule: "0 0 * * *", metadata })],
  ])("of %s have limits", async (_, method, path, bodyOf) => {
    const nested = { a: { b: [keys(5000), keys(5000)] } };
    for (const value of [TOO_MANY, TOO_LONG, nested]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await send(method, path, bodyOf(value))).toMatchObject({ status: 422, json: { detail: LIMIT } });
    }
  });

  test("may be as large as that", async () => {
    expect((await send("POST", "/threads", { metadata: keys(10_000) })).status).toBe(200);
    expect((await send("POST", "/threads", { metadata: { text: "x".repeat(1_000_000) } })).status).toBe(200);
    expect((await send("POST", "/threads", { metadata: { list: many(300_000, () => 1) } })).status).toBe(200);
  });

  test("do not grow beyond it bit by bit", async () => {
    const threadId = await newThread(keys(9000));
    const more = { metadata: Object.fromEntries(many(2000, (i) => [`more${i}`, 1])) };
    expect(await send("PATCH", `/threads/${threadId}`, more)).toMatchObject({ status: 422, json: { detail: LIMIT } });
    expect((await send("PATCH", `/threads/${threadId}`, { metadata: { k1: 2 } })).status).toBe(200);
    const stateful = await newThread();
    await send("POST", `/threads/${stateful}/runs/wait`, RUN);
    const state = (metadata: object): Promise<Answer> => send("PATCH", `/threads/${stateful}/state`, { metadata });
    expect((await state(keys(9000))).status).toBe(204);
    expect(await state(more.metadata)).toMatchObject({ status: 422, json: { detail: LIMIT } });
    expect((await state(TOO_MANY)).status).toBe(422);
  });

  test("of a filter have lower ones, and long lists are compared quickly", async () => {
    const list = many(60_000, (i) => i);
    const threadId = await newThread({ list, tag: "long" });
    const found = await send("POST", "/threads/search", {
      metadata: { list: list.toReversed() },
      select: ["thread_id"],
    });
    expect(found.json).toEqual([{ thread_id: threadId }]);
    expect((await send("POST", "/threads/count", { metadata: { list: [60_000, ...list] } })).json).toBe(0);
    for (const filter of [{ metadata: keys(1001) }, { values: { a: many(1001, () => []) } }])
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await send("POST", "/threads/search", filter)).status).toBe(422);
    const items = { namespace_prefix: ["a"], filter: keys(1001) };
    expect((await send("POST", "/store/items/search", items)).status).toBe(422);
  });
});

describe("texts that a pattern looks at", () => {
  test("a time is short", async () => {
    const cron = { ...RUN, schedule: "0 0 * * *", enabled: false };
    const { status, json } = await send("POST", "/runs/crons", { ...cron, end_time: "T".repeat(1_000_000) });
    expect([status, json]).toEqual([422, { detail: expect.stringContaining("end_time") }]);
    for (const field of ["schedule", "timezone"])
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await send("POST", "/runs/crons", { ...cron, [field]: "1 ".repeat(500_000) })).status).toBe(422);
    const good = await send("POST", "/runs/crons", { ...cron, end_time: "2999-01-01T00:00:00.000000+00:00" });
    expect(good.status).toBe(200);
    await server.client.crons.delete((good.json as { cron_id: string }).cron_id);
  });

  test("a name has a thousand characters", async () => {
    const named = (length: number): Promise<Answer> =>
      send("POST", "/assistants", { graph_id: "counter", name: "_".repeat(length) });
    expect((await named(1001)).status).toBe(422);
    expect((await named(1000)).status).toBe(200);
  });
});
