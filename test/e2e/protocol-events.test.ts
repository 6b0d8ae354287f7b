// The event streams of protocol v2 over HTTP: filters, what is replayed, the numbers of events, and the same events as LangGraph's own.
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { graph as nestedGraph } from "../fixtures/protocol-project/src/nested.ts";
import { graph as toolsGraph } from "../fixtures/protocol-project/src/tools.ts";
import { useGates } from "./support/gates.ts";
import { call, open } from "./support/http.ts";
import {
  command,
  events as openEvents,
  isBeginning,
  isEnd,
  PROTOCOL_PROJECT,
  type Events,
  type ProtocolEvent,
} from "./support/protocol.ts";
import { useServer } from "./support/server.ts";

const server = useServer({ cwd: PROTOCOL_PROJECT });
const gates = useGates();

const events = (threadId: string, body?: unknown): Promise<Events> => openEvents(server.url, threadId, body);
async function start(threadId: string, assistant_id: string, input: unknown): Promise<string> {
  const { result } = await command(server.url, threadId, "run.start", { assistant_id, input });
  return String(result["run_id"]);
}
/** All events of a run, from a stream that was there before it. */
async function run(assistant: string, input: unknown): Promise<{ threadId: string; seen: ProtocolEvent[] }> {
  const threadId = randomUUID();
  const stream = await events(threadId);
  await start(threadId, assistant, input);
  const seen = await stream.until(isEnd);
  stream.leave();
  return { threadId, seen };
}
const go = { messages: [{ role: "user", content: "go" }] };
const idsOf = (seen: readonly ProtocolEvent[]): string[] => seen.map(({ event_id }) => event_id);

describe("requests", () => {
  test.each([
    ["no channels", {}],
    ["empty channels", { channels: [] }],
    ["channels that are no list", { channels: "values" }],
    ["a negative depth", { channels: ["values"], depth: -1 }],
    ["namespaces that are no lists", { channels: ["values"], namespaces: ["a"] }],
    ["a since that is no number", { channels: ["values"], since: "1" }],
  ])("%s: 400", async (_name, body) => {
    const answer = await call(server.url, "POST", `/threads/${randomUUID()}/stream/events`, { body });
    expect(answer).toMatchObject({
      status: 400,
      json: { type: "error", id: null, error: "invalid_argument", detail: expect.any(String) },
    });
  });

  test("unknown fields and channels, and nulls, are let through", async () => {
    const body = { channels: ["values", "weather"], namespaces: null, depth: null, since: null, colour: "red" };
    const response = await open(server.url, "POST", `/threads/${randomUUID()}/stream/events`, { body });
    expect(response.statusCode).toBe(200);
    expect(response.headers["content-type"]).toBe("text/event-stream");
    response.destroy();
  });

  test("GET without an upgrade: 426", async () => {
    expect(await call(server.url, "GET", `/threads/${randomUUID()}/stream/events`)).toMatchObject({
      status: 426,
      headers: { upgrade: "websocket" },
      json: { detail: expect.stringContaining("WebSocket") },
    });
  });
});

describe("events", () => {
  test("are those of LangGraph's own v3 stream", async () => {
    const shape = (event: {
      method: string;
      params: { namespace: readonly string[]; node?: string; data: unknown };
    }) => ({
      method: event.method,
      namespace: event.params.namespace.map((segment) => segment.replace(/:.*/, "")),
      node: event.params.node,
      event: (event.params.data as { event?: unknown }).event,
    });
    const isRoot = ({ method, params }: { method: string; params: { namespace: readonly string[] } }): boolean =>
      method === "lifecycle" && params.namespace.length === 0;
    for (const [name, graph] of [
      ["nested", nestedGraph],
      ["tools", toolsGraph],
    ] as const) {
      const own: ReturnType<typeof shape>[] = [];
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const stream = await (graph as typeof nestedGraph).streamEvents(go, { version: "v3" });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      for await (const event of stream) if (!isRoot(event) && event.method !== "checkpoints") own.push(shape(event));
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { seen } = await run(name, go);
      expect(seen.filter((event) => !isRoot(event) && event.method !== "checkpoints").map(shape)).toEqual(own);
      expect(own.length).toBeGreaterThan(20);
    }
  });

  test("have the shapes of the contract", async () => {
    const { threadId, seen } = await run("tools", go);
    const of = (method: string): ProtocolEvent[] => seen.filter((event) => event.method === method);
    expect(seen[0]!.params).toMatchObject({ namespace: [], data: { event: "running", graph_name: "tools" } });
    expect(seen.at(-1)!.params).toMatchObject({ namespace: [], data: { event: "completed", graph_name: "tools" } });
    for (const [i, event] of seen.entries()) {
      expect(event).toEqual({
        type: "event",
        event_id: expect.any(String),
        seq: expect.any(Number),
        method: expect.any(String),
        params: expect.objectContaining({ namespace: expect.any(Array), timestamp: expect.any(Number) }),
      });
      if (i > 0) expect(event.seq).toBeGreaterThan(seen[i - 1]!.seq);
    }
    // The envelope of a checkpoint comes right before the values that it holds.
    for (const [i, event] of seen.entries())
      if (event.method === "checkpoints") expect(seen[i + 1]!.method).toBe("values");
    expect(of("checkpoints")[0]!.params.data).toEqual({
      id: expect.any(String),
      parent_id: expect.any(String),
      step: 0,
      source: "loop",
    });
    const stored = await server.client.threads.getState(threadId);
    expect(of("values").at(-1)!.params.data).toEqual(stored.values);
    expect(of("checkpoints").at(-1)!.params.data["id"]).toBe(stored.checkpoint.checkpoint_id);
    expect(of("updates").map(({ params }) => [params.node, Object.keys(params.data)])).toEqual([
      ["model", ["messages"]],
      ["tools", ["messages"]],
      ["model", ["messages"]],
    ]);
    const tools = of("tools").map(({ params }) => params.data);
    expect(tools).toContainEqual({
      event: "tool-started",
      tool_call_id: "call-add",
      tool_name: "add",
      input: '{"a":1,"b":2}',
    });
    expect(tools).toContainEqual({ event: "tool-error", tool_call_id: "call-fail", message: "this tool is broken" });
    expect(of("tasks")).toHaveLength(6);
    const run_id = of("messages")[0]!.params.data["run_id"];
    expect(of("messages").map(({ params }) => params.data)).toContainEqual({
      event: "content-block-finish",
      index: 1,
      content: { type: "tool_call", id: "call-add", name: "add", args: { a: 1, b: 2 } },
      run_id,
    });
  });

  test("that fail end the run with its error", async () => {
    const { seen } = await run("steps", { name: "a", fail: true });
    expect(seen.at(-1)!.params.data).toEqual({ event: "failed", graph_name: "steps", error: "a went wrong" });
  });
});

describe("filters", () => {
  /** What readers with these filters get of a thread that is idle: a stream of a thread that is deleted then ends behind it. */
  async function read(threadId: string, filters: readonly object[]): Promise<ProtocolEvent[][]> {
    const streams = await Promise.all(filters.map((filter) => events(threadId, filter)));
    await server.client.threads.delete(threadId);
    return Promise.all(streams.map((stream) => stream.rest()));
  }
  const depthOf = ({ params }: ProtocolEvent): number => params.namespace.length;

  test("by channel, namespace and depth", async () => {
    const { threadId, seen } = await run("nested", go);
    const exact = seen.find((event) => depthOf(event) === 1)!.params.namespace;
    const cases: [filter: object, wanted: (event: ProtocolEvent) => boolean][] = [
      [{}, () => true],
      [{ channels: ["values"] }, ({ method }) => method === "values"],
      [{ channels: ["messages", "nothing"] }, ({ method }) => method === "messages"],
      [{ namespaces: [] }, () => true],
      [{ namespaces: [[]] }, () => true],
      [{ namespaces: [[]], depth: 0 }, (event) => depthOf(event) === 0],
      [{ depth: 1 }, (event) => depthOf(event) <= 1],
      [{ namespaces: [["middle"]] }, (event) => depthOf(event) >= 1],
      [{ namespaces: [["middle"]], depth: 1 }, (event) => depthOf(event) === 1 || depthOf(event) === 2],
      [{ namespaces: [["middle", "inner"]], depth: 0 }, (event) => depthOf(event) === 2],
      [{ namespaces: [exact] }, (event) => depthOf(event) >= 1],
      [{ namespaces: [["middle:other"]] }, () => false],
      [{ namespaces: [["mid"]] }, () => false],
      [{ namespaces: [["middle"], []], depth: 0 }, (event) => depthOf(event) <= 1],
    ];
    const found = await read(
      threadId,
      cases.map(([filter]) => filter),
    );
    for (const [i, [filter, wanted]] of cases.entries())
      expect({ filter, ids: idsOf(found[i]!) }).toEqual({ filter, ids: idsOf(seen.filter(wanted)) });
  });

  test("by the number of the event", async () => {
    const { threadId, seen } = await run("nested", go);
    const half = seen[10]!.seq;
    const last = seen.at(-1)!.seq;
    const found = await read(
      threadId,
      [half, 0, last, last + 1_000_000].map((since) => ({ since })),
    );
    expect(found.map(idsOf)).toEqual([idsOf(seen.slice(11)), idsOf(seen), [], []]);
  });

  test("by the name of custom events", async () => {
    const { threadId } = await run("extended", {});
    const channels = [["custom:seen"], ["custom:progress", "custom:total"], ["custom"]];
    const found = await read(
      threadId,
      channels.map((names) => ({ channels: names })),
    );
    const [seen, two, all] = found.map((list) => list.map(({ params }) => params.data));
    expect(seen).toEqual([
      { name: "seen", payload: { node: "first" } },
      { name: "seen", payload: { node: "second" } },
    ]);
    expect(two).toEqual([
      { name: "progress", payload: "half" },
      { name: "total", payload: 2 },
    ]);
    expect(all).toHaveLength(5);
  });
});

describe("what is kept", () => {
  test("comes again to everybody, with the same numbers and names, and then what is new", async () => {
    const threadId = randomUUID();
    await start(threadId, "slow", { ...go, gate: gates.url("replay") });
    await gates.entered("replay");
    const readers = await Promise.all([1, 2, 3].map(() => events(threadId)));
    const three = (event: ProtocolEvent): boolean => JSON.stringify(event).includes('"three "');
    const before = await Promise.all(readers.map((reader) => reader.until(three)));
    gates.open("replay");
    const after = await Promise.all(readers.map((reader) => reader.until(isEnd)));
    const whole = before.map((seen, i) => [...seen, ...after[i]!]);
    expect(whole[1]).toEqual(whole[0]);
    expect(whole[2]).toEqual(whole[0]);
    const late = await events(threadId);
    expect(await late.until(isEnd)).toEqual(whole[0]);
    for (const reader of [...readers, late]) reader.leave();
  });

  test("is everything of earlier runs but how they ended and what they asked", async () => {
    const threadId = randomUUID();
    const first = await events(threadId);
    await start(threadId, "ask", { topic: "a" });
    const one = await first.until(isEnd);
    await start(threadId, "ask", "an answer");
    const two = await first.until(isEnd);
    const again = await events(threadId);
    const passed = ({ method }: ProtocolEvent, i: number, of: readonly ProtocolEvent[]): boolean =>
      method === "input.requested" || i === of.length - 1;
    expect(await again.until(isEnd)).toEqual([...one.filter((...at) => !passed(...at)), ...two]);
    expect(one.filter(passed).map(({ method }) => method)).toEqual(["input.requested", "lifecycle"]);
    // Who asks for the numbers gets all of them.
    const numbered = await events(threadId, { since: 0 });
    expect([...(await numbered.until(isEnd)), ...(await numbered.until(isEnd))]).toEqual([...one, ...two]);
    for (const stream of [first, again, numbered]) stream.leave();
  });

  test("a client that lost its connection in a run gets how that ended, even if the next has begun", async () => {
    const threadId = randomUUID();
    const filter = { channels: ["lifecycle"] };
    const lost = await events(threadId, filter);
    await start(threadId, "steps", { name: "a", gate: gates.url("lost") });
    await lost.until(isBeginning);
    await gates.entered("lost");
    lost.leave();
    // Its leaving is known when this later stream, with another filter, has been opened and closed.
    const other = await events(threadId, { channels: ["values"] });
    other.leave();
    gates.open("lost");
    await start(threadId, "steps", { name: "b" });
    await expect.poll(async () => (await server.client.threads.get(threadId)).status).toBe("idle");
    const back = await events(threadId, filter);
    const seen = [...(await back.until(isEnd)), ...(await back.until(isEnd))];
    expect(seen.map(({ params }) => params.data["event"])).toEqual(["running", "completed", "running", "completed"]);
    back.leave();
  });
});

test("a stream ends when its thread is deleted", async () => {
  const threadId = randomUUID();
  const stream = await events(threadId);
  await start(threadId, "steps", { name: "a", gate: gates.url("deleted") });
  await gates.entered("deleted");
  await server.client.threads.delete(threadId);
  expect((await stream.rest()).at(-1)!.params.data).toMatchObject({ event: "interrupted" });
});
