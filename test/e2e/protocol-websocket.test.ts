// Protocol v2 on a WebSocket: the official SDK's transport, and the wire by hand.
import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import NodeWebSocket from "crossws/websocket";
import { describe, expect, onTestFinished, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { collect } from "./support/http.ts";
import {
  command,
  EVERYTHING,
  events,
  isEnd,
  PROTOCOL_PROJECT,
  type ProtocolEvent,
  type Responded,
} from "./support/protocol.ts";
import { startProxy } from "./support/proxy.ts";
import { startTestServer, temporaryFolder, useServer } from "./support/server.ts";
import { statusOfUpgrade, upgradeStatus } from "./support/upgrade.ts";

const server = useServer({ cwd: PROTOCOL_PROJECT });
const gates = useGates();
const go = { messages: [{ role: "user", content: "go" }] };

type SocketOptions = { headers?: Record<string, string> };
/** Node 20 has no WebSocket of its own; crossws brings one that takes options. */
const OptionSocket = NodeWebSocket as unknown as new (url: string, options?: SocketOptions) => WebSocket;
const webSocketFactory = (url: string): WebSocket => new OptionSocket(url);
const socketUrl = (url: string, threadId: string): string =>
  `${url.replace("http", "ws")}/threads/${threadId}/stream/events`;

/** A socket that a test reads message by message. */
interface Wire {
  send(message: unknown): void;
  /** Sends a command and reads up to its response. @returns the events before it, and the response. */
  ask(method: string, params?: unknown): Promise<{ before: ProtocolEvent[]; response: Responded }>;
  next(): Promise<unknown>;
  until(matches: (event: ProtocolEvent) => boolean): Promise<ProtocolEvent[]>;
  readonly closed: Promise<{ code: number; reason: string }>;
  close(): void;
}

async function connect(url: string, threadId: string, options: SocketOptions = {}): Promise<Wire> {
  const socket = new OptionSocket(socketUrl(url, threadId), options);
  const messages: unknown[] = [];
  const waiting: ((message: unknown) => void)[] = [];
  socket.addEventListener("message", ({ data }) => {
    const message: unknown = JSON.parse(String(data));
    const reader = waiting.shift();
    if (reader === undefined) messages.push(message);
    else reader(message);
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.addEventListener("close", ({ code, reason }) => resolve({ code, reason }));
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", (event) =>
      reject(new Error((event as { message?: string }).message ?? "refused")),
    );
  });
  onTestFinished(() => socket.close());
  let commands = 0;
  const next = (): Promise<unknown> =>
    messages.length > 0 ? Promise.resolve(messages.shift()) : new Promise((resolve) => waiting.push(resolve));
  const send = (message: unknown): void => socket.send(typeof message === "string" ? message : JSON.stringify(message));
  return {
    send,
    next,
    closed,
    async ask(method, params) {
      const id = ++commands;
      send({ id, method, params });
      const before: ProtocolEvent[] = [];
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const message = (await next()) as Responded | ProtocolEvent;
        if (message.type !== "event") {
          expect((message as Responded).id).toBe(id);
          return { before, response: message as Responded };
        }
        before.push(message as ProtocolEvent);
      }
    },
    async until(matches) {
      const seen: ProtocolEvent[] = [];
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const event = (await next()) as ProtocolEvent;
        seen.push(event);
        if (matches(event)) return seen;
      }
    },
    close: () => socket.close(),
  };
}

describe("the official SDK", () => {
  test("runs, reads and answers", async () => {
    const options = { transport: "websocket" as const, webSocketFactory };
    const thread = server.client.threads.stream({ assistantId: "slow", ...options });
    const messages = collect(thread.messages);
    await thread.run.start({ input: { ...go, gate: gates.url("socket") } });
    await gates.entered("socket");
    gates.open("socket");
    expect(await (await messages)[0]!.text).toBe("one two three four five six");
    expect(await thread.output).toMatchObject({ messages: [{ content: "go" }, {}] });
    await thread.close();

    const asking = server.client.threads.stream({ assistantId: "ask", ...options });
    const lifecycle = await asking.subscribe(["lifecycle", "input"]);
    await asking.run.start({ input: { topic: "go" } });
    await collect(lifecycle);
    expect(asking.interrupts).toMatchObject([{ payload: { question: "go?" } }]);
    const { interruptId, namespace } = asking.interrupts[0]!;
    await asking.input.respond({ interrupt_id: interruptId, namespace, response: 1 });
    const rest = await collect(lifecycle);
    expect((rest.at(-1) as ProtocolEvent).params.data).toMatchObject({ event: "completed" });
    expect(await asking.state.get({ namespace: [] })).toMatchObject({
      values: { log: ["plan go", "answer 1", "act go"] },
    });
    await asking.close();
  });

  test("is told to use it for all threads", async () => {
    const client = new Client({
      apiUrl: server.url,
      apiKey: null as unknown as string,
      streamProtocol: "v2-websocket",
    });
    const opened: string[] = [];
    const thread = client.threads.stream({
      assistantId: "steps",
      webSocketFactory: (url) => (opened.push(url), webSocketFactory(url)),
    });
    await thread.run.start({ input: { name: "a" } });
    expect(await thread.output).toMatchObject({ log: ["a:one", "a:two"] });
    expect(opened).toEqual([socketUrl(server.url, thread.threadId)]);
    await thread.close();
  });

  test("comes back when the connection is cut, misses nothing and gets nothing twice", async () => {
    const proxy = await startProxy(server.url);
    let reconnected!: () => void;
    const back = new Promise<void>((resolve) => {
      reconnected = resolve;
    });
    const client = new Client({ apiUrl: proxy.url, apiKey: null as unknown as string });
    const thread = client.threads.stream({
      assistantId: "slow",
      transport: "websocket",
      webSocketFactory,
      reconnectDelayMs: () => 0,
      onConnected: ({ kind }) => {
        if (kind === "reconnected") reconnected();
      },
    });
    const subscription = await thread.subscribe(["messages", "values", "lifecycle"]);
    const seen: ProtocolEvent[] = [];
    const reading = (async () => {
      for await (const event of subscription) seen.push(event as ProtocolEvent);
    })();
    await thread.run.start({ input: { ...go, gate: gates.url("socket cut") } });
    await gates.entered("socket cut");
    proxy.cut();
    await back;
    gates.open("socket cut");
    await reading;
    await thread.close();
    const kept = await events(server.url, thread.threadId, { channels: ["messages", "values", "lifecycle"] });
    expect(seen.map(({ event_id }) => event_id)).toEqual((await kept.until(isEnd)).map(({ event_id }) => event_id));
    kept.leave();
  });
});

describe("the wire", () => {
  test("carries commands and events in one order", async () => {
    const threadId = randomUUID();
    const wire = await connect(server.url, threadId);
    expect((await wire.ask("state.get")).response).toMatchObject({ type: "error", error: "invalid_argument" });
    const one = await wire.ask("subscription.subscribe", { channels: ["lifecycle", "values"], depth: 0 });
    expect(one.response).toMatchObject({
      type: "success",
      result: { subscription_id: expect.any(String), replayed_events: 0 },
      meta: { thread_id: threadId, applied_through_seq: expect.any(Number) },
    });
    const started = await wire.ask("run.start", { assistant_id: "steps", input: { name: "a" } });
    expect(started.before).toEqual([]);
    const first = await wire.until(isEnd);
    expect(first.map(({ method }) => method)).toEqual(["lifecycle", "values", "values", "values", "lifecycle"]);

    // A new subscription gets what was, and what both want comes once.
    const two = await wire.ask("subscription.subscribe", { channels: ["values", "updates"] });
    expect(two.before).toEqual([]);
    expect(two.response.result["replayed_events"]).toBe(5);
    const again = await wire.until(
      ({ method, params }) => method === "values" && JSON.stringify(params).includes("a:two"),
    );
    expect(again.filter(({ method }) => method === "values")).toEqual(
      first.filter(({ method }) => method === "values"),
    );
    await wire.ask("run.start", { assistant_id: "steps", input: { name: "b" } });
    const second = await wire.until(isEnd);
    expect(new Set(second.map(({ event_id }) => event_id)).size).toBe(second.length);
    expect(second.map(({ seq }) => seq)).toEqual(second.map(({ seq }) => seq).toSorted((a, b) => a - b));
    expect(second.map(({ method }) => method).toSorted()).toEqual(
      ["lifecycle", "lifecycle", "values", "values", "values", "updates", "updates"].toSorted(),
    );

    // Without subscriptions nothing comes.
    const { subscription_id } = two.response.result;
    expect((await wire.ask("subscription.unsubscribe", { subscription_id })).response).toMatchObject({ result: {} });
    expect((await wire.ask("subscription.unsubscribe", { subscription_id })).response).toMatchObject({
      error: "no_such_subscription",
    });
    await wire.ask("subscription.unsubscribe", { subscription_id: one.response.result["subscription_id"] });
    const { run_id } = (await wire.ask("run.start", { assistant_id: "steps", input: { name: "c" } })).response.result;
    await server.client.runs.join(threadId, String(run_id));
    expect((await wire.ask("agent.getTree")).before).toEqual([]);
    wire.close();
  });

  test("events reach sockets and SSE streams alike", async () => {
    const threadId = randomUUID();
    const wire = await connect(server.url, threadId);
    await wire.ask("subscription.subscribe", { channels: EVERYTHING });
    const stream = await events(server.url, threadId);
    await command(server.url, threadId, "run.start", { assistant_id: "nested", input: go });
    expect(await wire.until(isEnd)).toEqual(await stream.until(isEnd));
    stream.leave();
    wire.close();
  });

  test("messages that are no commands are answered", async () => {
    const wire = await connect(server.url, randomUUID());
    wire.send("{");
    expect(await wire.next()).toMatchObject({ type: "error", id: null, error: "invalid_argument" });
    wire.send({ id: -1, method: "x" });
    expect(await wire.next()).toMatchObject({ type: "error", id: null, error: "invalid_argument" });
    wire.send({ id: 0, method: "subscription.subscribe", params: { channels: [] } });
    expect(await wire.next()).toMatchObject({ type: "error", id: 0, error: "invalid_argument" });
    wire.close();
  });

  test("a socket is refused where a request would be", async () => {
    // The WebSocket of newer versions of Node does not tell the status.
    expect(await upgradeStatus(server.url, "nonsense")).toBe(422);
    expect(await upgradeStatus(`${server.url}/elsewhere`, randomUUID())).toBe(404);
    expect(await upgradeStatus(server.url, randomUUID(), { host: "evil.example" })).toBe(403);
    expect(await statusOfUpgrade(`${server.url}/ok`)).toBe(200);
    await expect(connect(server.url, "nonsense")).rejects.toThrow();
  });

  test("a page of another origin is refused where origins are restricted", async () => {
    const cwd = temporaryFolder();
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    mkdirSync(join(cwd, "node_modules"), { recursive: true });
    symlinkSync(
      join(PROTOCOL_PROJECT, "..", "..", "..", "node_modules", "@langchain"),
      join(cwd, "node_modules", "@langchain"),
    );
    symlinkSync(join(PROTOCOL_PROJECT, "src"), join(cwd, "src"));
    const http = { cors: { allow_origins: ["https://good.example"] } };
    writeFileSync(join(cwd, "langgraph.json"), JSON.stringify({ graphs: { steps: "./src/steps.ts:graph" }, http }));
    const own = await startTestServer({ cwd });
    onTestFinished(async () => void (await own.stop()));
    expect(await upgradeStatus(own.url, randomUUID(), { origin: "https://bad.example" })).toBe(403);
    const good = await connect(own.url, randomUUID(), { headers: { origin: "https://good.example" } });
    expect((await good.ask("subscription.subscribe", { channels: ["values"] })).response.type).toBe("success");
  });

  test("is closed when the thread is deleted, and when the server stops", async () => {
    const { thread_id } = await server.client.threads.create();
    const wire = await connect(server.url, thread_id);
    await wire.ask("subscription.subscribe", { channels: ["lifecycle"] });
    await server.client.threads.delete(thread_id);
    expect(await wire.closed).toMatchObject({ code: 1001 });

    const own = await startTestServer({ cwd: PROTOCOL_PROJECT });
    const other = await connect(own.url, randomUUID());
    await own.stop();
    expect(await other.closed).toMatchObject({ code: 1001 });
  });
});
