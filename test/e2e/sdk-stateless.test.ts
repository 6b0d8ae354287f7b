// Runs without a thread through the official client: they give what runs give, and leave nothing behind.
import { describe, expect, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { call, collect, frames } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer();
const gates = useGates();

/** How many threads there are, hidden ones among them. */
const countThreads = (): Promise<number> => server.client.threads.count({});

describe("nothing is left behind", () => {
  test("wait", async () => {
    const before = await countThreads();
    expect(await server.client.runs.wait(null, "counter", { input: { total: 1000 } })).toEqual({
      total: 1111,
      trail: ["one", "ten", "hundred"],
    });
    expect(await countThreads()).toBe(before);
  });

  test("stream", async () => {
    const before = await countThreads();
    const events = await collect(
      server.client.runs.stream(null, "counter", { input: {}, streamMode: ["values", "updates"] }),
    );
    expect(events[0]).toMatchObject({ event: "metadata", data: { attempt: 1, run_id: expect.any(String) } });
    expect(events.filter(({ event }) => event === "values").at(-1)!.data).toMatchObject({ total: 111 });
    expect(events.filter(({ event }) => event === "updates")).toHaveLength(3);
    expect(await countThreads()).toBe(before);
  });

  test("create", async () => {
    const before = await countThreads();
    const run = await server.client.runs.create(null, "gated", { input: { name: "x", gate: gates.url("background") } });
    expect(run).toMatchObject({ status: "pending", kwargs: { temporary: true } });
    await gates.entered("background");
    const joined = frames(server.url, "GET", `/runs/${run.run_id}/stream`);
    await (await joined).next();
    gates.open("background");
    await (await joined).all();
    expect(await countThreads()).toBe(before);
    await expect(server.client.threads.get(run.thread_id)).rejects.toMatchObject({ status: 404 });
    await expect(server.client.runs.get(run.thread_id, run.run_id)).rejects.toMatchObject({ status: 404 });
  });

  test("a failing run", async () => {
    const before = await countThreads();
    await expect(server.client.runs.wait(null, "failing", { input: { how: "class" } })).rejects.toThrow(
      "PaymentRefused: the card has expired",
    );
    const events = await collect(server.client.runs.stream(null, "failing", { input: { how: "class" } }));
    expect(events.at(-1)).toMatchObject({ event: "error", data: { error: "PaymentRefused" } });
    expect(await countThreads()).toBe(before);
  });

  test("a run that stops to ask", async () => {
    const before = await countThreads();
    const values = await server.client.runs.wait(null, "approval", { input: { topic: "tea" } });
    expect(values).toEqual({
      topic: "tea",
      log: ["planned tea"],
      __interrupt__: [{ id: expect.any(String), value: { question: "Do tea?" } }],
    });
    const events = await collect(
      server.client.runs.stream(null, "subgraph", { input: { ask: true }, streamMode: "updates" }),
    );
    expect(events.at(-1)!.data).toEqual({ __interrupt__: [{ id: expect.any(String), value: "inner ok?" }] });
    expect(await countThreads()).toBe(before);
  });

  test("a client that goes away in the middle", async () => {
    const before = await countThreads();
    const stream = await frames(server.url, "POST", "/runs/stream", {
      body: {
        assistant_id: "gated",
        input: { name: "gone", gate: gates.url("gone") },
        stream_mode: "custom",
        on_disconnect: "cancel",
      },
    });
    const { data } = (await stream.next()).value as { data: { run_id: string } };
    await gates.entered("gone");
    const watcher = await frames(server.url, "GET", `/runs/${data.run_id}/stream`);
    await watcher.next();
    stream.leave();
    // It ends because the run ends.
    expect(await watcher.all()).toEqual([]);
    expect(await countThreads()).toBe(before);
    gates.open("gone");
  });
});

describe("kept on demand", () => {
  test.each(["wait", "stream", "create"] as const)("%s", async (kind) => {
    const before = await countThreads();
    const { runs, threads } = server.client;
    const payload = { input: {}, onCompletion: "keep", metadata: { kept: kind } } as const;
    if (kind === "wait") await runs.wait(null, "counter", payload);
    else if (kind === "stream") await collect(runs.stream(null, "counter", payload));
    else {
      const run = await runs.create(null, "counter", payload as never);
      await runs.join(run.thread_id, run.run_id);
    }
    expect(await countThreads()).toBe(before + 1);
    const [thread] = await threads.search({ metadata: { kept: kind } });
    expect(thread).toMatchObject({ status: "idle", values: { total: 111 } });
    const [run] = await runs.list(thread!.thread_id);
    expect(run).toMatchObject({ status: "success" });
    expect(await threads.getState(thread!.thread_id)).toMatchObject({ values: { total: 111 } });
    // It is a thread like any other now.
    expect(await runs.wait(thread!.thread_id, "counter", { input: {} })).toMatchObject({ total: 222 });
  });
});

describe("while it runs", () => {
  test("a background run is found by its hidden thread", async () => {
    const { runs } = server.client;
    const run = await runs.create(null, "gated", { input: { name: "hidden", gate: gates.url("hidden") } });
    await gates.entered("hidden");
    expect((await runs.get(run.thread_id, run.run_id)).status).toBe("running");
    const joined = runs.join(run.thread_id, run.run_id);
    gates.open("hidden");
    expect(await joined).toMatchObject({ log: ["first hidden", "second hidden"] });
  });

  test("it can be cancelled", async () => {
    const { runs } = server.client;
    const before = await countThreads();
    const run = await runs.create(null, "gated", { input: { name: "stop", gate: gates.url("stop") } });
    await gates.entered("stop");
    await runs.cancel(run.thread_id, run.run_id, true);
    expect(await countThreads()).toBe(before);
    gates.open("stop");
  });

  test("its stream can be joined by its id alone, and resumed", async () => {
    const { runs } = server.client;
    const run = await runs.create(null, "gated", {
      input: { name: "join", gate: gates.url("join") },
      streamMode: "custom",
      streamResumable: true,
    });
    await gates.entered("join");
    const live = runs.joinStream(null, run.run_id);
    expect((await live.next()).value).toMatchObject({ event: "metadata", data: { run_id: run.run_id } });
    gates.open("join");
    const rest = await collect(live);
    expect(rest.map(({ data }) => data)).toEqual([{ at: "through", name: "join" }]);
    const all = await collect(runs.joinStream(null, run.run_id, { lastEventId: "-1" }));
    expect(all.map(({ data }) => data)).toEqual([
      { run_id: run.run_id, attempt: 1 },
      { at: "gate", name: "join" },
      { at: "through", name: "join" },
    ]);
    await expect(collect(runs.joinStream(null, crypto.randomUUID()))).rejects.toMatchObject({ status: 404 });
  });

  test("many run at the same time", async () => {
    const names = Array.from({ length: 20 }, (_, i) => `many-${i}`);
    const runs = names.map((name) =>
      server.client.runs.wait(null, "gated", { input: { name, gate: gates.url("many") } }),
    );
    await gates.entered("many", names.length);
    gates.open("many");
    expect((await Promise.all(runs)).map((values) => (values as unknown as { name: string }).name)).toEqual(names);
  });
});

test("headers say where the run is", async () => {
  const body = { assistant_id: "counter", input: {} };
  const id = "[0-9a-f-]{36}";
  const wait = await call(server.url, "POST", "/runs/wait", { body });
  expect(wait.headers["content-location"]).toMatch(new RegExp(`^/runs/${id}$`));
  expect(wait.headers["content-type"]).toBe("application/json");
  // Nothing is left of it that could be joined.
  expect(wait.headers["location"]).toBeUndefined();
  const kept = await call(server.url, "POST", "/runs/wait", { body: { ...body, on_completion: "keep" } });
  expect((await call(server.url, "GET", kept.headers["location"]!)).json).toEqual(kept.json);
  const create = await call(server.url, "POST", "/runs", { body });
  expect(create.headers["content-location"]).toBe(`/runs/${(create.json as { run_id: string }).run_id}`);
  const stream = await frames(server.url, "POST", "/runs/stream", { body });
  expect(stream.headers["content-location"]).toMatch(new RegExp(`^/runs/${id}$`));
  expect(stream.headers["location"]).toBe(`${stream.headers["content-location"]}/stream?after=-1`);
  await stream.all();
});

test("an unknown assistant is 404", async () => {
  const { runs } = server.client;
  await expect(runs.wait(null, "nobody", {})).rejects.toMatchObject({ status: 404 });
  await expect(runs.create(null, "nobody", {})).rejects.toMatchObject({ status: 404 });
  await expect(collect(runs.stream(null, "nobody", {}))).rejects.toMatchObject({ status: 404 });
});
