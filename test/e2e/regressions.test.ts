// What went wrong once: each of these was a defect that a reviewer found.
import { createServer, type AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { join } from "node:path";
import { startServer } from "../../src/server/start.ts";
import { useGates } from "./support/gates.ts";
import { type Answer, call } from "./support/http.ts";
import { clientOf, complaints, place, useServer } from "./support/server.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "regression-project");
const server = useServer({ cwd: PROJECT });
const gates = useGates();

interface State {
  readonly log: string[];
  readonly __interrupt__?: { value: unknown }[];
}

const request = (method: string, path: string, body?: unknown): Promise<Answer> =>
  call(server.url, method, path, { body });
const newThread = async (graph?: string): Promise<string> =>
  (await server.client.threads.create(graph === undefined ? {} : { graphId: graph })).thread_id;
const wait = async (threadId: string, graph: string, body: object): Promise<State> => {
  const { status, json } = await request("POST", `/threads/${threadId}/runs/wait`, { assistant_id: graph, ...body });
  expect(status).toBe(200);
  return json as State;
};
const logOf = async (threadId: string): Promise<string[] | undefined> =>
  (await server.client.threads.getState<State>(threadId)).values.log;
/** Status and questions of a thread. */
const shown = async (threadId: string): Promise<[status: string, questions: unknown[]]> => {
  const { status, interrupts } = await server.client.threads.get(threadId);
  return [
    status,
    Object.values(interrupts)
      .flat()
      .map(({ value }) => value),
  ];
};

/** A thread that waits for an answer, and stands at a gate when it has one. */
async function asked(gate: string, at: string): Promise<string> {
  const threadId = await newThread();
  const values = await wait(threadId, "asking", { input: { gate: gates.url(gate), at } });
  expect(values.__interrupt__).toMatchObject([{ value: "ok?" }]);
  return threadId;
}

describe("starting again", () => {
  test.each([
    ["a command to a node with NUL in its name", { goto: "a\u0000b" }],
    ["an update of a channel with NUL in its name", { update: [["a\u0000b", 1]] }],
    ["a command to a node with half a character in its name", { goto: "a\ud800b" }],
    ["an update of a channel with half a character in its name", { update: [["a\ud800b", 1]] }],
  ])("%s does not make the state unreadable", async (_what, command) => {
    const { up } = place(PROJECT);
    const first = await up();
    const client = clientOf(first.url);
    const precious = await client.threads.create({ metadata: { precious: true } });
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "asking", { input: {} });
    const body = { assistant_id: "asking", command };
    const answer = await call(first.url, "POST", `/threads/${thread_id}/runs/wait`, { body });
    expect(answer.status).toBeLessThan(500);
    await first.stop();

    const second = await up();
    expect(complaints(second.events)).toEqual([]);
    const found = await clientOf(second.url).threads.search({ limit: 10 });
    expect(found.map((thread) => thread.thread_id).toSorted()).toEqual([precious.thread_id, thread_id].toSorted());
    expect((await call(second.url, "GET", `/threads/${thread_id}/state`)).status).toBe(200);
    expect((await call(second.url, "GET", `/threads/${thread_id}/history`)).status).toBe(200);
  });

  test("a start that does not get its port leaves parked runs alone", async () => {
    const { dataDir, up } = place(PROJECT);
    const first = await up();
    const { runs, threads } = clientOf(first.url);
    const { thread_id } = await threads.create();
    const running = await runs.create(thread_id, "steps", { input: { gate: gates.url("parked"), at: "two" } });
    const queued = await runs.create(thread_id, "steps", { input: { at: "none" } });
    await gates.entered("parked");
    const stopping = first.stop();
    gates.open("parked");
    expect(await stopping).toEqual({ finished: 0, parked: 2 });

    const blocker = createServer();
    await new Promise<void>((resolve) => void blocker.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void blocker.close());
    const { port } = blocker.address() as AddressInfo;
    const failing = startServer({
      cwd: PROJECT,
      port,
      strictPort: true,
      host: "127.0.0.1",
      dataDir,
      persist: true,
      reload: false,
      jobs: 1000,
      onEvent: () => undefined,
    });
    await expect(failing).rejects.toThrow(String(port));

    const second = await up();
    expect(second.events.filter(({ type }) => type === "recovered")).toMatchObject([{ pending: 2, failed: 0 }]);
    const client = clientOf(second.url);
    const twice = ["one", "two", "three", "one", "two", "three"];
    expect(await client.runs.join(thread_id, queued.run_id)).toMatchObject({ log: twice });
    for (const { run_id } of [running, queued]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await client.runs.get(thread_id, run_id)).status).toBe("success");
    }
    expect((await client.threads.get(thread_id)).status).toBe("idle");
  });
});

describe("what a client may not do to the server", () => {
  test.each([
    ["no setting of LangGraph", {}],
    ["settings of LangGraph", { __pregel_read: 1, __pregel_send: 1 }],
    ["a checkpointer of its own", { __pregel_checkpointer: null, __pregel_resuming: true, __pregel_scratchpad: {} }],
  ])("a namespace of 1915 characters with %s breaks nothing", async (what, inner) => {
    const [busy, odd] = [await newThread(), await newThread()];
    const gate = `odd ${what}`;
    const other = await server.client.runs.create(busy, "steps", { input: { gate: gates.url(gate), at: "two" } });
    await gates.entered(gate);
    const configurable = { checkpoint_ns: "x".repeat(1915), ...inner };
    const values = await wait(odd, "steps", { input: {}, config: { configurable } });
    expect(values.log).toEqual(["one", "two", "three"]);
    expect(await logOf(odd)).toEqual(["one", "two", "three"]);
    // Nothing stands in the way of what is stored next.
    const next = await newThread();
    expect((await wait(next, "steps", { input: {} })).log).toHaveLength(3);
    gates.open(gate);
    expect(await server.client.runs.join(busy, other.run_id)).toMatchObject({ log: ["one", "two", "three"] });
    expect((await server.client.runs.get(busy, other.run_id)).status).toBe("success");
  });

  test("a thread that exists is not deleted by an import that fails, however its id is spelt", async () => {
    const threadId = "ABCDEFAB-0000-4000-8000-00000000000A";
    await server.client.threads.create({ threadId: threadId.toLowerCase(), graphId: "steps" });
    await wait(threadId.toLowerCase(), "steps", { input: {} });
    const body = {
      thread_id: threadId,
      if_exists: "do_nothing",
      supersteps: [{ updates: [{ values: { log: ["z"] }, as_node: "nobody" }] }],
    };
    expect(await request("POST", "/threads", body)).toMatchObject({
      status: 200,
      json: { thread_id: threadId.toLowerCase() },
    });
    expect(await logOf(threadId.toLowerCase())).toEqual(["one", "two", "three"]);
  });

  test("search finds threads by ids in capitals", async () => {
    const threadId = await newThread();
    const { json } = await request("POST", "/threads/search", { ids: [threadId.toUpperCase()] });
    expect(json).toMatchObject([{ thread_id: threadId }]);
  });

  test("metadata in a config must be an object", async () => {
    const body = { assistant_id: "steps", input: {}, config: { metadata: "abc" } };
    const answer = await request("POST", "/runs", body);
    expect(answer).toMatchObject({ status: 422, json: { detail: expect.stringContaining("config.metadata") } });
    const threadId = await newThread();
    expect((await request("POST", `/threads/${threadId}/runs`, body)).status).toBe(422);
    expect(await server.client.runs.list(threadId)).toEqual([]);
  });
});

describe("answers that are taken back", () => {
  test.each(["ask", "act"])("rolling back a resume that stands in %s", async (at) => {
    const gate = `rollback ${at}`;
    const threadId = await asked(gate, at);
    const before = await shown(threadId);
    expect(before).toEqual(["interrupted", ["ok?"]]);
    const history = await server.client.threads.getHistory(threadId);

    const { runs } = server.client;
    const run = await runs.create(threadId, "asking", { command: { resume: "taken back" } });
    await gates.entered(gate);
    await runs.cancel(threadId, run.run_id, true, "rollback");
    gates.open(gate);

    expect(await shown(threadId)).toEqual(before);
    const state = await server.client.threads.getState<State>(threadId);
    expect([state.next, state.tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value))]).toEqual([
      ["ask"],
      ["ok?"],
    ]);
    expect(state.values.log).toEqual([]);
    expect(await server.client.threads.getHistory(threadId)).toEqual(history);

    const again = await wait(threadId, "asking", { input: null });
    expect([again.log, again.__interrupt__]).toMatchObject([[], [{ value: "ok?" }]]);
    expect(await shown(threadId)).toEqual(before);
    const end = await wait(threadId, "asking", { command: { resume: "kept" } });
    expect(end.log).toEqual(["answer kept", "act"]);
    expect(await shown(threadId)).toEqual(["idle", []]);
  });

  test.each(["interrupt", "rollback"] as const)("a resume that waits is cancelled with %s", async (action) => {
    const threadId = await asked("never", "nowhere");
    const { runs } = server.client;
    const run = await runs.create(threadId, "asking", { command: { resume: "early" }, afterSeconds: 3600 });
    expect(run.status).toBe("pending");
    await runs.cancel(threadId, run.run_id, true, action);
    expect(await shown(threadId)).toEqual(["interrupted", ["ok?"]]);
    const end = await wait(threadId, "asking", { command: { resume: "late" } });
    expect(end.log).toEqual(["answer late", "act"]);
  });

  test("a node that does not hear that it is rolled back does not bring its answer back", async () => {
    const threadId = await newThread();
    await wait(threadId, "asking", { input: { gate: gates.url("deaf"), left: gates.url("deaf left"), at: "deaf" } });
    const { runs } = server.client;
    const run = await runs.create(threadId, "asking", { command: { resume: "taken back" } });
    await gates.entered("deaf");
    await runs.cancel(threadId, run.run_id, true, "rollback");
    // The next run is there before the node of the other has ended.
    const next = await wait(threadId, "asking", { input: null });
    expect(next.__interrupt__).toMatchObject([{ value: "ok?" }]);
    gates.open("deaf");
    await gates.entered("deaf left");
    gates.open("deaf left");
    expect(await shown(threadId)).toEqual(["interrupted", ["ok?"]]);
    const again = await wait(threadId, "asking", { input: null });
    expect([again.log, again.__interrupt__]).toMatchObject([[], [{ value: "ok?" }]]);
  });

  test("a resume that is cancelled before it got anywhere leaves the question", async () => {
    const threadId = await asked("nowhere yet", "ask");
    const { runs } = server.client;
    const run = await runs.create(threadId, "asking", { command: { resume: "x" } });
    await gates.entered("nowhere yet");
    await runs.cancel(threadId, run.run_id, true, "interrupt");
    gates.open("nowhere yet");
    expect(await shown(threadId)).toEqual(["interrupted", ["ok?"]]);
    expect((await server.client.threads.getState(threadId)).next).toEqual(["ask"]);
  });
});

describe("updates that take their time", () => {
  /** An update that stands in the factory of the graph. */
  async function updating(threadId: string, gate: string, text: string): Promise<Promise<Answer>[]> {
    process.env["REGRESSION_GATE"] = gates.url(gate);
    const answer = request("POST", `/threads/${threadId}/state`, { values: { log: [text] }, as_node: "count" });
    await gates.entered(gate);
    return [answer];
  }

  test("a run that is created meanwhile comes after and sees the values", async () => {
    const threadId = await newThread("made");
    const [update] = await updating(threadId, "update and run", "update");
    const run = await server.client.runs.create(threadId, "made", { input: {} });
    gates.open("update and run");
    expect((await update)!.status).toBe(200);
    expect(await server.client.runs.join(threadId, run.run_id)).toMatchObject({ log: ["update", "saw 1"] });
    expect(await logOf(threadId)).toEqual(["update", "saw 1"]);
    expect((await server.client.threads.get(threadId)).status).toBe("idle");
  });

  test("a thread that is deleted meanwhile leaves nothing", async () => {
    const threadId = await newThread("made");
    const [update] = await updating(threadId, "update and delete", "ghost");
    const deleted = request("DELETE", `/threads/${threadId}`);
    // The request behind it has been answered: it is there.
    await request("GET", "/ok");
    gates.open("update and delete");
    expect((await deleted).status).toBe(204);
    await update;
    expect((await request("GET", `/threads/${threadId}`)).status).toBe(404);
    await server.client.threads.create({ threadId, graphId: "made" });
    expect(await server.client.threads.getState(threadId)).toMatchObject({ values: {}, next: [], checkpoint: null });
    expect(await server.client.threads.getHistory(threadId)).toEqual([]);
    expect((await server.client.threads.get(threadId)).values).toEqual(null);
  });

  test("updates come one after the other", async () => {
    const threadId = await newThread("made");
    const [first] = await updating(threadId, "two updates", "first");
    const others = ["second", "third"].map((text) =>
      request("POST", `/threads/${threadId}/state`, { values: { log: [text] }, as_node: "count" }),
    );
    await request("GET", "/ok");
    gates.open("two updates");
    const answers = await Promise.all([first!, ...others]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const log = (await logOf(threadId))!;
    expect(log[0]).toBe("first");
    expect(log.toSorted()).toEqual(["first", "second", "third"]);
    // Each is the child of the one before.
    expect(await server.client.threads.getHistory<State>(threadId)).toMatchObject([
      { values: { log: log.slice(0, 3) } },
      { values: { log: log.slice(0, 2) } },
      { values: { log: log.slice(0, 1) } },
    ]);
  });

  test("an update beside a run is 409", async () => {
    const threadId = await newThread();
    const run = await server.client.runs.create(threadId, "steps", { input: { gate: gates.url("409"), at: "two" } });
    await gates.entered("409");
    const body = { values: { log: ["no"] }, as_node: "one" };
    expect((await request("POST", `/threads/${threadId}/state`, body)).status).toBe(409);
    gates.open("409");
    expect(await server.client.runs.join(threadId, run.run_id)).toMatchObject({ log: ["one", "two", "three"] });
  });
});

describe("a graph whose messages are kept as changes", () => {
  const contents = (values: unknown): string[] | undefined =>
    (values as { messages?: { content: string }[] }).messages?.map(({ content }) => content);
  const say = (content: string) => ({ input: { messages: [{ role: "user", content }] } });

  test("shows all of them everywhere", async () => {
    const threadId = await newThread();
    const { runs, threads } = server.client;
    expect(contents(await wait(threadId, "delta", say("a")))).toEqual(["a", "answer 1"]);
    const whole = ["a", "answer 1", "b", "answer 3"];
    expect(contents(await wait(threadId, "delta", say("b")))).toEqual(whole);
    const [run] = await runs.list(threadId, { limit: 1 });
    expect(contents((await threads.get(threadId)).values)).toEqual(whole);
    expect(contents(await runs.join(threadId, run!.run_id))).toEqual(whole);
    expect(contents((await threads.getState(threadId)).values)).toEqual(whole);
    const history = await threads.getHistory(threadId, { limit: 100 });
    expect(contents(history[0]!.values)).toEqual(whole);
    const [found] = await threads.search({ ids: [threadId] });
    expect(contents(found!.values)).toEqual(whole);
  });

  test("shows them after an update", async () => {
    const threadId = await newThread();
    const { threads } = server.client;
    await wait(threadId, "delta", say("a"));
    await threads.updateState(threadId, { values: { messages: [{ role: "user", content: "u" }] }, asNode: "answer" });
    const whole = ["a", "answer 1", "u"];
    expect(contents((await threads.getState(threadId)).values)).toEqual(whole);
    expect(contents((await threads.get(threadId)).values)).toEqual(whole);
  });

  test("shows them when the run was cancelled in its middle", async () => {
    const threadId = await newThread();
    const { runs, threads } = server.client;
    await wait(threadId, "delta", say("a"));
    const configurable = { gate: gates.url("delta cancelled") };
    const run = await runs.create(threadId, "delta", { ...say("b"), config: { configurable } });
    await gates.entered("delta cancelled");
    await runs.cancel(threadId, run.run_id, true);
    const whole = ["a", "answer 1", "b", "answer 3"];
    expect(contents((await threads.getState(threadId)).values)).toEqual(whole);
    expect(contents((await threads.get(threadId)).values)).toEqual(whole);
    expect(contents(await runs.join(threadId, run.run_id))).toEqual(whole);
  });

  test("shows them when the run failed, and what was before when it was rolled back", async () => {
    const threadId = await newThread();
    const { runs, threads } = server.client;
    await wait(threadId, "delta", say("a"));
    const gate = "delta rolled back";
    const run = await runs.create(threadId, "delta", {
      ...say("x"),
      config: { configurable: { gate: gates.url(gate) } },
    });
    await gates.entered(gate);
    await runs.cancel(threadId, run.run_id, true, "rollback");
    expect(contents((await threads.get(threadId)).values)).toEqual(["a", "answer 1"]);
    await wait(threadId, "delta", { ...say("b"), config: { configurable: { fails: true } } });
    const whole = ["a", "answer 1", "b", "answer 3"];
    expect(contents((await threads.getState(threadId)).values)).toEqual(whole);
    expect(contents((await threads.get(threadId)).values)).toEqual(whole);
  });
});

describe("checkpoints that are not there", () => {
  const missing = "1f0c0000-0000-6000-8000-000000000000";

  test.each([
    ["half a character", "\ud800"],
    ["3000 characters", "x".repeat(3000)],
    ["600 characters that take nine each", "\u20ac".repeat(600)],
  ])("%s as id or namespace", async (_what, odd) => {
    const threadId = await newThread();
    await wait(threadId, "steps", { input: {} });
    const before = await server.client.threads.getHistory(threadId);
    const requests: [method: string, path: string, body?: object][] = [
      ...["checkpoint_id", "checkpoint_ns"].flatMap((field): [string, string, object][] => [
        ["POST", "state/checkpoint", { checkpoint: { [field]: odd } }],
        ["POST", "history", { checkpoint: { [field]: odd } }],
        ["POST", "state", { values: { log: ["q"] }, as_node: "one", checkpoint: { [field]: odd } }],
        ["POST", "runs", { assistant_id: "steps", input: {}, checkpoint: { [field]: odd } }],
        ["POST", "runs/wait", { assistant_id: "steps", input: {}, checkpoint: { [field]: odd } }],
        ["POST", "runs/stream", { assistant_id: "steps", input: {}, checkpoint: { [field]: odd } }],
      ]),
      ["POST", "state", { values: { log: ["q"] }, as_node: "one", checkpoint_id: odd }],
      ["POST", "history", { before: odd }],
      ["POST", "history", { before: { configurable: { checkpoint_id: odd } } }],
      ["POST", "runs", { assistant_id: "steps", input: {}, checkpoint_id: odd }],
      // A path cannot hold half a character.
      ...(odd.isWellFormed()
        ? ([
            ["GET", `state/${encodeURIComponent(odd)}`],
            ["GET", `history?before=${encodeURIComponent(odd)}`],
          ] as [string, string][])
        : []),
    ];
    const answers = await Promise.all(
      requests.map(async ([method, path, body]) => {
        const { status } = await request(method, `/threads/${threadId}/${path}`, body);
        return [method, path.slice(0, 20), status];
      }),
    );
    // An address has a limit of its own.
    const expected = requests.map(([method, path]) => [method, path.slice(0, 20), path.length > 8192 ? 414 : 422]);
    expect(answers).toEqual(expected);
    expect(await server.client.threads.getHistory(threadId)).toEqual(before);
    expect(await server.client.runs.list(threadId)).toHaveLength(1);
  });

  test("one that the config of a run names is 404", async () => {
    const threadId = await newThread();
    await wait(threadId, "steps", { input: {} });
    const before = await server.client.threads.getHistory(threadId);
    const body = { assistant_id: "steps", input: {}, config: { configurable: { checkpoint_id: missing } } };
    expect((await request("POST", `/threads/${threadId}/runs/wait`, body)).status).toBe(404);
    expect((await request("POST", `/threads/${threadId}/runs`, body)).status).toBe(404);
    expect(await server.client.threads.getHistory(threadId)).toEqual(before);
    // One that is there is where the run begins.
    const at = before.find(({ next }) => next[0] === "three")!.checkpoint.checkpoint_id;
    const values = await wait(threadId, "steps", { input: null, config: { configurable: { checkpoint_id: at } } });
    expect(values.log).toEqual(["one", "two", "three"]);
    const [newest, fork] = await server.client.threads.getHistory(threadId);
    expect(newest!.parent_checkpoint).toEqual(fork!.checkpoint);
    expect([fork!.next, fork!.parent_checkpoint?.checkpoint_id]).toEqual([["three"], at]);
  });

  test("one of a run that is rolled back for the new run is 404, and the older state is back", async () => {
    const threadId = await newThread();
    await wait(threadId, "steps", { input: {} });
    const before = await server.client.threads.getHistory(threadId);
    const gate = "rolled back for the new run";
    const run = await server.client.runs.create(threadId, "steps", { input: { gate: gates.url(gate), at: "two" } });
    await gates.entered(gate);
    const { checkpoint } = await server.client.threads.getState(threadId);
    expect(before.map((state) => state.checkpoint.checkpoint_id)).not.toContain(checkpoint.checkpoint_id);
    const answer = await request("POST", `/threads/${threadId}/runs/wait`, {
      assistant_id: "steps",
      input: {},
      multitask_strategy: "rollback",
      checkpoint_id: checkpoint.checkpoint_id,
    });
    gates.open(gate);
    expect(answer.status).toBe(404);
    expect(await server.client.threads.getHistory(threadId)).toEqual(before);
    expect((await request("GET", `/threads/${threadId}/runs/${run.run_id}`)).status).toBe(404);
    expect(await server.client.threads.get(threadId)).toMatchObject({
      status: "idle",
      values: { log: ["one", "two", "three"] },
    });
  });

  test("an empty `before` is none", async () => {
    const threadId = await newThread();
    await wait(threadId, "steps", { input: {} });
    const whole = await server.client.threads.getHistory(threadId);
    expect(whole).toHaveLength(5);
    expect(await request("GET", `/threads/${threadId}/history?before=`)).toMatchObject({ status: 200, json: whole });
    expect(await request("POST", `/threads/${threadId}/history`, { before: "" })).toMatchObject({ json: whole });
  });
});

test("a factory that throws is the project's mistake", async () => {
  const threadId = await newThread("made");
  await wait(threadId, "made", { input: {} });
  process.env["REGRESSION_BROKEN"] = "yes";
  onTestFinished(() => void delete process.env["REGRESSION_BROKEN"]);
  for (const [method, path, body] of [
    ["GET", `/threads/${threadId}/state`],
    ["GET", `/threads/${threadId}/history`],
    ["POST", `/threads/${threadId}/state`, { values: { log: ["q"] }, as_node: "count" }],
    ["GET", "/assistants/made/schemas"],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { status, json } = await request(method, path, body);
    expect([path, status, json]).toEqual([path, 422, { detail: expect.stringContaining("the factory broke") }]);
  }
  delete process.env["REGRESSION_BROKEN"];
  expect(await logOf(threadId)).toEqual(["saw 0"]);
});

test("a run that is to come much later lets others go first", async () => {
  const threadId = await newThread();
  const { runs, threads } = server.client;
  const later = await runs.create(threadId, "steps", { input: {}, afterSeconds: 3600 });
  expect((await wait(threadId, "steps", { input: {} })).log).toEqual(["one", "two", "three"]);
  const { run_id } = await runs.create(threadId, "steps", { input: {} });
  expect(await runs.join(threadId, run_id)).toMatchObject({ log: { length: 6 } });
  expect((await runs.get(threadId, later.run_id)).status).toBe("pending");
  await runs.cancel(threadId, later.run_id, true);
  expect((await threads.get(threadId)).status).toBe("idle");
  expect(await logOf(threadId)).toHaveLength(6);
});
