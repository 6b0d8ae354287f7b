// Tasks survive the server: killed while they work, while they wait, and with notifications that have not been sent.
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { A2A_PROJECT, Agent, messageId, said03, said1, type Wire } from "./support/a2a.ts";
import { startGates, type Gates } from "./support/gates.ts";
import { startReceiver, type Hook, type Receiver } from "./support/receiver.ts";
import { startCli, temporaryFolder, type CliServer } from "./support/server.ts";

let gates: Gates;
let receiver: Receiver;
let server: CliServer;
const dataDir = temporaryFolder();
const kit = new Agent(() => server.url, "kit");

const start = async (): Promise<void> => {
  server = await startCli({ cwd: A2A_PROJECT, dataDir });
};
const crash = async (): Promise<void> => {
  await server.kill("SIGKILL");
  await start();
};

beforeAll(async () => {
  gates = await startGates();
  receiver = await startReceiver();
  await start();
});
afterAll(async () => {
  await server.kill("SIGKILL");
  await gates.close();
  await receiver.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const waiting = async (configuration: Wire = {}): Promise<Wire> =>
  (await kit.result("SendMessage", { ...said1("Ask me", { messageId: messageId("input-required") }), configuration }))
    .task;

/** The first notification of a task in a state. Others may come before it, and twice: what was under way in a crash is sent again. */
async function notified(taskId: string, state: string): Promise<Hook> {
  for (let count = 1; ; count++) {
    // oxlint-disable-next-line no-await-in-loop -- until it has come
    const hooks = await receiver.received(count);
    const { run } = hooks[count - 1] as { run: Wire };
    if (run.task?.id === taskId && run.task.status.state === state) return hooks[count - 1]!;
  }
}

describe("killed with SIGKILL", () => {
  test("a task that has ended is what it was, and is listed", async () => {
    const task = await kit.result("message/send", said03("hello"));
    await crash();
    expect(await kit.result("tasks/get", { id: task.id })).toEqual(task);
    const { tasks } = await kit.result("ListTasks", { contextId: task.contextId });
    expect(tasks).toMatchObject([
      { id: task.id, status: { state: "TASK_STATE_COMPLETED", timestamp: task.status.timestamp } },
    ]);
    expect(await kit.error("SendMessage", said1("more", { taskId: task.id }))).toMatchObject({ code: -32_004 });
  });

  test("a task that waits still waits, with its id, its question and where notifications go", async () => {
    const url = `${receiver.url}/waits`;
    const task = await waiting({ taskPushNotificationConfig: { id: "p", url, token: "t" } });
    await notified(task.id, "TASK_STATE_INPUT_REQUIRED");
    await crash();
    expect(await kit.result("GetTask", { id: task.id })).toEqual(task);
    expect(await kit.result("GetTaskPushNotificationConfig", { taskId: task.id, id: "p" })).toEqual({
      taskId: task.id,
      id: "p",
      url,
      token: "t",
    });
    // Another subscriber than before the crash.
    const stream = await kit.stream("SubscribeToTask", { id: task.id });
    expect((await stream.next()).result.task).toEqual(task);
    const after = (await kit.result("SendMessage", said1("this", { taskId: task.id }))).task;
    expect(after).toMatchObject({ id: task.id, contextId: task.contextId, status: { state: "TASK_STATE_COMPLETED" } });
    expect((await stream.rest()).at(-1)).toMatchObject({ statusUpdate: { status: after.status } });
    expect(await notified(task.id, "TASK_STATE_COMPLETED")).toMatchObject({ path: "/waits" });
  });

  test("a question that was left is left after the next start, too", async () => {
    const task = await waiting();
    await crash();
    const next = (await kit.result("SendMessage", said1("else", { contextId: task.contextId }))).task;
    expect(next).toMatchObject({ contextId: task.contextId, status: { state: "TASK_STATE_COMPLETED" } });
    expect(await kit.result("GetTask", { id: task.id })).toMatchObject({ status: { state: "TASK_STATE_CANCELED" } });
  });

  test("a task that works goes on: subscribers of the new start hear how it ends, and the receiver does", async () => {
    const { task } = await kit.result("SendMessage", {
      ...said1(`gate ${gates.url("crash")}`),
      configuration: { returnImmediately: true, taskPushNotificationConfig: { url: `${receiver.url}/works` } },
    });
    await gates.entered("crash");
    await crash();
    await gates.entered("crash", 2);
    const stream = await kit.stream("SubscribeToTask", { id: task.id });
    expect((await stream.next()).result).toMatchObject({
      task: { id: task.id, status: { state: "TASK_STATE_WORKING" } },
    });
    gates.open("crash");
    const events = await stream.rest();
    expect(events).toMatchObject([
      { artifactUpdate: { artifact: { parts: [{ text: "Hello from TCK" }] } } },
      { statusUpdate: { taskId: task.id, status: { state: "TASK_STATE_COMPLETED" } } },
    ]);
    expect(await notified(task.id, "TASK_STATE_COMPLETED")).toMatchObject({ path: "/works" });
  });

  test("a task that works can be canceled after the next start", async () => {
    const { task } = await kit.result("SendMessage", {
      ...said1(`gate ${gates.url("crash and cancel")}`),
      configuration: { returnImmediately: true },
    });
    await gates.entered("crash and cancel");
    await crash();
    await gates.entered("crash and cancel", 2);
    expect(await kit.result("CancelTask", { id: task.id })).toMatchObject({
      id: task.id,
      status: { state: "TASK_STATE_CANCELED" },
    });
    await crash();
    expect(await kit.result("GetTask", { id: task.id })).toMatchObject({ status: { state: "TASK_STATE_CANCELED" } });
  });

  test("a notification that did not arrive is sent by the next start", async () => {
    // The receiver does not answer until the server is dead.
    receiver.react = () => new Promise(() => undefined);
    const task = await waiting({
      taskPushNotificationConfig: {
        url: `${receiver.url}/late`,
        authentication: { scheme: "Bearer", credentials: "c" },
      },
    });
    await notified(task.id, "TASK_STATE_INPUT_REQUIRED");
    (receiver.hooks as unknown[]).length = 0;
    receiver.react = () => ({ status: 200 });
    await crash();
    const again = await notified(task.id, "TASK_STATE_INPUT_REQUIRED");
    expect(again).toMatchObject({
      path: "/late",
      headers: { authorization: "Bearer c" },
      run: { task: { status: task.status } },
    });
  });

  test("the client of a blocking message whose server dies finds the task again by its context", async () => {
    const contextId = crypto.randomUUID();
    const lost = kit.result("SendMessage", said1(`gate ${gates.url("blocking")}`, { contextId })).then(
      () => "answered",
      () => "broken",
    );
    await gates.entered("blocking");
    await crash();
    expect(await lost).toBe("broken");
    await gates.entered("blocking", 2);
    const [task] = (await kit.result("ListTasks", { contextId })).tasks;
    expect(task).toMatchObject({ contextId, status: { state: "TASK_STATE_WORKING" } });
    const stream = await kit.stream("SubscribeToTask", { id: task.id });
    gates.open("blocking");
    expect((await stream.rest()).at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
  });
});

describe("stopped in order", () => {
  test("a stream ends without a final event, and the task goes on at the next start", async () => {
    const stream = await kit.stream("message/stream", said03(`gate ${gates.url("stop")}`));
    const { id } = (await stream.next()).result;
    await gates.entered("stop");
    const rest = stream.rest().catch(() => []);
    expect(await server.kill("SIGTERM")).toBe(0);
    expect((await rest).filter(({ final }) => final === true)).toEqual([]);
    await start();
    await gates.entered("stop", 2);
    const again = await kit.stream("tasks/resubscribe", { id });
    expect((await again.next()).result).toMatchObject({ kind: "task", id, status: { state: "working" } });
    gates.open("stop");
    expect((await again.rest()).at(-1)).toMatchObject({ status: { state: "completed" }, final: true });
  });
});
