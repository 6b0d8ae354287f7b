// A2A 1.0: its methods and its agent card.
import { A2AFailure } from "../errors.ts";
import { parse, type Call, type Generation, type Open } from "../generation.ts";
import type { CardFacts } from "../card.ts";
import type { Json } from "../../resources/json.ts";
import { byId, createPush, getTask, listPushes, listTasks, onePush, send } from "./params.ts";
import { errorData, eventJson, pushJson, taskJson } from "./words.ts";

const calls = new Map<string, Call>([
  ["SendMessage", async (a2a, params, to) => ({ task: taskJson(await a2a.send(parse(send, params), to)) })],
  ["GetTask", async (a2a, params, to) => taskJson(await a2a.get(parse(getTask, params), to))],
  [
    "ListTasks",
    async (a2a, params, to) => {
      const query = parse(listTasks, params);
      const page = await a2a.list(query, to);
      return { ...page, tasks: page.tasks.map((task) => taskJson(task, query.includeArtifacts)) };
    },
  ],
  ["CancelTask", async (a2a, params, to) => taskJson(await a2a.cancel(parse(byId, params), to))],
  [
    "CreateTaskPushNotificationConfig",
    async (a2a, params, to) => {
      const { taskId, config } = parse(createPush, params);
      return pushJson(taskId, (await a2a.pushes.set(taskId, config, to)).config);
    },
  ],
  [
    "GetTaskPushNotificationConfig",
    async (a2a, params, to) => {
      const { taskId, id } = parse(onePush, params);
      return pushJson(taskId, (await a2a.pushes.get(taskId, id, to)).config);
    },
  ],
  [
    "ListTaskPushNotificationConfigs",
    async (a2a, params, to) => {
      const { taskId, pageSize, pageToken } = parse(listPushes, params);
      const { configs, next } = await a2a.pushes.page(taskId, { size: pageSize ?? 0, token: pageToken }, to);
      return { configs: configs.map(({ config }) => pushJson(taskId, config)), nextPageToken: next };
    },
  ],
  [
    "DeleteTaskPushNotificationConfig",
    async (a2a, params, to) => {
      const { taskId, id } = parse(onePush, params);
      await a2a.pushes.delete(taskId, id, to);
      return null;
    },
  ],
  [
    "GetExtendedAgentCard",
    () => {
      throw new A2AFailure(
        "UNSUPPORTED_OPERATION",
        "This agent has no extended card: capabilities.extendedAgentCard is false",
      );
    },
  ],
]);

const streams = new Map<string, Open>([
  ["SendStreamingMessage", (a2a, params, to) => a2a.stream(parse(send, params), to)],
  ["SubscribeToTask", (a2a, params, to) => a2a.subscribe(parse(byId, params).id, "refuse", to)],
]);

/** @returns the whole card: 1.0 forbids members that it does not know. */
function card({
  name,
  description,
  url,
  version,
  protocolVersions,
  pushNotifications,
  inputModes,
  outputModes,
  skill,
}: CardFacts): Json {
  return {
    name,
    description,
    supportedInterfaces: protocolVersions.map((protocolVersion) => ({
      url,
      protocolBinding: "JSONRPC",
      protocolVersion,
    })),
    version,
    capabilities: { streaming: true, pushNotifications, extendedAgentCard: false },
    defaultInputModes: inputModes,
    defaultOutputModes: outputModes,
    skills: [{ ...skill, name, description, inputModes, outputModes }],
  };
}

export const V1: Generation = {
  version: "1.0",
  spells: (method) => /^[A-Z]/.test(method),
  calls,
  streams,
  event: eventJson,
  notification: (task) => ({ task: taskJson(task) }),
  errorData,
  earlyErrors: "json",
  card,
};
