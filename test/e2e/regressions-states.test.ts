// What went wrong with states that are looked at or changed from outside of a run: factories were asked without settings, and imported histories
// lost what a node sends.
import { join } from "node:path";
import type { Client } from "@langchain/langgraph-sdk";
import { describe, expect, test } from "vitest";
import { call } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer({ cwd: join(import.meta.dirname, "..", "fixtures", "regression-project") });

describe("the graph of a factory that needs settings", () => {
  const assistantOf = async ({ assistants }: Client, voice: string): Promise<string> =>
    (await assistants.create({ graphId: "voiced", config: { configurable: { voice } } })).assistant_id;

  test.each<[string, (client: Client) => Promise<{ assistant: string; payload: object }>]>([
    ["its assistant", async (client) => ({ assistant: await assistantOf(client, "low"), payload: {} })],
    ["the run", async () => ({ assistant: "voiced", payload: { config: { configurable: { voice: "low" } } } })],
    ["the context of the run", async () => ({ assistant: "voiced", payload: { context: { voice: "low" } } })],
    [
      "the run, against its assistant",
      async (client) => ({
        assistant: await assistantOf(client, "high"),
        payload: { config: { configurable: { voice: "low" } } },
      }),
    ],
  ])("is made with those of %s", async (_what, choose) => {
    const { client } = server;
    const { threads, runs } = client;
    const { assistant, payload } = await choose(client);
    const { thread_id } = await threads.create();
    await runs.wait(thread_id, assistant, { input: {}, ...payload });
    const waits = { next: ["ask_low"], tasks: [{ name: "ask_low", interrupts: [{ value: "go on?" }] }] };
    const state = await threads.getState(thread_id);
    expect(state).toMatchObject(waits);
    expect(await threads.getState(thread_id, state.checkpoint)).toMatchObject({ next: ["ask_low"] });
    expect(await threads.getState(thread_id, undefined, { subgraphs: true })).toMatchObject(waits);
    expect(await threads.getHistory(thread_id)).toMatchObject([{ next: ["ask_low"] }, { next: ["__start__"] }]);
    // A run that waits changes nothing.
    const { run_id } = await runs.create(thread_id, await assistantOf(client, "later"), {
      input: {},
      afterSeconds: 1000,
    });
    expect(await threads.getState(thread_id)).toMatchObject(waits);
    await runs.cancel(thread_id, run_id, true, "rollback");
    for (const said of ["one", "two"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await threads.updateState(thread_id, { values: { log: [said] }, asNode: "ask_low" });
    }
    expect(await threads.getState(thread_id)).toMatchObject({ next: ["rest"], values: { log: ["one", "two"] } });
    expect((await threads.get(thread_id)).status).toBe("interrupted");
  });

  test("shows each of several runs with its own, and what a run without a record left as it is stored", async () => {
    const { threads, runs } = server.client;
    const { thread_id } = await threads.create({ graphId: "voiced" });
    const run = (voice: string): Promise<unknown> =>
      runs.wait(thread_id, "voiced", { input: { log: [voice] }, config: { configurable: { voice } } });
    await run("low");
    await run("high");
    const next = (await threads.getHistory(thread_id)).map((state) => state.next[0]);
    expect(next).toEqual(["ask_high", "__start__", "ask_low", "__start__"]);

    const copy = (await threads.copy(thread_id)) as unknown as { thread_id: string };
    expect(await threads.getState(copy.thread_id)).toMatchObject({ next: [], values: { log: ["low", "high"] } });
    const [newest] = await runs.list(thread_id);
    await runs.delete(thread_id, newest!.run_id);
    const left = await threads.getHistory(thread_id);
    expect(left.map((state) => state.next)).toEqual([[], [], ["ask_low"], ["__start__"]]);
    expect(left[0]!.values).toEqual({ log: ["low", "high"] });
  });

  test("is that of the thread's assistant when no run has written the state", async () => {
    const { threads, assistants } = server.client;
    const assistant_id = await assistantOf(server.client, "low");
    const supersteps = [{ updates: [{ values: { log: ["said"] }, asNode: "ask_low" }] }];
    const thread = await threads.create({ graphId: "voiced", metadata: { assistant_id }, supersteps });
    expect(await threads.getState(thread.thread_id)).toMatchObject({ next: ["rest"], values: { log: ["said"] } });
    // What the assistant is now.
    await assistants.update(assistant_id, { config: { configurable: { voice: "high" } } });
    const state = await call(server.url, "GET", `/threads/${thread.thread_id}/state`);
    expect(state.json).toMatchObject({ next: ["rest"] });
    await threads.updateState(thread.thread_id, { values: { log: ["again"] }, asNode: "ask_high" });
    expect((await threads.getHistory(thread.thread_id)).length).toBe(2);
  });
});

describe("a history that is imported", () => {
  const imported = (command: object, as_node = "plan") => {
    const supersteps = [
      { updates: [{ values: { how: "before" }, as_node: "__start__" }] },
      { updates: [{ command, as_node }] },
    ];
    return call(server.url, "POST", "/threads", { body: { metadata: { graph_id: "routed" }, supersteps } });
  };

  test.each<[string, unknown, string[]]>([
    ["a name", "right", ["right before", "left before"]],
    ["an object", { node: "right", input: { how: "sent" } }, ["right sent", "left before"]],
    ["LangGraph's own JSON", { node: "right", args: { how: "sent" } }, ["right sent", "left before"]],
    ["a list", ["right", { node: "right", input: { how: "sent" } }], ["right before", "right sent", "left before"]],
  ])("goes where a node went: %s", async (_what, goto, log) => {
    const { json } = await imported({ goto });
    const { thread_id } = json as { thread_id: string };
    const values = await server.client.runs.wait(thread_id, "routed", { input: null });
    expect((values as { log: string[] }).log.toSorted()).toEqual(log.toSorted());
  });

  test.each<[string, object, string]>([
    ["a node that is not there", { goto: "nowhere" }, 'no node \\"nowhere\\"'],
    ["an object that names none", { goto: [{ node: "nowhere", input: {} }] }, 'no node \\"nowhere\\"'],
    ["an answer, which is no node's", { resume: "yes" }, "resume"],
  ])("is refused: %s", async (_what, command, reason) => {
    const { status, text } = await imported(command);
    expect([status, text]).toEqual([422, expect.stringContaining(reason)]);
  });

  test("takes null for what a command leaves out", async () => {
    const { status, json } = await imported({ update: null, goto: null, resume: null });
    expect([status, json]).toMatchObject([200, { status: "interrupted" }]);
  });
});
