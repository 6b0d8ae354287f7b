// The envelope of A2A: what both compatibility kits check of JSON-RPC, of errors and of versions. The names of the tests begin with those of
// the kits' requirements.
import { describe, expect, test } from "vitest";
import { A2A_PROJECT, Agent, rpc, said03, said1 } from "./support/a2a.ts";
import { call } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer({ cwd: A2A_PROJECT });
const kit = new Agent(() => server.url, "kit");
const nowhere = crypto.randomUUID();

describe("0.3 kit: JSON-RPC", () => {
  test("test_rejects_malformed_json: -32700 with id null", async () => {
    const answer = await kit.post('{"jsonrpc": "2.0", "method": "message/send", "params": {"foo": "bar"}');
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32_700 } });
  });

  test.each([
    ["a wrong jsonrpc", { jsonrpc: "aaa", method: "message/send", params: {} }, -32_600, null],
    ["no jsonrpc", { id: 7, method: "message/send", params: {} }, -32_600, 7],
    ["no method", { jsonrpc: "2.0", params: {} }, -32_600, null],
    ["a method that is no text", { jsonrpc: "2.0", id: "a", method: 5, params: {} }, -32_600, "a"],
    [
      "an id that is an object",
      { jsonrpc: "2.0", method: "message/send", params: {}, id: { bad: "type" } },
      -32_600,
      null,
    ],
    ["a batch", [rpc("tasks/get", { id: nowhere })], -32_600, null],
    ["an empty batch", [], -32_600, null],
    ["a text", '"hello"', -32_600, null],
    ["null", "null", -32_600, null],
    ["params that are a text", rpc("message/send", "not_a_dict", "4"), -32_602, "4"],
    ["params that are a list", rpc("message/send", [1], 4), -32_602, 4],
    ["an unknown method", rpc("nonexistent/method", {}, "x"), -32_601, "x"],
    ["an unknown method of 1.0", rpc("SendMessageXXX", {}, "3"), -32_601, "3"],
    ["a method of every object", rpc("toString", {}, 1), -32_601, 1],
  ])("test_rejects_invalid_json_rpc_requests: %s", async (_what, body, code, id) => {
    const answer = await kit.post(body);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ jsonrpc: "2.0", id, error: { code, message: expect.stringMatching(/\w+/) } });
    expect(answer.json).not.toHaveProperty("result");
  });

  test.each([
    ["no message", {}],
    ["kind alone", { message: { kind: "message" } }],
    ["parts that are a text", { message: { parts: "invalid" } }],
    ["no parts", { message: { role: "user", messageId: "m", parts: [] } }],
    ["no messageId", { message: { role: "user", parts: [{ kind: "text", text: "hi" }] } }],
    ["no role", { message: { messageId: "m", parts: [{ kind: "text", text: "hi" }] } }],
    ["the agent's role", { message: { messageId: "m", role: "agent", parts: [{ kind: "text", text: "hi" }] } }],
    ["an unknown kind of part", { message: { messageId: "m", role: "user", parts: [{ kind: "song", text: "hi" }] } }],
    [
      "a file without content",
      { message: { messageId: "m", role: "user", parts: [{ kind: "file", file: { name: "a" } }] } },
    ],
    [
      "a file that is no base64",
      { message: { messageId: "m", role: "user", parts: [{ kind: "file", file: { bytes: "%%%" } }] } },
    ],
    ["a negative historyLength", { ...said03("hi"), configuration: { historyLength: -1 } }],
    ["a blocking that is a text", { ...said03("hi"), configuration: { blocking: "yes" } }],
  ])("test_rejects_invalid_params: message/send with %s is -32602", async (_what, params) => {
    expect(await kit.error("message/send", params)).toMatchObject({
      code: -32_602,
      message: expect.stringMatching(/^Invalid params: /),
    });
  });

  test("more parts than a message may have are refused", async () => {
    const parts = Array.from({ length: 101 }, () => ({ kind: "text", text: "x" }));
    expect(await kit.error("message/send", said03("", { parts }))).toMatchObject({ code: -32_602 });
  });

  test("test_duplicate_request_ids: both are answered", async () => {
    const ask = () => kit.ask("message/send", said03("hello"), { id: "the same" });
    const answers = [await ask(), await ask()];
    for (const answer of answers) expect(answer).toMatchObject({ id: "the same", result: { kind: "task" } });
  });

  test("test_invalid_params_error_validation: tasks/get without an id, or with one that is a number", async () => {
    for (const params of [{}, { id: 12_345 }, { id: "" }]) {
      expect(await kit.error("tasks/get", params)).toMatchObject({
        code: -32_602,
        message: expect.stringContaining("id"),
      });
    }
  });

  test("ids are given back with their type, and a request without one gets null", async () => {
    for (const id of ["text", "7", 7, 0, null]) {
      expect(await kit.ask("tasks/get", { id: nowhere }, { id })).toMatchObject({ id });
    }
    expect((await kit.post({ jsonrpc: "2.0", method: "tasks/get", params: { id: nowhere } })).json).toMatchObject({
      id: null,
      error: { code: -32_001 },
    });
  });
});

describe("JSONRPC-FMT-001, JSONRPC-FMT-002", () => {
  test("an answer has jsonrpc, the id and a result, as application/json", async () => {
    const answer = await kit.post(rpc("SendMessage", said1("hi"), "abc"), { "a2a-version": "1.0" });
    expect(answer.headers["content-type"]).toMatch(/^application\/json/);
    expect(Object.keys(answer.json as object).toSorted()).toEqual(["id", "jsonrpc", "result"]);
    expect(answer.json).toMatchObject({ jsonrpc: "2.0", id: "abc" });
  });
});

describe("JSONRPC-ERR-001, JSONRPC-ERR-002, JSONRPC-ERR-003, JSONRPC-SSE-002, CORE-ERR-001, CORE-ERR-002", () => {
  test("an error of A2A has a code of its range, a message, and an ErrorInfo in a list", async () => {
    const error = await kit.error("GetTask", { id: "tck-nonexistent" });
    expect(error).toEqual({
      code: -32_001,
      message: "Task not found: tck-nonexistent",
      data: [
        {
          "@type": "type.googleapis.com/google.rpc.ErrorInfo",
          reason: "TASK_NOT_FOUND",
          domain: "a2a-protocol.org",
          metadata: { taskId: "tck-nonexistent" },
        },
      ],
    });
  });

  test("in the words of 0.3 the data is an object", async () => {
    expect(await kit.error("tasks/get", { id: "nonexistent-task-id" })).toEqual({
      code: -32_001,
      message: "Task not found: nonexistent-task-id",
      data: { reason: "TASK_NOT_FOUND", taskId: "nonexistent-task-id" },
    });
  });

  test.each([
    ["SendMessage", {}],
    ["SendMessage", { message: { role: "ROLE_USER", messageId: "m", parts: [] } }],
    ["SendMessage", { message: { role: "ROLE_USER", messageId: "m", parts: [{ text: "a", data: 1 }] } }],
    ["SendMessage", { message: { role: "ROLE_USER", messageId: "m", parts: [{}] } }],
    ["SendMessage", { message: { role: "ROLE_AGENT", messageId: "m", parts: [{ text: "a" }] } }],
    ["SendMessage", { message: { role: "ROLE_UNSPECIFIED", messageId: "m", parts: [{ text: "a" }] } }],
    ["SendMessage", { "": "not_a_dict" }],
    ["SendMessage", { ...said1("hi"), configuration: { historyLength: 1.5 } }],
    ["GetTask", {}],
    ["GetTask", { id: nowhere, historyLength: -1 }],
    ["CancelTask", {}],
    ["SubscribeToTask", {}],
    ["ListTasks", { pageSize: 0 }],
    ["ListTasks", { pageSize: 101 }],
    ["ListTasks", { status: "working" }],
    ["ListTasks", { pageToken: "nonsense" }],
    ["ListTasks", { statusTimestampAfter: "yesterday" }],
    ["CreateTaskPushNotificationConfig", { taskId: nowhere }],
  ])("CORE-ERR-002: %s with %j is -32602 and has no data", async (method, params) => {
    const error = await kit.error(method, params);
    expect(error).toMatchObject({ code: -32_602, message: expect.stringMatching(/^Invalid params: /) });
    expect(error).not.toHaveProperty("data");
  });

  test("JSONRPC-SSE-002: a body that says it is no JSON is -32005", async () => {
    const answer = await kit.post(JSON.stringify(rpc("SendMessage", said1("hi"))), { "content-type": "text/plain" });
    expect(answer).toMatchObject({
      status: 200,
      json: { id: 1, error: { code: -32_005, data: [{ reason: "CONTENT_TYPE_NOT_SUPPORTED" }] } },
    });
  });

  test("JSONRPC-SVC-002: extensions that nobody knows are no error", async () => {
    const headers = {
      "a2a-extensions": "https://example.com/ext/v1,https://example.com/ext/v2",
      "x-a2a-extensions": "urn:x",
    };
    expect(await kit.result("SendMessage", said1("hi"), { headers })).toHaveProperty("task");
    expect(await kit.result("message/send", said03("hi"), { headers })).toMatchObject({ kind: "task" });
  });
});

describe("VER-SERVER-001, VER-SERVER-002, VER-SERVER-003", () => {
  test("VER-SERVER-002: a version that is not spoken is -32009, in a header and in the query", async () => {
    const answers = [
      await kit.ask("SendMessage", said1("hi"), { headers: { "a2a-version": "99.0" } }),
      await kit.ask("message/send", said03("hi"), { headers: { "a2a-version": "0.2" } }),
      (await call(server.url, "POST", `${kit.path}?A2A-Version=2.0`, { body: rpc("SendMessage", said1("hi")) })).json,
    ];
    for (const answer of answers) expect(answer).toMatchObject({ id: 1, error: { code: -32_009 } });
    expect(answers[0]).toMatchObject({ error: { data: [{ reason: "VERSION_NOT_SUPPORTED" }] } });
  });

  test.each(["", "1.0", "1.0.1", "0.3", "0.3.0"])(
    "VER-SERVER-001, VER-SERVER-003: %j is spoken, whatever the method's name is",
    async (version) => {
      const headers = { "a2a-version": version };
      expect(await kit.result("SendMessage", said1("hi"), { headers })).toHaveProperty("task");
      expect(await kit.result("message/send", said03("hi"), { headers })).toMatchObject({ kind: "task" });
    },
  );
});

describe("the endpoint", () => {
  test("an assistant that does not exist is a 404 with a JSON-RPC error", async () => {
    for (const name of ["none", nowhere]) {
      const answer = await call(server.url, "POST", `/a2a/${name}`, { body: rpc("message/send", said03("hi"), 9) });
      expect(answer).toMatchObject({
        status: 404,
        json: { jsonrpc: "2.0", id: 9, error: { code: -32_602, message: expect.stringContaining(name) } },
      });
    }
  });

  test("is found by the id of the assistant as by the name of its graph", async () => {
    const [assistant] = await server.client.assistants.search({ graphId: "kit" });
    const task = await kit.result("message/send", said03("hi"));
    const byId = new Agent(() => server.url, assistant!.assistant_id);
    expect(await byId.result("tasks/get", { id: task.id })).toMatchObject({ id: task.id });
  });

  test("takes no GET and no DELETE", async () => {
    expect(await call(server.url, "GET", "/a2a/kit")).toMatchObject({ status: 405, headers: { allow: "POST" } });
    expect(await call(server.url, "DELETE", "/a2a/kit")).toMatchObject({ status: 404 });
  });

  test("takes any Accept, and none", async () => {
    for (const headers of [{ accept: "*/*" }, { accept: "application/json" }, {}] as Record<string, string>[]) {
      expect(await kit.result("message/send", said03("hi"), { headers })).toMatchObject({ kind: "task" });
    }
  });

  test("GetExtendedAgentCard is -32004 without the capability (CORE-CAP-003), and -32007 in the words of 0.3", async () => {
    expect(await kit.error("GetExtendedAgentCard", {})).toMatchObject({
      code: -32_004,
      data: [{ reason: "UNSUPPORTED_OPERATION" }],
    });
    expect((await kit.post({ jsonrpc: "2.0", id: 1, method: "GetExtendedAgentCard" })).json).toMatchObject({
      error: { code: -32_004 },
    });
    expect(
      (await kit.post({ jsonrpc: "2.0", id: 1, method: "agent/getAuthenticatedExtendedCard" })).json,
    ).toMatchObject({
      error: { code: -32_007, data: { reason: "EXTENDED_AGENT_CARD_NOT_CONFIGURED" } },
    });
  });
});
