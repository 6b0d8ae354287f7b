// Streams of A2A, as both kits check them: the first event, the order, the end, several subscribers, subscribers that leave.
import { StreamResponse } from "@a2a-js/sdk";
import { describe, expect, test } from "vitest";
import { A2A_PROJECT, Agent, messageId, said03, said1, type EventStream, type Wire } from "./support/a2a.ts";
import { useGates } from "./support/gates.ts";
import { useServer } from "./support/server.ts";

const server = useServer({ cwd: A2A_PROJECT });
const gates = useGates();
const agent = (name: string): Agent => new Agent(() => server.url, name);
const kit = agent("kit");
const words = agent("words");

const waiting = async (): Promise<Wire> =>
  (await kit.result("SendMessage", said1("Ask me", { messageId: messageId("input-required") }))).task;
const complete = (taskId: string): Promise<Wire> => kit.result("SendMessage", said1("Complete", { taskId }));
const subscribe = (id: string, method = "SubscribeToTask"): Promise<EventStream> => kit.stream(method, { id });
/** Begins a task that stands at a gate. */
async function gated(name: string): Promise<Wire> {
  const { task } = await kit.result("SendMessage", {
    ...said1(`gate ${gates.url(name)}`),
    configuration: { returnImmediately: true },
  });
  await gates.entered(name);
  return task;
}

describe("SendStreamingMessage", () => {
  test("CORE-STREAM-001, CORE-STREAM-003, JSONRPC-SSE-001: the task, working, the artifact, the terminal status, the end", async () => {
    const stream = await kit.stream("SendStreamingMessage", said1("Stream hello"), { id: "s1" });
    expect(stream.type).toMatch(/^text\/event-stream/);
    const first = await stream.next();
    expect(first).toMatchObject({
      jsonrpc: "2.0",
      id: "s1",
      result: { task: { status: { state: "TASK_STATE_SUBMITTED" } } },
    });
    const { task } = first.result;
    const rest = await stream.rest();
    const ids = { taskId: task.id, contextId: task.contextId };
    expect(rest).toEqual([
      { statusUpdate: { ...ids, status: { state: "TASK_STATE_WORKING", timestamp: expect.any(String) } } },
      {
        artifactUpdate: {
          ...ids,
          artifact: { artifactId: expect.any(String), name: "Assistant Response", parts: [{ text: "Hello from TCK" }] },
          append: false,
          lastChunk: true,
        },
      },
      { statusUpdate: { ...ids, status: { state: "TASK_STATE_COMPLETED", timestamp: expect.any(String) } } },
    ]);
    // Nothing but single lines of data.
    expect(stream.lines.filter((line) => line !== "" && !line.startsWith("data: {"))).toEqual([]);
    const { artifacts } = await kit.result("GetTask", { id: task.id });
    expect(artifacts).toEqual([rest[1].artifactUpdate.artifact]);
  });

  test("JSONRPC-SSE-001: each event is a StreamResponse of the protocol's own package", async () => {
    const stream = await words.stream("SendStreamingMessage", said1("hello"));
    const kinds = (await stream.rest()).map((event) => StreamResponse.fromJSON(event).payload?.$case);
    expect(kinds[0]).toBe("task");
    expect(kinds.at(-1)).toBe("statusUpdate");
    expect(kinds).not.toContain(undefined);
  });

  test("tokens are chunks of one artifact: the first begins it, the others are appended, the last one says so", async () => {
    const stream = await words.stream("SendStreamingMessage", said1("hello"));
    const chunks = (await stream.rest()).flatMap(({ artifactUpdate }) => artifactUpdate ?? []);
    expect(chunks.map(({ artifact }) => artifact.parts[0].text)).toEqual(["you ", "said ", "hello ", "to ", "me"]);
    expect(new Set(chunks.map(({ artifact }) => artifact.artifactId)).size).toBe(1);
    expect(chunks.map(({ append }) => append)).toEqual([false, true, true, true, true]);
    expect(chunks.map(({ lastChunk }) => lastChunk)).toEqual([false, false, false, false, true]);
  });

  test("a thought on the way is replaced by the answer", async () => {
    const events = await (await agent("steps").stream("SendStreamingMessage", said1("hello"))).rest();
    let text = "";
    for (const { artifactUpdate } of events) {
      if (artifactUpdate !== undefined)
        text = (artifactUpdate.append ? text : "") + artifactUpdate.artifact.parts[0].text;
    }
    expect(text).toBe("you said hello to me");
    const { task } = events[0];
    expect(await agent("steps").result("GetTask", { id: task.id })).toMatchObject({
      artifacts: [{ parts: [{ text }] }],
    });
  });

  test("files and data of an answer come as a whole", async () => {
    const events = await (
      await kit.stream("SendStreamingMessage", said1("x", { messageId: messageId("artifact-file") }))
    ).rest();
    expect(events.at(-2)).toMatchObject({
      artifactUpdate: { artifact: { parts: [{ text: "Here:" }, { raw: "aGVsbG8=" }] }, append: false, lastChunk: true },
    });
  });

  test("a task that needs an answer ends the stream, with what it asks", async () => {
    const stream = await kit.stream(
      "SendStreamingMessage",
      said1("Ask me", { messageId: messageId("input-required") }),
    );
    const events = await stream.rest();
    expect(events.at(-1)).toMatchObject({
      statusUpdate: {
        status: { state: "TASK_STATE_INPUT_REQUIRED", message: { parts: [{ text: "What else?" }, { data: {} }] } },
      },
    });
    expect(events.at(-2)).toMatchObject({ artifactUpdate: { artifact: { name: "Interrupt" }, lastChunk: true } });
    // The answer can be streamed, too.
    const { id } = events[0].task;
    const answered = await (await kit.stream("SendStreamingMessage", said1("this", { taskId: id }))).rest();
    expect(answered[0]).toMatchObject({ task: { id } });
    expect(answered.at(-1)).toMatchObject({ statusUpdate: { taskId: id, status: { state: "TASK_STATE_COMPLETED" } } });
  });

  test("a failure ends the stream with the reason and no artifact", async () => {
    const events = await (
      await kit.stream("SendStreamingMessage", said1("x", { messageId: messageId("reject-task") }))
    ).rest();
    expect(events.some((event) => "artifactUpdate" in event)).toBe(false);
    expect(events.at(-1)).toMatchObject({
      statusUpdate: {
        status: { state: "TASK_STATE_FAILED", message: { parts: [{ text: expect.stringContaining("rejected") }] } },
      },
    });
  });

  test("an error before the first event is JSON in 1.0", async () => {
    const stream = await kit.stream("SendStreamingMessage", { invalid: "params" });
    expect(stream.type).toMatch(/^application\/json/);
    expect(await kit.error("SubscribeToTask", { id: "tck-nonexistent-subscribe-001" })).toMatchObject({
      code: -32_001,
    });
  });
});

test("an event of any size arrives, in all streams of its context", async () => {
  const big = agent("big");
  const size = 5_000_000;
  const first = await (await big.stream("SendStreamingMessage", said1(String(size)))).rest();
  const { task } = first[0];
  const artifact = first.find(({ artifactUpdate }) => artifactUpdate !== undefined).artifactUpdate;
  expect(artifact.artifact.parts[0].text).toHaveLength(size);
  expect(first.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
  const again = await (await big.stream("tasks/resubscribe", { id: task.id })).rest();
  expect(again.map(({ kind }) => kind)).toEqual(["task", "status-update"]);
  const next = await (await big.stream("SendStreamingMessage", said1("5", { contextId: task.contextId }))).rest();
  expect(next.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
});

describe("message/stream", () => {
  test("test_message_stream_basic: bare objects with kind, and one event with final", async () => {
    const stream = await words.stream("message/stream", said03("hello"), { id: 7 });
    expect(stream.type).toMatch(/^text\/event-stream/);
    const first = await stream.next();
    expect(first).toMatchObject({
      jsonrpc: "2.0",
      id: 7,
      result: { kind: "task", status: { state: "submitted" }, history: [{ role: "user" }] },
    });
    const rest = await stream.rest();
    expect(rest[0]).toMatchObject({ kind: "status-update", status: { state: "working" }, final: false });
    expect(rest.slice(1, -1).every(({ kind }) => kind === "artifact-update")).toBe(true);
    expect(rest.at(-1)).toMatchObject({ kind: "status-update", status: { state: "completed" }, final: true });
    expect(rest.filter(({ final }) => final === true)).toHaveLength(1);
  });

  test("final is true as well where the agent waits for an answer", async () => {
    const events = await (await agent("ask").stream("message/stream", said03("hello"))).rest();
    expect(events.at(-1)).toMatchObject({ status: { state: "input-required" }, final: true });
    expect(events.filter(({ final }) => final === true)).toHaveLength(1);
  });

  test("test_message_stream_invalid_params: an error before the first event is the only event", async () => {
    for (const [method, params, code] of [
      ["message/stream", { invalid: "params" }, -32_602],
      ["message/stream", said03("hi", { taskId: crypto.randomUUID() }), -32_001],
      ["tasks/resubscribe", { id: "non-existent-task-id-1" }, -32_001],
    ] as const) {
      const stream = await kit.stream(method, params, { id: "e" });
      expect(stream.type).toMatch(/^text\/event-stream/);
      expect(await stream.next()).toMatchObject({ jsonrpc: "2.0", id: "e", error: { code } });
      expect(await stream.rest()).toEqual([]);
    }
  });

  test("test_tasks_resubscribe: to a task that has ended tells the task and its end", async () => {
    const task = await kit.result("message/send", said03("hello"));
    const events = await (await subscribe(task.id, "tasks/resubscribe")).rest();
    expect(events).toEqual([
      task,
      expect.objectContaining({ kind: "status-update", status: task.status, final: true }),
    ]);
  });
});

describe("SubscribeToTask", () => {
  test("STREAM-SUB-001: the first event is the task as it is now", async () => {
    const task = await waiting();
    const stream = await subscribe(task.id);
    expect((await stream.next()).result).toEqual({ task: await kit.result("GetTask", { id: task.id }) });
    stream.leave();
  });

  test("STREAM-SUB-002: a task that waits goes on when it is answered, and the stream ends with it", async () => {
    const task = await waiting();
    const stream = await subscribe(task.id);
    await stream.next();
    await complete(task.id);
    const events = await stream.rest();
    expect(events.map((event) => event.statusUpdate?.status.state ?? "artifact")).toEqual([
      "TASK_STATE_WORKING",
      "artifact",
      "TASK_STATE_COMPLETED",
    ]);
  });

  test("STREAM-SUB-003: a task that has ended is -32004", async () => {
    const { task } = await kit.result("SendMessage", said1("hello"));
    expect(await kit.error("SubscribeToTask", { id: task.id })).toMatchObject({
      code: -32_004,
      data: [{ reason: "UNSUPPORTED_OPERATION" }],
    });
  });

  test("a task that works: what is to come", async () => {
    const task = await gated("subscribe");
    const stream = await subscribe(task.id);
    expect((await stream.next()).result).toMatchObject({
      task: { id: task.id, status: { state: "TASK_STATE_WORKING" } },
    });
    gates.open("subscribe");
    expect(await stream.rest()).toMatchObject([
      { artifactUpdate: { artifact: { parts: [{ text: "Hello from TCK" }] } } },
      { statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } },
    ]);
  });

  test("a task that is canceled ends the stream", async () => {
    for (const task of [await waiting(), await gated("cancel a stream")]) {
      const stream = await subscribe(task.id);
      await stream.next();
      await kit.result("CancelTask", { id: task.id });
      expect((await stream.rest()).at(-1)).toMatchObject({
        statusUpdate: { status: { state: "TASK_STATE_CANCELED" } },
      });
    }
  });

  test("STREAM-ORDER-001, STREAM-ORDER-002, STREAM-ORDER-003: all subscribers get the same events in the same order", async () => {
    const task = await waiting();
    const streams = await Promise.all([subscribe(task.id), subscribe(task.id), subscribe(task.id)]);
    const first = await Promise.all(streams.map(async (stream) => (await stream.next()).result));
    await complete(task.id);
    const rest = await Promise.all(streams.map((stream) => stream.rest()));
    for (const index of [1, 2]) expect([first[index], ...rest[index]!]).toEqual([first[0], ...rest[0]!]);
    expect(rest[0]!.length).toBeGreaterThanOrEqual(2);
  });

  test("those of both generations see the same, each in its own words", async () => {
    const task = await gated("both");
    const [old, young] = await Promise.all([subscribe(task.id, "tasks/resubscribe"), subscribe(task.id)]);
    await Promise.all([old.next(), young.next()]);
    gates.open("both");
    expect((await old.rest()).map(({ kind }) => kind)).toEqual(["artifact-update", "status-update"]);
    expect((await young.rest()).map((event) => Object.keys(event)[0])).toEqual(["artifactUpdate", "statusUpdate"]);
  });

  test("STREAM-ORDER-004: one that leaves takes nothing from the others", async () => {
    const task = await waiting();
    const [leaver, stayer] = await Promise.all([subscribe(task.id), subscribe(task.id)]);
    await Promise.all([leaver.next(), stayer.next()]);
    leaver.leave();
    await complete(task.id);
    expect((await stayer.rest()).at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
  });

  test("a client that leaves its own stream leaves the task going", async () => {
    const stream = await kit.stream("SendStreamingMessage", said1(`gate ${gates.url("leave")}`));
    const { task } = (await stream.next()).result;
    await gates.entered("leave");
    stream.leave();
    gates.open("leave");
    await server.client.runs.join(task.contextId, task.id);
    expect(await kit.result("GetTask", { id: task.id })).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
  });

  test("a subscriber is told when the task's thread is deleted", async () => {
    const task = await waiting();
    const stream = await subscribe(task.id);
    await stream.next();
    await server.client.threads.delete(task.contextId);
    expect(await stream.next()).toMatchObject({ error: { code: -32_001 } });
    expect(await stream.rest()).toEqual([]);
  });
});
