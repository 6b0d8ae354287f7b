// People in the loop, through the official client: interrupts, answers to one or several, commands, and stops before and after nodes.
import type { Interrupt, ThreadState } from "@langchain/langgraph-sdk";
import { describe, expect, test } from "vitest";
import { call, collect } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer();

interface State {
  readonly topic?: string;
  readonly log: string[];
  readonly __interrupt__?: Interrupt[];
}
type Payload = Parameters<typeof server.client.runs.wait>[2];

const newThread = async (): Promise<string> => (await server.client.threads.create()).thread_id;
const wait = async (threadId: string, graph: string, payload: Payload): Promise<State> =>
  (await server.client.runs.wait(threadId, graph, payload)) as unknown as State;
const stateOf = (threadId: string): Promise<ThreadState<State>> => server.client.threads.getState<State>(threadId);

/** A thread that waits for an answer about tea. */
async function asked(): Promise<string> {
  const threadId = await newThread();
  await wait(threadId, "approval", { input: { topic: "tea" } });
  return threadId;
}

describe("one interrupt", () => {
  test("shows on the thread, in the state and in the run", async () => {
    const threadId = await asked();
    const thread = await server.client.threads.get<State>(threadId);
    const interrupt = { id: expect.stringMatching(/^[0-9a-f]{32}$/), value: { question: "Do tea?" } };
    expect(thread.status).toBe("interrupted");
    expect(thread.values).toEqual({ topic: "tea", log: ["planned tea"] });
    const state = await stateOf(threadId);
    expect(state.next).toEqual(["ask"]);
    expect(state.values).toEqual({ topic: "tea", log: ["planned tea"] });
    expect(state.tasks).toHaveLength(1);
    expect(state.tasks[0]).toMatchObject({ name: "ask", error: null, interrupts: [interrupt], state: null });
    expect((state as unknown as { interrupts: unknown }).interrupts).toEqual([interrupt]);
    expect(thread.interrupts).toEqual({ [state.tasks[0]!.id]: [interrupt] });
    const [run] = await server.client.runs.list(threadId);
    expect(["success", "interrupted"]).toContain(run!.status);
  });

  test("is resumed with any JSON value", async () => {
    for (const answer of ["yes", 1, true, { nested: [1, null] }, ["a"]]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const threadId = await asked();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const values = await wait(threadId, "approval", { command: { resume: answer } });
      const log = ["planned tea", `answer ${JSON.stringify(answer)}`, "did tea"];
      expect(values).toEqual({ topic: "tea", log });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const thread = await server.client.threads.get<State>(threadId);
      expect([thread.status, thread.interrupts, thread.values]).toEqual(["idle", {}, { topic: "tea", log }]);
    }
  });

  test("an answer of false, 0, null or nothing is an answer", async () => {
    for (const answer of [false, 0, "", null]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const values = await wait(await asked(), "approval", { command: { resume: answer } });
      expect(values.log).toEqual(["planned tea", `answer ${JSON.stringify(answer)}`, "did tea"]);
    }
  });

  test("is resumed as a stream, and in the background", async () => {
    const threadId = await asked();
    const { runs } = server.client;
    const events = await collect(
      runs.stream(threadId, "approval", { command: { resume: "yes" }, streamMode: ["updates", "values"] }),
    );
    expect(events.filter(({ event }) => event === "updates").map(({ data }) => data)).toEqual([
      { ask: { log: ['answer "yes"'] } },
      { act: { log: ["did tea"] } },
    ]);
    const again = await asked();
    const run = await runs.create(again, "approval", { command: { resume: "yes" } });
    const { kwargs } = run as unknown as { kwargs: object };
    expect(kwargs).toMatchObject({ command: { resume: "yes" } });
    expect(kwargs).not.toHaveProperty("input");
    expect(await runs.join(again, run.run_id)).toMatchObject({ log: ["planned tea", 'answer "yes"', "did tea"] });
  });

  test("with a command the input does not count", async () => {
    const threadId = await asked();
    const values = await wait(threadId, "approval", { input: { topic: "coffee" }, command: { resume: "yes" } });
    expect(values.topic).toBe("tea");
    expect(values.log.at(-1)).toBe("did tea");
  });

  test("new input instead of an answer starts over", async () => {
    const threadId = await asked();
    const values = await wait(threadId, "approval", { input: { topic: "coffee" } });
    expect(values).toMatchObject({ topic: "coffee", log: ["planned tea", "planned coffee"] });
    expect(values.__interrupt__).toEqual([{ id: expect.any(String), value: { question: "Do coffee?" } }]);
  });

  test("the agent asks, and does or does not what it asked for", async () => {
    for (const [answer, last] of [
      ["yes", "Done. sent: hello"],
      ["no", "Done. refused: no"],
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const threadId = await newThread();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await wait(threadId, "agent", { input: { messages: [{ role: "user", content: "send hello" }] } });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const state = await stateOf(threadId);
      expect(state.tasks[0]!.interrupts[0]!.value).toEqual({ question: "May I call send?", args: { text: "hello" } });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const values = (await wait(threadId, "agent", { command: { resume: answer } })) as unknown as {
        messages: { type: string; content: string; tool_calls?: unknown[]; tool_call_id?: string }[];
      };
      expect(values.messages.map(({ type }) => type)).toEqual(["human", "ai", "tool", "ai"]);
      expect(values.messages[1]!.tool_calls).toEqual([
        { id: "call-1", name: "send", args: { text: "hello" }, type: "tool_call" },
      ]);
      expect(values.messages[2]!.tool_call_id).toBe("call-1");
      expect(values.messages[3]!.content).toBe(last);
    }
  });
});

describe("several interrupts", () => {
  const questions = async (): Promise<{ threadId: string; left: string; right: string }> => {
    const threadId = await newThread();
    const values = await wait(threadId, "pair", { input: {} });
    const of = (value: string): string => values.__interrupt__!.find((one) => one.value === value)!.id!;
    expect(values.__interrupt__).toHaveLength(2);
    return { threadId, left: of("left?"), right: of("right?") };
  };

  test("show one by one, with their tasks", async () => {
    const { threadId, left, right } = await questions();
    const state = await stateOf(threadId);
    expect(state.next.toSorted()).toEqual(["left", "right"]);
    const tasks = state.tasks.map(({ name, interrupts }) => [name, interrupts]);
    expect(tasks).toContainEqual(["left", [{ id: left, value: "left?" }]]);
    expect(tasks).toContainEqual(["right", [{ id: right, value: "right?" }]]);
    const { interrupts } = await server.client.threads.get(threadId);
    expect(Object.keys(interrupts).toSorted()).toEqual(state.tasks.map(({ id }) => id).toSorted());
  });

  test("are answered together, by their ids", async () => {
    const { threadId, left, right } = await questions();
    const values = await wait(threadId, "pair", { command: { resume: { [left]: "L", [right]: "R" } } });
    expect(values.log).toHaveLength(3);
    expect(values.log).toEqual(expect.arrayContaining(['left "L"', 'right "R"', "joined 2"]));
    expect((await server.client.threads.get(threadId)).status).toBe("idle");
  });

  test("are answered one after the other", async () => {
    const { threadId, left, right } = await questions();
    const half = await wait(threadId, "pair", { command: { resume: { [left]: "L" } } });
    expect(half.__interrupt__).toEqual([{ id: right, value: "right?" }]);
    const thread = await server.client.threads.get(threadId);
    expect(thread.status).toBe("interrupted");
    expect((await stateOf(threadId)).next).toEqual(["right"]);
    const [run] = await server.client.runs.list(threadId, { limit: 1 });
    expect(await server.client.runs.join(threadId, run!.run_id)).toEqual(half);
    // What the thread shows is what still waits, not what was answered.
    expect(Object.values(thread.interrupts).flat()).toEqual([{ id: right, value: "right?" }]);
    const done = await wait(threadId, "pair", { command: { resume: { [right]: "R" } } });
    expect(done.log).toEqual(expect.arrayContaining(['left "L"', 'right "R"', "joined 2"]));
    expect(done.__interrupt__).toBeUndefined();
  });
});

describe("commands", () => {
  test("update changes the state before the answer counts", async () => {
    const threadId = await asked();
    const values = await wait(threadId, "approval", {
      command: { resume: "yes", update: { topic: "cocoa", log: ["changed"] } },
    });
    expect(values.topic).toBe("cocoa");
    expect(values.log.at(-1)).toBe("did cocoa");
    expect(values.log).toContain("changed");
  });

  test("update as pairs", async () => {
    const threadId = await asked();
    const update = [
      ["log", ["pair one"]],
      ["topic", "milk"],
    ] as [string, unknown][];
    const values = await wait(threadId, "approval", { command: { resume: "yes", update } });
    expect(values.log).toContain("pair one");
    expect(values.log.at(-1)).toBe("did milk");
  });

  test("goto sends the run to another node", async () => {
    const threadId = await asked();
    const values = await wait(threadId, "approval", { command: { goto: "skip" } });
    expect(values.log).toContain("skipped tea");
    expect(values.log).not.toContain("did tea");
  });

  test("answer, update and goto together", async () => {
    const command = { resume: "yes", update: { topic: "cocoa" }, goto: "skip" };
    const values = await wait(await asked(), "approval", { command });
    expect(values.topic).toBe("cocoa");
    expect(values.log).toEqual(expect.arrayContaining(['answer "yes"', "skipped cocoa", "did cocoa"]));
  });

  test("goto with an input of its own", async () => {
    const threadId = await asked();
    const values = await wait(threadId, "approval", { command: { goto: { node: "skip", input: { topic: "water" } } } });
    expect(values.log).toContain("skipped water");
    const several = await wait(await asked(), "approval", {
      command: { goto: ["skip", { node: "act", input: { topic: "juice" } }] as never },
    });
    expect(several.log).toEqual(expect.arrayContaining(["skipped tea", "did juice"]));
    // Nothing is an input, too: the node runs, and cannot work with it.
    const nothing = { command: { goto: { node: "skip", input: null } }, raiseError: false } as Payload;
    expect(await wait(await asked(), "approval", nothing)).toMatchObject({ __error__: { error: "TypeError" } });
  });

  test("goto and update on a thread that waits for nothing", async () => {
    const threadId = await asked();
    await wait(threadId, "approval", { command: { resume: "yes" } });
    const values = await wait(threadId, "approval", { command: { goto: "skip", update: { topic: "rest" } } });
    expect(values).toMatchObject({ topic: "rest" });
    expect(values.log.at(-1)).toBe("skipped rest");
  });

  test("a resume where nothing waits does no harm", async () => {
    const threadId = await newThread();
    const { runs, threads } = server.client;
    const values = await runs.wait(threadId, "approval", { command: { resume: "yes" }, raiseError: false });
    expect(values).toBeTypeOf("object");
    expect((await threads.get(threadId)).status).not.toBe("busy");
    expect(await wait(threadId, "approval", { input: { topic: "tea" } })).toMatchObject({ log: ["planned tea"] });
  });
});

describe("commands that cannot be followed", () => {
  test("are refused when they say nothing, or what is no node", async () => {
    const threadId = await asked();
    const send = async (command: unknown) =>
      call(server.url, "POST", `/threads/${threadId}/runs/wait`, { body: { assistant_id: "approval", command } });
    for (const command of [{}, { update: null, goto: null }, { goto: { input: 1 } }, { goto: ["act", {}] }, "resume"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await send(command), JSON.stringify(command)).toMatchObject({
        status: 422,
        json: { detail: expect.stringContaining("command") },
      });
    }
    expect(await server.client.runs.list(threadId)).toHaveLength(1);
    expect((await server.client.threads.get(threadId)).status).toBe("interrupted");
  });

  test("end with an error that names the nodes, and what waited still waits", async () => {
    const threadId = await asked();
    const before = await server.client.threads.get(threadId);
    for (const goto of ["nowhere", { node: "nowhere", input: {} }, ["act", "nowhere"]]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const values = await wait(threadId, "approval", {
        command: { goto, resume: "yes" },
        raiseError: false,
      } as Payload);
      expect(values).toEqual({
        __error__: { error: "InvalidCommandError", message: expect.stringMatching(/"nowhere".*plan, ask, act, skip/) },
      });
    }
    const after = await server.client.threads.get(threadId);
    expect([after.status, after.interrupts, after.values]).toEqual(["error", before.interrupts, before.values]);
    const values = await wait(threadId, "approval", { command: { resume: "yes" } });
    expect(values.log).toEqual(["planned tea", 'answer "yes"', "did tea"]);
  });

  test("an update that the graph's reducer refuses fails its own run and no later one", async () => {
    const threadId = await newThread();
    const said = (content: string, type = "human"): { messages: object[] } => ({ messages: [{ type, content }] });
    await server.client.runs.wait(threadId, "echo", { input: said("one") });
    const { values: before } = await stateOf(threadId);
    const refused = said("x", "nobody");
    for (const request of [{ command: { update: refused } }, { input: refused }]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const values = await server.client.runs.wait(threadId, "echo", { ...request, raiseError: false });
      expect(values).toHaveProperty("__error__");
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await stateOf(threadId)).values).toEqual(before);
    }
    const { messages } = (await server.client.runs.wait(threadId, "echo", { input: said("two") })) as {
      messages: { content: string }[];
    };
    expect(messages.map(({ content }) => content)).toEqual(["one", "echo: one", "two", "echo: two"]);
  });

  test("an answer to an interrupt that is not there leaves those that are", async () => {
    const threadId = await asked();
    const values = await wait(threadId, "approval", { command: { resume: { ["0".repeat(32)]: "yes" } } });
    expect(values.__interrupt__).toEqual([{ id: expect.any(String), value: { question: "Do tea?" } }]);
    expect((await server.client.threads.get(threadId)).status).toBe("interrupted");
  });

  test("an answer where nothing was asked changes nothing", async () => {
    const threadId = await newThread();
    await wait(threadId, "counter", { input: {} });
    expect(await wait(threadId, "counter", { command: { resume: "yes" } })).toMatchObject({ total: 111 });
    expect(await wait(await newThread(), "approval", { command: { resume: "yes" } })).toEqual({ log: [] });
  });
});

describe("interrupt_before and interrupt_after", () => {
  test("stop before a node, without an interrupt object, and go on without input", async () => {
    const threadId = await newThread();
    const values = await wait(threadId, "counter", { input: {}, interruptBefore: ["ten"] });
    expect(values).toEqual({ total: 1, trail: ["one"] });
    const thread = await server.client.threads.get(threadId);
    expect([thread.status, thread.interrupts]).toEqual(["interrupted", {}]);
    expect((await stateOf(threadId)).next).toEqual(["ten"]);
    expect(await wait(threadId, "counter", { input: null })).toEqual({ total: 111, trail: ["one", "ten", "hundred"] });
    expect((await server.client.threads.get(threadId)).status).toBe("idle");
  });

  test("stop after a node", async () => {
    const threadId = await newThread();
    expect(await wait(threadId, "counter", { input: {}, interruptAfter: ["ten"] })).toEqual({
      total: 11,
      trail: ["one", "ten"],
    });
    expect((await stateOf(threadId)).next).toEqual(["hundred"]);
  });

  test("stop at every node", async () => {
    const threadId = await newThread();
    const totals: unknown[] = [];
    let input: Record<string, unknown> | null = {};
    for (let i = 0; i < 4; i++) {
      // oxlint-disable-next-line no-await-in-loop -- step by step
      const values = await wait(threadId, "counter", { input, interruptBefore: "*" });
      totals.push((values as unknown as { total: number }).total);
      input = null;
    }
    expect(totals).toEqual([0, 1, 11, 111]);
    expect((await server.client.threads.get(threadId)).status).toBe("idle");
  });

  test("a stopped run can be joined as often as one likes", async () => {
    const threadId = await newThread();
    const values = await wait(threadId, "counter", { input: {}, interruptBefore: ["ten"] });
    const [run] = await server.client.runs.list(threadId);
    expect(await server.client.runs.join(threadId, run!.run_id)).toEqual(values);
  });

  test("the stream says where it stopped", async () => {
    const events = await collect(
      server.client.runs.stream(await newThread(), "counter", {
        input: {},
        streamMode: ["updates", "values"],
        interruptBefore: ["ten"],
      }),
    );
    const updates = events.filter(({ event }) => event === "updates").map(({ data }) => data);
    expect(updates[0]).toEqual({ one: { total: 1, trail: ["one"] } });
    expect(updates.slice(1)).toEqual([{ __interrupt__: [] }]);
  });
});

describe("interrupts in a subgraph", () => {
  test("show in the state of the inner graph, when asked for", async () => {
    const threadId = await newThread();
    const values = await wait(threadId, "subgraph", { input: { ask: true } });
    expect(values.__interrupt__).toEqual([{ id: expect.any(String), value: "inner ok?" }]);
    const { threads } = server.client;
    const flat = await threads.getState<State>(threadId);
    expect(flat.next).toEqual(["inner"]);
    const [task] = flat.tasks;
    expect((await threads.get(threadId)).interrupts).toEqual({ [task!.id]: values.__interrupt__ });
    expect(task).toMatchObject({ name: "inner", interrupts: values.__interrupt__, state: null });
    expect(task!.checkpoint).toEqual({ thread_id: threadId, checkpoint_ns: `inner:${task!.id}` });
    const deep = await threads.getState<State>(threadId, undefined, { subgraphs: true });
    const inner = deep.tasks[0]!.state!;
    expect((inner.values as unknown as State).log).toEqual(["before", "work: words from inside"]);
    expect(inner.next).toEqual(["check"]);
    expect(inner.tasks[0]).toMatchObject({ name: "check", interrupts: values.__interrupt__ });
    expect(inner.checkpoint).toMatchObject({
      thread_id: threadId,
      checkpoint_ns: `inner:${task!.id}`,
      checkpoint_id: expect.any(String),
    });
    // The state of the inner graph alone, and its history.
    const alone = await threads.getState<State>(threadId, inner.checkpoint);
    expect(alone.values).toEqual(inner.values);
    expect(alone.next).toEqual(["check"]);
    const history = await threads.getHistory<State>(threadId, { checkpoint: inner.checkpoint });
    expect(history.map(({ values: { log } }) => log?.length)).toEqual([2, 1, 0]);
  });

  test("let the inner state be changed before the answer", async () => {
    const { threads } = server.client;
    const threadId = await newThread();
    await wait(threadId, "subgraph", { input: { ask: true } });
    const { tasks } = await threads.getState<State>(threadId, undefined, { subgraphs: true });
    const { checkpoint } = tasks[0]!.state!;
    const answer = await threads.updateState(threadId, { values: { log: ["patched"] }, asNode: "work", checkpoint });
    expect(answer).toMatchObject({ checkpoint: { checkpoint_ns: checkpoint.checkpoint_ns } });
    const after = await threads.getState<State>(threadId, undefined, { subgraphs: true });
    expect((after.tasks[0]!.state!.values as unknown as State).log).toEqual([
      "before",
      "work: words from inside",
      "patched",
    ]);
    expect((await threads.get(threadId)).status).toBe("interrupted");
    const values = await wait(threadId, "subgraph", { command: { resume: "fine" } });
    expect(values.log).toEqual(expect.arrayContaining(["patched", "check: fine", "after"]));
  });

  test("are resumed from outside", async () => {
    const threadId = await newThread();
    await wait(threadId, "subgraph", { input: { ask: true } });
    const events = await collect(
      server.client.runs.stream(threadId, "subgraph", {
        command: { resume: "fine" },
        streamMode: "updates",
        streamSubgraphs: true,
      }),
    );
    const inner = events.filter(({ event }) => event.startsWith("updates|inner:"));
    expect(inner.map(({ data }) => data)).toEqual([{ check: { log: ["check: fine"] } }]);
    const state = await stateOf(threadId);
    expect(state.values.log.at(-1)).toBe("after");
    expect(state.values.log).toContain("check: fine");
    expect(state.next).toEqual([]);
  });
});
