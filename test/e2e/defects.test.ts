// Every defect of the JS dev server (wire-api §8, 1 to 32) is one that this server has a test for: here, or in a file of its part, with the
// number in the title. The last test counts.
import { cpSync, readdirSync, readFileSync, renameSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { TestClock } from "../../src/clock.ts";
import { folderWith, projectWith as folderWithModules } from "../cli/helpers/project.ts";
import { projectWith } from "./support/config.ts";
import { useGates } from "./support/gates.ts";
import { call, collect, frames, open } from "./support/http.ts";
import { command, EVERYTHING, events, isEnd, post } from "./support/protocol.ts";
import { startProxy } from "./support/proxy.ts";
import { startReceiver, type Receiver } from "./support/receiver.ts";
import { clientOf, startTestServer, useServer, type ServerChoices, type TestServer } from "./support/server.ts";

const server = useServer();
const gates = useGates();
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

const COUNTED = { total: 111, trail: ["one", "ten", "hundred"] };
const RUN = { assistant_id: "counter", input: {} };
const hello = { messages: [{ role: "user", content: "hello" }] };

const newThread = async (): Promise<string> => (await server.client.threads.create()).thread_id;

/** A server of the test's own. */
async function ownServer(choices: ServerChoices): Promise<TestServer> {
  const own = await startTestServer(choices);
  onTestFinished(() => void own.stop());
  return own;
}

async function receiver(): Promise<Receiver> {
  const started = await startReceiver();
  onTestFinished(() => started.close());
  return started;
}

describe("missing there", () => {
  test("§8.1: crons: create, on a thread too, read, change, search, count, delete; /info says so", async () => {
    const { url, client } = server;
    expect((await call(url, "GET", "/info")).json).toMatchObject({ flags: { crons: true } });
    const body = { assistant_id: "counter", schedule: "0 9 1 1 *", input: {}, metadata: { mark: crypto.randomUUID() } };
    const made = await call(url, "POST", "/runs/crons", { body });
    const { cron_id } = made.json as { cron_id: string };
    const thread = await newThread();
    const onThread = await call(url, "POST", `/threads/${thread}/runs/crons`, { body });
    expect([made.status, onThread.status]).toEqual([200, 200]);
    expect(onThread.json).toMatchObject({ thread_id: thread });
    expect((await call(url, "GET", `/runs/crons/${cron_id}`)).json).toEqual(made.json);
    const changed = await call(url, "PATCH", `/runs/crons/${cron_id}`, { body: { enabled: false } });
    expect(changed.json).toMatchObject({ cron_id, enabled: false });
    expect(await client.crons.search({ metadata: body.metadata, enabled: false })).toMatchObject([{ cron_id }]);
    expect(await client.crons.count({ metadata: body.metadata })).toBe(2);
    await client.crons.delete(cron_id);
    expect((await call(url, "GET", `/runs/crons/${cron_id}`)).status).toBe(404);
  });

  test("§8.2: A2A, its card, MCP, /docs, /openapi.json, /metrics and / are there", async () => {
    const { url } = server;
    const statuses = await Promise.all(
      ["/docs", "/openapi.json", "/metrics", "/", "/a2a/agent/.well-known/agent-card.json"].map(
        async (path) => (await call(url, "GET", path)).status,
      ),
    );
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "a", version: "1" } };
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params };
    expect((await call(url, "POST", "/mcp", { body: initialize })).json).toMatchObject({
      id: 1,
      result: { serverInfo: { name: "agent-server" }, capabilities: { tools: {} } },
    });
    const message = {
      kind: "message",
      role: "user",
      messageId: crypto.randomUUID(),
      parts: [{ kind: "text", text: "hi" }],
    };
    const send = { jsonrpc: "2.0", id: 2, method: "message/send", params: { message } };
    expect((await call(url, "POST", "/a2a/agent", { body: send })).json).toMatchObject({
      id: 2,
      result: { kind: "task", status: { state: "completed" } },
    });
  });

  test("§8.4: the webhooks of the config count: headers, variables in them, which addresses; and disable_webhooks", async () => {
    vi.stubEnv("LG_WEBHOOK_TOKEN", "from the environment");
    const hooks = await receiver();
    const { port } = new URL(hooks.url);
    const webhooks = {
      headers: { "x-token": "Bearer ${{ env.LG_WEBHOOK_TOKEN }}" },
      url: { allowed_ports: [Number(port)], max_url_length: 60 },
    };
    const own = await ownServer({ cwd: projectWith({ webhooks }), persist: false });
    const create = (webhook: string) => call(own.url, "POST", "/runs", { body: { ...RUN, webhook } });
    expect((await create(`${hooks.url}/hook`)).status).toBe(200);
    const [hook] = await hooks.received(1);
    expect(hook!.headers["x-token"]).toBe("Bearer from the environment");
    expect((await create("http://127.0.0.1:1/")).status).toBe(422);
    expect((await create(`${hooks.url}/${"x".repeat(60)}`)).status).toBe(422);
    expect(hooks.hooks).toHaveLength(1);

    const silent = await ownServer({ cwd: projectWith({ http: { disable_webhooks: true } }), persist: false });
    const body = { ...RUN, webhook: `${hooks.url}/none` };
    expect((await call(silent.url, "POST", "/runs/wait", { body })).json).toEqual(COUNTED);
    expect((await call(silent.url, "GET", "/internal/webhooks")).json).toEqual([]);
    expect(hooks.hooks).toHaveLength(1);
  });
});

describe("wrong there", () => {
  test("§8.12: streams say where they go on, pages of other origins may read it, and the SDK does go on", async () => {
    const origin = { origin: "https://studio.example" };
    const stream = await frames(server.url, "POST", "/runs/stream", { headers: origin, body: RUN });
    expect(stream.headers.location).toMatch(/^\/runs\/[0-9a-f-]+\/stream/);
    const exposed = String(stream.headers["access-control-expose-headers"]).toLowerCase().split(/,\s*/);
    expect(exposed).toEqual(expect.arrayContaining(["location", "content-location", "x-pagination-next"]));
    await stream.all();

    const proxy = await startProxy(server.url);
    const gate = "defects: reconnect";
    const input = { name: "a", gate: gates.url(gate) };
    const seen: string[] = [];
    const client = clientOf(proxy.url);
    for await (const { event } of client.runs.stream(await newThread(), "gated", { input, streamMode: "values" })) {
      seen.push(event);
      if (seen.length !== 2) continue;
      await gates.entered(gate);
      proxy.cut();
      gates.open(gate);
    }
    expect(proxy.connections).toBe(2);
    expect(seen.filter((event) => event === "metadata")).toHaveLength(1);
    expect(seen.length).toBeGreaterThan(2);
  });

  test("§8.15: two clients on one run get the same events, all of them", async () => {
    const thread = await newThread();
    const input = { name: "a", gate: gates.url("defects: two") };
    const { run_id } = await server.client.runs.create(thread, "gated", { input, streamMode: ["values", "updates"] });
    await gates.entered("defects: two");
    const path = `/threads/${thread}/runs/${run_id}/stream`;
    const both = await Promise.all([frames(server.url, "GET", path), frames(server.url, "GET", path)]);
    gates.open("defects: two");
    const [left, right] = await Promise.all(both.map((stream) => stream.all()));
    expect(left).toEqual(right);
    const names = new Set(left!.map(({ event }) => event));
    expect([...names].toSorted()).toEqual(["metadata", "updates", "values"]);
  });

  test("§8.16: nothing waits for a clock: runs start, and streams, waits and joins end, while time stands still", async () => {
    const gate = "defects: still";
    const thread = await newThread();
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval"] });
    const { client } = server;
    expect(await client.runs.wait(null, "counter", { input: {} })).toEqual(COUNTED);
    const streamed = await collect(client.runs.stream(thread, "counter", { input: {} }));
    expect(streamed.at(-1)).toMatchObject({ event: "values", data: COUNTED });
    const first = await client.runs.create(thread, "gated", { input: { name: "a", gate: gates.url(gate) } });
    const second = await client.runs.create(thread, "counter", { input: {} });
    const joined = client.runs.join(thread, second.run_id);
    const stream = await frames(server.url, "GET", `/threads/${thread}/runs/${first.run_id}/stream`);
    await gates.entered(gate);
    gates.open(gate);
    expect((await stream.all()).at(-1)).toMatchObject({ event: "values" });
    expect(await joined).toMatchObject({ total: expect.any(Number) });
  });

  test("§8.17: who joins a resumable run before it starts takes nothing from it", async () => {
    const gate = "defects: early";
    const thread = await newThread();
    await server.client.runs.create(thread, "gated", { input: { name: "a", gate: gates.url(gate) } });
    await gates.entered(gate);
    const { run_id } = await server.client.runs.create(thread, "counter", { input: {}, streamResumable: true });
    const path = `/threads/${thread}/runs/${run_id}/stream`;
    const early = await frames(server.url, "GET", path);
    gates.open(gate);
    const live = await early.all();
    const kept = await (await frames(server.url, "GET", path, { headers: { "last-event-id": "-1" } })).all();
    expect(kept.map(({ event }) => event)).toEqual(["metadata", ...kept.slice(1).map(() => "values")]);
    expect(kept.length).toBeGreaterThan(3);
    expect(live).toEqual(kept);
  });
});

describe("§8.18: protocol v2", () => {
  test("has the multitask strategies, keeps the events of earlier runs, and takes what it does not know", async () => {
    const { url } = server;
    const thread = await newThread();
    const gate = "defects: v2";
    const params = { assistant_id: "gated", input: { name: "a", gate: gates.url(gate) } };
    const first = await command(url, thread, "run.start", params);
    await gates.entered(gate);
    const rejected = await command(url, thread, "run.start", { ...RUN, multitaskStrategy: "reject" });
    expect(rejected).toMatchObject({ type: "error" });
    gates.open(gate);
    const second = await command(url, thread, "run.start", { ...RUN, unknown: 1 });
    expect([first.type, second.type]).toEqual(["success", "success"]);
    await server.client.runs.join(thread, String(second.result["run_id"]));
    const kept = await events(url, thread, { channels: EVERYTHING, unknown: 1 });
    const ended = await kept.until(isEnd);
    expect(ended.length).toBeGreaterThan(0);
    kept.leave();
    expect((await call(url, "POST", "/threads/mine/commands", { body: { id: 1, method: "state.get" } })).status).toBe(
      422,
    );
    expect((await post(url, thread, { method: "state.get" })).status).toBe(400);
  });

  test("resumes after a restart, and forks", async () => {
    const dataDir = folderWith();
    const before = await startTestServer({ dataDir });
    const { thread_id } = await clientOf(before.url).threads.create();
    const started = await command(before.url, thread_id, "run.start", {
      assistant_id: "approval",
      input: { topic: "tea" },
    });
    await clientOf(before.url).runs.join(thread_id, String(started.result["run_id"]));
    await before.stop();

    const { url } = await ownServer({ dataDir });
    const client = clientOf(url);
    const [question] = Object.values((await client.threads.get(thread_id)).interrupts).flat();
    const answered = await command(url, thread_id, "input.respond", { interrupt_id: question!.id, response: "yes" });
    expect(answered).toMatchObject({ type: "success" });
    const [resumed] = await client.runs.list(thread_id, { limit: 1 });
    await client.runs.join(thread_id, resumed!.run_id);
    expect((await client.threads.getState(thread_id)).values).toMatchObject({
      log: ["planned tea", 'answer "yes"', "did tea"],
    });
    const listed = await command(url, thread_id, "state.listCheckpoints");
    const { checkpoints } = listed.result as { checkpoints: { id: string }[] };
    const forked = await command(url, thread_id, "state.fork", { checkpoint_id: checkpoints.at(-1)!.id });
    expect(forked).toMatchObject({ type: "success" });
  });

  test("asks for credentials with every call", async () => {
    const own = await ownServer({ cwd: join(import.meta.dirname, "..", "fixtures", "auth-project"), persist: false });
    const as = (user: string) => ({ authorization: `Bearer token-of-${user}` });
    const path = "/threads";
    const made = await call(own.url, "POST", path, { headers: as("ada"), body: {} });
    const { thread_id } = made.json as { thread_id: string };
    const start = { id: 1, method: "run.start", params: { assistant_id: "whoami", input: {} } };
    const commands = `${path}/${thread_id}/commands`;
    expect((await call(own.url, "POST", commands, { headers: as("ada"), body: start })).json).toMatchObject({
      type: "success",
    });
    for (const body of [start, { id: 2, method: "state.get" }]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await call(own.url, "POST", commands, { headers: as("bob"), body })).status).toBe(404);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await call(own.url, "POST", commands, { body })).status).toBe(401);
    }
    const stream = `${path}/${thread_id}/stream/events`;
    const body = { channels: ["values"] };
    expect((await call(own.url, "POST", stream, { headers: as("bob"), body })).status).toBe(404);
    expect((await call(own.url, "POST", stream, { body })).status).toBe(401);
  });
});

describe("wrong there, beside runs", () => {
  test("§8.25: webhooks are JSON with messages as clients know them, and one that fails stops no worker", async () => {
    const hooks = await receiver();
    const own = await ownServer({ persist: false, jobs: 2 });
    const client = clientOf(own.url);
    await client.runs.create(null, "echo", { input: hello, webhook: `${hooks.url}/hook` });
    const [hook] = await hooks.received(1);
    expect(hook!.headers["content-type"]).toContain("application/json");
    expect(hook!.run).toMatchObject({ values: { messages: [{ type: "human", content: "hello" }, { type: "ai" }] } });

    // Nobody listens there.
    const webhook = "http://127.0.0.1:1/";
    const failing = Array.from({ length: 6 }, async () => {
      const { thread_id } = await client.threads.create();
      const { run_id } = await client.runs.create(thread_id, "counter", { input: {}, webhook });
      return client.runs.join(thread_id, run_id);
    });
    expect(await Promise.all(failing)).toEqual(Array.from(failing, () => COUNTED));
    const behind = Array.from({ length: 4 }, () => client.runs.wait(null, "counter", { input: {} }));
    expect(await Promise.all(behind)).toEqual(Array.from(behind, () => COUNTED));
  });

  test("§8.27: /ok asks for no credentials and stays without meta; a config key that nobody knows is told of", async () => {
    const auth = await ownServer({ cwd: join(import.meta.dirname, "..", "fixtures", "auth-project"), persist: false });
    expect(await call(auth.url, "GET", "/ok")).toMatchObject({ status: 200, json: { ok: true } });
    expect((await call(auth.url, "POST", "/threads", { body: {} })).status).toBe(401);
    const bare = await ownServer({ cwd: projectWith({ http: { disable_meta: true }, webhook: {} }), persist: false });
    const statuses = ["/ok", "/info", "/docs", "/openapi.json", "/metrics", "/"].map(
      async (path) => (await call(bare.url, "GET", path)).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 404, 404, 404, 404, 404]);
    const told = bare.events.flatMap((event) =>
      event.type === "diagnostic" ? [JSON.stringify(event.diagnostic)] : [],
    );
    expect(told).toEqual([expect.stringMatching(/webhook.*webhooks/)]);
  });
});

describe("storage", () => {
  test("§8.29: what was answered is stored at that moment; a damaged file is moved aside, and said to be", async () => {
    const dataDir = folderWith();
    const running = await ownServer({ dataDir });
    const { thread_id } = await clientOf(running.url).threads.create({ metadata: { kept: true } });
    await clientOf(running.url).runs.wait(thread_id, "counter", { input: {} });
    // What a crash would leave behind, now.
    const left = folderWith();
    cpSync(join(dataDir, "state"), join(left, "state"), { recursive: true });

    const after = await startTestServer({ dataDir: left });
    expect(await clientOf(after.url).threads.get(thread_id)).toMatchObject({
      metadata: { kept: true },
      values: COUNTED,
    });
    await after.stop();

    const file = join(left, "state", "data.mdb");
    truncateSync(file, Math.floor(statSync(file).size / 2));
    const size = statSync(file).size;
    const damaged = await ownServer({ dataDir: left });
    const moved = damaged.events.find((event) => event.type === "moved-aside") as { readonly to: string } | undefined;
    expect(statSync(join(moved!.to, "data.mdb")).size).toBe(size);
    expect(await clientOf(damaged.url).threads.count({})).toBe(0);
  });

  test("§8.31: what streamed runs leave in memory goes away, resumable or not", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    const heap = async (): Promise<number> => {
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const clock = new TestClock(Date.now());
    const own = await ownServer({ clock });
    const client = clientOf(own.url);
    const input = { kinds: ["long"] };
    /** Streams so many runs, each with nearly a megabyte of events, through both protocols. @returns characters. */
    const stream = async (runs: number): Promise<number> => {
      let length = 0;
      for (let i = 0; i < runs; i++) {
        const { thread_id } = await client.threads.create();
        const payload = { input, streamResumable: i % 2 === 0, streamMode: ["values" as const, "updates" as const] };
        length += JSON.stringify(await collect(client.runs.stream(thread_id, "odd", payload))).length;
        const started = await command(own.url, thread_id, "run.start", { assistant_id: "odd", input });
        await client.runs.join(thread_id, String(started.result["run_id"]));
      }
      return length;
    };
    /** Lets all times end for which something is kept for clients that come late. */
    const wait = async (): Promise<void> => {
      vi.advanceTimersByTime(3_600_000);
      await clock.advanceTo(clock.now() + 3_600_000);
    };
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    await stream(2);
    await wait();
    const before = await heap();
    expect(await stream(30)).toBeGreaterThan(20_000_000);
    // It is there for those who come late, and then it is not.
    expect((await heap()) - before).toBeGreaterThan(30_000_000);
    await wait();
    expect((await heap()) - before).toBeLessThan(20_000_000);
  });

  test("§8.32: new code does not touch the run that is under way; silent streams are kept alive", async () => {
    const source = (word: string): string => `
      import { Annotation, START, StateGraph } from "@langchain/langgraph";
      const State = Annotation.Root({ gate: Annotation(), said: Annotation() });
      export const graph = new StateGraph(State)
        .addNode("say", async ({ gate }) => {
          if (gate) await (await fetch(gate)).text();
          return { said: ${JSON.stringify(word)} };
        })
        .addEdge(START, "say")
        .compile();`;
    const cwd = folderWithModules({
      "langgraph.json": JSON.stringify({ graphs: { talk: "./talk.ts:graph" } }),
      "talk.ts": source("old"),
    });
    const own = await ownServer({ cwd, persist: false, reload: true });
    const client = clientOf(own.url);
    const thread = (await client.threads.create()).thread_id;
    const gate = "defects: reload";
    const { run_id } = await client.runs.create(thread, "talk", { input: { gate: gates.url(gate) } });
    await gates.entered(gate);

    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const response = await open(own.url, "GET", `/threads/${thread}/runs/${run_id}/stream`);
    let text = "";
    const beat = new Promise<void>((resolve) => {
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        if (text.includes(": heartbeat\n")) resolve();
      });
    });
    const ended = new Promise((resolve) => response.once("end", resolve));
    vi.advanceTimersByTime(5000);
    await beat;
    vi.useRealTimers();

    // As editors save: a new file in the place of the old one.
    writeFileSync(join(cwd, "new.tmp"), source("new"));
    renameSync(join(cwd, "new.tmp"), join(cwd, "talk.ts"));
    await expect
      .poll(() => client.runs.wait(null, "talk", { input: {} }), { timeout: 20_000 })
      .toEqual({ said: "new" });
    gates.open(gate);
    await ended;
    expect(text).toContain('"said":"old"');
    expect(await client.runs.join(thread, run_id)).toMatchObject({ said: "old" });
  });
});

test("every one of the 32 defects has a test that is named after it", () => {
  const folder = join(import.meta.dirname, "..");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".test.ts"));
  const titles = files.flatMap((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    const calls = text.matchAll(/\b(?:test|describe)(?:\.each\([^\n]*\))?\(\s*(["'`])(.*?)\1/g);
    return Array.from(calls, ([, , title]) => title!);
  });
  const numbers = titles.flatMap((title) => Array.from(title.matchAll(/§8\.(\d+)/g), ([, number]) => Number(number)));
  expect([...new Set(numbers)].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 32 }, (_, index) => index + 1));
});
