// What becomes of tasks when runs of theirs are taken back or deleted, when the thread's state is changed by hand, and when more comes than
// a task or a thread can hold.
import { describe, expect, test } from "vitest";
import { A2A_PROJECT, Agent, messageId, said1, type Wire } from "./support/a2a.ts";
import { useGates } from "./support/gates.ts";
import { useServer } from "./support/server.ts";

const server = useServer({ cwd: A2A_PROJECT });
const gates = useGates();
const kit = new Agent(() => server.url, "kit");
const ask = new Agent(() => server.url, "ask");

const send = async (text: string, more: Wire = {}, background = false): Promise<Wire> =>
  (await kit.result("SendMessage", { ...said1(text, more), configuration: { returnImmediately: background } })).task;
const waiting = (): Promise<Wire> => send("ask me", { messageId: messageId("input-required") });
const get = (id: string): Promise<Wire> => kit.result("GetTask", { id });
const runsOf = async ({ contextId }: Wire): Promise<Wire[]> => server.client.runs.list(contextId, { limit: 200 });
/** A task whose run stands at a gate. */
async function gated(gate: string): Promise<Wire> {
  const task = await send(`gate ${gates.url(gate)}`, {}, true);
  await gates.entered(gate);
  return task;
}
/** A run that joins a task; it waits behind the one at the gate. */
async function joined(task: Wire): Promise<string> {
  await send("and this", { taskId: task.id }, true);
  return (await runsOf(task)).find(({ run_id }) => run_id !== task.id).run_id;
}
/** A task that is being answered, and the run that does; the answer stands at a gate. */
async function answering(gate: string): Promise<{ task: Wire; run: string }> {
  const task = await waiting();
  await send(gates.url(gate), { taskId: task.id }, true);
  await gates.entered(gate);
  return { task, run: (await runsOf(task)).find(({ run_id }) => run_id !== task.id).run_id };
}

describe("a message that has joined a task", () => {
  test("leaves the task what its other run has made of it, when it is deleted", async () => {
    const task = await gated("deleted");
    const stream = await kit.stream("SubscribeToTask", { id: task.id });
    await stream.next();
    await server.client.runs.delete(task.contextId, await joined(task));
    expect(await get(task.id)).toMatchObject({ status: { state: "TASK_STATE_WORKING" } });
    gates.open("deleted");
    expect((await stream.rest()).at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
    expect(await get(task.id)).toMatchObject({ artifacts: [{ parts: [{ text: "Hello from TCK" }] }] });
  });

  test("leaves the task what its other run has made of it, when it is rolled back behind that", async () => {
    const task = await gated("rolled back");
    await send(`gate ${gates.url("later")}`, { taskId: task.id }, true);
    const stream = await kit.stream("SubscribeToTask", { id: task.id });
    await stream.next();
    gates.open("rolled back");
    await gates.entered("later");
    const run = (await runsOf(task)).find(({ run_id }) => run_id !== task.id).run_id;
    await server.client.runs.cancel(task.contextId, run, true, "rollback");
    const told = (await stream.rest()).at(-1);
    expect(told).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
    expect(await get(task.id)).toMatchObject({
      status: told.statusUpdate.status,
      artifacts: [{ parts: [{ text: "Hello from TCK" }] }],
    });
  });

  test("does not end the task when it is canceled before it began", async () => {
    const task = await gated("canceled");
    await server.client.runs.cancel(task.contextId, await joined(task), true);
    expect(await get(task.id)).toMatchObject({ status: { state: "TASK_STATE_WORKING" } });
    gates.open("canceled");
    await server.client.runs.join(task.contextId, task.id);
    expect(await get(task.id)).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
  });

  test("is refused while a hundred of them wait, and none of those is forgotten", async () => {
    const task = await gated("hundred");
    for (let i = 1; i < 100; i++) await send("more", { taskId: task.id }, true);
    const refused = said1("too much", { taskId: task.id });
    expect(await kit.error("SendMessage", { ...refused, configuration: { returnImmediately: true } })).toMatchObject({
      code: -32_004,
      message: expect.stringContaining("100"),
    });
    expect(await runsOf(task)).toHaveLength(100);
    expect(await kit.result("CancelTask", { id: task.id })).toMatchObject({ status: { state: "TASK_STATE_CANCELED" } });
    expect(new Set((await runsOf(task)).map(({ status }) => status))).toEqual(new Set(["interrupted"]));
  });
});

describe("an answer that is rolled back", () => {
  const taken = async (gate: string): Promise<Wire> => {
    const { task, run } = await answering(gate);
    await server.client.runs.cancel(task.contextId, run, true, "rollback");
    expect(await get(task.id)).toMatchObject({
      status: { state: "TASK_STATE_INPUT_REQUIRED", message: { parts: [{ text: "What else?" }, {}] } },
    });
    return task;
  };

  test("leaves the question to a new turn, which leaves it unanswered", async () => {
    const task = await taken("answer 1");
    const next = await send("ask me", { contextId: task.contextId, messageId: messageId("input-required") });
    expect(await get(task.id)).toMatchObject({ status: { state: "TASK_STATE_CANCELED" } });
    const { tasks } = await kit.result("ListTasks", {
      contextId: task.contextId,
      status: "TASK_STATE_INPUT_REQUIRED",
    });
    expect(tasks).toMatchObject([{ id: next.id }]);
    expect(await kit.error("SendMessage", said1("late", { taskId: task.id }))).toMatchObject({ code: -32_004 });
  });

  test("leaves the question to an answer over the API", async () => {
    const task = await taken("answer 2");
    await server.client.runs.wait(task.contextId, "kit", { command: { resume: "over the API" } });
    expect(await get(task.id)).toMatchObject({
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ parts: [{ text: 'You answered "over the API"' }] }],
    });
  });
});

describe("a message with the contextId alone", () => {
  /** A task that waits for an answer, and another one in its context that stands at a gate. */
  const besides = async (gate: string): Promise<{ asking: Wire; next: Wire }> => {
    const asking = await waiting();
    const next = await send(`gate ${gates.url(gate)}`, { contextId: asking.contextId }, true);
    await gates.entered(gate);
    return { asking, next };
  };
  const canceled = { status: { state: "TASK_STATE_CANCELED", message: { parts: [{ text: expect.any(String) }] } } };

  test("leaves the question open when it is rolled back", async () => {
    const { asking, next } = await besides("rolled back question");
    const stream = await kit.stream("SubscribeToTask", { id: asking.id });
    await stream.next();
    expect(await kit.error("SendMessage", said1("now", { taskId: asking.id }))).toMatchObject({ code: -32_004 });
    await server.client.runs.cancel(asking.contextId, next.id, true, "rollback");
    expect(await get(asking.id)).toMatchObject({ status: asking.status });
    expect(await kit.error("GetTask", { id: next.id })).toMatchObject({ code: -32_001 });
    expect(await send("now", { taskId: asking.id })).toMatchObject({
      id: asking.id,
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ parts: [{ text: 'You answered "now"' }] }],
    });
    const told = (await stream.rest()).at(-1);
    expect(told).toMatchObject({ statusUpdate: { taskId: asking.id, status: { state: "TASK_STATE_COMPLETED" } } });
  });

  test("takes the question away when it has begun and is canceled, as does a run over the API", async () => {
    const { asking, next } = await besides("canceled question");
    const stream = await kit.stream("SubscribeToTask", { id: asking.id });
    await stream.next();
    await kit.result("CancelTask", { id: next.id });
    expect((await stream.rest()).at(-1)).toMatchObject({ statusUpdate: { taskId: asking.id, ...canceled } });
    expect(await get(asking.id)).toMatchObject(canceled);

    const other = await waiting();
    const { run_id } = await server.client.runs.create(other.contextId, "kit", {
      input: { messages: [{ role: "user", content: `gate ${gates.url("run over the API")}` }] },
    });
    await gates.entered("run over the API");
    await server.client.runs.cancel(other.contextId, run_id, true);
    expect(await get(other.id)).toMatchObject(canceled);
  });

  test("waits for an answer over the API that is under way, and takes nothing from it", async () => {
    const asking = await waiting();
    await server.client.runs.create(asking.contextId, "kit", { command: { resume: gates.url("under way") } });
    await gates.entered("under way");
    const next = await send("and this", { contextId: asking.contextId }, true);
    expect(await get(asking.id)).toMatchObject({ status: asking.status });
    gates.open("under way");
    await server.client.runs.join(asking.contextId, next.id);
    expect(await get(asking.id)).toMatchObject({
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ parts: [{ text: expect.stringContaining("You answered") }] }],
    });
    expect(await get(next.id)).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
  });

  test("that asks something itself leaves one question open, also behind an answer that asks again", async () => {
    const { task: asking } = await ask.result("SendMessage", said1("hello"));
    const answer = said1("go on", { taskId: asking.id });
    await ask.result("SendMessage", { ...answer, configuration: { returnImmediately: true } });
    const { task: next } = await ask.result("SendMessage", said1("hello again", { contextId: asking.contextId }));
    expect(next).toMatchObject({ status: { state: "TASK_STATE_INPUT_REQUIRED" } });
    const { tasks } = await ask.result("ListTasks", { contextId: asking.contextId });
    expect(tasks).toMatchObject([next, { id: asking.id, ...canceled }].map(({ id, status }) => ({ id, status })));
    expect(await ask.result("SendMessage", said1("stop", { taskId: next.id }))).toMatchObject({
      task: { id: next.id, status: { state: "TASK_STATE_COMPLETED" } },
    });
  });
});

describe("a question that is settled by a change of the thread's state", () => {
  test("is not asked any more, for any method", async () => {
    const settled = async (): Promise<Wire> => {
      const task = await waiting();
      const values = { messages: [{ role: "assistant", content: "settled by hand" }] };
      await server.client.threads.updateState(task.contextId, { values, asNode: "work" });
      return task;
    };
    const canceled = { status: { state: "TASK_STATE_CANCELED", message: { parts: [{ text: expect.any(String) }] } } };
    const [one, other] = [await settled(), await settled()];
    const query = { contextId: one.contextId, status: "TASK_STATE_INPUT_REQUIRED" };
    expect(await kit.result("ListTasks", query)).toMatchObject({ tasks: [], totalSize: 0 });
    expect((await kit.result("ListTasks", { contextId: one.contextId })).tasks).toMatchObject([canceled]);
    expect(await get(one.id)).toMatchObject(canceled);
    expect(await kit.error("SendMessage", said1("late", { taskId: other.id }))).toMatchObject({ code: -32_004 });
    expect(await get(other.id)).toMatchObject(canceled);
  });
});

describe("a message with the id of an earlier one", () => {
  test("does not take its place in the thread, and has its own id in the history", async () => {
    const id = messageId();
    const first = await send("one", { messageId: id });
    await send("two", { messageId: messageId(), contextId: first.contextId });
    const third = await send("three", { messageId: id, contextId: first.contextId });
    const { messages } = (await server.client.threads.getState(first.contextId)).values as { messages: Wire[] };
    expect(messages.filter(({ type }) => type === "human").map(({ content }) => content)).toEqual([
      "one",
      "two",
      "three",
    ]);
    expect(new Set(messages.map((message) => message.id)).size).toBe(messages.length);
    const users = (await get(third.id)).history.filter(({ role }: Wire) => role === "ROLE_USER");
    expect(users).toMatchObject([{ messageId: id }, {}, { messageId: id, parts: [{ text: "three" }] }]);
  });

  test("stays apart from one that waits, and is kept where it answers", async () => {
    const id = messageId();
    const task = await gated("same id");
    for (const text of ["one", "two"]) await send(text, { messageId: id, taskId: task.id }, true);
    gates.open("same id");
    const [last] = await runsOf(task);
    await server.client.runs.join(task.contextId, last.run_id);
    const said = (await get(task.id)).history.filter(({ messageId: its }: Wire) => its === id);
    expect(said.map(({ parts }: Wire) => parts[0].text)).toEqual(["one", "two"]);

    const again = messageId();
    const { task: asking } = await ask.result("SendMessage", said1("hello", { messageId: again }));
    const { task: after } = await ask.result("SendMessage", said1("stop", { messageId: again, taskId: asking.id }));
    expect(after.history.map(({ parts }: Wire) => parts[0].text)).toEqual([
      "hello",
      "Question 1?",
      "stop",
      'heard "stop"',
    ]);
  });
});

test("a contextId that can be none has no tasks", async () => {
  for (const contextId of ["a".repeat(5000), "\0/../", "none"])
    expect(await kit.result("ListTasks", { contextId })).toMatchObject({ tasks: [], totalSize: 0 });
});
