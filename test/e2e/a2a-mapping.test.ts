// Between A2A and graphs: parts and inputs, interrupts and answers, contexts and threads, whoever else works on them.
import { describe, expect, test } from "vitest";
import { A2A_PROJECT, Agent, messageId, rpc, said03, said1, type Wire } from "./support/a2a.ts";
import { useGates } from "./support/gates.ts";
import { call } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer({ cwd: A2A_PROJECT });
const gates = useGates();
const agent = (name: string): Agent => new Agent(() => server.url, name);
const send = (to: Agent, text: string, more: Record<string, unknown> = {}): Promise<Wire> =>
  to.result("message/send", said03(text, more));
const sendParts = (to: Agent, parts: unknown[], more: Record<string, unknown> = {}): Promise<Wire> =>
  send(to, "", { parts, ...more });
const get = (to: Agent, id: string): Promise<Wire> => to.result("tasks/get", { id });
/** What the agent `mirror` saw. */
const seen = (task: Wire): Wire => JSON.parse(task.artifacts[0].parts[0].text);

describe("parts", () => {
  test("a text is a human message with the id of the A2A message", async () => {
    const id = messageId();
    const task = await send(agent("mirror"), "hello", { messageId: id });
    expect(seen(task)).toMatchObject({ id, type: "human", content: "hello" });
  });

  test("several texts are one message, one below the other", async () => {
    const task = await sendParts(agent("mirror"), [
      { kind: "text", text: "one" },
      { kind: "text", text: "two" },
    ]);
    expect(seen(task)).toMatchObject({ content: "one\ntwo" });
    expect(task.history).toHaveLength(2);
  });

  test("data are merged into the input, beside messages", async () => {
    const task = await sendParts(agent("mirror"), [
      { kind: "text", text: "hi" },
      { kind: "data", data: { tone: "dry" } },
    ]);
    expect(seen(task)).toMatchObject({ content: "hi", tone: "dry" });
    const { values } = await server.client.threads.getState(task.contextId);
    expect(values).toMatchObject({ tone: "dry" });
  });

  test("data may bring messages of their own", async () => {
    const messages = [{ role: "user", content: "first" }];
    const task = await sendParts(agent("mirror"), [
      { kind: "data", data: { messages } },
      { kind: "text", text: "second" },
    ]);
    expect(task.history.map(({ parts }: Wire) => parts[0].text)).toEqual(["first", "second", expect.any(String)]);
  });

  test("data that no key of the graph takes are told to it as text", async () => {
    expect(seen(await sendParts(agent("mirror"), [{ kind: "data", data: { city: "Bern" } }]))).toMatchObject({
      content: '{"city":"Bern"}',
    });
    expect(seen(await sendParts(agent("mirror"), [{ kind: "data", data: [1, 2] }]))).toMatchObject({
      content: "[1,2]",
    });
  });

  test("files become content blocks, in the order of the parts; those of 1.0 as those of 0.3", async () => {
    const bytes = Buffer.from("picture").toString("base64");
    const blocks = [
      { type: "text", text: "look" },
      { type: "image", mimeType: "image/png", data: bytes, metadata: { filename: "a.png" } },
      { type: "file", mimeType: "application/pdf", url: "https://example.com/a.pdf" },
    ];
    const old = await sendParts(agent("mirror"), [
      { kind: "text", text: "look" },
      { kind: "file", file: { name: "a.png", mimeType: "image/png", bytes } },
      { kind: "file", file: { mimeType: "application/pdf", uri: "https://example.com/a.pdf" } },
    ]);
    const parts = [
      { text: "look" },
      { raw: bytes, mediaType: "image/png", filename: "a.png" },
      { url: "https://example.com/a.pdf", mediaType: "application/pdf" },
    ];
    const young = (await agent("mirror").result("SendMessage", said1("", { parts }))).task;
    for (const task of [old, young]) {
      // LangChain itself reads them as its standard blocks.
      expect(seen(task)).toMatchObject({ content: blocks, contentBlocks: blocks });
    }
    expect(old.history[0].parts[1]).toEqual({ kind: "file", file: { name: "a.png", mimeType: "image/png", bytes } });
    expect(young.history[0].parts).toEqual(parts);
  });

  test("metadata reach the run, context the graph", async () => {
    const task = await agent("mirror").result("message/send", {
      ...said03("hi"),
      metadata: { topic: "cats" },
      context: { mood: "good" },
    });
    expect(seen(task)).toMatchObject({ topic: "cats", context: { mood: "good" } });
    expect((await server.client.runs.get(task.contextId, task.id)).metadata).toMatchObject({ topic: "cats" });
  });

  test("headers that the config names reach the graph, over A2A and MCP", async () => {
    const headers = { "x-tone": "warm", "y-tone": "cold" };
    const task = await agent("mirror").result("message/send", said03("hi"), { headers });
    expect(seen(task)).toMatchObject({ header: "warm" });
    const stream = await agent("mirror").stream("message/stream", said03("hi"), { headers });
    expect(JSON.stringify(await stream.rest())).toContain(String.raw`\"header\":\"warm\"`);
    const params = { name: "mirror", arguments: { messages: [{ role: "user", content: "hi" }] } };
    const { json } = await call(server.url, "POST", "/mcp", { headers, body: rpc("tools/call", params) });
    const { messages } = JSON.parse((json as Wire).result.content[0].text);
    expect(JSON.parse(messages.at(-1).content)).toMatchObject({ header: "warm" });
    const run = await server.client.runs.get(task.contextId, task.id);
    expect(JSON.stringify(run)).not.toContain("warm");
  });

  test("an assistant that names its modes takes no files of others", async () => {
    const { assistant_id } = await server.client.assistants.create({
      graphId: "mirror",
      metadata: { a2a: { input_modes: ["text/plain", "image/*"], output_modes: ["text/plain"] } },
    });
    const own = agent(assistant_id);
    const file = (mimeType: string) => [{ kind: "file", file: { mimeType, bytes: "aGk=" } }];
    expect(await sendParts(own, file("image/jpeg"))).toMatchObject({ status: { state: "completed" } });
    expect(await own.error("message/send", said03("", { parts: file("application/pdf") }))).toMatchObject({
      code: -32_005,
      message: expect.stringContaining("text/plain, image/*"),
    });
    const wants = { ...said03("hi"), configuration: { acceptedOutputModes: ["application/json"] } };
    expect(await own.error("message/send", wants)).toMatchObject({ code: -32_005 });
  });
});

describe("a graph without messages", () => {
  test("takes data, and its state is the answer", async () => {
    const task = await sendParts(agent("plain"), [{ kind: "data", data: { topic: "cats" } }]);
    expect(task).toMatchObject({
      status: { state: "completed" },
      artifacts: [{ name: "Assistant Response", parts: [{ kind: "data", data: { topic: "cats", length: 4 } }] }],
      history: [{ role: "user", parts: [{ kind: "data", data: { topic: "cats" } }] }],
    });
  });

  test("explains why it takes no text", async () => {
    const error = await agent("plain").error("message/send", said03("hello"));
    expect(error).toMatchObject({ code: -32_602 });
    expect(error.message).toMatch(/"messages".*topic, length, answer.*data part/s);
    const stream = await agent("plain").stream("message/stream", said03("hello"));
    expect(await stream.next()).toMatchObject({ error: { code: -32_602 } });
    expect(await agent("plain").error("SendMessage", said1("", { parts: [{ data: [1] }] }))).toMatchObject({
      code: -32_602,
    });
  });

  test("asks, and takes text as the answer", async () => {
    const task = await sendParts(agent("choosy"), [{ kind: "data", data: { topic: "cats" } }]);
    expect(task).toMatchObject({
      status: { state: "input-required", message: { parts: [{ text: "More of cats?" }, { kind: "data" }] } },
    });
    const after = await send(agent("choosy"), "yes", { taskId: task.id });
    expect(after).toMatchObject({ id: task.id, artifacts: [{ parts: [{ data: { topic: "cats", answer: "yes" } }] }] });
    expect(after.history.map(({ role }: Wire) => role)).toEqual(["user", "agent", "user"]);
  });
});

describe("interrupts", () => {
  const ask = agent("ask");

  test("are told as text and as data, in the status and as an artifact", async () => {
    const { interrupts } = (await server.client.threads.getState((await send(ask, "x")).contextId)) as unknown as {
      interrupts: Wire[];
    };
    const task = await send(ask, "hello");
    const data = { interrupts: [{ id: expect.any(String), value: { question: "Question 1?" } }] };
    expect(task.status.message).toMatchObject({
      role: "agent",
      taskId: task.id,
      parts: [
        { kind: "text", text: "Question 1?" },
        { kind: "data", data },
      ],
    });
    expect(task.artifacts).toMatchObject([{ name: "Interrupt", parts: [{ kind: "data", data }] }]);
    expect(interrupts).toHaveLength(1);
  });

  test.each([
    ["text", [{ kind: "text", text: "yes" }], "yes"],
    [
      "several texts",
      [
        { kind: "text", text: "yes" },
        { kind: "text", text: "no" },
      ],
      "yes\nno",
    ],
    ["data", [{ kind: "data", data: { ok: true } }], { ok: true }],
    ["resume in data", [{ kind: "data", data: { resume: false } }], false],
    [
      "text and data",
      [
        { kind: "text", text: "because" },
        { kind: "data", data: { ok: true } },
      ],
      { ok: true, text: "because" },
    ],
    [
      "a file",
      [{ kind: "file", file: { mimeType: "image/png", bytes: "aGk=" } }],
      [{ type: "image", mimeType: "image/png", data: "aGk=" }],
    ],
  ])("are answered by %s", async (_what, parts, value) => {
    const task = await send(ask, "hello");
    const after = await sendParts(ask, parts, { taskId: task.id, contextId: task.contextId });
    expect(after).toMatchObject({ id: task.id, status: { state: "input-required" } });
    expect(after.artifacts).toMatchObject([
      { name: "Assistant Response", parts: [{ text: `heard ${JSON.stringify(value)}` }] },
      { name: "Interrupt" },
    ]);
  });

  test("are answered by their ids, one of several or all at once", async () => {
    const pair = agent("pair");
    const task = await send(pair, "hello");
    const [, { data }] = task.status.message.parts;
    const ids = Object.fromEntries(data.interrupts.map(({ id, value }: Wire) => [value, id]));
    expect(Object.keys(ids).toSorted()).toEqual(["left?", "right?"]);
    const error = await pair.error("message/send", said03("both", { taskId: task.id }));
    expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining(ids["left?"]) });
    const stray = [{ kind: "data", data: { resume: [{ id: "nobody", value: 1 }] } }];
    expect(await pair.error("message/send", said03("", { taskId: task.id, parts: stray }))).toMatchObject({
      code: -32_602,
    });
    const half = await sendParts(pair, [{ kind: "data", data: { resume: [{ id: ids["left?"], value: "L" }] } }], {
      taskId: task.id,
    });
    expect(half).toMatchObject({ id: task.id, status: { state: "input-required" } });
    const whole = await sendParts(pair, [{ kind: "data", data: { resume: [{ id: ids["right?"], value: "R" }] } }], {
      taskId: task.id,
    });
    expect(whole).toMatchObject({ id: task.id, status: { state: "completed" } });
    const { messages } = (await server.client.threads.getState(task.contextId)).values as {
      messages: { content: string }[];
    };
    expect(messages.map(({ content }) => content)).toEqual(expect.arrayContaining(['left "L"', 'right "R"']));
  });

  test("a breakpoint lets any message go on, and the graph hears it", async () => {
    const stop = agent("breakpoint");
    const task = await send(stop, "hello");
    expect(task).toMatchObject({
      status: { state: "input-required", message: { parts: [{ text: expect.stringContaining("breakpoint") }, {}] } },
    });
    const after = await send(stop, "go", { taskId: task.id });
    expect(after).toMatchObject({
      id: task.id,
      status: { state: "completed" },
      artifacts: [{ parts: [{ text: "after hello, before, go" }] }],
    });
    expect(after.history.filter(({ parts }: Wire) => parts[0].text === "go")).toHaveLength(1);
  });

  test("a contextId alone leaves the question unanswered and begins a new turn; the task that asked is over", async () => {
    const task = await send(ask, "hello");
    const next = await send(ask, "something else", { contextId: task.contextId });
    expect(next.id).not.toBe(task.id);
    expect(await get(ask, task.id)).toMatchObject({
      status: { state: "canceled", message: { parts: [{ text: expect.stringContaining("without an answer") }] } },
    });
    expect(await get(ask, next.id)).toMatchObject({ status: { state: "input-required" } });
  });

  test("of two answers the second is a message behind the first, in the same task", async () => {
    const kit = agent("kit");
    const task = await send(kit, "ask me", { messageId: messageId("input-required") });
    const later = (text: string): Promise<Wire> =>
      kit.result("message/send", { ...said03(text, { taskId: task.id }), configuration: { blocking: false } });
    await later(gates.url("two answers"));
    await gates.entered("two answers");
    expect(await later("and this")).toMatchObject({ id: task.id, status: { state: "working" } });
    const stream = await kit.stream("tasks/resubscribe", { id: task.id });
    await stream.next();
    gates.open("two answers");
    const events = await stream.rest();
    expect(events.filter(({ final }) => final === true)).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ status: { state: "completed" }, final: true });
    const { messages } = (await server.client.threads.getState(task.contextId)).values as {
      messages: { content: string }[];
    };
    const texts = messages.map(({ content }) => content);
    expect(texts).toEqual(["ask me", expect.stringMatching(/^You answered/), "and this", "Hello from TCK"]);
  });
});

describe("others on the same thread", () => {
  const kit = agent("kit");
  const waiting = (): Promise<Wire> => send(kit, "ask me", { messageId: messageId("input-required") });

  test("a run that answers over the API completes the task", async () => {
    const task = await waiting();
    await server.client.runs.wait(task.contextId, "kit", { command: { resume: "over the API" } });
    expect(await get(kit, task.id)).toMatchObject({
      status: { state: "completed" },
      artifacts: [{ parts: [{ text: 'You answered "over the API"' }] }],
    });
  });

  test("a run with other input leaves the task without its answer", async () => {
    const task = await waiting();
    await server.client.runs.wait(task.contextId, "kit", { input: { messages: [{ role: "user", content: "new" }] } });
    expect(await get(kit, task.id)).toMatchObject({ status: { state: "canceled" } });
  });

  test("a run that is cancelled before it began leaves the question open", async () => {
    const task = await waiting();
    const held = await server.client.runs.create(task.contextId, "kit", {
      input: { messages: [{ role: "user", content: "later" }] },
      afterSeconds: 1000,
    });
    expect(await kit.error("message/send", said03("now", { taskId: task.id }))).toMatchObject({ code: -32_004 });
    await server.client.runs.cancel(task.contextId, held.run_id, true);
    expect(await get(kit, task.id)).toMatchObject({ status: { state: "input-required" } });
    expect(await send(kit, "now", { taskId: task.id })).toMatchObject({ status: { state: "completed" } });
  });

  test("a task whose run is canceled over the API is canceled; one whose run is rolled back never was", async () => {
    const begin = async (gate: string): Promise<Wire> => {
      const task = await kit.result("message/send", {
        ...said03(`gate ${gates.url(gate)}`),
        configuration: { blocking: false },
      });
      await gates.entered(gate);
      return task;
    };
    const canceled = await begin("cancel");
    await server.client.runs.cancel(canceled.contextId, canceled.id, true);
    expect(await get(kit, canceled.id)).toMatchObject({ status: { state: "canceled" } });
    const undone = await begin("rollback");
    const stream = await kit.stream("tasks/resubscribe", { id: undone.id });
    await stream.next();
    await server.client.runs.cancel(undone.contextId, undone.id, true, "rollback");
    expect(await stream.next()).toMatchObject({ error: { code: -32_001 } });
    expect(await kit.error("tasks/get", { id: undone.id })).toMatchObject({ code: -32_001 });
    expect((await kit.result("ListTasks", { contextId: undone.contextId })).tasks).toEqual([]);
  });

  test("an answer that is rolled back leaves the question open", async () => {
    const task = await waiting();
    await kit.result("message/send", {
      ...said03(gates.url("undo"), { taskId: task.id }),
      configuration: { blocking: false },
    });
    await gates.entered("undo");
    expect(await get(kit, task.id)).toMatchObject({ status: { state: "working" } });
    const stream = await kit.stream("tasks/resubscribe", { id: task.id });
    await stream.next();
    const [run] = await server.client.runs.list(task.contextId);
    await server.client.runs.cancel(task.contextId, run!.run_id, true, "rollback");
    expect((await stream.rest()).at(-1)).toMatchObject({ status: task.status, final: true });
    expect(await get(kit, task.id)).toMatchObject({ status: task.status });
    expect(await send(kit, "again", { taskId: task.id })).toMatchObject({
      id: task.id,
      status: { state: "completed" },
      artifacts: [{ parts: [{ text: 'You answered "again"' }] }],
    });
  });

  test("a deleted thread takes its tasks with it", async () => {
    const done = await send(kit, "hello");
    const open = await waiting();
    for (const task of [done, open]) {
      await server.client.threads.delete(task.contextId);
      for (const method of ["tasks/get", "tasks/cancel"])
        expect(await kit.error(method, { id: task.id })).toMatchObject({ code: -32_001 });
      expect(await kit.error("message/send", said03("hi", { taskId: task.id }))).toMatchObject({ code: -32_001 });
      expect((await kit.result("ListTasks", { contextId: task.contextId })).totalSize).toBe(0);
      // The context can be begun again.
      expect(await send(kit, "hello", { contextId: task.contextId })).toMatchObject({ contextId: task.contextId });
    }
  });

  test("a graph's own thread can be gone on with over A2A", async () => {
    const { thread_id } = await server.client.threads.create();
    await server.client.runs.wait(thread_id, "kit", {
      input: { messages: [{ role: "user", content: "over the API" }] },
    });
    const task = await send(kit, "over A2A", { contextId: thread_id });
    expect(task.history.map(({ parts }: Wire) => parts[0].text)).toEqual([
      "over the API",
      "Hello from TCK",
      "over A2A",
      "Hello from TCK",
    ]);
  });
});
