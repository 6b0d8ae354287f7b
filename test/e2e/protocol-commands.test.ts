// The commands of protocol v2 over HTTP: envelopes, what each does, and how it is refused.
import { randomUUID } from "node:crypto";
import type { Json } from "../../src/resources/json.ts";
import { describe, expect, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { call } from "./support/http.ts";
import { command, events, isBeginning, isEnd, post, PROTOCOL_PROJECT, type Responded } from "./support/protocol.ts";
import { useServer } from "./support/server.ts";

const server = useServer({ cwd: PROTOCOL_PROJECT });
const gates = useGates();

const send = (threadId: string, method: string, params?: unknown): Promise<Responded> =>
  command(server.url, threadId, method, params);
const start = (threadId: string, assistant_id: string, input: unknown, more: object = {}): Promise<Responded> =>
  send(threadId, "run.start", { assistant_id, input, ...more });
const runId = ({ result }: Responded): string => String(result["run_id"]);

/** Starts a run and waits for its end. */
async function run(threadId: string, assistant: string, input: unknown, more: object = {}): Promise<string> {
  const id = runId(await start(threadId, assistant, input, more));
  await server.client.runs.join(threadId, id);
  return id;
}
const logOf = async (threadId: string): Promise<unknown> =>
  ((await server.client.threads.getState(threadId)).values as Json)["log"];
const interruptsOf = async (threadId: string): Promise<{ id: string; value: unknown }[]> =>
  Object.values((await server.client.threads.get(threadId)).interrupts).flat() as { id: string; value: unknown }[];

describe("envelopes", () => {
  test.each([
    ["no JSON", "{", /valid JSON/],
    ["no object", [1], /command/],
    ["no id", { method: "state.get" }, /id/],
    ["a negative id", { id: -1, method: "state.get" }, /id/],
    ["an id that is no number", { id: "1", method: "state.get" }, /id/],
    ["no method", { id: 7 }, /method/],
    ["params that are no object", { id: 7, method: "state.get", params: [] }, /params/],
  ])("%s: 400 with a protocol error", async (_name, body, message) => {
    const answer = await post(server.url, randomUUID(), body);
    expect(answer).toMatchObject({ status: 400, type: "error", error: "invalid_argument" });
    expect(answer.message).toMatch(message);
    expect(answer.detail).toBe(answer.message);
    expect(answer.id).toBe(answer.message?.includes("method") || answer.message?.includes("params") ? 7 : null);
  });

  test("a thread id that is no UUID: 422", async () => {
    expect(
      await call(server.url, "POST", "/threads/nonsense/commands", { body: { id: 1, method: "state.get" } }),
    ).toMatchObject({ status: 422, json: { detail: expect.stringContaining("thread_id") } });
  });

  test("unknown and unsupported commands are answered, with the place in the stream", async () => {
    const { thread_id } = await server.client.threads.create();
    const unknown = await send(thread_id, "run.pause");
    expect(unknown).toMatchObject({ status: 200, type: "error", error: "unknown_command" });
    expect(unknown.meta).toEqual({ thread_id, applied_through_seq: expect.any(Number) });
    for (const method of [
      "input.inject",
      "subscription.reconnect",
      "subscription.subscribe",
      "subscription.unsubscribe",
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- few
      expect(await send(thread_id, method, { channels: ["values"] })).toMatchObject({
        status: 200,
        error: "not_supported",
        message: expect.stringMatching(/\S/),
      });
    }
    // A name of Object.prototype is no command either.
    expect(await send(thread_id, "constructor")).toMatchObject({ error: "unknown_command" });
  });

  test("a missing thread: 404 for everything but run.start", async () => {
    for (const [method, params] of [
      ["state.get", {}],
      ["state.listCheckpoints", {}],
      ["state.fork", { checkpoint_id: "x" }],
      ["agent.getTree", {}],
      ["input.respond", { interrupt_id: "x", response: 1 }],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- few
      const answer = await send(randomUUID(), method, params);
      expect(answer).toMatchObject({ status: 404, type: "error", detail: expect.stringMatching(/not found/) });
    }
  });
});

describe("run.start", () => {
  test("creates the thread, stores config and metadata, and says where the stream stood", async () => {
    const threadId = randomUUID();
    const before = await start(
      threadId,
      "steps",
      { name: "a" },
      {
        config: { configurable: { colour: "red", thread_id: "ignored" }, tags: ["t"], recursion_limit: 7 },
        metadata: { trigger: "ui" },
      },
    );
    expect(before).toMatchObject({ status: 200, type: "success" });
    const stored = await server.client.runs.get(threadId, runId(before));
    expect(stored).toMatchObject({
      multitask_strategy: "enqueue",
      metadata: { trigger: "ui", graph_id: "steps" },
      kwargs: { config: { tags: ["t"], recursion_limit: 7, configurable: { colour: "red", thread_id: threadId } } },
    });
    const stream = await events(server.url, threadId);
    const seen = await stream.until(isEnd);
    expect(seen.every(({ seq }) => seq > before.meta!.applied_through_seq)).toBe(true);
    const after = await send(threadId, "state.get");
    expect(after.meta!.applied_through_seq).toBe(seen.at(-1)!.seq);
    stream.leave();
  });

  test("refuses an unknown assistant, bad params and an unknown checkpoint, and creates nothing", async () => {
    const threadId = randomUUID();
    for (const [params, error, message] of [
      [{ assistant_id: "nobody", input: {} }, "invalid_argument", /No assistant found for "nobody"/],
      [{ input: {} }, "invalid_argument", /assistant_id/],
      [{ assistant_id: "steps", multitaskStrategy: "later" }, "invalid_argument", /multitaskStrategy/],
      [{ assistant_id: "steps", config: { recursion_limit: "many" } }, "invalid_argument", /recursion_limit/],
      [{ assistant_id: "steps", config: { configurable: { checkpoint_id: "no" } } }, "no_such_checkpoint", /no/],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- few
      const answer = await send(threadId, "run.start", params);
      expect(answer).toMatchObject({ status: 200, type: "error", error });
      expect(answer.message).toMatch(message);
    }
    expect((await call(server.url, "GET", `/threads/${threadId}`)).status).toBe(404);
  });

  test("takes input for a thread that waits as the answer", async () => {
    const threadId = randomUUID();
    await run(threadId, "ask", { topic: "go" });
    await run(threadId, "ask", { fine: true });
    expect(await logOf(threadId)).toEqual(["plan go", 'answer {"fine":true}', "act go"]);
    // Nothing waits any more: this is input.
    await run(threadId, "ask", { topic: "again" });
    expect(await logOf(threadId)).toEqual(["plan go", 'answer {"fine":true}', "act go", "plan again"]);
  });

  test("begins at a checkpoint that the config names, even if the thread waits", async () => {
    const threadId = randomUUID();
    await run(threadId, "ask", { topic: "first" });
    const { checkpoints } = (await send(threadId, "state.listCheckpoints")).result as { checkpoints: { id: string }[] };
    const config = { configurable: { checkpoint_id: checkpoints.at(-1)!.id } };
    await run(threadId, "ask", { topic: "other" }, { config });
    expect(await logOf(threadId)).toEqual(["plan other"]);
  });

  describe("multitaskStrategy", () => {
    const busy = async (name: string): Promise<{ threadId: string; first: string }> => {
      const threadId = randomUUID();
      const first = runId(await start(threadId, "steps", { name: "a", gate: gates.url(name) }));
      await gates.entered(name);
      return { threadId, first };
    };
    const statusOf = async (threadId: string, id: string): Promise<string> =>
      (await server.client.runs.get(threadId, id)).status;

    test("enqueue is the default", async () => {
      const { threadId, first } = await busy("enqueue");
      const stream = await events(server.url, threadId, { channels: ["lifecycle"] });
      const second = runId(await start(threadId, "steps", { name: "b" }));
      expect(await statusOf(threadId, second)).toBe("pending");
      gates.open("enqueue");
      const ends = [...(await stream.until(isEnd)), ...(await stream.until(isEnd))];
      expect(ends.map(({ params }) => params.data["event"])).toEqual(["running", "completed", "running", "completed"]);
      expect(await logOf(threadId)).toEqual(["a:one", "a:two", "b:one", "b:two"]);
      expect(await statusOf(threadId, first)).toBe("success");
      stream.leave();
    });

    test("reject refuses and changes nothing", async () => {
      const { threadId } = await busy("reject");
      const answer = await start(threadId, "steps", { name: "b" }, { multitaskStrategy: "reject" });
      expect(answer).toMatchObject({ status: 200, error: "invalid_argument", message: /already running/ });
      expect(await server.client.runs.list(threadId)).toHaveLength(1);
      gates.open("reject");
    });

    test("interrupt keeps what the first has done; the stream goes on to the end of the second", async () => {
      const { threadId, first } = await busy("interrupt");
      const stream = await events(server.url, threadId, { channels: ["lifecycle"] });
      // The first has left its gate in the state.
      const input = { name: "b", gate: "" };
      const second = runId(await start(threadId, "steps", input, { multitaskStrategy: "interrupt" }));
      const seen = await stream.until(isEnd);
      expect(seen.map(({ params }) => params.data["event"])).toEqual(["running", "running", "completed"]);
      expect(await statusOf(threadId, first)).toBe("interrupted");
      expect(await statusOf(threadId, second)).toBe("success");
      expect(await logOf(threadId)).toEqual(["a:one", "b:one", "b:two"]);
      stream.leave();
    });

    test("rollback takes back what the first has done", async () => {
      const { threadId, first } = await busy("rollback");
      await run(threadId, "steps", { name: "b" }, { multitaskStrategy: "rollback" });
      expect((await call(server.url, "GET", `/threads/${threadId}/runs/${first}`)).status).toBe(404);
      expect(await logOf(threadId)).toEqual(["b:one", "b:two"]);
    });

    test("a run that is cancelled with no other behind it ends as interrupted", async () => {
      const { threadId, first } = await busy("cancel");
      const stream = await events(server.url, threadId, { channels: ["lifecycle"] });
      await stream.until(isBeginning);
      await server.client.runs.cancel(threadId, first, true);
      expect((await stream.until(isEnd)).at(-1)!.params.data).toEqual({ event: "interrupted", graph_name: "steps" });
      stream.leave();
    });

    test("so does one whose successor could not be created", async () => {
      const { threadId } = await busy("unfollowed");
      const { checkpoints } = (await send(threadId, "state.listCheckpoints")).result as {
        checkpoints: { id: string }[];
      };
      const stream = await events(server.url, threadId, { channels: ["lifecycle"] });
      // The checkpoint goes with the run that is rolled back.
      const answer = await start(threadId, "steps", null, {
        multitaskStrategy: "rollback",
        config: { configurable: { checkpoint_id: checkpoints[0]!.id } },
      });
      expect(answer.type).toBe("error");
      expect((await stream.until(isEnd)).at(-1)!.params.data).toMatchObject({ event: "interrupted" });
      stream.leave();
    });
  });
});

describe("input.respond", () => {
  test("refuses what does not fit", async () => {
    const threadId = randomUUID();
    await run(threadId, "steps", { name: "a" });
    expect(await send(threadId, "input.respond", { interrupt_id: "x", response: 1 })).toMatchObject({
      status: 200,
      error: "invalid_argument",
      message: expect.stringMatching(/can only be used while the thread is interrupted/),
    });
    await run(threadId, "ask", { topic: "go" });
    expect(await send(threadId, "input.respond", { interrupt_id: "x", response: 1 })).toMatchObject({
      error: "no_such_interrupt",
    });
    for (const params of [{}, { responses: [] }, { response: 1 }, { responses: [{ response: 1 }] }])
      // oxlint-disable-next-line no-await-in-loop -- few
      expect(await send(threadId, "input.respond", params)).toMatchObject({ error: "invalid_argument" });
    expect(await logOf(threadId)).toEqual(["a:one", "a:two", "plan go"]);
  });

  test("answers, changes the state and goes elsewhere, with config and metadata", async () => {
    const threadId = randomUUID();
    await run(threadId, "ask", { topic: "go" });
    const [waiting] = await interruptsOf(threadId);
    const stream = await events(server.url, threadId, { channels: ["lifecycle"], since: 0 });
    await stream.until(isEnd);
    const answer = await send(threadId, "input.respond", {
      namespace: [],
      interrupt_id: waiting!.id,
      response: "",
      update: { log: ["update"] },
      goto: "skip",
      config: { configurable: { colour: "blue" } },
      metadata: { by: "hand" },
    });
    expect(answer).toMatchObject({ status: 200, type: "success", result: {} });
    await stream.until(isEnd);
    stream.leave();
    const log = (await logOf(threadId)) as string[];
    expect(log.slice(0, 2)).toEqual(["plan go", "update"]);
    expect(log).toContain("skip");
    expect(log).toContain('answer ""');
    const [newest] = await server.client.runs.list(threadId);
    expect(newest).toMatchObject({
      metadata: { by: "hand" },
      kwargs: { config: { configurable: { colour: "blue" } } },
    });
    // A second answer comes too late.
    expect(await send(threadId, "input.respond", { interrupt_id: waiting!.id, response: 1 })).toMatchObject({
      error: "invalid_argument",
    });
  });

  test("answers one of two; the other waits on and is told of again", async () => {
    const threadId = randomUUID();
    await run(threadId, "pair", {});
    const stream = await events(server.url, threadId, { channels: ["input", "lifecycle"], since: 0 });
    const asked = (await stream.until(isEnd)).filter(({ method }) => method === "input.requested");
    expect(asked.map(({ params }) => params.data["payload"]).toSorted()).toEqual(["left?", "right?"]);
    const left = asked.find(({ params }) => params.data["payload"] === "left?")!.params.data["interrupt_id"];
    await send(threadId, "input.respond", { interrupt_id: left, response: 1 });
    const again = await stream.until(isEnd);
    expect(again.at(-1)!.params.data["event"]).toBe("interrupted");
    expect(
      again.filter(({ method }) => method === "input.requested").map(({ params }) => params.data["payload"]),
    ).toEqual(["right?"]);
    const right = again.find(({ method }) => method === "input.requested")!.params.data["interrupt_id"];
    await send(threadId, "input.respond", { responses: [{ interrupt_id: right, response: 2 }] });
    await stream.until(isEnd);
    expect(await logOf(threadId)).toEqual(["left 1", "right 2", "joined 2"]);
    stream.leave();
  });

  test("two answers at once make one run", async () => {
    const threadId = randomUUID();
    await run(threadId, "ask", { topic: "go" });
    const [waiting] = await interruptsOf(threadId);
    const answers = await Promise.all(
      [1, 2].map((response) => send(threadId, "input.respond", { interrupt_id: waiting!.id, response })),
    );
    expect(answers.map(({ type }) => type).toSorted()).toEqual(["error", "success"]);
  });
});

describe("states", () => {
  test("state.get: all values or some, of the thread or of a graph in it", async () => {
    const threadId = randomUUID();
    await server.client.threads.create({ threadId });
    expect((await send(threadId, "state.get", { namespace: [] })).result).toEqual({ values: {} });
    await run(threadId, "nested", { messages: [{ role: "user", content: "go" }], ask: true });
    const { values, checkpoint } = (await send(threadId, "state.get", { namespace: [] })).result as {
      values: Json;
      checkpoint: Json;
    };
    const rest = await server.client.threads.getState(threadId);
    expect(values).toEqual(rest.values);
    expect(checkpoint).toEqual({ id: rest.checkpoint.checkpoint_id, ns: "" });
    expect((await send(threadId, "state.get", { namespace: [], keys: ["ask", "nothing"] })).result["values"]).toEqual({
      ask: true,
    });
    const deep = (await send(threadId, "state.get", { namespace: ["middle", "inner"], keys: ["messages"] })).result;
    expect(deep).toMatchObject({
      values: { messages: [{ content: "go" }, { content: [{ text: "deep words" }] }] },
      checkpoint: { ns: expect.stringMatching(/^middle:[^|]+\|inner:[^|]+$/) },
    });
    const exact = String((deep["checkpoint"] as Json)["ns"]).split("|");
    expect((await send(threadId, "state.get", { namespace: exact, keys: ["messages"] })).result).toEqual(deep);
    expect(await send(threadId, "state.get", { namespace: ["elsewhere"] })).toMatchObject({
      error: "no_such_namespace",
    });
    expect(await send(threadId, "state.get", { keys: "ask" })).toMatchObject({ error: "invalid_argument" });
  });

  test("state.listCheckpoints: newest first, in pages", async () => {
    const threadId = randomUUID();
    await run(threadId, "steps", { name: "a" });
    type Listed = { id: string; timestamp: string; step: number; metadata: Json }[];
    const list = async (params: object): Promise<Listed> =>
      (await send(threadId, "state.listCheckpoints", params)).result["checkpoints"] as Listed;
    const all = await list({});
    expect(all.map(({ step }) => step)).toEqual([2, 1, 0, -1]);
    expect(all[0]).toMatchObject({
      timestamp: expect.stringMatching(/^\d{4}-.*\+00:00$/),
      metadata: { source: "loop" },
    });
    const history = await server.client.threads.getHistory(threadId);
    expect(all.map(({ id }) => id)).toEqual(history.map(({ checkpoint }) => checkpoint.checkpoint_id));
    expect(await list({ limit: 2, before: all[0]!.id })).toEqual(all.slice(1, 3));
    expect(await send(threadId, "state.listCheckpoints", { before: "nothing" })).toMatchObject({
      error: "no_such_checkpoint",
    });
    expect(await send(threadId, "state.listCheckpoints", { limit: 0 })).toMatchObject({ error: "invalid_argument" });
  });

  test("state.fork runs again from a checkpoint", async () => {
    const threadId = randomUUID();
    await run(threadId, "steps", { name: "a" });
    const [, , beforeOne] = await server.client.threads.getHistory(threadId);
    const checkpoint_id = beforeOne!.checkpoint.checkpoint_id;
    const forked = await send(threadId, "state.fork", { checkpoint_id, input: { name: "b" } });
    expect(forked).toMatchObject({ type: "success", result: { thread_id: threadId, run_id: expect.any(String) } });
    await server.client.runs.join(threadId, runId(forked));
    expect(await logOf(threadId)).toEqual(["b:one", "b:two"]);
    expect(await send(threadId, "state.fork", { checkpoint_id: "nothing" })).toMatchObject({
      error: "no_such_checkpoint",
    });
    const { thread_id } = await server.client.threads.create();
    expect(await send(thread_id, "state.fork", { checkpoint_id })).toMatchObject({ error: "no_such_run" });
  });
});

describe("agent.getTree", () => {
  test("shows the tree while it grows, and what is known without one", async () => {
    const threadId = randomUUID();
    const { thread_id: empty } = await server.client.threads.create();
    expect(await send(empty, "agent.getTree")).toMatchObject({ error: "no_such_run" });
    await start(threadId, "slow", { messages: [], gate: gates.url("tree") });
    await gates.entered("tree");
    expect((await send(threadId, "agent.getTree")).result).toMatchObject({
      tree: {
        namespace: [],
        status: "running",
        graph_name: "slow",
        children: [{ graph_name: "speak", status: "started" }],
      },
    });
    gates.open("tree");
    // One that nobody watched: all that is known is how it ended.
    const plain = await server.client.threads.create();
    await server.client.runs.wait(plain.thread_id, "steps", { input: { name: "a" } });
    expect((await send(plain.thread_id, "agent.getTree")).result).toEqual({
      tree: { namespace: [], status: "completed", graph_name: "steps" },
    });
    const failed = await run(plain.thread_id, "steps", { name: "b", fail: true });
    expect((await send(plain.thread_id, "agent.getTree", { run_id: failed })).result).toMatchObject({
      tree: { status: "failed" },
    });
    expect(await send(plain.thread_id, "agent.getTree", { run_id: randomUUID() })).toMatchObject({
      error: "no_such_run",
    });
  });
});
