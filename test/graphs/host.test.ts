import { expect, test } from "vitest";
import { GraphLoadError, UnknownGraphError } from "../../src/graphs/errors.ts";
import { graphSource, hostOf, project, reply, replyOf, start } from "./project.ts";

test("loads every graph and names them in the order of the config", async () => {
  const files = project({ "a.ts": graphSource("1"), "b.ts": graphSource("2") });
  const { host, events } = hostOf(files.config({ second: "b.ts:graph", first: "a.ts:graph" }));
  await host.start();
  expect(events).toEqual([{ type: "loaded", ids: ["second", "first"], ms: expect.any(Number) as number }]);
  expect(host.ids).toEqual(["second", "first"]);
  expect(host.spec("first").file).toBe(files.path("a.ts"));
  expect((await host.get("first")).version).toBe(1);
});

test("get waits for the first load", async () => {
  const files = project({ "graph.ts": graphSource("'late'") });
  const { host } = hostOf(files.config({ agent: "graph.ts:graph" }));
  const waiting = host.get("agent");
  await host.start();
  expect(await replyOf(await (await waiting).resolve({}))).toBe("late");
});

test("an unknown id is refused", async () => {
  const started = await start({ "graph.ts": graphSource("1") }, "graph.ts:graph");
  await expect(started.host.get("agnt")).rejects.toThrow(new UnknownGraphError("agnt", ["agent"]));
  expect(() => started.host.spec("agnt")).toThrow(UnknownGraphError);
});

test("a broken graph is reported once and stops no other", async () => {
  const files = project({ "good.ts": graphSource("'fine'"), "bad.ts": "export const graph = nothing;" });
  const { host, events } = hostOf(files.config({ bad: "bad.ts:graph", good: "good.ts:graph" }));
  await host.start();
  expect(events.map((event) => [event.type, "ids" in event && event.ids])).toEqual([
    ["loaded", ["good"]],
    ["failed", ["bad"]],
  ]);
  await expect(host.get("bad")).rejects.toBeInstanceOf(GraphLoadError);
  expect(await reply({ host }, "good")).toBe("fine");
});

test("two graphs that break for one reason are one event", async () => {
  const files = project({
    "a.ts": graphSource("1", `import "./shared.ts";`),
    "b.ts": graphSource("2", `import "./shared.ts";`),
    "shared.ts": "export const = 1;",
  });
  const { host, events } = hostOf(files.config({ a: "a.ts:graph", b: "b.ts:graph" }));
  await host.start();
  expect(events).toMatchObject([{ type: "failed", ids: ["a", "b"], firstLoad: true }]);
});

const exports_: Record<string, string> = {
  "an uncompiled builder": "builder",
  "a factory": "factory",
  "an async factory of a builder": "asyncFactory",
  "a promise of a graph": "promised",
  "a default export": "default",
  "an agent around a graph": "agent",
};
for (const [name, exportName] of Object.entries(exports_)) {
  test(`serves ${name}`, async () => {
    const source = `${graphSource("'served'")}
      export const factory = () => graph;
      export const asyncFactory = async () => builder;
      export const promised = Promise.resolve(graph);
      export const agent = { graph, stream() {}, streamEvents() {} };
      export default builder;`;
    const started = await start({ "graph.ts": source }, `graph.ts:${exportName}`);
    expect(await reply(started)).toBe("served");
  });
}

test("a factory gets the config of each call", async () => {
  const source = `${graphSource("1")}
    export const make = (config) =>
      new StateGraph(State).addNode("answer", () => ({ reply: config.configurable.word })).addEdge("__start__", "answer");`;
  const started = await start({ "graph.ts": source }, "graph.ts:make");
  expect(await reply(started, "agent", { configurable: { word: "one" } })).toBe("one");
  expect(await reply(started, "agent", { configurable: { word: "two" } })).toBe("two");
});

test("a failing factory points at the user's line", async () => {
  const source = `interface Config { configurable: { key?: string } }
export function make(config: Config) {
  throw new RangeError("no key: " + config.configurable.key);
}`;
  const started = await start({ "graph.ts": source }, "graph.ts:make");
  const version = await started.host.get("agent");
  const error: unknown = await version.resolve({ configurable: {} }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(GraphLoadError);
  expect((error as GraphLoadError).diagnostic).toMatchObject({
    message: "RangeError: no key: undefined",
    location: { file: started.path("graph.ts"), line: 3, column: 9 },
  });
});

test("a factory of something else is refused when it is called", async () => {
  const started = await start({ "graph.ts": "export const make = () => 'no graph';" }, "graph.ts:make");
  const version = await started.host.get("agent");
  await expect(version.resolve({})).rejects.toThrow(`"make" of graph.ts is no graph but a string`);
});

test("keeps the defaults of an agent that has been given a config", async () => {
  // The shape of langchain's ReactAgent: all that matters is private.
  const source = `${graphSource("config.metadata.team").replace("(state)", "(state, config)")}
    class Agent {
      #graph = graph;
      #defaults = { metadata: { team: "blue" }, recursionLimit: 7 };
      get graph() { return this.#graph; }
      stream() { throw new Error("not called"); }
      streamEvents(state, config) { return this.#graph.streamEvents(state, { ...this.#defaults, ...config }); }
    }
    export const agent = new Agent();`;
  const started = await start({ "graph.ts": source }, "graph.ts:agent");
  const graph = await (await started.host.get("agent")).resolve({});
  expect(graph.config).toMatchObject({ recursionLimit: 7 });
  expect(await replyOf(graph)).toBe("blue");
  expect(typeof graph.streamEvents).toBe("function");
  expect(Object.keys(graph)).not.toContain("streamEvents");
});

test("takes a graph's own checkpointer and store away and says so once", async () => {
  const source = `${graphSource("'kept nowhere'", `import { InMemoryStore, MemorySaver } from "@langchain/langgraph";`)}
    export const own = builder.compile({ checkpointer: new MemorySaver(), store: new InMemoryStore(), name: "mine" });
    export const make = () => own;`;
  const started = await start({ "graph.ts": source }, "graph.ts:make", { reload: true });
  const version = await started.host.get("agent");
  const graph = await version.resolve({});
  await version.resolve({});
  expect(graph.checkpointer).toBeUndefined();
  expect(graph.store).toBeUndefined();
  expect(graph).toMatchObject({ name: "mine" });
  expect(await replyOf(graph)).toBe("kept nowhere");
  expect(started.events.filter(({ type }) => type === "warning")).toEqual([
    { type: "warning", message: `Graph "agent" has its own checkpointer and store; the server's own takes over.` },
  ]);
  // v3 streams are a private method of Pregel, which a mere prototype copy cannot call.
  const events = graph.streamEvents({ input: "hi" }, { version: "v3" });
  await expect(Promise.resolve(events)).resolves.toBeTypeOf("object");
});

test("keeps checkpointer: false and warns of nothing", async () => {
  const source = `${graphSource("1")} export const off = builder.compile({ checkpointer: false });`;
  const started = await start({ "graph.ts": source }, "graph.ts:off");
  const graph = await (await started.host.get("agent")).resolve({});
  expect(graph.checkpointer).toBe(false);
  expect(started.events.map(({ type }) => type)).toEqual(["loaded"]);
});

test("reconfigure loads what is new or different and forgets what is gone", async () => {
  const files = project({ "a.ts": graphSource("'a'"), "b.ts": graphSource("'b'"), "c.ts": graphSource("'c'") });
  const { host, events } = hostOf(files.config({ same: "a.ts:graph", changed: "a.ts:graph", gone: "b.ts:graph" }));
  await host.start();
  const same = await host.get("same");
  events.length = 0;
  await host.reconfigure(files.config({ fresh: "c.ts:graph", same: "a.ts:graph", changed: "b.ts:graph" }));
  expect(host.ids).toEqual(["fresh", "same", "changed"]);
  expect(await host.get("same")).toBe(same);
  expect(await reply({ host }, "fresh")).toBe("c");
  expect(await reply({ host }, "changed")).toBe("b");
  expect((await host.get("changed")).version).toBe(2);
  await expect(host.get("gone")).rejects.toBeInstanceOf(UnknownGraphError);
  expect(events.map((event) => [event.type, "ids" in event && event.ids])).toEqual(
    expect.arrayContaining([
      ["loaded", ["fresh"]],
      ["reloaded", ["changed"]],
    ]),
  );
});

test("reconfigure evaluates everything again when the environment changed", async () => {
  const files = project({ "graph.ts": graphSource("word", "const word = process.env.GRAPH_TEST_WORD ?? 'unset';") });
  const { host } = hostOf(files.config({ agent: "graph.ts:graph" }));
  await host.start();
  expect(await reply({ host })).toBe("unset");
  process.env["GRAPH_TEST_WORD"] = "set";
  try {
    await host.reconfigure(files.config({ agent: "graph.ts:graph" }, { env: { GRAPH_TEST_WORD: "set" } }));
    expect(await reply({ host })).toBe("set");
  } finally {
    delete process.env["GRAPH_TEST_WORD"];
  }
});

test("a closed host lets nobody wait", async () => {
  const files = project({ "graph.ts": "await new Promise(() => {}); export const graph = 1;" });
  const { host, events } = hostOf(files.config({ agent: "graph.ts:graph" }));
  const started = host.start();
  const waiting = expect(host.get("agent")).rejects.toThrow(`Graph "agent" was closed before it was loaded`);
  await host.runtime();
  await host.close();
  await started;
  await waiting;
  expect(events).toEqual([]);
});
