// Protocol v2 when something breaks: the connection, the server in an orderly way, the server's process.
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import NodeWebSocket from "crossws/websocket";
import { expect, onTestFinished, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { collect } from "./support/http.ts";
import { command, events, isBeginning, isEnd, PROTOCOL_PROJECT, type ProtocolEvent } from "./support/protocol.ts";
import { startProxy } from "./support/proxy.ts";
import { clientOf, startCli, startTestServer, temporaryFolder, useServer } from "./support/server.ts";

const server = useServer({ cwd: PROTOCOL_PROJECT });
const gates = useGates();
const go = { messages: [{ role: "user", content: "go" }] };

test("a client whose connection is cut in the middle of a run misses nothing and gets nothing twice", async () => {
  const proxy = await startProxy(server.url);
  let reconnected!: () => void;
  const back = new Promise<void>((resolve) => {
    reconnected = resolve;
  });
  const thread = clientOf(proxy.url).threads.stream({
    assistantId: "slow",
    reconnectDelayMs: () => 0,
    onConnected: ({ kind }) => {
      if (kind === "reconnected") reconnected();
    },
  });
  const subscription = await thread.subscribe(["messages", "values", "checkpoints", "updates", "tasks", "lifecycle"]);
  const seen: ProtocolEvent[] = [];
  const reading = (async () => {
    for await (const event of subscription) seen.push(event as ProtocolEvent);
  })();
  const [message] = await Promise.all([
    thread.messages[Symbol.asyncIterator]().next(),
    thread.run.start({ input: { ...go, gate: gates.url("cut") } }),
  ]);
  await gates.entered("cut");
  proxy.cut();
  await back;
  gates.open("cut");
  expect(await message.value!.text).toBe("one two three four five six");
  await thread.output;
  await reading;
  await thread.close();

  const kept = await events(server.url, thread.threadId);
  const all = (await kept.until(isEnd)).filter(({ method }) => method !== "tools" && method !== "custom");
  kept.leave();
  expect(seen.map(({ event_id }) => event_id)).toEqual(all.map(({ event_id }) => event_id));
});

test("a thread that waits is answered after a restart, and the numbers of its events go on", async () => {
  const dataDir = temporaryFolder();
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const first = await startTestServer({ cwd: PROTOCOL_PROJECT, dataDir });
  onTestFinished(async () => void (await first.stop()));
  const threadId = randomUUID();
  const before = await events(first.url, threadId);
  await command(first.url, threadId, "run.start", { assistant_id: "pair", input: {} });
  const asked = await before.until(isEnd);
  const stopping = first.stop();
  // An orderly stop ends the streams; the client comes back when it can.
  expect(await before.rest()).toEqual([]);
  await stopping;

  const second = await startTestServer({ cwd: PROTOCOL_PROJECT, dataDir });
  onTestFinished(async () => void (await second.stop()));
  const client = clientOf(second.url);
  const waiting = Object.values((await client.threads.get(threadId)).interrupts).flat();
  const thread = client.threads.stream(threadId, { assistantId: "pair" });
  const lifecycle = await thread.subscribe(["lifecycle"]);
  await thread.input.respond({
    responses: waiting.map(({ id, value }) => ({ interrupt_id: id!, namespace: [], response: `${String(value)}!` })),
  });
  const told = (await collect(lifecycle)) as unknown as ProtocolEvent[];
  expect(told.at(-1)!.params.data).toMatchObject({ event: "completed" });
  expect(told[0]!.seq).toBeGreaterThan(asked.at(-1)!.seq);
  expect((await client.threads.getState(threadId)).values).toMatchObject({
    log: ['left "left?!"', 'right "right?!"', "joined 2"],
  });
  await thread.close();
});

test("a run that the server was killed in goes on as it was begun, and tells of itself", async () => {
  const dataDir = temporaryFolder();
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const first = await startCli({ cwd: PROTOCOL_PROJECT, dataDir });
  const threadId = randomUUID();
  const before = await events(first.url, threadId);
  const input = { ...go, gate: gates.url("killed") };
  const { result } = await command(first.url, threadId, "run.start", { assistant_id: "slow", input });
  await gates.entered("killed");
  const begun = await before.until((event) => JSON.stringify(event).includes('"three "'));
  expect(await first.kill("SIGKILL")).toBe("SIGKILL");

  const second = await startCli({ cwd: PROTOCOL_PROJECT, dataDir });
  onTestFinished(async () => void (await second.kill("SIGKILL")));
  await gates.entered("killed", 2);
  const after = await events(second.url, threadId);
  gates.open("killed");
  const seen = await after.until(isEnd);
  after.leave();
  expect(isBeginning(seen[0]!)).toBe(true);
  expect(seen[0]!.seq).toBeGreaterThan(begun.at(-1)!.seq);
  const tokens = seen.filter(({ params }) => params.data["event"] === "content-block-delta");
  expect(tokens).toHaveLength(6);
  expect(seen.at(-1)!.params.data).toMatchObject({ event: "completed" });
  const client = clientOf(second.url);
  expect(await client.runs.get(threadId, String(result["run_id"]))).toMatchObject({ status: "success" });
  const { messages } = (await client.threads.getState<{ messages: { content: unknown }[] }>(threadId)).values;
  expect(messages.map(({ content }) => content)).toEqual([
    "go",
    [{ type: "text", text: "one two three four five six" }],
  ]);

  // The built program speaks WebSocket too.
  const socket = client.threads.stream(threadId, {
    assistantId: "slow",
    transport: "websocket",
    webSocketFactory: (url) => new NodeWebSocket(url) as unknown as WebSocket,
  });
  expect(await socket.state.get({ namespace: [], keys: ["gate"] })).toMatchObject({
    values: { gate: gates.url("killed") },
  });
  await socket.close();
});
