// A2A and MCP where the project's auth handlers decide: each method asks what the REST API asks for the same, and the handlers are shown what
// will run. The handlers are those of test/fixtures/a2a-project/src/auth.ts.
import { describe, expect, test } from "vitest";
import { A2A_PROJECT, Agent, rpc, said03, said1, type Wire } from "./support/a2a.ts";
import { call, type Answer } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer({ cwd: A2A_PROJECT, config: "langgraph.auth.json", persist: false });
const agent = (name: string): Agent => new Agent(() => server.url, name);
const as = (who: string, more: Record<string, string> = {}): Record<string, string> => ({ "x-user": who, ...more });
const send = async (to: string, who: string, parts: unknown[], more: Wire = {}): Promise<Wire> => {
  const { task } = await agent(to).result("SendMessage", said1("", { parts, ...more }), { headers: as(who) });
  return task;
};
const begin = (to: string, who: string): Promise<Wire> => send(to, who, [{ text: "hello" }]);
const post = (to: string, who: string, method: string, params: unknown): Promise<Answer> =>
  agent(to).post(rpc(method, params), as(who));

describe("the handlers are shown what will run", () => {
  test("who may not resume does not answer a task, as over the REST API", async () => {
    const { id: taskId, contextId } = await begin("ask", "ada");
    const resumed = { assistant_id: "ask", command: { resume: "yes" } };
    const rest = await call(server.url, "POST", `/threads/${contextId}/runs/wait`, {
      headers: as("ada"),
      body: resumed,
    });
    expect([rest.status, rest.json]).toEqual([403, { detail: "Only the boss may answer" }]);
    for (const [method, params] of [
      ["SendMessage", said1("yes", { taskId })],
      ["SendStreamingMessage", said1("yes", { taskId })],
      ["message/send", said03("yes", { taskId })],
      ["message/stream", said03("yes", { taskId })],
    ] as const) {
      const { status, json } = await post("ask", "ada", method, params);
      expect([method, status, json]).toMatchObject([
        method,
        403,
        { jsonrpc: "2.0", id: 1, error: { code: -32_600, message: "Only the boss may answer" } },
      ]);
    }
    expect(await agent("ask").result("GetTask", { id: taskId }, { headers: as("ada") })).toMatchObject({
      status: { state: "TASK_STATE_INPUT_REQUIRED" },
    });
  });

  test("who may resume answers", async () => {
    const { id: taskId } = await begin("ask", "boss");
    const after = await send("ask", "boss", [{ text: "stop" }], { taskId });
    expect(after).toMatchObject({
      id: taskId,
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ parts: [{ text: 'heard "stop"' }] }],
    });
  });

  test.each([
    ["text", [{ text: "yes please" }]],
    ["data that are no object", [{ data: "yes please" }]],
  ])("a graph without messages is answered by %s", async (_what, parts) => {
    const { id: taskId } = await send("choosy", "boss", [{ data: { topic: "tea" } }]);
    expect(await send("choosy", "boss", parts, { taskId })).toMatchObject({
      id: taskId,
      artifacts: [{ parts: [{ data: { topic: "tea", answer: "yes please" } }] }],
    });
  });

  test("data alone let a breakpoint go on", async () => {
    const { id: taskId } = await begin("breakpoint", "ada");
    expect(await send("breakpoint", "ada", [{ data: { ok: true } }], { taskId })).toMatchObject({
      id: taskId,
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ parts: [{ text: "after hello, before" }] }],
    });
  });
});

describe("each method asks for itself", () => {
  test("who may start runs and not read threads sends, and gets no task", async () => {
    const { id, contextId } = await begin("mirror", "writer");
    const forbidden = { error: { code: -32_600, message: expect.stringContaining("threads:read") } };
    for (const [method, params] of [
      ["GetTask", { id }],
      ["tasks/get", { id }],
      ["SubscribeToTask", { id }],
      ["ListTasks", { contextId }],
      ["ListTaskPushNotificationConfigs", { taskId: id }],
    ] as const) {
      const { status, json } = await post("mirror", "writer", method, params);
      expect([method, status, json]).toMatchObject([method, 403, forbidden]);
    }
  });

  test("who may read threads and start nothing is told so in the words of the protocol", async () => {
    const { status, json } = await post("mirror", "reader", "SendMessage", said1("hello"));
    expect([status, json]).toMatchObject([403, { id: 1, error: { code: -32_600 } }]);
    const missing = await post("mirror", "reader", "GetTask", { id: crypto.randomUUID() });
    expect([missing.status, missing.json]).toMatchObject([200, { error: { code: -32_001 } }]);
  });

  test("who may not use the agent is told so in the words of the protocol", async () => {
    const { status, json } = await post("mirror", "stranger", "GetTask", { id: crypto.randomUUID() });
    expect([status, json]).toMatchObject([
      403,
      { id: 1, error: { code: -32_600, message: expect.stringContaining("assistants:read") } },
    ]);
  });

  test("tasks are listed, of one context and of all", async () => {
    const { id, contextId } = await begin("mirror", "lister");
    for (const params of [{}, { contextId }]) {
      const { tasks } = await agent("mirror").result("ListTasks", params, { headers: as("lister") });
      expect(tasks).toMatchObject([{ id }]);
    }
  });
});

test("headers that graphs may see reach them, and are shown nowhere", async () => {
  const headers = as("ada", { "x-tone": "warm-secret" });
  const { task } = await agent("mirror").result("SendMessage", said1("hello"), { headers });
  expect(JSON.parse(task.artifacts[0].parts[0].text)).toMatchObject({ header: "warm-secret" });
  const params = { name: "mirror", arguments: { messages: [{ role: "user", content: "hello" }] } };
  expect((await call(server.url, "POST", "/mcp", { headers, body: rpc("tools/call", params) })).text).toContain(
    String.raw`\"header\\\":\\\"warm-secret`,
  );
  const { json } = await call(server.url, "GET", `/threads/${task.contextId}/runs/${task.id}`, { headers: as("ada") });
  expect(JSON.stringify(json)).not.toContain("warm-secret");
});
