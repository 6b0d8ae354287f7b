// A2A's own clients against a running server: @a2a-js/sdk 0.3.14, 1.3.0, and 1.3.0 speaking 0.3. They find the agent by its card, as any client.
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  type Client,
} from "@a2a-js/sdk/client";
import { Role, TaskState, type Message, type Part, type StreamResponse, type Task } from "@a2a-js/sdk";
import type { MessageSendParams, Task as OldTask } from "a2a-sdk-03";
import { ClientFactory as OldFactory } from "a2a-sdk-03/client";
import { beforeAll, describe, expect, test } from "vitest";
import { A2A_PROJECT, messageId } from "./support/a2a.ts";
import { useGates } from "./support/gates.ts";
import { collect } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer({ cwd: A2A_PROJECT });
const gates = useGates();
const cardPath = (assistant: string): string => `/.well-known/agent-card.json?assistant_id=${assistant}`;

describe("0.3.14", () => {
  type OldClient = Awaited<ReturnType<OldFactory["createFromUrl"]>>;
  const clientOf = (assistant: string): Promise<OldClient> =>
    new OldFactory().createFromUrl(server.url, cardPath(assistant));
  const said = (text: string, more: Partial<MessageSendParams["message"]> = {}): MessageSendParams => ({
    message: { kind: "message", role: "user", messageId: messageId(), parts: [{ kind: "text", text }], ...more },
  });
  const taskOf = (answer: unknown): OldTask => {
    expect(answer).toMatchObject({ kind: "task" });
    return answer as OldTask;
  };

  test("sends, gets, continues, cancels", async () => {
    const client = await clientOf("ask");
    const task = taskOf(await client.sendMessage(said("hello")));
    expect(task.status.state).toBe("input-required");
    expect(await client.getTask({ id: task.id, historyLength: 1 })).toMatchObject({
      id: task.id,
      history: [{ kind: "message" }],
    });
    const again = taskOf(await client.sendMessage(said("yes", { taskId: task.id, contextId: task.contextId })));
    expect(again).toMatchObject({ id: task.id, contextId: task.contextId });
    expect(await client.cancelTask({ id: task.id })).toMatchObject({ status: { state: "canceled" } });
    await expect(client.cancelTask({ id: task.id })).rejects.toThrow(/cannot be canceled/);
    await expect(client.getTask({ id: crypto.randomUUID() })).rejects.toThrow(/Task not found/);
  });

  test("streams, and resubscribes", async () => {
    const client = await clientOf("words");
    const events = await collect(client.sendMessageStream(said("hello")));
    expect(events.map(({ kind }) => kind)).toEqual([
      "task",
      "status-update",
      ...Array.from({ length: 5 }, () => "artifact-update"),
      "status-update",
    ]);
    expect(events.at(-1)).toMatchObject({ final: true });
    const [task] = events as [OldTask];
    expect(await collect(client.resubscribeTask({ id: task.id }))).toMatchObject([
      { kind: "task", id: task.id },
      { final: true },
    ]);
    await expect(collect(client.resubscribeTask({ id: "none" }))).rejects.toThrow(/Task not found/);
    const bad = { message: { ...said("x").message, contextId: "no-uuid" } };
    await expect(collect(client.sendMessageStream(bad))).rejects.toThrow(/Invalid thread ID/);
  });

  test("sets, gets, lists and deletes where notifications go", async () => {
    const client = await clientOf("kit");
    const { id: taskId } = taskOf(await client.sendMessage(said("hello")));
    const pushNotificationConfig = { id: "c", url: "https://example.com/hook", token: "t" };
    expect(await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig })).toEqual({
      taskId,
      pushNotificationConfig,
    });
    const named = { id: taskId, pushNotificationConfigId: "c" };
    expect(await client.getTaskPushNotificationConfig(named)).toEqual({ taskId, pushNotificationConfig });
    expect(await client.listTaskPushNotificationConfig({ id: taskId })).toHaveLength(1);
    await client.deleteTaskPushNotificationConfig(named);
    expect(await client.listTaskPushNotificationConfig({ id: taskId })).toEqual([]);
  });

  test("two clients follow one task", async () => {
    const [one, two] = await Promise.all([clientOf("kit"), clientOf("kit")]);
    const task = taskOf(
      await one.sendMessage({ ...said(`gate ${gates.url("old")}`), configuration: { blocking: false } }),
    );
    await gates.entered("old");
    const streams = [one, two].map((client) => client.resubscribeTask({ id: task.id }));
    const first = await Promise.all(streams.map((stream) => stream.next()));
    expect(first[0]!.value).toEqual(first[1]!.value);
    gates.open("old");
    const [left, right] = await Promise.all(streams.map((stream) => collect(stream)));
    expect(left).toEqual(right);
    expect(left!.at(-1)).toMatchObject({ status: { state: "completed" }, final: true });
  });
});

const part = (text: string): Part => ({
  content: { $case: "text", value: text },
  metadata: undefined,
  filename: "",
  mediaType: "",
});
const message = (text: string, more: Partial<Message> = {}): Message => ({
  messageId: messageId(),
  role: Role.ROLE_USER,
  parts: [part(text)],
  contextId: "",
  taskId: "",
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
  ...more,
});
const request = (text: string, more: Partial<Message> = {}, returnImmediately = false) => ({
  tenant: "",
  message: message(text, more),
  configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
  metadata: undefined,
});
const legacyCompat = { enabled: true } as const;
const compatible = new ClientFactory(
  ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ legacyCompat })],
    cardResolver: new DefaultAgentCardResolver({ legacyCompat }),
  }),
);

describe.each([
  ["1.3.0", (assistant: string) => new ClientFactory().createFromUrl(server.url, cardPath(assistant))],
  [
    "1.3.0 with the card of 1.0 alone",
    (assistant: string) =>
      new ClientFactory().createFromUrl(server.url, `/a2a/${assistant}/.well-known/agent-card.json`),
  ],
  ["1.3.0 with legacyCompat", (assistant: string) => compatible.createFromUrl(server.url, cardPath(assistant))],
])("%s", (_name, clientOf) => {
  const taskOf = (answer: Task | Message): Task => {
    expect(answer).toHaveProperty("status");
    return answer as Task;
  };
  const caseOf = ({ payload }: StreamResponse): string | undefined => payload?.$case;
  let kit: Client;
  beforeAll(async () => {
    kit = await clientOf("kit");
  });
  const waiting = async (): Promise<Task> =>
    taskOf(await kit.sendMessage(request("ask me", { messageId: messageId("input-required") })));

  test("speaks 1.0 with this server", () => {
    expect(kit.protocolVersion).toBe("1.0");
  });

  test("sends, gets, continues, lists, cancels", async () => {
    const task = await waiting();
    expect(task.status).toMatchObject({
      state: TaskState.TASK_STATE_INPUT_REQUIRED,
      message: { role: Role.ROLE_AGENT },
    });
    const done = taskOf(await kit.sendMessage(request("this", { taskId: task.id })));
    expect(done).toMatchObject({
      id: task.id,
      contextId: task.contextId,
      status: { state: TaskState.TASK_STATE_COMPLETED },
    });
    expect(done.artifacts[0]!.parts[0]!.content).toEqual({ $case: "text", value: 'You answered "this"' });
    expect(await kit.getTask({ tenant: "", id: task.id, historyLength: 2 })).toMatchObject({
      id: task.id,
      history: [{}, {}],
    });
    const list = await kit.listTasks({
      tenant: "",
      contextId: task.contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: "",
      statusTimestampAfter: undefined,
    });
    expect(list).toMatchObject({ tasks: [{ id: task.id }], totalSize: 1, nextPageToken: "" });
    const other = await waiting();
    expect(await kit.cancelTask({ tenant: "", id: other.id, metadata: undefined })).toMatchObject({
      status: { state: TaskState.TASK_STATE_CANCELED },
    });
    await expect(kit.cancelTask({ tenant: "", id: other.id, metadata: undefined })).rejects.toThrow(
      /cannot be canceled/,
    );
    await expect(kit.sendMessage(request("more", { taskId: task.id }))).rejects.toThrow(/has ended/);
    await expect(kit.getTask({ tenant: "", id: "none" })).rejects.toThrow(/Task not found/);
  });

  test("streams, and subscribes", async () => {
    const words = await clientOf("words");
    const events = await collect(words.sendMessageStream(request("hello")));
    expect(events.map(caseOf)).toEqual([
      "task",
      "statusUpdate",
      ...Array.from({ length: 5 }, () => "artifactUpdate"),
      "statusUpdate",
    ]);
    const { payload } = events[0]!;
    const ended = payload?.$case === "task" ? payload.value.id : "";
    await expect(collect(words.resubscribeTask({ tenant: "", id: ended }))).rejects.toThrow(/has ended/);
    const task = await waiting();
    const stream = kit.resubscribeTask({ tenant: "", id: task.id });
    expect(caseOf((await stream.next()).value as StreamResponse)).toBe("task");
    await kit.sendMessage(request("this", { taskId: task.id }));
    expect((await collect(stream)).map(caseOf)).toEqual(["statusUpdate", "artifactUpdate", "statusUpdate"]);
  });

  test("creates, gets, lists and deletes where notifications go", async () => {
    const { id: taskId } = await waiting();
    const config = {
      tenant: "",
      taskId,
      id: "c",
      url: "https://example.com/hook",
      token: "t",
      authentication: { scheme: "Bearer", credentials: "x" },
    };
    expect(await kit.createTaskPushNotificationConfig(config)).toEqual(config);
    expect(await kit.getTaskPushNotificationConfig({ tenant: "", taskId, id: "c" })).toEqual(config);
    expect(await kit.listTaskPushNotificationConfig({ tenant: "", taskId, pageSize: 10, pageToken: "" })).toMatchObject(
      { configs: [config] },
    );
    await kit.deleteTaskPushNotificationConfig({ tenant: "", taskId, id: "c" });
    await expect(kit.getTaskPushNotificationConfig({ tenant: "", taskId, id: "c" })).rejects.toThrow(/not found/);
  });

  test("answers at once when it is asked to", async () => {
    const task = taskOf(await kit.sendMessage(request(`gate ${gates.url("young")}`, {}, true)));
    expect([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]).toContain(task.status?.state);
    gates.open("young");
    await server.client.runs.join(task.contextId, task.id);
    expect(await kit.getTask({ tenant: "", id: task.id })).toMatchObject({
      status: { state: TaskState.TASK_STATE_COMPLETED },
    });
  });
});
