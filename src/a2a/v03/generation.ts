// A2A 0.3: its methods and its members of an agent card.
import type { Json } from "../../resources/json.ts";
import type { CardFacts } from "../card.ts";
import { A2AFailure } from "../errors.ts";
import { parse, type Call, type Generation, type Open } from "../generation.ts";
import { byId, deletePush, getPush, getTask, send, setPush } from "./params.ts";
import { errorData, eventJson, pushJson, taskJson } from "./words.ts";

const calls = new Map<string, Call>([
  ["message/send", async (a2a, params, to) => taskJson(await a2a.send(parse(send, params), to))],
  ["tasks/get", async (a2a, params, to) => taskJson(await a2a.get(parse(getTask, params), to))],
  ["tasks/cancel", async (a2a, params, to) => taskJson(await a2a.cancel(parse(byId, params), to))],
  [
    "tasks/pushNotificationConfig/set",
    async (a2a, params, to) => {
      const { taskId, pushNotificationConfig } = parse(setPush, params);
      return pushJson(taskId, (await a2a.pushes.set(taskId, pushNotificationConfig, to)).config);
    },
  ],
  [
    "tasks/pushNotificationConfig/get",
    async (a2a, params, to) => {
      const { id, pushNotificationConfigId } = parse(getPush, params);
      return pushJson(id, (await a2a.pushes.get(id, pushNotificationConfigId, to)).config);
    },
  ],
  [
    "tasks/pushNotificationConfig/list",
    async (a2a, params, to) => {
      const { id } = parse(byId, params);
      return (await a2a.pushes.list(id, to)).map(({ config }) => pushJson(id, config));
    },
  ],
  [
    "tasks/pushNotificationConfig/delete",
    async (a2a, params, to) => {
      const { id, pushNotificationConfigId } = parse(deletePush, params);
      await a2a.pushes.delete(id, pushNotificationConfigId, to);
      return null;
    },
  ],
  [
    "agent/getAuthenticatedExtendedCard",
    () => {
      throw new A2AFailure(
        "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
        "Authenticated Extended Card is not configured: the agent card says supportsAuthenticatedExtendedCard false",
      );
    },
  ],
]);

const streams = new Map<string, Open>([
  ["message/stream", (a2a, params, to) => a2a.stream(parse(send, params), to)],
  ["tasks/resubscribe", (a2a, params, to) => a2a.subscribe(parse(byId, params).id, "tell", to)],
]);

/** @returns the members that 1.0 does not have; the others are spelled alike. */
function card({ url }: CardFacts): Json {
  return {
    protocolVersion: "0.3.0",
    url,
    preferredTransport: "JSONRPC",
    additionalInterfaces: [{ url, transport: "JSONRPC" }],
    capabilities: { stateTransitionHistory: false },
    supportsAuthenticatedExtendedCard: false,
  };
}

export const V03: Generation = {
  version: "0.3",
  spells: (method) => /^[a-z]/.test(method),
  calls,
  streams,
  event: (event) => ({ ...eventJson(event) }),
  notification: (task) => ({ ...taskJson(task) }),
  errorData,
  // Its own client takes an error from a stream only as an event, or with a status that other clients dislike.
  earlyErrors: "event",
  card,
};
