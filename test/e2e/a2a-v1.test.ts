// The MUSTs of A2A 1.0 as the protocol's compatibility kit checks them (a2a-tck, tests/compatibility); each test is named after its requirement.
import { Task } from "@a2a-js/sdk";
import { describe, expect, test } from "vitest";
import { A2A_PROJECT, Agent, messageId, said1, type Wire } from "./support/a2a.ts";
import { useGates } from "./support/gates.ts";
import { useServer } from "./support/server.ts";

const server = useServer({ cwd: A2A_PROJECT });
const gates = useGates();
const kit = new Agent(() => server.url, "kit");

const send = async (params: Wire): Promise<Wire> => (await kit.result("SendMessage", params)).task;
const completed = (more: Record<string, unknown> = {}): Promise<Wire> => send(said1("Hello from TCK", more));
const waiting = (more: Record<string, unknown> = {}): Promise<Wire> =>
  send(said1("Ask me", { messageId: messageId("input-required"), ...more }));
const followUp = (taskId: string, more: Record<string, unknown> = {}): Promise<Wire> =>
  send(said1("Follow-up", { taskId, ...more }));

/** What is left of an object when members that ProtoJSON need not write are left out. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(
    ([, member]) => member !== false && member !== "" && !(Array.isArray(member) && member.length === 0),
  );
  return Object.fromEntries(members.map(([name, member]) => [name, bare(member)]));
}

describe("SendMessage", () => {
  test("CORE-SEND-001, CORE-MULTI-001a, CORE-MULTI-003: returns a task with ids that the server made", async () => {
    const tasks = [await completed(), await completed()];
    for (const task of tasks) {
      expect(task).toMatchObject({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        contextId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        status: { state: "TASK_STATE_COMPLETED" },
        artifacts: [{ name: "Assistant Response", parts: [{ text: "Hello from TCK" }] }],
      });
    }
    expect(tasks[0].id).not.toBe(tasks[1].id);
    expect(tasks[0].contextId).not.toBe(tasks[1].contextId);
  });

  test("CORE-SEND-002: a message to a task that has ended is -32004", async () => {
    const task = await completed();
    const error = await kit.error("SendMessage", said1("More", { taskId: task.id }));
    expect(error).toMatchObject({
      code: -32_004,
      data: [{ reason: "UNSUPPORTED_OPERATION", metadata: { taskId: task.id } }],
    });
  });

  test("CORE-SEND-003: a media type that is not taken is -32005", async () => {
    const parts = [{ raw: "dGNr", mediaType: "application/x-unsupported-tck-type" }];
    expect(await kit.error("SendMessage", said1("", { parts }))).toMatchObject({
      code: -32_005,
      data: [{ reason: "CONTENT_TYPE_NOT_SUPPORTED" }],
    });
  });

  test("acceptedOutputModes that hold nothing that the agent gives are -32005", async () => {
    const ask = (acceptedOutputModes: string[]) =>
      kit.ask("SendMessage", { ...said1("hi"), configuration: { acceptedOutputModes } });
    expect((await ask(["application/x-invalid-format"])).error).toMatchObject({ code: -32_005 });
    for (const modes of [[], ["text/plain"], ["text"], ["text/*"], ["image/png", "application/json"]])
      expect(await ask(modes)).toHaveProperty("result");
  });

  test("CORE-EXECUTION-MODE-001: waits for a terminal state, or for one in which it needs an answer", async () => {
    const gate = gates.url("mode 1");
    const blocked = send({ ...said1(`gate ${gate}`), configuration: { returnImmediately: false } });
    await gates.entered("mode 1");
    gates.open("mode 1");
    expect(await blocked).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
    const task = await waiting();
    expect(task).toMatchObject({ status: { state: "TASK_STATE_INPUT_REQUIRED", message: { role: "ROLE_AGENT" } } });
    expect(await followUp(task.id)).toMatchObject({ id: task.id, status: { state: "TASK_STATE_COMPLETED" } });
  });

  test("CORE-EXECUTION-MODE-002: returnImmediately answers while the task is under way", async () => {
    const gate = gates.url("mode 2");
    const task = await send({ ...said1(`gate ${gate}`), configuration: { returnImmediately: true } });
    expect(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"]).toContain(task.status.state);
    await gates.entered("mode 2");
    expect(await kit.result("GetTask", { id: task.id })).toMatchObject({ status: { state: "TASK_STATE_WORKING" } });
    gates.open("mode 2");
    await server.client.runs.join(task.contextId, task.id);
    expect(await kit.result("GetTask", { id: task.id })).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
  });

  test("a task that fails says why, and has no artifacts", async () => {
    const task = await send(said1("no", { messageId: messageId("reject-task") }));
    expect(task).toMatchObject({
      status: { state: "TASK_STATE_FAILED", message: { parts: [{ text: "Error executing assistant: rejected" }] } },
    });
    expect(task).not.toHaveProperty("artifacts");
  });
});

describe("contexts and tasks", () => {
  test("CORE-MULTI-002: a contextId of the client is kept", async () => {
    const contextId = crypto.randomUUID();
    expect(await completed({ contextId })).toMatchObject({ contextId });
    expect((await server.client.threads.get(contextId)).metadata).toMatchObject({ graph_id: "kit" });
  });

  test("CORE-MULTI-002a: one that cannot be a thread is refused, and no other is made", async () => {
    const before = (await kit.result("ListTasks", {})).totalSize;
    const error = await kit.error("SendMessage", said1("hi", { contextId: "tck-client-context" }));
    expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining("Invalid thread ID") });
    expect((await kit.result("ListTasks", {})).totalSize).toBe(before);
  });

  test("CORE-MULTI-004: a taskId that is unknown is -32001", async () => {
    for (const taskId of ["tck-nonexistent", crypto.randomUUID()]) {
      expect(await kit.error("SendMessage", said1("hi", { taskId }))).toMatchObject({ code: -32_001 });
    }
  });

  test("a taskId of another agent is -32001", async () => {
    const other = new Agent(() => server.url, "ask");
    const task = await waiting();
    expect(await other.error("SendMessage", said1("hi", { taskId: task.id }))).toMatchObject({ code: -32_001 });
    expect(await other.error("GetTask", { id: task.id })).toMatchObject({ code: -32_001 });
    expect(await other.error("CancelTask", { id: task.id })).toMatchObject({ code: -32_001 });
    expect((await other.result("ListTasks", { contextId: task.contextId })).tasks).toEqual([]);
  });

  test("CORE-MULTI-005: the context follows from the task, which keeps its id", async () => {
    const task = await waiting();
    expect(await followUp(task.id)).toMatchObject({ id: task.id, contextId: task.contextId });
  });

  test("CORE-MULTI-006: a context that is not the task's is an error", async () => {
    const task = await completed();
    const open = await waiting();
    for (const id of [task.id, open.id]) {
      for (const contextId of [crypto.randomUUID(), "tck-wrong-context"]) {
        expect(await kit.error("SendMessage", said1("hi", { taskId: id, contextId }))).toMatchObject({ code: -32_602 });
      }
    }
  });

  test("a contextId alone begins a new task in the same conversation", async () => {
    const first = await completed();
    const second = await completed({ contextId: first.contextId });
    expect(second.id).not.toBe(first.id);
    expect(second.history).toHaveLength(4);
  });
});

describe("GetTask", () => {
  test("CORE-GET-001: shows the task with its status and artifacts", async () => {
    const task = await completed();
    expect(await kit.result("GetTask", { id: task.id })).toEqual(task);
  });

  test("CORE-GET-002: an unknown id is -32001", async () => {
    expect(await kit.error("GetTask", { id: "tck-nonexistent-get-002" })).toMatchObject({ code: -32_001 });
  });

  test("CORE-HIST-001, CORE-HIST-003: historyLength 0 leaves the history out", async () => {
    const task = await waiting();
    const after = await send({ ...said1("Follow-up", { taskId: task.id }), configuration: { historyLength: 0 } });
    expect(after).not.toHaveProperty("history");
    expect(await kit.result("GetTask", { id: task.id, historyLength: 0 })).not.toHaveProperty("history");
  });

  test("CORE-HIST-002: no more messages than asked for, the newest ones; a larger number than there is is no error", async () => {
    const task = await waiting();
    await followUp(task.id);
    const { history } = await kit.result("GetTask", { id: task.id, historyLength: 1 });
    expect(history).toMatchObject([{ role: "ROLE_AGENT", parts: [{ text: 'You answered "Follow-up"' }] }]);
    expect((await kit.result("GetTask", { id: task.id, historyLength: 999_999 })).history).toHaveLength(4);
  });

  test("CORE-HIST-004, CORE-HIST-005, CORE-HIST-006: the history has what was said, in its order", async () => {
    const task = await waiting();
    const answer = messageId();
    await followUp(task.id, { messageId: answer });
    const { history } = await kit.result("GetTask", { id: task.id });
    expect(history.map(({ role, parts }: Wire) => [role, parts[0].text])).toEqual([
      ["ROLE_USER", "Ask me"],
      ["ROLE_AGENT", "What else?"],
      ["ROLE_USER", "Follow-up"],
      ["ROLE_AGENT", 'You answered "Follow-up"'],
    ]);
    expect(history[2]).toMatchObject({ messageId: answer, taskId: task.id });
  });
});

describe("ListTasks", () => {
  /** Three tasks in a context of their own, the first of them changed last. */
  async function three(): Promise<{ contextId: string; ids: string[] }> {
    const first = await waiting();
    const { contextId } = first;
    // Each leaves the one before without an answer.
    const second = await waiting({ contextId });
    const third = await completed({ contextId });
    return { contextId, ids: [third.id, second.id, first.id] };
  }

  test("CORE-LIST-001: an unknown or impossible context has no tasks", async () => {
    for (const contextId of [crypto.randomUUID(), "tck-test-context"]) {
      expect(await kit.result("ListTasks", { contextId })).toEqual({
        tasks: [],
        nextPageToken: "",
        pageSize: 50,
        totalSize: 0,
      });
    }
  });

  test("CORE-LIST-002, CORE-LIST-004: pages by a cursor, and the last one says so", async () => {
    const { contextId, ids } = await three();
    const first = await kit.result("ListTasks", { contextId, pageSize: 2 });
    expect(first).toMatchObject({ pageSize: 2, totalSize: 3, nextPageToken: expect.stringMatching(/./) });
    const second = await kit.result("ListTasks", { contextId, pageSize: 2, pageToken: first.nextPageToken });
    expect(second).toMatchObject({ pageSize: 2, totalSize: 3, nextPageToken: "" });
    expect([...first.tasks, ...second.tasks].map(({ id }: Wire) => id).toSorted()).toEqual(ids.toSorted());
    const whole = await kit.result("ListTasks", { contextId, pageSize: 3 });
    expect(whole).toMatchObject({ totalSize: 3, nextPageToken: "" });
  });

  test("a page goes on where the one before ended, although tasks have changed meanwhile", async () => {
    const { contextId } = await three();
    const first = await kit.result("ListTasks", { contextId, pageSize: 1 });
    await completed({ contextId });
    const rest = await kit.result("ListTasks", { contextId, pageSize: 10, pageToken: first.nextPageToken });
    expect(rest.tasks).toHaveLength(2);
    expect(rest.tasks.map(({ id }: Wire) => id)).not.toContain(first.tasks[0].id);
  });

  test("CORE-LIST-003: the task that changed last comes first", async () => {
    const first = await waiting();
    const second = await completed();
    await followUp(first.id);
    const { tasks } = await kit.result("ListTasks", { pageSize: 2 });
    expect(tasks.map(({ id }: Wire) => id)).toEqual([first.id, second.id]);
    const times = (await kit.result("ListTasks", { pageSize: 100 })).tasks.map(({ status }: Wire) => status.timestamp);
    expect(times).toEqual(times.toSorted().toReversed());
  });

  test("CORE-LIST-005: artifacts only when they are asked for, and then even if there are none", async () => {
    const { contextId } = await completed();
    for (const params of [{ contextId }, { contextId, includeArtifacts: false }]) {
      const { tasks } = await kit.result("ListTasks", params);
      expect(tasks[0]).not.toHaveProperty("artifacts");
      expect(tasks[0]).not.toHaveProperty("history");
    }
    expect(
      (await kit.result("ListTasks", { contextId, includeArtifacts: true, historyLength: 1 })).tasks,
    ).toMatchObject([{ artifacts: [{ parts: [{ text: "Hello from TCK" }] }], history: [{ role: "ROLE_AGENT" }] }]);
    const failed = await send(said1("no", { messageId: messageId("reject-task") }));
    const { tasks } = await kit.result("ListTasks", { contextId: failed.contextId, includeArtifacts: true });
    expect(tasks[0]).toMatchObject({ artifacts: [] });
  });

  test("filters by status and by time", async () => {
    const { contextId } = await three();
    const of = async (more: Record<string, unknown>): Promise<string[]> =>
      (await kit.result("ListTasks", { contextId, ...more })).tasks.map(({ status }: Wire) => status.state);
    expect(await of({ status: "TASK_STATE_COMPLETED" })).toEqual(["TASK_STATE_COMPLETED"]);
    expect(await of({ status: "TASK_STATE_CANCELED" })).toEqual(["TASK_STATE_CANCELED", "TASK_STATE_CANCELED"]);
    expect(await of({ status: "TASK_STATE_WORKING" })).toEqual([]);
    expect(await of({ status: "TASK_STATE_UNSPECIFIED" })).toHaveLength(3);
    expect(await of({ statusTimestampAfter: "2020-01-01T00:00:00Z" })).toHaveLength(3);
    expect(await of({ statusTimestampAfter: new Date(Date.now() + 60_000).toISOString() })).toEqual([]);
  });

  test("knows that a task is working", async () => {
    const task = await send({ ...said1(`gate ${gates.url("list")}`), configuration: { returnImmediately: true } });
    await gates.entered("list");
    const list = await kit.result("ListTasks", { status: "TASK_STATE_WORKING", contextId: task.contextId });
    expect(list).toMatchObject({ totalSize: 1, tasks: [{ id: task.id }] });
    gates.open("list");
    await server.client.runs.join(task.contextId, task.id);
    expect(await kit.result("ListTasks", { status: "TASK_STATE_WORKING", contextId: task.contextId })).toMatchObject({
      totalSize: 0,
    });
  });

  test("takes the protocol's own spelling of names", async () => {
    const { contextId } = await completed();
    const list = await kit.result("ListTasks", { context_id: contextId, page_size: 5, include_artifacts: true });
    expect(list).toMatchObject({ pageSize: 5, totalSize: 1, tasks: [{ artifacts: [{}] }] });
  });
});

describe("CancelTask", () => {
  test("CORE-CANCEL-001: a task that waits for an answer is canceled", async () => {
    const task = await waiting();
    expect(await kit.result("CancelTask", { id: task.id })).toMatchObject({
      id: task.id,
      status: { state: "TASK_STATE_CANCELED" },
    });
    expect(await kit.error("SendMessage", said1("late", { taskId: task.id }))).toMatchObject({ code: -32_004 });
  });

  test("CORE-CANCEL-001: a task that works is stopped, and those who wait for it hear of it", async () => {
    const gate = gates.url("cancel");
    const contextId = crypto.randomUUID();
    const blocked = send(said1(`gate ${gate}`, { contextId }));
    await gates.entered("cancel");
    const [task] = (await kit.result("ListTasks", { contextId })).tasks;
    expect(await kit.result("CancelTask", { id: task.id })).toMatchObject({ status: { state: "TASK_STATE_CANCELED" } });
    expect(await blocked).toMatchObject({ id: task.id, status: { state: "TASK_STATE_CANCELED" } });
    expect(await server.client.runs.get(contextId, task.id)).toMatchObject({ status: "interrupted" });
  });

  test("CORE-CANCEL-002: a task that has ended is -32002, also one that was canceled before", async () => {
    const done = await completed();
    const task = await waiting();
    await kit.result("CancelTask", { id: task.id });
    for (const { id } of [done, task]) {
      expect(await kit.error("CancelTask", { id })).toMatchObject({
        code: -32_002,
        data: [{ reason: "TASK_NOT_CANCELABLE" }],
      });
    }
  });

  test("CORE-CANCEL-003: an unknown id is -32001", async () => {
    expect(await kit.error("CancelTask", { id: "tck-nonexistent-cancel-003" })).toMatchObject({ code: -32_001 });
  });
});

describe("the data model", () => {
  test.each(["complete-task", "input-required", "reject-task", "artifact-file", "artifact-file-url", "artifact-data"])(
    "DM-TASK-001, DM-TASK-002, DM-MSG-001, DM-MSG-002, DM-PART-001, DM-ART-001, DM-STATUS-001, DM-SERIAL-001, DM-SERIAL-002, DM-SERIAL-004: %s is what the protocol's own package reads and writes",
    async (what) => {
      const task = await send(said1("hello", { messageId: messageId(what) }));
      expect(bare(Task.toJSON(Task.fromJSON(task)))).toEqual(bare(task));
    },
  );

  test("files and data of an answer are parts of its artifact", async () => {
    const parts = async (what: string): Promise<unknown> =>
      (await send(said1("hello", { messageId: messageId(what) }))).artifacts[0].parts;
    expect(await parts("artifact-file")).toEqual([
      { text: "Here:" },
      { raw: "aGVsbG8=", filename: "output.txt", mediaType: "text/plain" },
    ]);
    expect(await parts("artifact-file-url")).toEqual([
      { url: "https://example.com/output.txt", filename: "output.txt", mediaType: "text/plain" },
    ]);
    expect(await parts("artifact-data")).toEqual([
      { data: { key: "value", count: 42 }, mediaType: "application/json" },
    ]);
  });

  test("DM-SERIAL-003: times are ISO 8601 in UTC with Z", async () => {
    for (const { status } of [await completed(), await waiting()]) {
      expect(status.timestamp).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/);
    }
  });

  test("DM-SERIAL-005: members that nobody knows are ignored", async () => {
    const params = { ...said1("hi", { tckUnknownField: "x" }), tckExtraParam: 42, tenant: "" };
    expect(await kit.result("SendMessage", params)).toHaveProperty("task");
  });

  test("empty texts of optional members are as good as none", async () => {
    expect(await completed({ contextId: "", taskId: "" })).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
  });
});
