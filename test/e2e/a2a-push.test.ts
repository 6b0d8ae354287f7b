// Push notifications of A2A: their configs in both generations, what is sent to a real receiver, and that secrets stay secret.
import { StreamResponse } from "@a2a-js/sdk";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { A2A_PROJECT, Agent, messageId, said03, said1, type Wire } from "./support/a2a.ts";
import { projectWith } from "./support/config.ts";
import { useGates } from "./support/gates.ts";
import { call } from "./support/http.ts";
import { startReceiver, type Receiver } from "./support/receiver.ts";
import { startTestServer, useServer } from "./support/server.ts";

const server = useServer({ cwd: A2A_PROJECT });
const gates = useGates();
const kit = new Agent(() => server.url, "kit");
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());
beforeEach(() => {
  (receiver.hooks as unknown[]).length = 0;
  receiver.react = () => ({ status: 200 });
});

const hook = (path = "/hook"): string => `${receiver.url}${path}`;
const authentication = { scheme: "Bearer", credentials: "tck-test-token" };
const completed = async (): Promise<Wire> => (await kit.result("SendMessage", said1("hello"))).task;
const waiting = async (configuration: Wire = {}): Promise<Wire> =>
  (await kit.result("SendMessage", { ...said1("Ask me", { messageId: messageId("input-required") }), configuration }))
    .task;

describe("configs in the words of 1.0", () => {
  const create = (taskId: string, config: Wire): Promise<Wire> =>
    kit.result("CreateTaskPushNotificationConfig", { taskId, ...config });
  const config = { id: "push-1", url: "https://example.com/tck-push-webhook" };

  test("PUSH-CREATE-001, PUSH-CREATE-002, PUSH-GET-001: a config is returned and kept, also for a task that has ended", async () => {
    const { id: taskId } = await completed();
    expect(await create(taskId, config)).toEqual({ taskId, ...config });
    expect(await kit.result("GetTaskPushNotificationConfig", { taskId, id: "push-1" })).toEqual({ taskId, ...config });
  });

  test("has token and authentication as they were given, and an id if none was", async () => {
    const { id: taskId } = await waiting();
    const given = { url: "https://example.com/hook", token: "t", authentication };
    const made = await create(taskId, given);
    expect(made).toEqual({ taskId, id: expect.stringMatching(/./), ...given });
    expect(await kit.result("GetTaskPushNotificationConfig", { taskId, id: made.id })).toEqual(made);
  });

  test("takes the config in a member of its own, as older clients send it", async () => {
    const { id: taskId } = await waiting();
    const made = await kit.result("CreateTaskPushNotificationConfig", {
      taskId,
      configId: "c",
      config: { url: "https://example.com/hook" },
    });
    expect(made).toEqual({ taskId, id: "c", url: "https://example.com/hook" });
  });

  test("PUSH-GET-002: one that does not exist is an error, as is every config of an unknown task", async () => {
    const { id: taskId } = await completed();
    expect(await kit.error("GetTaskPushNotificationConfig", { taskId, id: "none" })).toMatchObject({ code: -32_001 });
    const unknown = { taskId: crypto.randomUUID(), ...config };
    for (const method of [
      "CreateTaskPushNotificationConfig",
      "GetTaskPushNotificationConfig",
      "ListTaskPushNotificationConfigs",
      "DeleteTaskPushNotificationConfig",
    ]) {
      expect(await kit.error(method, unknown)).toMatchObject({ code: -32_001 });
    }
  });

  test("PUSH-LIST-001: all of a task", async () => {
    const { id: taskId } = await completed();
    expect(await kit.result("ListTaskPushNotificationConfigs", { taskId })).toEqual({ configs: [], nextPageToken: "" });
    await create(taskId, config);
    await create(taskId, { ...config, id: "push-2" });
    await create(taskId, { ...config, url: "https://example.com/other" });
    const { configs } = await kit.result("ListTaskPushNotificationConfigs", { taskId, pageSize: 10 });
    expect(configs.map(({ id, url }: Wire) => [id, url])).toEqual([
      ["push-2", config.url],
      ["push-1", "https://example.com/other"],
    ]);
  });

  test("PUSH-DEL-001, PUSH-DEL-002: a deleted one is gone, and deleting it again is no error", async () => {
    const { id: taskId } = await completed();
    await create(taskId, config);
    for (let times = 0; times < 2; times++)
      expect(await kit.result("DeleteTaskPushNotificationConfig", { taskId, id: "push-1" })).toBeNull();
    expect(await kit.error("GetTaskPushNotificationConfig", { taskId, id: "push-1" })).toMatchObject({ code: -32_001 });
  });

  test("come in pages", async () => {
    const { id: taskId } = await completed();
    for (let number = 0; number < 5; number++) await create(taskId, { ...config, id: `push-${number}` });
    const seen: string[][] = [];
    for (let pageToken: string | undefined = ""; pageToken !== undefined;) {
      const page: Wire = await kit.result("ListTaskPushNotificationConfigs", { taskId, pageSize: 2, pageToken });
      seen.push(page.configs.map(({ id }: Wire) => id));
      pageToken = page.nextPageToken === "" ? undefined : page.nextPageToken;
    }
    expect(seen).toEqual([["push-0", "push-1"], ["push-2", "push-3"], ["push-4"]]);
    for (const pageToken of ["-1", "x", "0.5"]) {
      const error = await kit.error("ListTaskPushNotificationConfigs", { taskId, pageToken });
      expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining("pageToken") });
    }
  });

  test("credentials need a scheme", async () => {
    const { id: taskId } = await completed();
    for (const asked of [
      { credentials: "x" },
      { scheme: "", credentials: "x" },
      { scheme: "no token", credentials: "x" },
    ])
      expect(
        await kit.error("CreateTaskPushNotificationConfig", { taskId, ...config, authentication: asked }),
      ).toMatchObject({ code: -32_602, message: expect.stringContaining("authentication") });
    expect(await create(taskId, { ...config, authentication: { scheme: "Bearer" } })).toEqual({
      taskId,
      ...config,
      authentication: { scheme: "Bearer" },
    });
  });

  test("a task has no more than twenty", async () => {
    const { id: taskId } = await waiting();
    for (let number = 0; number < 20; number++) await create(taskId, { ...config, id: `push-${number}` });
    const more = { ...said1("go on", { taskId }), configuration: { taskPushNotificationConfig: { url: hook() } } };
    expect(await kit.error("SendMessage", more)).toMatchObject({
      code: -32_602,
      message: expect.stringContaining("at most 20"),
    });
    expect(await kit.result("GetTask", { id: taskId })).toMatchObject({
      status: { state: "TASK_STATE_INPUT_REQUIRED" },
    });
    expect(await kit.error("CreateTaskPushNotificationConfig", { taskId, ...config, id: "one more" })).toMatchObject({
      code: -32_602,
    });
    expect(await create(taskId, { ...config, id: "push-3" })).toMatchObject({ id: "push-3" });
  });
});

describe("configs in the words of 0.3", () => {
  const pushNotificationConfig = {
    id: "c1",
    url: "https://example.com/webhook",
    token: "secret",
    authentication: { schemes: ["Bearer"], credentials: "x" },
  };

  test("of several schemes the first that can be sent is, and all are returned", async () => {
    const { id: taskId } = await waiting();
    const given = {
      ...pushNotificationConfig,
      url: hook(),
      authentication: { schemes: ["not a scheme", "Bearer", "Basic"], credentials: "x" },
    };
    const asked = { taskId, pushNotificationConfig: given };
    expect(await kit.result("tasks/pushNotificationConfig/set", asked)).toEqual(asked);
    expect((await kit.result("tasks/pushNotificationConfig/list", { id: taskId }))[0]).toEqual(asked);
    await kit.result("message/send", said03("go on", { taskId }));
    expect((await receiver.received(1))[0]!.headers).toMatchObject({ authorization: "Bearer x" });
    for (const schemes of [[], undefined, ["not a scheme"]]) {
      const bad = { ...given, authentication: { schemes, credentials: "x" } };
      const error = await kit.error("tasks/pushNotificationConfig/set", { taskId, pushNotificationConfig: bad });
      expect(error).toMatchObject({ code: -32_602 });
    }
  });

  test("test_set_push_notification_config, test_get_push_notification_config, list, delete", async () => {
    const { id: taskId } = await kit.result("message/send", said03("hello"));
    expect(await kit.result("tasks/pushNotificationConfig/set", { taskId, pushNotificationConfig })).toEqual({
      taskId,
      pushNotificationConfig,
    });
    expect(
      await kit.result("tasks/pushNotificationConfig/get", { id: taskId, pushNotificationConfigId: "c1" }),
    ).toEqual({ taskId, pushNotificationConfig });
    // Without an id: the one there is.
    expect(await kit.result("tasks/pushNotificationConfig/get", { id: taskId })).toEqual({
      taskId,
      pushNotificationConfig,
    });
    expect(await kit.result("tasks/pushNotificationConfig/list", { id: taskId })).toEqual([
      { taskId, pushNotificationConfig },
    ]);
    expect(
      await kit.result("tasks/pushNotificationConfig/delete", { id: taskId, pushNotificationConfigId: "c1" }),
    ).toBeNull();
    expect(await kit.result("tasks/pushNotificationConfig/list", { id: taskId })).toEqual([]);
    expect(await kit.error("tasks/pushNotificationConfig/get", { id: taskId })).toMatchObject({ code: -32_001 });
  });

  test("test_set_push_notification_config_nonexistent, test_get_push_notification_config_nonexistent", async () => {
    const params = { taskId: "nonexistent-task-id", pushNotificationConfig };
    expect(await kit.error("tasks/pushNotificationConfig/set", params)).toMatchObject({
      code: -32_001,
      message: expect.stringMatching(/not found/i),
    });
    expect(await kit.error("tasks/pushNotificationConfig/get", { id: "nonexistent-task-id" })).toMatchObject({
      code: -32_001,
    });
  });
});

describe("deliveries", () => {
  test("PUSH-DELIVER-001, PUSH-DELIVER-002, PUSH-DELIVER-003: with the message that begins the task, in the words of 1.0", async () => {
    const task = await waiting({ taskPushNotificationConfig: { id: "p", url: hook(), authentication } });
    const [first] = await receiver.received(1);
    expect(first!.headers).toMatchObject({
      authorization: "Bearer tck-test-token",
      "content-type": "application/json",
    });
    expect(first!.run).toEqual({
      task: expect.objectContaining({ id: task.id, contextId: task.contextId, status: task.status }),
    });
    await kit.result("SendMessage", said1("Complete", { taskId: task.id }));
    const [, second] = await receiver.received(2);
    expect(second!.headers.authorization).toBe("Bearer tck-test-token");
    expect(second!.run).toMatchObject({
      task: {
        id: task.id,
        status: { state: "TASK_STATE_COMPLETED" },
        artifacts: [{ parts: [{ text: 'You answered "Complete"' }] }],
      },
    });
    for (const { run } of receiver.hooks) expect(StreamResponse.fromJSON(run).payload?.$case).toBe("task");
  });

  test("in the words of 0.3, with the token, and with nothing that webhooks of runs have in their body", async () => {
    const pushNotificationConfig = {
      url: hook("/v03"),
      token: "my-token",
      authentication: { schemes: ["Basic"], credentials: "dXNlcg==" },
    };
    const task = await kit.result("message/send", { ...said03("hello"), configuration: { pushNotificationConfig } });
    const [delivery] = await receiver.received(1);
    expect(delivery!.path).toBe("/v03");
    expect(delivery!.headers).toMatchObject({
      "x-a2a-notification-token": "my-token",
      authorization: "Basic dXNlcg==",
    });
    const { history: _history, ...rest } = task;
    expect(delivery!.run).toEqual(rest);
  });

  test("of a config that came while the task worked, of a failure, and of being canceled", async () => {
    const begin = async (text: string, more: Wire = {}): Promise<Wire> => {
      const params = { ...said1(text, more), configuration: { returnImmediately: true } };
      return (await kit.result("SendMessage", params)).task;
    };
    const task = await begin(`gate ${gates.url("push")}`);
    await gates.entered("push");
    await kit.result("CreateTaskPushNotificationConfig", { taskId: task.id, url: hook("/canceled") });
    await kit.result("CancelTask", { id: task.id });
    expect((await receiver.received(1))[0]).toMatchObject({
      path: "/canceled",
      run: { task: { id: task.id, status: { state: "TASK_STATE_CANCELED" } } },
    });
    const open = await waiting({ taskPushNotificationConfig: { url: hook("/open") } });
    await receiver.received(2);
    await kit.result("CancelTask", { id: open.id });
    expect((await receiver.received(3))[2]).toMatchObject({
      run: { task: { status: { state: "TASK_STATE_CANCELED" } } },
    });
    await kit.result("SendMessage", {
      ...said1("x", { messageId: messageId("reject-task") }),
      configuration: { taskPushNotificationConfig: { url: hook("/failed") } },
    });
    expect((await receiver.received(4))[3]).toMatchObject({
      path: "/failed",
      run: { task: { status: { state: "TASK_STATE_FAILED" } } },
    });
  });

  test("are tried again, and those of a deleted config are not sent", async () => {
    receiver.react = (_hook, index) => ({ status: index === 0 ? 503 : 200, headers: { "retry-after": "0" } });
    const task = await waiting({ taskPushNotificationConfig: { id: "again", url: hook("/again") } });
    const [first, second] = await receiver.received(2);
    expect(second!.text).toBe(first!.text);
    await kit.result("DeleteTaskPushNotificationConfig", { taskId: task.id, id: "again" });
    await kit.result("SendMessage", said1("Complete", { taskId: task.id }));
    const other = await waiting({ taskPushNotificationConfig: { url: hook("/other") } });
    expect((await receiver.received(3))[2]).toMatchObject({ path: "/other", run: { task: { id: other.id } } });
  });

  test("every config of a task is told", async () => {
    const task = await waiting();
    for (const path of ["/a", "/b"])
      await kit.result("CreateTaskPushNotificationConfig", { taskId: task.id, id: path, url: hook(path) });
    await kit.result("tasks/pushNotificationConfig/set", {
      taskId: task.id,
      pushNotificationConfig: { id: "old", url: hook("/c") },
    });
    await kit.result("SendMessage", said1("Complete", { taskId: task.id }));
    const hooks = await receiver.received(3);
    expect(hooks.map(({ path }) => path).toSorted()).toEqual(["/a", "/b", "/c"]);
    // Each in the words in which it was asked for.
    expect(hooks.find(({ path }) => path === "/c")!.run).toMatchObject({
      kind: "task",
      status: { state: "completed" },
    });
  });

  test("are in the outbox, without the secrets, and can be sent once more", async () => {
    receiver.react = ({ headers }) => ({
      status: 200,
      body: `got ${headers.authorization} and ${headers["x-a2a-notification-token"]}`,
    });
    const config = {
      url: hook("/secret"),
      token: "the-token",
      authentication: { scheme: "Bearer", credentials: "the-credentials" },
    };
    const task = await waiting({ taskPushNotificationConfig: config });
    await receiver.received(1);
    const list = async (): Promise<Wire[]> => (await call(server.url, "GET", "/internal/webhooks")).json as Wire[];
    const delivery = (await list()).find(({ thread_id }) => thread_id === task.contextId);
    expect(delivery).toMatchObject({ run_id: task.id, push: true, url: hook("/secret") });
    await call(server.url, "POST", `/internal/webhooks/${delivery.delivery_id}/replay`);
    const [first, second] = await receiver.received(2);
    expect(second!.text).toBe(first!.text);
    expect(second!.headers).toMatchObject({
      authorization: "Bearer the-credentials",
      "x-a2a-notification-token": "the-token",
    });
    // The replay's answer is recorded behind the first one's.
    const { text: one } = await call(server.url, "GET", `/internal/webhooks/${delivery.delivery_id}`);
    expect(JSON.parse(one)).toMatchObject({
      body: { task: { id: task.id } },
      attempts: [{ answer: "got *** and ***" }],
    });
    for (const text of [JSON.stringify(await list()), one]) expect(text).not.toMatch(/the-credentials|the-token/);
  });
});

describe("what is refused", () => {
  test("a URL that the webhooks' rules forbid, wherever it is given", async () => {
    const strict = await startTestServer({
      cwd: projectWith({ webhooks: { url: { require_https: true, allowed_domains: ["*.example.com"] } } }),
    });
    try {
      const echo = new Agent(() => strict.url, "echo");
      const { task } = await echo.result("SendMessage", said1("hello"));
      const url = "http://example.org/hook";
      const expected = { code: -32_602, message: expect.stringMatching(/webhooks\.url/) };
      expect(await echo.error("CreateTaskPushNotificationConfig", { taskId: task.id, url })).toMatchObject(expected);
      expect(
        await echo.error("tasks/pushNotificationConfig/set", { taskId: task.id, pushNotificationConfig: { url } }),
      ).toMatchObject(expected);
      expect(
        await echo.error("message/send", { ...said03("x"), configuration: { pushNotificationConfig: { url } } }),
      ).toMatchObject(expected);
      expect(
        await echo.result("CreateTaskPushNotificationConfig", { taskId: task.id, url: "https://a.example.com/" }),
      ).toMatchObject({ taskId: task.id });
    } finally {
      await strict.stop();
    }
  });

  test("what is no URL, and what cannot be a header", async () => {
    const { id: taskId } = await completed();
    for (const config of [
      { url: "nowhere" },
      { url: "ftp://example.com" },
      { url: hook(), token: "a\nb: c" },
      { url: hook(), authentication: { scheme: "Bearer", credentials: "a\r\nb" } },
    ]) {
      expect(await kit.error("CreateTaskPushNotificationConfig", { taskId, ...config })).toMatchObject({
        code: -32_602,
      });
    }
  });
});
