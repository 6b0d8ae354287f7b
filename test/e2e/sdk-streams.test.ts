// Streaming through the official client: every mode alone and together, subgraphs, several readers, resuming, broken wires.
import type { StreamMode } from "@langchain/langgraph-sdk";
import { afterEach, describe, expect, test, vi } from "vitest";
import { useGates } from "./support/gates.ts";
import { collect, frames } from "./support/http.ts";
import { startProxy } from "./support/proxy.ts";
import { clientOf, useServer } from "./support/server.ts";

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const server = useServer();
const gates = useGates();

interface Event {
  readonly id?: string;
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- what a mode sends is what is tested
  readonly data: any;
}

const newThread = async (): Promise<string> => (await server.client.threads.create()).thread_id;
const say = (text: string) => ({ messages: [{ role: "user", content: text }] });

/** All events of a run on a new thread. */
async function streamed(
  graph: string,
  input: unknown,
  streamMode: StreamMode | StreamMode[],
  more: { streamSubgraphs?: boolean } = {},
): Promise<Event[]> {
  const payload = { input: input as Record<string, unknown>, streamMode, ...more };
  return (await collect(server.client.runs.stream(await newThread(), graph, payload))) as Event[];
}

/** Names of the events without those of the same name that follow each other. */
const names = (events: readonly Event[]): string[] =>
  events.map(({ event }) => event).filter((name, i, all) => name !== all[i - 1]);
const dataOf = (events: readonly Event[], name: string): Event["data"][] =>
  events.filter(({ event }) => event === name).map(({ data }) => data);
const nextEvent = async (iterator: AsyncIterator<unknown>): Promise<Event> => (await iterator.next()).value as Event;
/** Reads until an event fits, and returns everything read. */
async function until(iterator: AsyncIterator<unknown>, fits: (event: Event) => boolean): Promise<Event[]> {
  const events: Event[] = [];
  for (let { value, done } = await iterator.next(); done !== true; { value, done } = await iterator.next()) {
    events.push(value as Event);
    if (fits(value as Event)) return events;
  }
  throw new Error(`the stream ended before, with ${JSON.stringify(events)}`);
}

describe("one mode", () => {
  test("every stream begins with the run and the attempt", async () => {
    for (const mode of [
      "values",
      "updates",
      "messages",
      "messages-tuple",
      "custom",
      "events",
      "debug",
      "tasks",
    ] as const) {
      const thread_id = await newThread();
      const events = (await collect(
        server.client.runs.stream(thread_id, "tokens", { input: say("a"), streamMode: mode }),
      )) as Event[];
      const [run] = await server.client.runs.list(thread_id);
      expect(events[0], mode).toEqual({ id: "0", event: "metadata", data: { run_id: run!.run_id, attempt: 1 } });
      expect(dataOf(events, "metadata"), mode).toHaveLength(1);
      // No number is left out, so that a client may count.
      expect(
        events.map(({ id }) => id),
        mode,
      ).toEqual(events.map((_, i) => String(i)));
    }
  });

  test("values: the state behind the input and every superstep", async () => {
    const events = await streamed("counter", { total: 1000 }, "values");
    expect(names(events)).toEqual(["metadata", "values"]);
    expect(dataOf(events, "values")).toEqual([
      { total: 1000, trail: [] },
      { total: 1001, trail: ["one"] },
      { total: 1011, trail: ["one", "ten"] },
      { total: 1111, trail: ["one", "ten", "hundred"] },
    ]);
    // It is the mode that nobody asked for.
    const silent = await collect(server.client.runs.stream(await newThread(), "counter", { input: { total: 1000 } }));
    expect(silent.map(({ event, data }) => [event, data]).slice(1)).toEqual(
      events.map(({ event, data }) => [event, data]).slice(1),
    );
  });

  test("updates: one event per node", async () => {
    const events = await streamed("counter", {}, "updates");
    expect(names(events)).toEqual(["metadata", "updates"]);
    expect(dataOf(events, "updates")).toEqual([
      { one: { total: 1, trail: ["one"] } },
      { ten: { total: 10, trail: ["ten"] } },
      { hundred: { total: 100, trail: ["hundred"] } },
    ]);
    const two = dataOf(await streamed("pair", {}, "updates"), "updates");
    expect(
      two.flatMap((update) => update.__interrupt__.map(({ value }: { value: unknown }) => value)).toSorted(),
    ).toEqual(["left?", "right?"]);
  });

  test("messages-tuple: tokens with the node that they come from, under the name `messages`", async () => {
    const events = await streamed("tokens", say("hello"), "messages-tuple");
    expect(names(events)).toEqual(["metadata", "messages"]);
    const pairs = dataOf(events, "messages");
    expect(pairs.map(([chunk]) => chunk.content)).toEqual(["you ", "said ", "hello ", "to ", "me"]);
    expect(new Set(pairs.map(([chunk]) => chunk.id)).size).toBe(1);
    const { run_id } = events[0]!.data as { run_id: string };
    for (const [chunk, metadata] of pairs) {
      expect(chunk.type).toMatch(/^(ai|AIMessageChunk)$/);
      expect(metadata).toMatchObject({
        langgraph_node: "speak",
        langgraph_step: 2,
        tags: ["spoken"],
        graph_id: "tokens",
        run_id,
        run_attempt: 1,
        thread_id: expect.any(String),
        assistant_id: expect.any(String),
        langgraph_checkpoint_ns: expect.stringMatching(/^speak:/),
      });
    }
  });

  test("messages: the message as it grows, then whole", async () => {
    const events = await streamed("tokens", say("hello"), "messages");
    const partial = dataOf(events, "messages/partial");
    expect(partial.map(([message]) => message.content)).toEqual([
      "you ",
      "you said ",
      "you said hello ",
      "you said hello to ",
      "you said hello to me",
    ]);
    const { id } = partial[0][0];
    expect(partial.every(([message]) => message.id === id && message.type === "ai")).toBe(true);
    expect(dataOf(events, "messages/metadata")).toEqual([
      { [id]: { metadata: expect.objectContaining({ langgraph_node: "speak" }) } },
    ]);
    const complete = dataOf(events, "messages/complete").flat();
    expect(complete.map(({ type, content }) => [type, content])).toEqual([
      ["human", "hello"],
      ["ai", "you said hello to me"],
    ]);
    expect(complete[1].id).toBe(id);
    const order = names(events);
    expect(order.indexOf("messages/metadata")).toBeLessThan(order.indexOf("messages/partial"));
    expect(order.at(-1)).toBe("messages/complete");
  });

  test("messages: a message is complete once", async () => {
    const thread_id = await newThread();
    await server.client.runs.wait(thread_id, "tokens", { input: say("first") });
    const events = (await collect(
      server.client.runs.stream(thread_id, "tokens", { input: say("second"), streamMode: "messages" }),
    )) as Event[];
    const complete = dataOf(events, "messages/complete").flat();
    expect(complete.slice(-2).map(({ content }) => content)).toEqual(["second", "you said second to me"]);
    expect(new Set(complete.map(({ id }) => id)).size).toBe(complete.length);
    expect(dataOf(events, "messages/partial").at(-1)[0].content).toBe("you said second to me");
  });

  test("messages that no model made come whole", async () => {
    const tuple = await streamed("echo", say("hello"), "messages-tuple");
    expect(dataOf(tuple, "messages").map(([message, { langgraph_node }]) => [message.content, langgraph_node])).toEqual(
      [["echo: hello", "echo"]],
    );
    const older = await streamed("echo", say("hello"), "messages");
    const complete = dataOf(older, "messages/complete").flat();
    expect(complete.map(({ content }) => content)).toEqual(["hello", "echo: hello"]);
  });

  test("custom: what the nodes wrote, as it is", async () => {
    const events = await streamed("gated", { name: "x", gate: "" }, "custom");
    expect(events.slice(1).map(({ event, data }) => [event, data])).toEqual([
      ["custom", { at: "gate", name: "x" }],
      ["custom", { at: "through", name: "x" }],
    ]);
  });

  test("events: LangChain's own, of the run and everything in it", async () => {
    const events = await streamed("tokens", say("hello"), "events");
    expect(names(events)).toEqual(["metadata", "events"]);
    const all = dataOf(events, "events");
    const { run_id } = events[0]!.data as { run_id: string };
    expect(all[0]).toMatchObject({ event: "on_chain_start", run_id, data: { input: say("hello") } });
    expect(all.at(-1)).toMatchObject({ event: "on_chain_end", run_id });
    const seen = all.map(({ event, name }) => `${event} ${name}`);
    for (const wanted of ["on_chain_start think", "on_chain_end speak", "on_chat_model_start WordModel"]) {
      expect(seen).toContain(wanted);
    }
    const tokens = all.filter((one) => one.event === "on_chat_model_stream" && one.metadata.langgraph_node === "speak");
    expect(tokens.map(({ data }) => data.chunk.content).join("")).toBe("you said hello to me");
  });

  test("tasks: the begin and the end of every node", async () => {
    const events = await streamed("counter", {}, "tasks");
    expect(names(events)).toEqual(["metadata", "tasks"]);
    const tasks = dataOf(events, "tasks");
    expect(tasks.map((task) => [task.name, "input" in task, "result" in task])).toEqual(
      ["one", "ten", "hundred"].flatMap((name) => [
        [name, true, false],
        [name, false, true],
      ]),
    );
    expect(tasks[0]).toMatchObject({ id: expect.stringMatching(UUID), input: { total: 0 }, interrupts: [] });
    expect(tasks[1]).toMatchObject({ id: tasks[0].id, result: { total: 1, trail: ["one"] }, interrupts: [] });
  });

  test("checkpoints: every checkpoint, as it can be asked for afterwards", async () => {
    const thread_id = await newThread();
    const events = (await collect(
      server.client.runs.stream(thread_id, "counter", { input: {}, streamMode: "checkpoints" }),
    )) as Event[];
    expect(names(events)).toEqual(["metadata", "checkpoints"]);
    const seen = dataOf(events, "checkpoints");
    expect(seen.map(({ metadata, next, values }) => [metadata.source, metadata.step, next, values.total])).toEqual([
      ["input", -1, ["__start__"], 0],
      ["loop", 0, ["one"], 0],
      ["loop", 1, ["ten"], 1],
      ["loop", 2, ["hundred"], 11],
      ["loop", 3, [], 111],
    ]);
    const history = await server.client.threads.getHistory(thread_id);
    expect(seen.map(({ checkpoint }) => checkpoint)).toEqual(history.map(({ checkpoint }) => checkpoint).toReversed());
    expect(seen.map(({ parent_checkpoint }) => parent_checkpoint)).toEqual(
      history.map(({ parent_checkpoint }) => parent_checkpoint).toReversed(),
    );
    // LangGraph's inner settings stay inside.
    expect(JSON.stringify(seen)).not.toMatch(/"__pregel_\w+":/);
  });

  test("debug: checkpoints, tasks and results, with their step and time", async () => {
    const events = await streamed("counter", {}, "debug");
    expect(names(events)).toEqual(["metadata", "debug"]);
    const all = dataOf(events, "debug");
    expect(all.map(({ type, step }) => `${step} ${type}`)).toEqual([
      "-1 checkpoint",
      "0 checkpoint",
      "1 task",
      "1 task_result",
      "1 checkpoint",
      "2 task",
      "2 task_result",
      "2 checkpoint",
      "3 task",
      "3 task_result",
      "3 checkpoint",
    ]);
    for (const { timestamp } of all) expect(new Date(timestamp).getTime()).not.toBeNaN();
    const [, second] = all.filter(({ type }) => type === "checkpoint");
    expect(second.payload).toMatchObject({
      config: { configurable: { thread_id: expect.any(String), checkpoint_id: expect.any(String) } },
      checkpoint: { thread_id: expect.any(String), checkpoint_ns: "", checkpoint_id: expect.any(String) },
      parent_config: { configurable: { checkpoint_id: expect.any(String) } },
      parent_checkpoint: { checkpoint_id: expect.any(String) },
      values: { total: 0, trail: [] },
      metadata: { source: "loop", step: 0 },
      next: ["one"],
      tasks: [{ id: expect.stringMatching(UUID), name: "one" }],
    });
    expect(JSON.stringify(all)).not.toMatch(/"__pregel_\w+":/);
  });
});

describe("several modes", () => {
  test("each gives what it gives alone", async () => {
    const modes = ["values", "updates", "messages-tuple", "custom", "tasks"] as const;
    const together = await streamed("subgraph", { ask: false }, [...modes]);
    const plain = (events: readonly Event[]): unknown[] =>
      events.map(({ data }) => JSON.parse(JSON.stringify(data).replaceAll(new RegExp(UUID, "g"), "<id>")));
    for (const mode of modes) {
      const name = mode === "messages-tuple" ? "messages" : mode;
      const alone = await streamed("subgraph", { ask: false }, mode);
      const content = (events: readonly Event[]): unknown[] =>
        plain(events.filter(({ event }) => event === name)).map((data) =>
          // Metadata name the run; the token is what counts.
          mode === "messages-tuple" ? (data as [{ content: string }])[0].content : withoutMetadata(data),
        );
      expect(content(together), mode).toEqual(content(alone));
      expect(content(together).length, mode).toBeGreaterThan(0);
    }
  });

  test("`tools` is a mode too, and feedback keys are no obstacle", async () => {
    const thread_id = await newThread();
    await server.client.runs.wait(thread_id, "agent", { input: say("send hello") });
    const events = (await collect(
      server.client.runs.stream(thread_id, "agent", {
        command: { resume: "yes" },
        streamMode: ["tools", "values"] as never,
        feedbackKeys: ["thumbs"],
      }),
    )) as Event[];
    expect(dataOf(events, "values").at(-1).messages.at(-1).content).toBe("Done. sent: hello");
    expect(dataOf(events, "tools").map(({ event, name }) => [event, name])).toEqual([
      ["on_tool_start", "send"],
      ["on_tool_end", "send"],
    ]);
  });

  test("`events` beside others, and both kinds of messages", async () => {
    const events = await streamed("tokens", say("hello"), ["events", "values", "messages", "messages-tuple", "custom"]);
    expect([...new Set(names(events))].toSorted()).toEqual([
      "events",
      "messages",
      "messages/complete",
      "messages/metadata",
      "messages/partial",
      "metadata",
      "values",
    ]);
    const tokens = dataOf(events, "messages").map(([chunk]) => chunk.content);
    expect(tokens).toEqual(["you ", "said ", "hello ", "to ", "me"]);
    expect(dataOf(events, "messages/partial").at(-1)[0].content).toBe("you said hello to me");
    expect(dataOf(events, "values").at(-1).messages).toHaveLength(2);
  });

  test("events of a run come in the order in which things happened", async () => {
    const events = await streamed("counter", {}, ["values", "updates", "tasks"]);
    const story = events
      .slice(1)
      .map(({ event, data }) =>
        event === "values"
          ? `values ${data.total}`
          : event === "updates"
            ? `update ${Object.keys(data)[0]}`
            : `${"result" in data ? "end" : "begin"} ${data.name}`,
      );
    const at = (what: string): number => {
      expect(story).toContain(what);
      return story.indexOf(what);
    };
    for (const [node, total] of [
      ["one", 1],
      ["ten", 11],
      ["hundred", 111],
    ] as const) {
      expect(at(`begin ${node}`)).toBeLessThan(at(`update ${node}`));
      expect(at(`update ${node}`)).toBeLessThan(at(`values ${total}`));
    }
    expect(at("values 1")).toBeLessThan(at("values 11"));
    expect(at("update ten")).toBeLessThan(at("begin hundred"));
  });
});

function withoutMetadata(data: unknown): unknown {
  if (typeof data !== "object" || data === null || !("metadata" in data)) return data;
  const { metadata: _metadata, ...rest } = data;
  return rest;
}

describe("subgraphs", () => {
  const inside = new RegExp(`^(values|updates|custom|tasks|checkpoints|debug)\\|inner:${UUID}$`);

  test("events of the inner graph carry where they come from", async () => {
    const modes = ["values", "updates", "custom", "tasks", "messages-tuple", "checkpoints", "debug"] as const;
    const events = await streamed("subgraph", { ask: false }, [...modes], { streamSubgraphs: true });
    const inner = events.filter(({ event }) => event.includes("|"));
    const kinds = new Set(inner.map(({ event }) => event.split("|")[0]));
    expect([...kinds].toSorted()).toEqual(["checkpoints", "custom", "debug", "messages", "tasks", "updates", "values"]);
    for (const { event } of inner) {
      if (event.startsWith("messages|")) expect(event).toMatch(new RegExp(`^messages\\|inner:${UUID}`));
      else expect(event).toMatch(inside);
    }
    // One namespace, the same for all.
    expect(new Set(inner.map(({ event }) => event.split("|")[1])).size).toBe(1);
    const ns = inner[0]!.event.split("|")[1]!;
    expect(dataOf(events, `updates|${ns}`)).toEqual([
      { work: { log: ["work: words from inside"] } },
      { check: { log: ["check: not asked"] } },
    ]);
    expect(dataOf(events, `custom|${ns}`)).toEqual([{ progress: "inner half" }]);
    expect(dataOf(events, "custom")).toEqual([{ progress: "outer begins" }]);
    expect(dataOf(events, "updates").map((update) => Object.keys(update)[0])).toEqual(["before", "inner", "after"]);
    const tokens = inner.filter(({ event }) => event.startsWith("messages|")).map(({ data }) => data[0].content);
    expect(tokens.join("")).toBe("words from inside");
    expect(inner.find(({ event }) => event.startsWith("messages|"))!.data[1]).toMatchObject({ langgraph_node: "work" });
  });

  test("without it the inner graph is one node", async () => {
    const events = await streamed("subgraph", { ask: false }, ["values", "updates", "messages-tuple"]);
    expect(names(events).filter((name) => name.includes("|"))).toEqual([]);
    expect(dataOf(events, "updates").map((update) => Object.keys(update)[0])).toEqual(["before", "inner", "after"]);
    // Tokens come from anywhere.
    expect(
      dataOf(events, "messages")
        .map(([chunk]) => chunk.content)
        .join(""),
    ).toBe("words from inside");
  });

  test("nothing is sent that was not asked for", async () => {
    const events = await streamed("subgraph", { ask: false }, "updates", { streamSubgraphs: true });
    expect([...new Set(events.map(({ event }) => event.split("|")[0]))]).toEqual(["metadata", "updates"]);
  });

  test("`events` mode with subgraphs", async () => {
    const events = await streamed("subgraph", { ask: false }, ["events", "updates"], { streamSubgraphs: true });
    const updates = events.filter(({ event }) => event.startsWith("updates|"));
    expect(updates.map(({ data }) => Object.keys(data)[0])).toEqual(["work", "check"]);
    const nodes = dataOf(events, "events")
      .filter(({ event }) => event === "on_chain_end")
      .map(({ name }) => name);
    expect(nodes).toEqual(expect.arrayContaining(["work", "check", "inner", "before", "after"]));
  });
});

describe("how a stream ends", () => {
  test("onRunCreated learns run and thread, and stateless runs have no thread", async () => {
    const thread_id = await newThread();
    const created: unknown[] = [];
    const onRunCreated = (info: unknown): void => void created.push(info);
    const events = await collect(server.client.runs.stream(thread_id, "counter", { input: {}, onRunCreated }));
    const stateless = await collect(server.client.runs.stream(null, "counter", { input: {}, onRunCreated }));
    expect(created).toEqual([
      { run_id: (events[0]!.data as { run_id: string }).run_id, thread_id },
      { run_id: (stateless[0]!.data as { run_id: string }).run_id, thread_id: undefined },
    ]);
  });

  test("a failing run ends with `error`", async () => {
    const events = await streamed("failing", { how: "class" }, ["updates", "values"]);
    expect(names(events).at(-1)).toBe("error");
    expect(dataOf(events, "error")).toEqual([{ error: "PaymentRefused", message: "the card has expired" }]);
    expect(dataOf(events, "updates")).toEqual([{ prepare: { steps: 1 } }]);
    const withEvents = await streamed("failing", { how: "class" }, ["events"]);
    expect(dataOf(withEvents, "error")).toEqual([{ error: "PaymentRefused", message: "the card has expired" }]);
  });

  test("an interrupt shows in `updates` and `values`", async () => {
    const events = await streamed("approval", { topic: "tea" }, ["updates", "values"]);
    const interrupt = [{ id: expect.any(String), value: { question: "Do tea?" } }];
    expect(dataOf(events, "updates")).toEqual([{ plan: { log: ["planned tea"] } }, { __interrupt__: interrupt }]);
    expect(dataOf(events, "values").at(-1).__interrupt__).toEqual(interrupt);
  });

  test("an interrupt inside a subgraph shows at the root", async () => {
    const events = await streamed("subgraph", { ask: true }, "updates");
    expect(dataOf(events, "updates").at(-1)).toEqual({
      __interrupt__: [{ id: expect.any(String), value: "inner ok?" }],
    });
  });

  test("a cancelled run ends its stream", async () => {
    const thread_id = await newThread();
    let run_id = "";
    const stream = server.client.runs.stream(thread_id, "gated", {
      input: { name: "stop", gate: gates.url("stream-cancel") },
      streamMode: "updates",
      onRunCreated: (info) => (run_id = info.run_id),
    });
    const first = await until(stream, ({ event }) => event === "updates");
    await gates.entered("stream-cancel");
    await server.client.runs.cancel(thread_id, run_id, true);
    const rest = (await collect(stream)) as Event[];
    expect([...first, ...rest].filter(({ event }) => event === "updates").map(({ data }) => data)).toEqual([
      { first: { log: ["first stop"] } },
    ]);
    gates.open("stream-cancel");
  });

  test("events arrive while the run goes on", async () => {
    const stream = server.client.runs.stream(await newThread(), "gated", {
      input: { name: "live", gate: gates.url("stream-live") },
      streamMode: ["updates", "custom"],
    });
    const seen = await until(stream, ({ event }) => event === "custom");
    expect(seen.slice(1).map(({ event, data }) => [event, data])).toEqual([
      ["updates", { first: { log: ["first live"] } }],
      ["custom", { at: "gate", name: "live" }],
    ]);
    gates.open("stream-live");
    const rest = (await collect(stream)) as Event[];
    expect(rest.map(({ event, data }) => [event, data])).toEqual([
      ["custom", { at: "through", name: "live" }],
      ["updates", { second: { log: ["second live"] } }],
    ]);
  });

  test("a large event arrives whole", async () => {
    const events = await streamed("odd", { kinds: ["long"] }, "values");
    expect(dataOf(events, "values").at(-1).things.long).toHaveLength(300_000);
  });
});

describe("joining", () => {
  /** A run that stands at its gate. */
  async function running(
    name: string,
    more: Record<string, unknown> = {},
  ): Promise<{ thread_id: string; run_id: string }> {
    const thread_id = await newThread();
    const { run_id } = await server.client.runs.create(thread_id, "gated", {
      input: { name, gate: gates.url(name) },
      streamMode: ["updates", "custom", "values"],
      ...more,
    });
    await gates.entered(name);
    return { thread_id, run_id };
  }
  const story = (events: readonly unknown[]): unknown[] =>
    (events as Event[]).map(({ event, data }) => [event, event === "values" ? data.log : data]);
  const behindGate = (name: string): unknown[] => [
    ["custom", { at: "through", name }],
    ["updates", { second: { log: [`second ${name}`] } }],
    ["values", [`first ${name}`, `second ${name}`]],
  ];
  const beforeGate = (name: string): unknown[] => [
    ["values", []],
    ["updates", { first: { log: [`first ${name}`] } }],
    ["values", [`first ${name}`]],
    ["custom", { at: "gate", name }],
  ];

  test("two readers at once each get every event from now on", async () => {
    const { thread_id, run_id } = await running("join-two");
    const { runs } = server.client;
    const readers = [runs.joinStream(thread_id, run_id), runs.joinStream(thread_id, run_id)];
    // What the first event says is known before anything happens.
    for (const reader of readers) {
      expect(await nextEvent(reader)).toMatchObject({ event: "metadata", data: { run_id, attempt: 1 } });
    }
    gates.open("join-two");
    const [left, right] = await Promise.all(readers.map((reader) => collect(reader)));
    expect(story(left!)).toEqual(behindGate("join-two"));
    expect(right).toEqual(left);
  });

  test("the creator's stream and one that joined get the same", async () => {
    const thread_id = await newThread();
    let run_id = "";
    const own = server.client.runs.stream(thread_id, "gated", {
      input: { name: "join-own", gate: gates.url("join-own") },
      streamMode: ["updates", "custom", "values"],
      onRunCreated: (info) => (run_id = info.run_id),
    });
    await until(own, ({ event }) => event === "custom");
    const joined = server.client.runs.joinStream(thread_id, run_id);
    await nextEvent(joined);
    gates.open("join-own");
    const [mine, theirs] = await Promise.all([collect(own), collect(joined)]);
    expect(story(mine)).toEqual(behindGate("join-own"));
    expect(theirs).toEqual(mine);
  });

  test("a reader that leaves takes nothing from the others", async () => {
    const { thread_id, run_id } = await running("join-leave");
    const leaver = await frames(server.url, "GET", `/threads/${thread_id}/runs/${run_id}/stream`);
    const stayer = server.client.runs.joinStream(thread_id, run_id);
    await Promise.all([leaver.next(), nextEvent(stayer)]);
    leaver.leave();
    gates.open("join-leave");
    expect(story(await collect(stayer))).toEqual(behindGate("join-leave"));
    expect((await server.client.runs.get(thread_id, run_id)).status).toBe("success");
  });

  test("stream_mode on joining is a choice among the run's modes", async () => {
    const { thread_id, run_id } = await running("join-mode");
    const { runs } = server.client;
    const one = runs.joinStream(thread_id, run_id, { streamMode: "updates" });
    const two = runs.joinStream(thread_id, run_id, { streamMode: ["custom", "values"] });
    await Promise.all([nextEvent(one), nextEvent(two)]);
    gates.open("join-mode");
    expect(story(await collect(one))).toEqual(behindGate("join-mode").slice(1, 2));
    expect(story(await collect(two))).toEqual([behindGate("join-mode")[0], behindGate("join-mode")[2]]);
  });

  test("messages-tuple is joined under its own name", async () => {
    const thread_id = await newThread();
    const blocker = await server.client.runs.create(thread_id, "gated", {
      input: { name: "b", gate: gates.url("join-tuple") },
    });
    const run = await server.client.runs.create(thread_id, "tokens", {
      input: say("hello"),
      streamMode: ["messages-tuple", "values"],
    });
    const path = `/threads/${thread_id}/runs/${run.run_id}/stream`;
    const tokens = await frames(server.url, "GET", `${path}?stream_mode=messages-tuple`);
    gates.open("join-tuple");
    await server.client.runs.join(thread_id, blocker.run_id);
    const events = ((await tokens.all()) as Event[]).filter(({ event }) => event !== "metadata");
    expect(names(events)).toEqual(["messages"]);
    expect(events.map(({ data }) => data[0].content).join("")).toBe("you said hello to me");
  });

  test("a run that waits can be joined: all its events come", async () => {
    const thread_id = await newThread();
    const { runs } = server.client;
    await runs.create(thread_id, "gated", { input: { name: "b", gate: gates.url("join-waiting") } });
    const run = await runs.create(thread_id, "counter", { input: {}, streamMode: "updates" });
    // Resolves with the head of the answer: the reader is there before the run begins.
    const joined = await frames(server.url, "GET", `/threads/${thread_id}/runs/${run.run_id}/stream`);
    gates.open("join-waiting");
    const events = (await joined.all()) as Event[];
    expect(dataOf(events, "metadata")).toEqual([{ run_id: run.run_id, attempt: 1 }]);
    expect(events[0]!.event).toBe("metadata");
    expect(dataOf(events, "updates").map((update) => Object.keys(update)[0])).toEqual(["one", "ten", "hundred"]);
  });

  test("a run that has ended and was not resumable has nothing to tell", async () => {
    const thread_id = await newThread();
    await server.client.runs.wait(thread_id, "counter", { input: {} });
    const [run] = await server.client.runs.list(thread_id);
    const events = (await collect(server.client.runs.joinStream(thread_id, run!.run_id))) as Event[];
    expect(events).toEqual([]);
    await expect(collect(server.client.runs.joinStream(thread_id, crypto.randomUUID()))).rejects.toMatchObject({
      status: 404,
    });
  });

  describe("resumable", () => {
    test("while it runs: everything, what is behind an id, or what comes", async () => {
      const { thread_id, run_id } = await running("resume-live", { streamResumable: true });
      const { runs } = server.client;
      const all = runs.joinStream(thread_id, run_id, { lastEventId: "-1" });
      const early = await until(all, ({ event }) => event === "custom");
      expect(story(early)).toEqual([["metadata", { run_id, attempt: 1 }], ...beforeGate("resume-live")]);
      const behind = runs.joinStream(thread_id, run_id, { lastEventId: early[2]!.id! });
      const caughtUp = await until(behind, ({ event }) => event === "custom");
      expect(caughtUp).toEqual(early.slice(3));
      const live = runs.joinStream(thread_id, run_id);
      await nextEvent(live);
      gates.open("resume-live");
      const [restOfAll, restOfBehind, rest] = await Promise.all([collect(all), collect(behind), collect(live)]);
      expect(story(rest)).toEqual(behindGate("resume-live"));
      expect(restOfAll).toEqual(rest);
      expect(restOfBehind).toEqual(rest);
    });

    test("when it has ended: everything is there still", async () => {
      const { thread_id, run_id } = await running("resume-late", { streamResumable: true });
      const { runs } = server.client;
      gates.open("resume-late");
      await runs.join(thread_id, run_id);
      const all = (await collect(runs.joinStream(thread_id, run_id, { lastEventId: "-1" }))) as Event[];
      expect(story(all)).toEqual([
        ["metadata", { run_id, attempt: 1 }],
        ...beforeGate("resume-late"),
        ...behindGate("resume-late"),
      ]);
      const { id } = all[3]!;
      expect(await collect(runs.joinStream(thread_id, run_id, { lastEventId: id! }))).toEqual(all.slice(4));
      expect(await collect(runs.joinStream(thread_id, run_id, { lastEventId: all.at(-1)!.id! }))).toEqual([]);
      const chosen = runs.joinStream(thread_id, run_id, { lastEventId: "-1", streamMode: "custom" });
      expect(names((await collect(chosen)) as Event[])).toEqual(["metadata", "custom"]);
    });

    test("one that nobody watched, and one that somebody joined before it began", async () => {
      const thread_id = await newThread();
      const { runs } = server.client;
      await runs.create(thread_id, "gated", { input: { name: "b", gate: gates.url("resume-queued") } });
      const payload = { input: {}, streamMode: "updates", streamResumable: true } as const;
      const joined = await runs.create(thread_id, "counter", { ...payload });
      const silent = await runs.create(thread_id, "counter", { ...payload });
      const live = await frames(server.url, "GET", `/threads/${thread_id}/runs/${joined.run_id}/stream`);
      gates.open("resume-queued");
      await live.all();
      await runs.join(thread_id, silent.run_id);
      for (const { run_id } of [joined, silent]) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const events = (await collect(runs.joinStream(thread_id, run_id, { lastEventId: "-1" }))) as Event[];
        expect(dataOf(events, "updates").map((update) => Object.keys(update)[0])).toEqual(["one", "ten", "hundred"]);
      }
    });

    test("a failed run tells its error to those who come late", async () => {
      const thread_id = await newThread();
      const run = await server.client.runs.create(thread_id, "failing", {
        input: { how: "class" },
        streamResumable: true,
      });
      await server.client.runs.join(thread_id, run.run_id);
      const events = await collect(server.client.runs.joinStream(thread_id, run.run_id, { lastEventId: "-1" }));
      expect(events.at(-1)).toMatchObject({ event: "error", data: { error: "PaymentRefused" } });
    });
  });
});

describe("the wire", () => {
  afterEach(() => void vi.useRealTimers());

  test.each([true, false])(
    "a client whose connection breaks misses nothing (resumable: %s)",
    async (streamResumable) => {
      const name = `cut-${streamResumable}`;
      const proxy = await startProxy(server.url);
      const stream = clientOf(proxy.url).runs.stream(await newThread(), "gated", {
        input: { name, gate: gates.url(name) },
        streamMode: ["updates", "custom"],
        streamResumable,
      });
      const seen = await until(stream, ({ event }) => event === "custom");
      proxy.cut();
      const next = nextEvent(stream);
      // A run that is resumable may even end before the client comes back.
      if (!streamResumable) await proxy.answered(2);
      gates.open(name);
      seen.push(await next, ...((await collect(stream)) as Event[]));
      expect(seen.slice(1).map(({ event, data }) => [event, data])).toEqual([
        ["updates", { first: { log: [`first ${name}`] } }],
        ["custom", { at: "gate", name }],
        ["custom", { at: "through", name }],
        ["updates", { second: { log: [`second ${name}`] } }],
      ]);
      expect(seen.map(({ id }) => id)).toEqual(["0", "1", "2", "3", "4"]);
      expect(proxy.connections).toBe(2);
    },
  );

  test("a client that comes back is answered at once, and not with the next event", async () => {
    // Nor with a heartbeat.
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { thread_id, run_id } = await server.client.runs.create(await newThread(), "gated", {
      input: { name: "head", gate: gates.url("head") },
    });
    await gates.entered("head");
    // Resolves with the head of the answer; nothing happens until the gate is open.
    const stream = await frames(server.url, "GET", `/threads/${thread_id}/runs/${run_id}/stream`, {
      headers: { "last-event-id": "1" },
    });
    expect(stream.status).toBe(200);
    gates.open("head");
    await stream.all();
  });

  test("a run that has to wait says at once which one it is", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const thread_id = await newThread();
    await server.client.runs.create(thread_id, "gated", { input: { name: "b", gate: gates.url("known") } });
    let know!: (runId: string) => void;
    const known = new Promise<string>((resolve) => (know = resolve));
    const stream = server.client.runs.stream(thread_id, "counter", {
      input: {},
      onRunCreated: (info) => know(info.run_id),
    });
    const events = collect(stream);
    // Should the test give up before, this is not what failed.
    events.catch(() => undefined);
    const run_id = await known;
    expect((await server.client.runs.get(thread_id, run_id)).status).toBe("pending");
    gates.open("known");
    expect((await events)[0]).toMatchObject({ event: "metadata", data: { run_id } });
  });

  test("heartbeats are no events", async () => {
    // Only what beats: everything else keeps its time.
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const stream = server.client.runs.stream(await newThread(), "gated", {
      input: { name: "beat", gate: gates.url("beat") },
      streamMode: "custom",
    });
    const seen = await until(stream, ({ event }) => event === "custom");
    const raw = await frames(
      server.url,
      "GET",
      `/threads/${await threadOf("beat")}/runs/${seen[0]!.data.run_id}/stream`,
    );
    await raw.next();
    vi.advanceTimersByTime(30_000);
    gates.open("beat");
    const rest = (await collect(stream)) as Event[];
    expect(rest.map(({ event, data }) => [event, data])).toEqual([["custom", { at: "through", name: "beat" }]]);
    await raw.all();
  });
});

/** The thread whose run was given this name. */
async function threadOf(name: string): Promise<string> {
  const [found] = await server.client.threads.search({ values: { name }, limit: 1 });
  return found!.thread_id;
}
