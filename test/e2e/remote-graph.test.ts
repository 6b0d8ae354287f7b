// LangGraph's own RemoteGraph as the client: a served graph that is used like a local one.
import { Annotation, Command, END, MemorySaver, Send, START, StateGraph } from "@langchain/langgraph";
import { RemoteGraph } from "@langchain/langgraph/remote";
import { describe, expect, test } from "vitest";
import { collect } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer();

const remote = (graphId: string): RemoteGraph => new RemoteGraph({ graphId, client: server.client });
/** The config of a thread that does not exist yet. */
const onThread = () => ({ configurable: { thread_id: crypto.randomUUID() } });
type Chunk = [ns: string[], mode: string, data: unknown];

describe("invoke", () => {
  test("on a thread that it creates, and again on the same", async () => {
    const graph = remote("counter");
    const config = onThread();
    expect(await graph.invoke({}, config)).toEqual({ total: 111, trail: ["one", "ten", "hundred"] });
    expect(await graph.invoke({}, config)).toMatchObject({ total: 222 });
    expect((await server.client.threads.get(config.configurable.thread_id)).status).toBe("idle");
  });

  test("without a thread", async () => {
    const before = await server.client.threads.count({});
    expect(await remote("counter").invoke({ total: 1000 })).toMatchObject({ total: 1111 });
    expect(await server.client.threads.count({})).toBe(before);
  });

  test("with messages of LangChain", async () => {
    const { HumanMessage } = await import("@langchain/core/messages");
    const values = (await remote("echo").invoke({ messages: [new HumanMessage("hi")] })) as {
      messages: { type: string; content: string }[];
    };
    expect(values.messages.map(({ type, content }) => [type, content])).toEqual([
      ["human", "hi"],
      ["ai", "echo: hi"],
    ]);
  });

  test("hands config, context and metadata on", async () => {
    const { seen } = (await remote("mirror").invoke({}, {
      configurable: { thread_id: crypto.randomUUID(), user: "ada" },
      context: { tenant: "t1" },
      metadata: { reason: "test" },
      tags: ["remote"],
      recursionLimit: 7,
    } as never)) as { seen: Record<string, unknown> };
    expect(seen["configurable"]).toMatchObject({ user: "ada" });
    expect(seen["context"]).toMatchObject({ tenant: "t1" });
    expect(seen["metadata"]).toMatchObject({ reason: "test" });
    expect(seen["tags"]).toEqual(expect.arrayContaining(["remote"]));
    expect(seen["recursionLimit"]).toBe(7);
  });

  test("a failing graph throws", async () => {
    await expect(remote("failing").invoke({ how: "class" })).rejects.toThrow(/PaymentRefused.*the card has expired/);
    await expect(remote("missing").invoke({})).rejects.toThrow("404");
  });

  test("by the id of the assistant", async () => {
    const values = (await remote("fe096781-5601-53d2-b2f6-0d3403f7e9ca").invoke({
      messages: [{ role: "user", content: "hi" }],
    })) as { messages: { content: string }[] };
    expect(values.messages.at(-1)!.content).toBe("You said: hi");
  });
});

describe("stream", () => {
  test("one mode", async () => {
    const updates = await collect(await remote("counter").stream({}, { streamMode: "updates" }));
    expect(updates).toEqual([
      { one: { total: 1, trail: ["one"] } },
      { ten: { total: 10, trail: ["ten"] } },
      { hundred: { total: 100, trail: ["hundred"] } },
    ]);
    const values = await collect(await remote("counter").stream({ total: 1000 }, { streamMode: "values" }));
    expect(values.map((value) => (value as { total: number }).total)).toEqual([1000, 1001, 1011, 1111]);
    const custom = await collect(await remote("gated").stream({ name: "x" }, { streamMode: "custom" }));
    expect(custom).toEqual([
      { at: "gate", name: "x" },
      { at: "through", name: "x" },
    ]);
  });

  test("tokens", async () => {
    const input = { messages: [{ role: "user", content: "hello" }] };
    const chunks = await collect(await remote("tokens").stream(input, { streamMode: ["messages", "values"] }));
    const pairs = chunks as unknown as [string, unknown][];
    const tokens = pairs.filter(([mode]) => mode === "messages").map(([, data]) => (data as [{ content: string }])[0]);
    expect(tokens.map(({ content }) => content)).toEqual(["you ", "said ", "hello ", "to ", "me"]);
    expect(pairs.filter(([mode]) => mode === "values")).toHaveLength(2);
  });

  test("several modes", async () => {
    const chunks = (await collect(
      await remote("gated").stream({ name: "x" }, { streamMode: ["values", "custom", "updates"] }),
    )) as unknown as [string, unknown][];
    expect(chunks.filter(([mode]) => mode === "updates").map(([, data]) => data)).toEqual([
      { first: { log: ["first x"] } },
      { second: { log: ["second x"] } },
    ]);
    expect(chunks.filter(([mode]) => mode === "custom").map(([, data]) => data)).toHaveLength(2);
    expect(chunks.filter(([mode]) => mode === "values").at(-1)![1]).toMatchObject({ log: ["first x", "second x"] });
    expect(new Set(chunks.map(([mode]) => mode))).toEqual(new Set(["values", "custom", "updates"]));
  });

  test("subgraphs", async () => {
    const chunks = (await collect(
      await remote("subgraph").stream({ ask: false }, { streamMode: ["updates", "custom"], subgraphs: true }),
    )) as unknown as Chunk[];
    const inner = chunks.filter(([ns]) => ns.length > 0);
    expect(inner.map(([ns]) => ns)).toEqual(inner.map(() => [expect.stringMatching(/^inner:[0-9a-f-]{36}$/)]));
    expect(inner.map(([, mode, data]) => [mode, data])).toEqual([
      ["custom", { progress: "inner half" }],
      ["updates", { work: { log: ["work: words from inside"] } }],
      ["updates", { check: { log: ["check: not asked"] } }],
    ]);
    const outer = chunks.filter(([ns, mode]) => ns.length === 0 && mode === "updates");
    expect(outer.map(([, , data]) => Object.keys(data as object)[0])).toEqual(["before", "inner", "after"]);
  });
});

describe("state", () => {
  test("is read, changed and looked back at", async () => {
    const graph = remote("counter");
    const config = onThread();
    await graph.invoke({}, config);
    const state = await graph.getState(config);
    expect(state.values).toEqual({ total: 111, trail: ["one", "ten", "hundred"] });
    expect(state.next).toEqual([]);
    expect(state.config.configurable).toMatchObject({ ...config.configurable, checkpoint_ns: "" });
    expect(state.metadata).toMatchObject({ source: "loop", step: 3 });
    expect(new Date(state.createdAt!).getTime()).not.toBeNaN();

    const history = await collect(graph.getStateHistory(config));
    expect(history.map(({ metadata }) => (metadata as { step: number }).step)).toEqual([3, 2, 1, 0, -1]);
    expect(history[0]!.config).toEqual(state.config);
    expect(history[1]!.config).toEqual(state.parentConfig);
    const some = await collect(graph.getStateHistory(config, { limit: 2, before: history[1]!.config }));
    expect(some.map(({ config: { configurable } }) => configurable)).toEqual(
      history.slice(2, 4).map(({ config: { configurable } }) => configurable),
    );
    const loops = await collect(graph.getStateHistory(config, { filter: { source: "input" } }));
    expect(loops).toHaveLength(1);

    const updated = await graph.updateState(config, { total: 9 }, "hundred");
    const after = await graph.getState(config);
    expect(after.values).toMatchObject({ total: 120 });
    expect(after.config.configurable!["checkpoint_id"]).toBe(updated.configurable!["checkpoint_id"]);
    expect(after.parentConfig!.configurable).toMatchObject(state.config.configurable!);
  });

  test("at an earlier checkpoint, and a run from there", async () => {
    const graph = remote("counter");
    const config = onThread();
    await graph.invoke({}, config);
    const history = await collect(graph.getStateHistory(config));
    const earlier = history.find(({ next }) => next[0] === "hundred")!;
    expect((await graph.getState(earlier.config)).values).toEqual({ total: 11, trail: ["one", "ten"] });
    const fork = await graph.updateState(earlier.config, { total: 1000, trail: ["edited"] }, "ten");
    expect((await graph.getState(fork)).values).toEqual({ total: 1011, trail: ["one", "ten", "edited"] });
    expect(await graph.invoke(null, config)).toEqual({ total: 1111, trail: ["one", "ten", "edited", "hundred"] });
  });

  test("of a subgraph", async () => {
    const graph = remote("subgraph");
    const config = onThread();
    await expect(graph.invoke({ ask: true }, config)).rejects.toMatchObject({ name: "GraphInterrupt" });
    const state = await graph.getState(config, { subgraphs: true });
    expect(state.next).toEqual(["inner"]);
    const inner = state.tasks[0]!.state as unknown as typeof state;
    expect(inner.next).toEqual(["check"]);
    expect(inner.values).toMatchObject({ log: ["before", "work: words from inside"] });
    const alone = await graph.getState(inner.config);
    expect(alone.values).toEqual(inner.values);
  });
});

describe("the drawing", () => {
  test("of a graph, and of the graphs in it", async () => {
    const ids = async (xray: boolean): Promise<string[]> =>
      Object.keys((await remote("subgraph").getGraphAsync({ xray } as never)).nodes).toSorted();
    expect(await ids(false)).toEqual(["__end__", "__start__", "after", "before", "inner"]);
    expect(await ids(true)).toEqual(["__end__", "__start__", "after", "before", "inner:check", "inner:work"]);
    const drawn = await remote("agent").getGraphAsync();
    expect(drawn.drawMermaid()).toContain("tools");
  });
});

describe("interrupts", () => {
  test("are thrown, and answered with a command", async () => {
    const graph = remote("approval");
    const config = onThread();
    const error = await graph.invoke({ topic: "tea" }, config).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: "GraphInterrupt",
      interrupts: [{ id: expect.any(String), value: { question: "Do tea?" } }],
    });
    const state = await graph.getState(config);
    expect(state.next).toEqual(["ask"]);
    expect(state.tasks[0]!.interrupts).toMatchObject([{ value: { question: "Do tea?" } }]);
    expect(await graph.invoke(new Command({ resume: "yes" }), config)).toEqual({
      topic: "tea",
      log: ["planned tea", 'answer "yes"', "did tea"],
    });
  });

  test("with update and goto", async () => {
    const graph = remote("approval");
    const config = onThread();
    await graph.invoke({ topic: "tea" }, config).catch(() => undefined);
    const command = new Command({ resume: "yes", goto: "skip", update: { topic: "cocoa" } });
    const values = (await graph.invoke(command, config)) as { topic: string; log: string[] };
    expect(values.topic).toBe("cocoa");
    expect(values.log).toEqual(expect.arrayContaining(["planned tea", 'answer "yes"', "skipped cocoa", "did cocoa"]));
  });

  test("with a goto that brings its own input", async () => {
    const graph = remote("approval");
    const config = onThread();
    await graph.invoke({ topic: "tea" }, config).catch(() => undefined);
    const command = new Command({ goto: [new Send("skip", { topic: "water" })] });
    await graph.invoke(command, config).catch(() => undefined);
    expect((await graph.getState(config)).values).toMatchObject({ log: ["planned tea", "skipped water"] });
  });

  test("before a node", async () => {
    const graph = remote("counter");
    const config = onThread();
    const stopped = graph.invoke({}, { ...config, interruptBefore: ["ten"] });
    // `updates` says so with an empty list, which RemoteGraph takes for an interrupt.
    await expect(stopped).rejects.toMatchObject({ name: "GraphInterrupt" });
    expect((await graph.getState(config)).next).toEqual(["ten"]);
    expect(await graph.invoke(null, config)).toMatchObject({ total: 111 });
  });
});

describe("as a node of a local graph", () => {
  const State = Annotation.Root({
    topic: Annotation<string>,
    total: Annotation<number>({ reducer: (_left, right) => right, default: () => 0 }),
    trail: Annotation<string[]>({ reducer: (_left, right) => right, default: () => [] }),
  });

  test("its output is the node's", async () => {
    const local = new StateGraph(State)
      .addNode("prepare", () => ({ total: 1000 }))
      .addNode("remote", remote("counter") as never)
      .addEdge(START, "prepare")
      .addEdge("prepare", "remote")
      .addEdge("remote", END)
      .compile();
    expect(await local.invoke({ topic: "tea" })).toMatchObject({
      topic: "tea",
      total: 1111,
      trail: ["one", "ten", "hundred"],
    });
  });

  test("its events are the local graph's", async () => {
    const local = new StateGraph(State)
      .addNode("remote", remote("counter") as never)
      .addEdge(START, "remote")
      .compile();
    const chunks = (await collect(
      await local.stream({}, { streamMode: ["updates"], subgraphs: true }),
    )) as unknown as Chunk[];
    const inner = chunks.filter(([ns]) => ns.length > 0);
    expect(inner.map(([, , data]) => Object.keys(data as object)[0])).toEqual(["one", "ten", "hundred"]);
    expect(inner.every(([ns]) => ns[0]!.startsWith("remote:"))).toBe(true);
  });

  test("its question stops the local graph", async () => {
    const local = new StateGraph(State)
      .addNode("remote", remote("approval") as never)
      .addEdge(START, "remote")
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: crypto.randomUUID() } };
    const values = (await local.invoke({ topic: "tea" }, config)) as { __interrupt__?: { value: unknown }[] };
    expect(values.__interrupt__).toMatchObject([{ value: { question: "Do tea?" } }]);
    expect((await local.getState(config)).next).toEqual(["remote"]);
    // The remote thread has the same id, so its state can be looked at.
    expect((await remote("approval").getState(config)).next).toEqual(["ask"]);
  });
});
