// What clients send in protocol v2: the envelope of a command, the parameters of each, the request for events. Unknown fields are let
// through everywhere, as the protocol wants it.
import { z } from "zod";
import { jsonObject, nameList, optional, settings } from "../resources/schema.ts";
import { commandBody } from "../resources/state-bodies.ts";

/** Channels and namespaces in one request; what is longer is a mistake. */
const MAX_CHANNELS = 1000;
const MAX_NAMESPACES = 1000;
const MAX_NAME = 1000;
const MAX_CHECKPOINTS = 1000;
const MAX_ANSWERS = 10_000;

const namespace = z.array(z.string().max(MAX_NAME)).max(100);
const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** The channels that events of this server are on. Others may be named; nothing comes on them. */
export const CHANNELS = [
  "values",
  "updates",
  "messages",
  "tools",
  "lifecycle",
  "input",
  "checkpoints",
  "tasks",
  "custom",
] as const;

const filterFields = {
  channels: z
    .array(z.string().min(1, { abort: true }).max(MAX_NAME, { abort: true }))
    .min(1)
    .max(MAX_CHANNELS)
    .meta({ description: `${CHANNELS.join(", ")}, or \`custom:<name>\`; others match nothing.` }),
  namespaces: optional(z.array(namespace).max(MAX_NAMESPACES)),
  depth: optional(count),
};

/** `POST /threads/{thread_id}/stream/events`. */
export const eventsBody = z.object({ ...filterFields, since: optional(count) });

/** `subscription.subscribe`. */
export const subscribeParams = z.object(filterFields);

/** The envelope of a command. */
export const commandEnvelope = z.object({
  id: count,
  method: z.string().min(1).max(MAX_NAME),
  params: optional(jsonObject),
});
export type CommandEnvelope = z.output<typeof commandEnvelope>;

export const unsubscribeParams = z.object({ subscription_id: z.string() });

export const runStartParams = z.object({
  assistant_id: z.string().min(1),
  input: z.unknown().optional(),
  config: optional(jsonObject),
  metadata: optional(settings),
  multitaskStrategy: optional(z.enum(["reject", "rollback", "interrupt", "enqueue"])),
});

const { update, goto } = commandBody.shape;

/** One answer to an interrupt. Its id is enough to find it, so that its namespace need not be sent. */
const answer = z.object({ interrupt_id: z.string().min(1), response: z.unknown().optional() });
const along = { update, goto, config: optional(jsonObject), metadata: optional(settings) };

/** `input.respond`: one answer, or several that the graph is to get at once. */
export const respondParams = z.union([
  z.object({ responses: z.array(answer).min(1).max(MAX_ANSWERS), ...along }),
  answer.extend(along).transform(({ interrupt_id, response, ...rest }) => ({
    responses: [{ interrupt_id, response }],
    ...rest,
  })),
]);

export const stateGetParams = z.object({ namespace: optional(namespace), keys: optional(nameList) });

export const listCheckpointsParams = z.object({
  namespace: optional(namespace),
  limit: optional(z.int().min(1).max(MAX_CHECKPOINTS)),
  before: optional(z.string().max(MAX_NAME)),
});

export const stateForkParams = z.object({
  checkpoint_id: z.string().min(1).max(MAX_NAME),
  input: z.unknown().optional(),
  config: optional(jsonObject),
});

export const getTreeParams = z.object({ run_id: optional(z.string()) });
