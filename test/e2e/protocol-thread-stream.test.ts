// The official SDK's ThreadStream (`client.threads.stream`) against a real server: a run from its start to its end, interrupts, several
// readers, and LangGraph's RemoteGraph on top of it.
import { randomUUID } from "node:crypto";
import { RemoteGraph } from "@langchain/langgraph/remote";
import { Command } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { collect } from "./support/http.ts";
import { PROTOCOL_PROJECT, type ProtocolEvent } from "./support/protocol.ts";
import { useServer } from "./support/server.ts";

const server = useServer({ cwd: PROTOCOL_PROJECT });
const gates = useGates();
const says = (content: string) => ({ messages: [{ role: "user", content }] });

describe("a run", () => {
  test("gives its messages, values and output, and creates the thread", async () => {
    const thread = server.client.threads.stream({ assistantId: "slow" });
    const messages = collect(thread.messages);
    const started = await thread.run.start({ input: says("go") });
    expect(started).toEqual({ run_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    const output = (await thread.output) as { messages: { content: unknown }[] };
    expect(output.messages.map(({ content }) => content)).toEqual([
      "go",
      [{ type: "text", text: "one two three four five six" }],
    ]);
    const [message, ...more] = await messages;
    expect(more).toEqual([]);
    expect(await message!.text).toBe("one two three four five six");
    expect(await message!.usage).toMatchObject({ total_tokens: 7 });
    const values = await collect(thread.values as AsyncIterable<{ messages: unknown[] }>);
    expect(values.map((value) => value.messages.length)).toEqual([1, 2]);
    expect(thread.interrupted).toBe(false);
    await thread.close();

    const stored = await server.client.threads.get(thread.threadId);
    expect(stored).toMatchObject({ status: "idle", metadata: { graph_id: "slow" } });
    expect(await server.client.runs.get(thread.threadId, started.run_id!)).toMatchObject({ status: "success" });
  });

  test("gives tokens as they come", async () => {
    const thread = server.client.threads.stream({ assistantId: "slow" });
    await thread.run.start({ input: { ...says("go"), gate: gates.url("tokens") } });
    let text = "";
    for await (const message of thread.messages) {
      for await (const token of message.text) {
        text += token;
        // The model waits here, so that this was streamed and not told at the end.
        if (text === "one two three ") gates.open("tokens");
      }
      break;
    }
    expect(text).toBe("one two three four five six");
    await thread.close();
  });

  test("gives tool calls with what became of them", async () => {
    const thread = server.client.threads.stream({ assistantId: "tools" });
    const calls = collect(thread.toolCalls);
    await thread.run.start({ input: says("go") });
    // The official client gives a call when it begins and again when it ends.
    const byName = new Map((await calls).map((call) => [call.name, call]));
    expect([...byName.keys()].toSorted()).toEqual(["add", "fail"]);
    const [add, fail] = [byName.get("add"), byName.get("fail")];
    expect(add).toMatchObject({ name: "add", callId: "call-add", input: { a: 1, b: 2 } });
    expect(await add!.output).toBe("3");
    expect(fail).toMatchObject({ name: "fail", callId: "call-fail" });
    await expect(fail!.output).rejects.toThrow("this tool is broken");
    const { messages } = (await thread.output) as { messages: { type: string }[] };
    expect(messages.map(({ type }) => type)).toEqual(["human", "ai", "tool", "tool", "ai"]);
    await thread.close();
  });

  test("finds the graphs in the graph", async () => {
    const thread = server.client.threads.stream({ assistantId: "nested" });
    const found = collect(thread.subgraphs);
    await thread.run.start({ input: says("go") });
    const [middle, ...more] = await found;
    expect(more).toEqual([]);
    expect(middle).toMatchObject({ name: "middle" });
    expect(await thread.agent.getTree()).toMatchObject({
      tree: {
        namespace: [],
        status: "completed",
        graph_name: "nested",
        children: [{ graph_name: "middle", status: "completed", children: [{ graph_name: "inner" }] }],
      },
    });
    await thread.close();
  });

  test("gives what the graph's own transformers make", async () => {
    const thread = server.client.threads.stream<{ seen: { node: string }; total: number }>({ assistantId: "extended" });
    const custom = await thread.subscribe(["custom"]);
    await thread.run.start({ input: {} });
    expect(await collect(thread.extensions.seen)).toEqual([{ node: "first" }, { node: "second" }]);
    expect(await thread.extensions.total).toBe(2);
    // Reached for when all is over, it is told from what the server has kept.
    expect(await thread.extensions.progress).toBe("half");
    const plain = (await collect(custom)).map((event) => (event as { params: { data: unknown } }).params.data);
    expect(plain).toContainEqual({ payload: "just text" });
    await thread.close();
  });

  test("fails with its error, and so do its promises without taking the server down", async () => {
    const thread = server.client.threads.stream({ assistantId: "extended" });
    const lifecycle = await thread.subscribe(["lifecycle"]);
    const { run_id } = await thread.run.start({ input: { fail: true } });
    await thread.output;
    const events = (await collect(lifecycle)) as { params: { namespace: string[]; data: unknown } }[];
    expect(events.at(-1)!.params).toMatchObject({
      namespace: [],
      data: { event: "failed", graph_name: "extended", error: "told to fail" },
    });
    expect(await server.client.runs.get(thread.threadId, run_id!)).toMatchObject({ status: "error" });
    expect(await server.client.threads.get(thread.threadId)).toMatchObject({ status: "error" });
    await thread.close();
  });
});

describe("several runs on one stream", () => {
  test("one after the other, read by the same subscription", async () => {
    const thread = server.client.threads.stream({ assistantId: "steps" });
    const subscription = await thread.subscribe(["values"]);
    const seen: ProtocolEvent[] = [];
    for (const name of ["a", "b"]) {
      // oxlint-disable-next-line no-await-in-loop -- the second run begins when the first has ended
      await thread.run.start({ input: { name } });
      // oxlint-disable-next-line no-await-in-loop -- a subscription pauses at the end of a run
      for await (const event of subscription) seen.push(event as ProtocolEvent);
    }
    expect(seen.map(({ params }) => params.data["log"])).toEqual([
      [],
      ["a:one"],
      ["a:one", "a:two"],
      ["a:one", "a:two"],
      ["a:one", "a:two", "b:one"],
      ["a:one", "a:two", "b:one", "b:two"],
    ]);
    await thread.close();
  });

  test("two clients of one thread get all of it", async () => {
    const threadId = randomUUID();
    const one = server.client.threads.stream(threadId, { assistantId: "slow" });
    const two = server.client.threads.stream(threadId, { assistantId: "slow" });
    const texts = [one, two].map(async (thread) => {
      const [message] = await collect(thread.messages);
      return message!.text;
    });
    await one.run.start({ input: says("go") });
    expect(await Promise.all(texts)).toEqual(["one two three four five six", "one two three four five six"]);
    await Promise.all([one.close(), two.close()]);
  });

  test("a client that comes for the second run does not take the end of the first for its end", async () => {
    const threadId = randomUUID();
    const first = server.client.threads.stream(threadId, { assistantId: "steps" });
    await first.run.start({ input: { name: "a" } });
    await first.output;
    await first.close();

    const second = server.client.threads.stream(threadId, { assistantId: "steps" });
    await second.run.start({ input: { name: "b", gate: gates.url("second") } });
    const output = second.output;
    await gates.entered("second");
    gates.open("second");
    expect(await output).toMatchObject({ log: ["a:one", "a:two", "b:one", "b:two"] });
    await second.close();
  });
});

describe("interrupts", () => {
  test("are told of and answered", async () => {
    const thread = server.client.threads.stream({ assistantId: "ask" });
    await thread.run.start({ input: { topic: "leave" } });
    expect(await thread.output).toMatchObject({ log: ["plan leave"] });
    expect(thread.interrupted).toBe(true);
    expect(thread.interrupts).toEqual([
      { interruptId: expect.any(String), payload: { question: "leave?" }, namespace: [] },
    ]);
    const values = await thread.subscribe(["values"]);
    const { interruptId, namespace } = thread.interrupts[0]!;
    await thread.input.respond({ interrupt_id: interruptId, namespace, response: false });
    const last = (await collect(values)).at(-1)!;
    expect(last.params.data).toMatchObject({ log: ["plan leave", "answer false", "act leave"] });
    expect(thread.interrupted).toBe(false);
    await thread.close();
  });

  test("of a graph in a graph come once, with the place where they arose", async () => {
    const thread = server.client.threads.stream({ assistantId: "nested" });
    await thread.run.start({ input: { ...says("go"), ask: true } });
    await thread.output;
    expect(thread.interrupts).toEqual([
      {
        interruptId: expect.any(String),
        payload: { question: "deep enough?" },
        namespace: [expect.stringMatching(/^middle:/), expect.stringMatching(/^inner:/)],
      },
    ]);
    await thread.input.respond({
      interrupt_id: thread.interrupts[0]!.interruptId,
      namespace: thread.interrupts[0]!.namespace,
      response: "yes",
    });
    await expect.poll(async () => (await server.client.threads.get(thread.threadId)).status).toBe("idle");
    await thread.close();
  });

  test("two at once are answered together", async () => {
    const thread = server.client.threads.stream({ assistantId: "pair" });
    await thread.run.start({ input: {} });
    await thread.output;
    const answers: Record<string, unknown> = { "left?": 0, "right?": { ok: true } };
    expect(thread.interrupts.map(({ payload }) => payload).toSorted()).toEqual(["left?", "right?"]);
    const lifecycle = await thread.subscribe(["lifecycle"]);
    const responses = thread.interrupts.map(({ interruptId, payload, namespace }) => ({
      interrupt_id: interruptId,
      namespace,
      response: answers[payload as string],
    }));
    await thread.input.respond({ responses });
    await collect(lifecycle);
    expect(await thread.state.get({ namespace: [], keys: ["log"] })).toMatchObject({
      values: { log: ["left 0", 'right {"ok":true}', "joined 2"] },
    });
    await thread.close();
  });
});

describe("RemoteGraph.streamEvents v3", () => {
  const graphOf = (graphId: string): RemoteGraph => new RemoteGraph({ graphId, client: server.client });

  test("gives messages, values and events", async () => {
    const run = await graphOf("slow").streamEvents({ ...says("go"), gate: gates.url("remote") }, { version: "v3" });
    const events = collect(run);
    // The official client may miss messages of a run that ends before it has asked for them.
    const { value: message } = await run.messages[Symbol.asyncIterator]().next();
    gates.open("remote");
    expect(await message!.text).toBe("one two three four five six");
    expect(((await run.output) as { messages: unknown[] }).messages).toHaveLength(2);
    const methods = new Set((await events).map(({ method }) => method));
    expect([...methods].toSorted()).toEqual(["checkpoints", "lifecycle", "messages", "tasks", "updates", "values"]);
  });

  test("resumes with a command", async () => {
    const configurable = { thread_id: randomUUID() };
    const first = await graphOf("ask").streamEvents({ topic: "leave" }, { version: "v3", configurable });
    await first.output;
    expect(first.interrupted).toBe(true);
    const command = new Command({ resume: "yes", update: { log: ["by hand"] }, goto: [] });
    await graphOf("ask").streamEvents(command, { version: "v3", configurable });
    await expect.poll(async () => (await server.client.threads.get(configurable.thread_id)).status).toBe("idle");
    expect((await server.client.threads.getState(configurable.thread_id)).values).toMatchObject({
      log: ["plan leave", "by hand", 'answer "yes"', "act leave"],
    });
  });
});
