// Following a thread: everything that happens on it, run after run, through raw sockets and through the official client.
import { describe, expect, test, vi } from "vitest";
import { useGates } from "./support/gates.ts";
import { call, collect, type Frame, frames, type FrameStream, open } from "./support/http.ts";
import { startProxy } from "./support/proxy.ts";
import { clientOf, startTestServer, useServer } from "./support/server.ts";

const server = useServer();
const gates = useGates();

const newThread = async (): Promise<string> => (await server.client.threads.create()).thread_id;

/** Follows a thread; the reader is there when this resolves. */
const follow = (threadId: string, query = "", headers: Record<string, string> = {}): Promise<FrameStream> =>
  frames(server.url, "GET", `/threads/${threadId}/stream${query}`, { headers });

/** Reads until so many events of a name have come. */
async function until(stream: AsyncIterator<unknown>, name: string, times = 1): Promise<Frame[]> {
  const seen: Frame[] = [];
  for (let left = times; left > 0;) {
    const { value, done } = (await stream.next()) as IteratorResult<Frame>;
    if (done === true) throw new Error(`the stream ended before, with ${JSON.stringify(seen)}`);
    seen.push(value);
    if (value.event === name) left--;
  }
  return seen;
}

const names = (events: readonly Frame[]): string[] => events.map(({ event }) => event);
const dataOf = (events: readonly Frame[], name: string): unknown[] =>
  events.filter(({ event }) => event === name).map(({ data }) => data);
const idsOf = (events: readonly Frame[]): number[] => events.map(({ id }) => Number(id));

/** Runs `counter` to its end. */
async function count(threadId: string, more: Record<string, unknown> = {}): Promise<string> {
  const run = await server.client.runs.create(threadId, "counter", { input: {}, streamMode: "updates", ...more });
  await server.client.runs.join(threadId, run.run_id);
  return run.run_id;
}

describe("run_modes", () => {
  test("all events of every run as that run streams them, then run_done", async () => {
    const thread = await newThread();
    const stream = await follow(thread);
    expect(stream.status).toBe(200);
    expect(stream.headers["content-type"]).toBe("text/event-stream");
    const first = await count(thread);
    const own = (await collect(
      server.client.runs.stream(thread, "counter", { input: {}, streamMode: ["values", "updates"] }),
    )) as Frame[];
    const seen = await until(stream, "run_done", 2);
    expect(names(seen)).toEqual(["metadata", "updates", "updates", "updates", "run_done", ...names(own), "run_done"]);
    expect(seen[0]!.data).toEqual({ run_id: first, attempt: 1 });
    expect(seen.slice(5, -1).map(({ data }) => data)).toEqual(own.map(({ data }) => data));
    const { run_id } = own[0]!.data as { run_id: string };
    expect(dataOf(seen, "run_done")).toEqual([
      { run_id: first, thread_id: thread, attempt: 1, status: "success" },
      { run_id, thread_id: thread, attempt: 1, status: "success" },
    ]);
    const ids = idsOf(seen);
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
    stream.leave();
  });

  test("who comes in the middle of a run is told which one", async () => {
    const thread = await newThread();
    const input = { name: "middle", gate: gates.url("middle") };
    const { run_id } = await server.client.runs.create(thread, "gated", { input, streamMode: "custom" });
    await gates.entered("middle");
    const stream = await follow(thread);
    expect((await stream.next()).value).toMatchObject({ event: "metadata", data: { run_id, attempt: 1 } });
    gates.open("middle");
    const seen = await until(stream, "run_done");
    expect(dataOf(seen, "custom")).toEqual([{ at: "through", name: "middle" }]);
    stream.leave();
  });

  test("two readers each get everything, and one that does not read holds nobody up", async () => {
    const thread = await newThread();
    const [one, two] = await Promise.all([follow(thread), follow(thread)]);
    const silent = await open(server.url, "GET", `/threads/${thread}/stream`);
    silent.pause();
    for (let i = 0; i < 3; i++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await server.client.runs.wait(thread, "odd", { input: { kinds: ["long"] } });
    }
    const seen = await until(one, "run_done", 3);
    expect(seen.length).toBeGreaterThan(6);
    expect(await until(two, "run_done", 3)).toEqual(seen);
    for (const stream of [one, two]) stream.leave();
    silent.destroy();
  });
});

describe("the other modes", () => {
  test("lifecycle: begin and end of every run, however it ends", async () => {
    const thread = await newThread();
    const stream = await follow(thread, "?stream_mode=lifecycle");
    const { runs } = server.client;
    const good = await count(thread);
    const { run_id: bad } = await runs.create(thread, "failing", { input: { how: "class" } });
    await runs.join(thread, bad);
    const asking = await runs.create(thread, "approval", { input: { topic: "tea" } });
    await runs.join(thread, asking.run_id);
    const other = await newThread();
    await count(other);
    const gate = gates.url("lifecycle");
    const stopped = await runs.create(thread, "gated", { input: { name: "stopped", gate } });
    await gates.entered("lifecycle");
    await runs.cancel(thread, stopped.run_id, true);
    const undone = await runs.create(thread, "gated", { input: { name: "undone", gate } });
    await gates.entered("lifecycle", 2);
    await runs.cancel(thread, undone.run_id, true, "rollback");
    const seen = await until(stream, "run_done", 5);
    const common = { thread_id: thread, attempt: 1 };
    const begin = (run_id: string) => ["run_start", { run_id, ...common, status: "running" }];
    const end = (run_id: string, status: string, more: object = {}) => [
      "run_done",
      { run_id, ...common, status, ...more },
    ];
    expect(seen.map(({ event, data }) => [event, data])).toEqual([
      begin(good),
      end(good, "success"),
      begin(bad),
      end(bad, "error", { error: { error: "PaymentRefused", message: "the card has expired" } }),
      begin(asking.run_id),
      end(asking.run_id, "success"),
      begin(stopped.run_id),
      end(stopped.run_id, "interrupted"),
      begin(undone.run_id),
      end(undone.run_id, "interrupted", { rolled_back: true }),
    ]);
    gates.open("lifecycle");
    stream.leave();
  });

  test("state_update: the state behind every run, and behind a change from outside", async () => {
    const thread = await newThread();
    const stream = await follow(thread, "?stream_modes=state_update");
    await count(thread);
    const state = await call(server.url, "GET", `/threads/${thread}/state`);
    expect((await stream.next()).value).toMatchObject({ event: "state_update", data: state.json });
    await server.client.threads.updateState(thread, { values: { total: 1000 }, asNode: "hundred" });
    const after = await call(server.url, "GET", `/threads/${thread}/state`);
    expect(after.json).toMatchObject({ values: { total: 1111 } });
    expect((await stream.next()).value).toMatchObject({ event: "state_update", data: after.json });
    const asking = await newThread();
    const asks = await follow(asking, "?stream_mode=state_update");
    await server.client.runs.wait(asking, "approval", { input: { topic: "tea" } });
    expect((await asks.next()).value).toMatchObject({
      event: "state_update",
      data: { next: ["ask"], interrupts: [{ value: { question: "Do tea?" } }] },
    });
    for (const one of [stream, asks]) one.leave();
  });

  test("several together, in every spelling", async () => {
    const thread = await newThread();
    const streams = await Promise.all(
      [
        "?stream_mode=lifecycle&stream_mode=state_update&stream_mode=run_modes",
        "?stream_mode=lifecycle,state_update,run_modes",
        "?stream_modes=lifecycle&stream_modes=state_update&stream_mode=run_modes",
      ].map((query) => follow(thread, query)),
    );
    await count(thread);
    const [seen, ...others] = await Promise.all(streams.map((stream) => until(stream, "state_update")));
    expect(names(seen!)).toEqual([
      "run_start",
      "metadata",
      "updates",
      "updates",
      "updates",
      "run_done",
      "state_update",
    ]);
    for (const other of others) expect(other).toEqual(seen);
    for (const stream of streams) stream.leave();
  });
});

describe("coming back", () => {
  test("Last-Event-ID: what came behind it, `-`: everything that is kept", async () => {
    const thread = await newThread();
    const first = await follow(thread, "?stream_mode=run_modes,lifecycle");
    await count(thread);
    const seen = await until(first, "run_done");
    first.leave();
    await count(thread);
    const query = "?stream_mode=run_modes,lifecycle";
    const second = await follow(thread, query, { "last-event-id": seen[1]!.id! });
    const missed = await until(second, "run_done", 2);
    expect(missed.slice(0, seen.length - 2)).toEqual(seen.slice(2));
    expect(names(missed.slice(seen.length - 2))).toEqual(names(seen));
    const all = await follow(thread, query, { "last-event-id": "-" });
    expect(await until(all, "run_done", 2)).toEqual([...seen.slice(0, 2), ...missed]);
    for (const stream of [second, all]) stream.leave();
  });

  test("the kept events of resumable runs that nobody followed", async () => {
    const thread = await newThread();
    await count(thread);
    const kept = await count(thread, { streamResumable: true });
    await count(thread);
    const stream = await follow(thread, "?stream_mode=run_modes,lifecycle", { "last-event-id": "-" });
    const live = await count(thread);
    const seen = await until(stream, "run_done", 2);
    expect(dataOf(seen, "run_start")).toMatchObject([{ run_id: kept }, { run_id: live }]);
    expect(names(seen)).toEqual([...names(seen.slice(0, 6)), ...names(seen.slice(0, 6))]);
    expect(names(seen.slice(0, 6))).toEqual(["run_start", "metadata", "updates", "updates", "updates", "run_done"]);
    stream.leave();
  });

  test("the official client misses nothing when its connection breaks, from its first moment on", async () => {
    const thread = await newThread();
    const proxy = await startProxy(server.url);
    const controller = new AbortController();
    const streamMode: ("run_modes" | "lifecycle")[] = ["run_modes", "lifecycle"];
    const stream = clientOf(proxy.url).threads.joinStream(thread, { streamMode, signal: controller.signal });
    const early = stream.next();
    await proxy.answered(1);
    // Nothing has happened yet, so that the client knows no id.
    proxy.cut();
    const first = await count(thread);
    const seen = [(await early).value as Frame, ...(await until(stream, "run_done"))];
    proxy.cut();
    const second = await count(thread);
    seen.push(...(await until(stream, "run_done")));
    expect(dataOf(seen, "run_done")).toMatchObject([{ run_id: first }, { run_id: second }]);
    const one = ["run_start", "metadata", "updates", "updates", "updates", "run_done"];
    expect(names(seen)).toEqual([...one, ...one]);
    expect(idsOf(seen)).toEqual([...new Set(idsOf(seen))].toSorted((a, b) => a - b));
    controller.abort();
  });
});

describe("the end and the errors", () => {
  test("deleting the thread ends the stream", async () => {
    const thread = await newThread();
    const input = { name: "gone", gate: gates.url("gone") };
    await server.client.runs.create(thread, "gated", { input, streamMode: "custom" });
    await gates.entered("gone");
    const stream = await follow(thread, "?stream_mode=lifecycle");
    await server.client.threads.delete(thread);
    const [done, ...more] = await stream.all();
    expect([done, more]).toMatchObject([{ event: "run_done", data: { status: "interrupted", rolled_back: true } }, []]);
    gates.open("gone");
    await expect(collect(server.client.threads.joinStream(thread))).rejects.toMatchObject({ status: 404 });
  });

  test("a thread that does not exist, and what is not understood", async () => {
    const thread = await newThread();
    const ask = (path: string, headers = {}) => call(server.url, "GET", path, { headers });
    expect(await ask(`/threads/${crypto.randomUUID()}/stream`)).toMatchObject({
      status: 404,
      json: { detail: expect.stringContaining("not found") },
    });
    expect((await ask("/threads/nothing/stream")).status).toBe(422);
    expect(await ask(`/threads/${thread}/stream?stream_mode=values`)).toMatchObject({
      status: 422,
      json: { detail: expect.stringContaining("stream_mode") },
    });
    expect((await ask(`/threads/${thread}/stream?stream_modes=lifecycle,all`)).status).toBe(422);
    expect((await ask(`/threads/${thread}/stream`, { "last-event-id": "yesterday" })).status).toBe(422);
    expect((await ask(`/threads/${thread}/stream?after=yesterday`)).status).toBe(422);
  });

  test("the server's stop breaks it: the thread is there when the server is back, and the official client comes back for it", async () => {
    const other = await startTestServer();
    const { thread_id } = await clientOf(other.url).threads.create();
    const stream = await frames(other.url, "GET", `/threads/${thread_id}/stream`);
    const broken = expect(stream.all()).rejects.toThrow("aborted");
    await other.stop();
    await broken;
  });

  test("it is kept alive while nothing happens", async () => {
    const thread = await newThread();
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const response = await open(server.url, "GET", `/threads/${thread}/stream`);
      let text = "";
      const beats = new Promise<void>((resolve) => {
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
          if (text.split(": heartbeat\n").length > 3) resolve();
        });
      });
      vi.advanceTimersByTime(15_000);
      await beats;
      expect(text).toBe(": stream\n: heartbeat\n: heartbeat\n: heartbeat\n");
      response.destroy();
    } finally {
      vi.useRealTimers();
    }
  });
});
