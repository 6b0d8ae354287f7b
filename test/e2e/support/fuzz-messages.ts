// Good messages of the protocols whose operations take any message: a schema says of them no more than that they have a method.

/** What the messages are about. */
export interface Subjects {
  /** A thread with a question that nobody has answered, and the run that asked it. */
  readonly thread_id: string;
  readonly run_id: string;
  readonly checkpoint_id: string;
  /** URL that takes a webhook. */
  readonly hook: string;
}

const RUN = { assistant_id: "counter", input: {} };
const INPUT = { messages: [{ role: "user", content: "hello" }] };

const commands = ({ run_id, checkpoint_id }: Subjects): object[] =>
  [
    { method: "run.start", params: RUN },
    { method: "run.start", params: { ...RUN, multitaskStrategy: "interrupt", config: {}, metadata: {} } },
    { method: "state.get", params: { keys: ["log"] } },
    { method: "state.listCheckpoints", params: { limit: 2 } },
    { method: "state.fork", params: { checkpoint_id } },
    { method: "agent.getTree" },
    { method: "input.respond", params: { interrupt_id: run_id, response: "yes" } },
    { method: "input.respond", params: { responses: [{ interrupt_id: run_id, response: 1 }], goto: "act" } },
    { method: "input.inject", params: {} },
    { method: "subscription.subscribe", params: { channels: ["values"], namespaces: [["a"]], depth: 1 } },
    { method: "subscription.unsubscribe", params: { subscription_id: "1" } },
    { method: "subscription.reconnect", params: { since: 0 } },
  ].map((command, id) => ({ id, ...command }));

const rpc = (messages: { method: string; params?: unknown }[]): object[] =>
  messages.map((message, id) => ({ jsonrpc: "2.0", id, ...message }));

const mcp = (): unknown[] => [
  ...rpc([
    { method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {} } },
    { method: "tools/list", params: { cursor: "a" } },
    { method: "tools/call", params: { name: "echo", arguments: INPUT } },
    { method: "tools/call", params: { name: "counter", arguments: {}, context: {}, _meta: { progressToken: 1 } } },
    { method: "ping" },
  ]),
  { jsonrpc: "2.0", method: "notifications/initialized" },
  { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 3, reason: "over" } },
  { jsonrpc: "2.0", id: 6, result: {} },
  [{ jsonrpc: "2.0", id: 7, method: "ping" }],
];

function a2a({ thread_id, run_id, hook }: Subjects): object[] {
  const task = { contextId: thread_id, taskId: run_id };
  const message = {
    kind: "message",
    role: "user",
    messageId: crypto.randomUUID(),
    parts: [{ kind: "text", text: "hi" }],
  };
  const data = { role: "ROLE_USER", messageId: crypto.randomUUID(), parts: [{ data: { topic: "cleaning" } }] };
  const file = { kind: "file", file: { name: "a.txt", mimeType: "text/plain", bytes: "aGk=" } };
  const push = { id: "config", url: hook, token: "a" };
  return rpc([
    { method: "message/send", params: { message, configuration: { blocking: true, historyLength: 2 }, metadata: {} } },
    { method: "message/send", params: { message: { ...message, ...task } } },
    { method: "message/send", params: { message: { ...message, parts: [file] } } },
    { method: "message/stream", params: { message } },
    { method: "SendMessage", params: { message: data, configuration: { pushNotificationConfig: push } } },
    { method: "SendMessage", params: { message: { ...data, ...task } } },
    { method: "SendStreamingMessage", params: { message: data } },
    { method: "tasks/get", params: { id: run_id, contextId: thread_id, historyLength: 3, historyScope: "task" } },
    { method: "GetTask", params: { id: run_id } },
    { method: "ListTasks", params: { contextId: thread_id, pageSize: 2, status: "TASK_STATE_WORKING" } },
    { method: "tasks/cancel", params: { id: run_id } },
    { method: "CancelTask", params: { id: run_id, contextId: thread_id } },
    { method: "tasks/resubscribe", params: { id: run_id } },
    { method: "SubscribeToTask", params: { id: run_id } },
    { method: "tasks/pushNotificationConfig/set", params: { taskId: run_id, pushNotificationConfig: push } },
    { method: "tasks/pushNotificationConfig/get", params: { id: run_id, pushNotificationConfigId: "config" } },
    { method: "ListTaskPushNotificationConfigs", params: { taskId: run_id } },
    { method: "DeleteTaskPushNotificationConfig", params: { taskId: run_id, id: "config" } },
    { method: "GetExtendedAgentCard" },
  ]);
}

/** Messages by the operation that takes them. */
export const messagesAbout = (subjects: Subjects): Record<string, readonly unknown[]> => ({
  "POST /threads/{thread_id}/commands": commands(subjects),
  "POST /mcp": mcp(),
  "POST /a2a/{assistant_id}": a2a(subjects),
});
