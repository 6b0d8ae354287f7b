// The doors that have many methods behind one path, or stay open for long: A2A, MCP, protocol v2 and event streams. Each of their methods
// keeps two users apart, and what was opened early tells nothing of what became somebody else's.
import { join } from "node:path";
import NodeWebSocket from "crossws/websocket";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { GENERATIONS } from "../../src/a2a/generations.ts";
import { ADA, AuthWorld, BOB, rpc } from "./support/auth-world.ts";
import { useGates } from "./support/gates.ts";
import { type Answer, call, frames } from "./support/http.ts";
import { EVERYTHING } from "./support/protocol.ts";
import { useServer } from "./support/server.ts";
import { upgradeStatus } from "./support/upgrade.ts";

const server = useServer({ cwd: join(import.meta.dirname, "..", "fixtures", "auth-project") });
const gates = useGates();
let world: AuthWorld;
beforeAll(() => {
  world = new AuthWorld(server.url, gates);
});
const bob = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  call(server.url, method, path, { headers: { ...BOB, ...headers }, ...(body === undefined ? {} : { body }) });
const RUN = { assistant_id: "whoami", input: {} };

describe("A2A", () => {
  /** Where tasks tell of themselves: a gate that is always open. */
  const push = (): { url: string; id: string } => {
    gates.open("push");
    return { url: gates.url("push"), id: "config" };
  };
  const said = (more: object): object => ({
    message: { role: "user", messageId: crypto.randomUUID(), parts: [{ data: {} }], ...more },
  });
  type Task = { id: string; contextId: string };
  /** What each method takes that is about a task. Those that are not there are about none. */
  const ABOUT: Record<string, (task: Task) => object> = {
    "message/send": ({ id, contextId }) => said({ taskId: id, contextId }),
    "message/stream": ({ id }) => said({ taskId: id }),
    "tasks/get": ({ id }) => ({ id }),
    "tasks/cancel": ({ id }) => ({ id }),
    "tasks/resubscribe": ({ id }) => ({ id }),
    "tasks/pushNotificationConfig/set": ({ id }) => ({ taskId: id, pushNotificationConfig: { ...push(), id: "new" } }),
    "tasks/pushNotificationConfig/get": ({ id }) => ({ id }),
    "tasks/pushNotificationConfig/list": ({ id }) => ({ id }),
    "tasks/pushNotificationConfig/delete": ({ id }) => ({ id, pushNotificationConfigId: "config" }),
    SendMessage: ({ id, contextId }) => said({ taskId: id, contextId }),
    SendStreamingMessage: ({ id }) => said({ taskId: id }),
    GetTask: ({ id }) => ({ id }),
    CancelTask: ({ id }) => ({ id }),
    SubscribeToTask: ({ id }) => ({ id }),
    CreateTaskPushNotificationConfig: ({ id }) => ({ taskId: id, ...push(), id: "new" }),
    GetTaskPushNotificationConfig: ({ id }) => ({ taskId: id, id: "config" }),
    ListTaskPushNotificationConfigs: ({ id }) => ({ taskId: id }),
    DeleteTaskPushNotificationConfig: ({ id }) => ({ taskId: id, id: "config" }),
  };
  const OTHERS = ["agent/getAuthenticatedExtendedCard", "ListTasks", "GetExtendedAgentCard"];
  const ask = (who: Record<string, string>, method: string, params: object): Promise<Answer> =>
    call(server.url, "POST", "/a2a/whoami", { headers: who, body: rpc(method, params) });
  /** The JSON-RPC answer, which may come as the only event of a stream. */
  const answerOf = ({ text }: Answer): { result?: unknown; error?: { code: number; message: string } } =>
    JSON.parse(text.replace(/^data: /, "")) as never;
  /** A task whose run stands at a gate, with a place where its end is told. */
  const working = async (): Promise<Task & { gate: string }> => {
    const gate = crypto.randomUUID();
    const message = {
      kind: "message",
      role: "user",
      messageId: crypto.randomUUID(),
      parts: [{ kind: "data", data: { gate: gates.url(gate) } }],
    };
    const configuration = { blocking: false, pushNotificationConfig: push() };
    const { result } = answerOf(await ask(ADA, "message/send", { message, configuration }));
    await gates.entered(gate);
    return { ...(result as Task), gate };
  };
  const pictureOf = async ({ id, contextId }: Task): Promise<unknown> => [
    answerOf(await ask(ADA, "GetTask", { id })),
    answerOf(await ask(ADA, "ListTaskPushNotificationConfigs", { taskId: id })),
    await world.picture([contextId]),
  ];

  test("every method is looked at here", () => {
    const methods = GENERATIONS.flatMap(({ calls, streams }) => [...calls.keys(), ...streams.keys()]);
    expect([...Object.keys(ABOUT), ...OTHERS].toSorted()).toEqual(methods.toSorted());
  });

  test("somebody else's task does not exist, for any method", async () => {
    const task = await working();
    const before = await pictureOf(task);
    for (const [method, params] of Object.entries(ABOUT)) {
      const nothing = { id: crypto.randomUUID(), contextId: crypto.randomUUID() };
      const missing = answerOf(await ask(BOB, method, params(nothing))).error;
      const hidden = answerOf(await ask(BOB, method, params(task))).error;
      expect([method, hidden?.code]).toEqual([method, -32_001]);
      expect(hidden!.message.replaceAll(task.id, nothing.id)).toBe(missing!.message);
    }
    expect(await pictureOf(task)).toEqual(before);
    gates.open(task.gate);
    const ended = await frames(server.url, "POST", "/a2a/whoami", {
      headers: ADA,
      body: rpc("tasks/resubscribe", { id: task.id }),
    });
    expect(JSON.stringify(await ended.all())).toContain('"state":"completed"');
    await world.arrived();
  });

  test("lists show one's own tasks", async () => {
    const { id, contextId } = await world.task();
    const ids = async (who: Record<string, string>, params: object): Promise<string[]> => {
      const { result } = answerOf(await ask(who, "ListTasks", { pageSize: 100, ...params }));
      return (result as { tasks: Task[] }).tasks.map((task) => task.id);
    };
    expect(await ids(ADA, {})).toContain(id);
    expect(await ids(ADA, { contextId })).toEqual([id]);
    expect(await ids(BOB, { contextId })).toEqual([]);
    expect(await ids(BOB, {})).not.toContain(id);
  });

  test("nobody speaks in somebody else's context, and each speaks in their own", async () => {
    const { contextId } = await world.task();
    const before = await world.picture([contextId]);
    for (const method of ["message/send", "message/stream", "SendMessage", "SendStreamingMessage"]) {
      const { error } = answerOf(await ask(BOB, method, said({ contextId })));
      expect([method, error?.code]).toEqual([method, -32_602]);
      expect(error!.message).not.toContain("ada");
    }
    expect(await world.picture([contextId])).toEqual(before);
    const own = answerOf(await ask(BOB, "SendMessage", said({})));
    const task = (own.result as { task: { contextId: string; artifacts: unknown } }).task;
    expect(JSON.stringify(task.artifacts)).toContain('"id":"bob"');
    expect((await bob("GET", `/threads/${task.contextId}`)).json).toMatchObject({ metadata: { owner: "bob" } });
  });

  test("agents of somebody else do not exist", async () => {
    const id = await world.assistant();
    const answer = await bob("POST", `/a2a/${id}`, rpc("message/send", said({})));
    expect(answer.status).toBe(404);
    expect((await bob("GET", "/.well-known/agent-card.json")).text).not.toContain(id);
  });
});

describe("MCP", () => {
  test("tools are one's own assistants, and run as the caller", async () => {
    const id = await world.assistant();
    const { name } = (await world.ada("GET", `/assistants/${id}`)).json as { name: string };
    const tool = name.replaceAll(" ", "_");
    const run = (who: Record<string, string>, called: string): Promise<Answer> =>
      call(server.url, "POST", "/mcp", { headers: who, body: rpc("tools/call", { name: called, arguments: {} }) });
    expect((await run(ADA, tool)).text).toMatch(/\\"id\\": ?\\"ada\\"/);
    const missing = await run(BOB, "nothing");
    const hidden = await run(BOB, tool);
    expect(hidden.json).toMatchObject({ error: { code: -32_602 } });
    expect(hidden.text.replaceAll(tool, "nothing")).toBe(missing.text);
    const own = await run(BOB, "whoami");
    expect(own.text).toMatch(/\\"id\\": ?\\"bob\\"/);
    expect(own.text).not.toContain("canary");
  });
});

describe("protocol v2", () => {
  const COMMANDS: readonly [string, unknown][] = [
    ["run.start", RUN],
    ["input.respond", { response: 1, interrupt_id: "x" }],
    ["state.fork", { checkpoint_id: crypto.randomUUID() }],
    ["state.get", {}],
    ["state.listCheckpoints", {}],
    ["agent.getTree", {}],
    ["input.inject", {}],
    ["subscription.subscribe", { channels: ["values"] }],
    ["subscription.unsubscribe", { subscription_id: "1" }],
    ["nothing", {}],
  ];

  test("no command works on somebody else's thread", async () => {
    const { thread_id } = await world.ran();
    const before = await world.picture([thread_id]);
    for (const [method, params] of COMMANDS) {
      const { status, json } = await bob("POST", `/threads/${thread_id}/commands`, { id: 7, method, params });
      expect([method, status, json]).toMatchObject([
        method,
        404,
        { type: "error", id: 7, error: "invalid_argument", message: `Thread with ID ${thread_id} not found` },
      ]);
    }
    expect(await world.picture([thread_id])).toEqual(before);
  });

  test("a run that a command starts is the caller's", async () => {
    const path = `/threads/${crypto.randomUUID()}`;
    expect((await bob("POST", `${path}/commands`, { id: 1, method: "run.start", params: RUN })).status).toBe(200);
    const [run] = (await bob("GET", `${path}/runs`)).json as { run_id: string; metadata: unknown }[];
    expect((await bob("GET", `${path}/runs/${run!.run_id}/join`)).json).toMatchObject({ caller: { id: "bob" } });
    expect((await bob("GET", path)).json).toMatchObject({ metadata: { owner: "bob" } });
    expect(run!.metadata).toMatchObject({ owner: "bob" });
  });

  test("a stream that was opened before the thread was there ends when somebody else makes it", async () => {
    const threadId = crypto.randomUUID();
    const path = `/threads/${threadId}/stream/events`;
    const body = { channels: EVERYTHING };
    const [hers, his] = await Promise.all(
      [ADA, BOB].map((headers) => frames(server.url, "POST", path, { headers, body })),
    );
    await world.ada("POST", `/threads/${threadId}/runs/wait`, { ...RUN, if_not_exists: "create" });
    expect(await his!.all()).toEqual([]);
    expect((await hers!.next()).value).toMatchObject({ event: "lifecycle" });
    hers!.leave();
    expect((await bob("POST", path, body)).status).toBe(404);
  });

  describe("on a WebSocket", () => {
    const Socket = NodeWebSocket as unknown as new (
      url: string,
      options: { headers: Record<string, string> },
    ) => WebSocket;

    const upgrade = (threadId: string, headers: Record<string, string>): Promise<number> =>
      upgradeStatus(server.url, threadId, headers);

    test("nobody gets one for somebody else's thread", async () => {
      const { thread_id } = await world.ran();
      expect(await upgrade(thread_id, {})).toBe(401);
      expect(await upgrade(thread_id, { authorization: "Bearer token-of-eve" })).toBe(401);
      expect(await upgrade(thread_id, BOB)).toBe(404);
      expect(await upgrade(thread_id, ADA)).toBe(101);
      expect(await upgrade(crypto.randomUUID(), BOB)).toBe(101);
    });

    test("one that was opened before the thread was there tells nothing, takes nothing, and is closed", async () => {
      const threadId = crypto.randomUUID();
      const socket = new Socket(`${server.url.replace("http", "ws")}/threads/${threadId}/stream/events`, {
        headers: BOB,
      });
      onTestFinished(() => socket.close());
      const messages: Record<string, unknown>[] = [];
      let told: () => void;
      socket.addEventListener("message", ({ data }) => {
        messages.push(JSON.parse(String(data)) as Record<string, unknown>);
        told();
      });
      const closed = new Promise<unknown>((resolve) => {
        socket.addEventListener("close", ({ code, reason }) => resolve([code, reason]));
      });
      await new Promise((resolve) => socket.addEventListener("open", resolve));
      const answered = new Promise<void>((resolve) => (told = resolve));
      socket.send(JSON.stringify({ id: 1, method: "subscription.subscribe", params: { channels: EVERYTHING } }));
      await answered;
      await world.ada("POST", `/threads/${threadId}/runs/wait`, { ...RUN, if_not_exists: "create" });
      expect(await closed).toEqual([1008, "the thread is not yours"]);
      expect(messages).toMatchObject([{ type: "success", id: 1, result: { replayed_events: 0 } }]);
    });
  });
});

describe("behind one's own thread", () => {
  /** A thread of Bob's with a run that has ended. */
  const his = async (): Promise<string> => {
    const threadId = crypto.randomUUID();
    await bob("POST", `/threads/${threadId}/runs/wait`, { ...RUN, if_not_exists: "create" });
    return `/threads/${threadId}`;
  };

  test.each([
    ["GET", ""],
    ["DELETE", ""],
    ["GET", "/join"],
    ["GET", "/stream"],
    ["POST", "/cancel?wait=1"],
    ["POST", "/cancel?action=rollback"],
  ])("there is no run of somebody else's: %s %s", async (method, path) => {
    const { thread_id, run_id, gate } = await world.running();
    const own = await his();
    expect((await bob(method, `${own}/runs/${run_id}${path}`)).status).toBe(404);
    gates.open(gate);
    expect((await world.ada("GET", `/threads/${thread_id}/runs/${run_id}/join`)).json).toMatchObject({
      caller: { id: "ada" },
    });
  });

  test("no setting leads to somebody else's thread", async () => {
    const { thread_id, checkpoint_id } = await world.ran();
    const before = await world.picture([thread_id]);
    const own = await his();
    const checkpoint = { thread_id, checkpoint_id, checkpoint_ns: "" };
    const config = { configurable: { ...checkpoint, thread_id } };
    const tries: [string, string, unknown][] = [
      ["POST", `${own}/runs/wait`, { ...RUN, checkpoint }],
      ["POST", `${own}/runs/wait`, { ...RUN, checkpoint_id }],
      ["POST", `${own}/runs/wait`, { ...RUN, config }],
      ["POST", `${own}/runs/wait`, { ...RUN, config: { configurable: { thread_id } } }],
      ["POST", `${own}/runs/wait`, { ...RUN, context: { thread_id } }],
      ["POST", "/runs/wait", { ...RUN, config: { configurable: { thread_id } } }],
      ["POST", `${own}/state`, { values: { runs: 1 }, checkpoint }],
      ["POST", `${own}/state`, { values: { runs: 1 }, checkpoint_id }],
      ["PATCH", `${own}/state`, { metadata: { taken: true }, checkpoint }],
      ["POST", `${own}/state/checkpoint`, { checkpoint }],
      ["GET", `${own}/state/${checkpoint_id}`, undefined],
      ["POST", `${own}/history`, { checkpoint, before: config }],
      ["GET", `${own}/history?before=${checkpoint_id}`, undefined],
      ["POST", `${own}/commands`, { id: 1, method: "state.fork", params: { ...checkpoint, checkpoint_id } }],
      ["POST", `${own}/commands`, { id: 2, method: "state.get", params: checkpoint }],
      ["POST", `${own}/commands`, { id: 3, method: "run.start", params: { ...RUN, config } }],
      ["POST", "/threads", { supersteps: [{ updates: [{ values: {}, as_node: "look" }] }], metadata: config }],
    ];
    for (const [method, path, body] of tries) {
      const answer = await bob(method, path, body);
      expect([method, path, answer.status]).not.toContain(500);
      // It may name what it was given, and knows no more.
      expect(answer.text.replaceAll(thread_id, "").replaceAll(checkpoint_id, "")).not.toMatch(/\bada\b|canary/);
      expect(await world.picture([thread_id])).toEqual(before);
    }
  });
});

describe("event streams", () => {
  test("an ended run without a thread is its owner's", async () => {
    const stream = await frames(server.url, "POST", "/runs/stream", {
      headers: ADA,
      body: { ...RUN, stream_resumable: true, on_completion: "keep" },
    });
    await stream.all();
    const path = (stream.headers["content-location"] ?? stream.headers["location"]) as string;
    const again = (headers: Record<string, string>): Promise<Answer> =>
      call(server.url, "GET", `${path}/stream`, { headers });
    expect((await again(ADA)).status).toBe(200);
    expect((await again(BOB)).status).toBe(404);
  });

  test("of a thread: nobody joins somebody else's", async () => {
    const { thread_id, run_id, gate } = await world.running();
    const headers = { "last-event-id": "0" };
    for (const path of ["/stream", `/runs/${run_id}/stream`, `/runs/${run_id}/join`]) {
      const answer = await bob("GET", `/threads/${thread_id}${path}`, undefined, headers);
      expect([path, answer.status]).toEqual([path, 404]);
    }
    gates.open(gate);
    expect(
      (await call(server.url, "GET", `/threads/${thread_id}/runs/${run_id}/join`, { headers: ADA })).json,
    ).toMatchObject({
      caller: { id: "ada" },
    });
  });
});
