// A2A 0.3 as the protocol's compatibility kit checks it (a2a-tck 0.3, tests/mandatory and tests/optional), and the requirements' own rules for
// message/send and tasks/get.
import { describe, expect, test } from "vitest";
import { A2A_PROJECT, Agent, messageId, said03, type Wire } from "./support/a2a.ts";
import { useGates } from "./support/gates.ts";
import { useServer } from "./support/server.ts";

const server = useServer({ cwd: A2A_PROJECT });
const gates = useGates();
const kit = new Agent(() => server.url, "kit");
/** Asks again and again, which is what the kit wants of an agent. */
const ask = new Agent(() => server.url, "ask");

const send = (agent: Agent, text: string, more: Record<string, unknown> = {}): Promise<Wire> =>
  agent.result("message/send", said03(text, more));

describe("the requirements' rules", () => {
  test("a message without kind and without ids gets both ids, and the answer is in an artifact", async () => {
    const message = { role: "user", parts: [{ kind: "text", text: "Hello" }], messageId: crypto.randomUUID() };
    const task = await kit.result("message/send", { message });
    expect(task).toMatchObject({
      kind: "task",
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      contextId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: { state: "completed" },
      artifacts: [{ name: "Assistant Response", parts: [{ kind: "text", text: "Hello from TCK" }] }],
    });
    expect((await server.client.threads.get(task.contextId)).thread_id).toBe(task.contextId);
  });

  test("later messages carry both ids of the answer before: a task that has ended is followed by another in its context", async () => {
    const first = await send(kit, "one");
    const { contextId } = first;
    const second = await send(kit, "two", { contextId, taskId: first.id });
    const third = await send(kit, "three", { contextId, taskId: second.id });
    expect(new Set([first.id, second.id, third.id]).size).toBe(3);
    expect([second.contextId, third.contextId]).toEqual([contextId, contextId]);
    const { messages } = (await server.client.threads.getState(contextId)).values as { messages: unknown[] };
    expect(messages).toHaveLength(6);
    // Each task keeps what it was.
    expect(await kit.result("tasks/get", { id: first.id, contextId })).toMatchObject({
      id: first.id,
      history: [{}, {}],
    });
  });

  test("a task that was canceled, or has failed, is followed by another as well", async () => {
    const canceled = await send(ask, "hello");
    await ask.result("tasks/cancel", { id: canceled.id });
    const failed = await send(kit, "no", { messageId: messageId("reject-task") });
    expect(failed).toMatchObject({
      status: {
        state: "failed",
        message: { kind: "message", parts: [{ text: "Error executing assistant: rejected" }] },
      },
    });
    const next = await send(kit, "yes", { contextId: failed.contextId, taskId: failed.id });
    expect(next).toMatchObject({ contextId: failed.contextId, status: { state: "completed" } });
    expect(next.id).not.toBe(failed.id);
    expect((await send(ask, "again", { taskId: canceled.id })).contextId).toBe(canceled.contextId);
  });

  test("tasks/get finds a task by its id alone, and refuses another context", async () => {
    const task = await send(kit, "hello");
    expect(await kit.result("tasks/get", { id: task.id })).toEqual(task);
    expect(await kit.result("tasks/get", { id: task.id, contextId: task.contextId })).toEqual(task);
    expect(await kit.error("tasks/get", { id: task.id, contextId: crypto.randomUUID() })).toMatchObject({
      code: -32_602,
    });
  });

  test("a contextId that is no UUID is refused as on the hosted server", async () => {
    expect(await kit.error("message/send", said03("hi", { contextId: "chat" }))).toMatchObject({
      code: -32_602,
      message: expect.stringMatching(/^Failed to create run: Invalid thread ID/),
    });
  });
});

describe("mandatory", () => {
  test("test_message_send_valid_text", async () => {
    expect(["submitted", "working", "input-required", "completed"]).toContain(
      (await send(ask, "Hello from TCK!")).status.state,
    );
  });

  test("test_message_send_continue_task: the task keeps its id", async () => {
    const first = await send(ask, "Hello");
    expect(first).toMatchObject({ status: { state: "input-required" } });
    const second = await send(ask, "Follow-up", { taskId: first.id });
    expect(second).toMatchObject({ id: first.id, contextId: first.contextId, status: { state: "input-required" } });
    const third = await send(ask, "stop", { taskId: first.id, contextId: first.contextId });
    expect(third).toMatchObject({
      id: first.id,
      status: { state: "completed" },
      artifacts: [{ parts: [{ text: 'heard "stop"' }] }],
    });
  });

  test("test_tasks_get_valid, test_tasks_get_with_history_length, test_task_history_length", async () => {
    const task = await send(ask, "Initial message");
    for (const number of [1, 2, 3]) await send(ask, `Follow-up ${number}`, { taskId: task.id });
    const history = async (historyLength?: number): Promise<Wire[]> =>
      (await ask.result("tasks/get", { id: task.id, historyLength })).history;
    expect(await history(1)).toHaveLength(1);
    expect(await history(2)).toHaveLength(2);
    expect((await history()).length).toBeGreaterThan(2);
    expect((await history(9999)).length).toBeGreaterThanOrEqual((await history()).length);
    expect(await ask.result("tasks/get", { id: task.id, historyLength: 0 })).not.toHaveProperty("history");
  });

  test("test_tasks_get_nonexistent, test_tasks_cancel_nonexistent", async () => {
    for (const method of ["tasks/get", "tasks/cancel"]) {
      expect(await kit.error(method, { id: "nonexistent-task-id" })).toMatchObject({
        code: -32_001,
        message: expect.stringContaining("not found"),
      });
    }
  });

  test("test_tasks_cancel_valid", async () => {
    const task = await send(ask, "Task for cancel test");
    expect(await ask.result("tasks/cancel", { id: task.id })).toMatchObject({
      kind: "task",
      id: task.id,
      status: { state: "canceled" },
    });
    expect(await ask.result("tasks/get", { id: task.id })).toMatchObject({ status: { state: "canceled" } });
  });
});

describe("optional and quality", () => {
  test("test_task_cancel_state_handling: the second time is an error", async () => {
    const task = await send(ask, "Task for cancel test");
    await ask.result("tasks/cancel", { id: task.id });
    expect(await ask.error("tasks/cancel", { id: task.id })).toMatchObject({ code: -32_002 });
  });

  test("test_task_state_transitions: the history has the first message and the follow-up", async () => {
    const task = await send(ask, "Task for state transition test");
    await send(ask, "Follow-up for state test", { taskId: task.id });
    const { history, status } = await ask.result("tasks/get", { id: task.id });
    const texts = history.map(({ parts }: Wire) => parts[0].text);
    expect(texts).toEqual(expect.arrayContaining(["Task for state transition test", "Follow-up for state test"]));
    expect(status.state).toBe("input-required");
    for (const message of history)
      expect(message).toMatchObject({ kind: "message", messageId: expect.stringMatching(/./) });
    for (const { parts } of history) expect(parts[0]).toMatchObject({ kind: "text" });
  });

  test("test_message_send_valid_file_part, test_message_send_valid_data_part, test_message_send_data_part_array", async () => {
    const parts = [
      { kind: "file", file: { name: "test.txt", mimeType: "text/plain", uri: "https://example.com/test.txt" } },
      { kind: "data", data: { key: "value", number: 123, nested: { array: [1, 2, 3] } } },
      { kind: "data", data: [{ name: "Alice" }, { name: "Bob" }] },
    ];
    for (const part of parts)
      expect(await send(kit, "", { parts: [part] })).toMatchObject({ status: { state: "completed" } });
  });

  test("test_content_type_not_supported_error_32005", async () => {
    const file = {
      name: "test.xyz",
      mimeType: "application/x-completely-unsupported-binary-format-test",
      bytes: "dGVzdCBkYXRh",
    };
    const parts = [
      { kind: "text", text: "Test" },
      { kind: "file", file },
    ];
    expect(await kit.error("message/send", said03("", { parts }))).toMatchObject({
      code: -32_005,
      message: expect.stringMatching(/content type not supported/i),
    });
  });

  test("blocking false answers at once, and a task that works can be asked for and canceled", async () => {
    const params = { ...said03(`gate ${gates.url("v03")}`), configuration: { blocking: false } };
    const task = await kit.result("message/send", params);
    expect(["submitted", "working"]).toContain(task.status.state);
    expect(task.history).toMatchObject([{ role: "user" }]);
    await gates.entered("v03");
    expect(await kit.result("tasks/get", { id: task.id })).toMatchObject({ status: { state: "working" } });
    expect(await kit.result("tasks/cancel", { id: task.id })).toMatchObject({
      id: task.id,
      status: { state: "canceled" },
    });
  });

  test("a message to a task that works joins it: the task ends with the last of them", async () => {
    const params = { ...said03(`gate ${gates.url("join")}`), configuration: { blocking: false } };
    const task = await kit.result("message/send", params);
    await gates.entered("join");
    const joined = await kit.result("message/send", {
      ...said03("and this", { taskId: task.id }),
      configuration: { blocking: false },
    });
    expect(joined).toMatchObject({ id: task.id, status: { state: "working" } });
    const last = kit.stream("tasks/resubscribe", { id: task.id });
    gates.open("join");
    expect((await (await last).rest()).at(-1)).toMatchObject({
      kind: "status-update",
      status: { state: "completed" },
      final: true,
    });
    const { messages } = (await server.client.threads.getState(task.contextId)).values as { messages: unknown[] };
    expect(messages).toHaveLength(4);
    expect((await server.client.runs.list(task.contextId)).map(({ status }) => status)).toEqual(["success", "success"]);
  });

  test("ListTasks has no name in 0.3", async () => {
    expect(await kit.error("tasks/list", {})).toMatchObject({ code: -32_601 });
  });
});
