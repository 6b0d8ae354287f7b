// Parameters of A2A 1.0, and what they mean in the task model. Unknown members are ignored. Names may also be spelled as in the protocol's
// own definition (`context_id`), which readers of ProtoJSON must understand.
import { z } from "zod";
import { base64, historyLength, MAX_PARTS, name } from "../generation.ts";
import { isObject, type Json } from "../../resources/json.ts";
import { authOf } from "../push-auth.ts";
import type { Message, Part, PushConfig, SendRequest, TaskState } from "../model.ts";
import type { TaskQuery } from "../list.ts";
import { stateOf, STATES } from "./words.ts";

/** Takes `snake_case` members as `camelCase` ones. */
const camel = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => {
    if (!isObject(value)) return value;
    const spelled = ([key, member]: [string, unknown]): [string, unknown] => [
      key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      member,
    ];
    return Object.fromEntries(Object.entries(value).map(spelled));
  }, schema);

const metadata = z.record(z.string(), z.unknown()).nullish();
/** Empty strings stand for nothing. */
const text = z
  .string()
  .nullish()
  .transform((value) => value || undefined);

const part = camel(
  z.object({
    text: z.string().optional(),
    raw: base64.optional(),
    url: name.optional(),
    data: z.unknown().optional(),
    filename: text,
    mediaType: text,
    metadata,
  }),
).transform((given, context): Part => {
  const { text: words, raw, url, data, filename, mediaType, metadata: about } = given;
  const has = [words, raw, url, data].filter((member) => member !== undefined).length;
  if (has !== 1) {
    context.addIssue({ code: "custom", message: "a part has exactly one of text, raw, url, data" });
    return z.NEVER;
  }
  const more = about == null ? {} : { metadata: about as Json };
  if (words !== undefined) return { kind: "text", text: words, ...more };
  if (raw === undefined && url === undefined) return { kind: "data", data, ...more };
  return { kind: "file", name: filename, mediaType, ...(raw === undefined ? { uri: url } : { bytes: raw }), ...more };
});

const message = camel(
  z.object({
    messageId: name,
    role: z.enum(["ROLE_USER", "user"], "must be ROLE_USER"),
    parts: z.array(part).min(1).max(MAX_PARTS),
    contextId: text,
    taskId: text,
  }),
).transform(({ messageId, parts, contextId, taskId }): Message => ({
  messageId,
  role: "user",
  parts,
  contextId,
  taskId,
}));

const pushFields = {
  id: text,
  url: name,
  token: text,
  authentication: z.object({ scheme: text, credentials: text }).nullish(),
};

const push = camel(z.object(pushFields)).transform(({ id = "", url, token, authentication }, context): PushConfig => {
  const { scheme, credentials } = authentication ?? {};
  return {
    id,
    url,
    token,
    ...authOf(scheme === undefined ? [] : [scheme], credentials, context),
    generation: "1.0",
  };
});

const sendShape = camel(
  z.object({
    message,
    configuration: camel(
      z.object({
        acceptedOutputModes: z.array(z.string()).nullish(),
        historyLength,
        returnImmediately: z.boolean().nullish(),
        taskPushNotificationConfig: push.nullish(),
        /** As the first releases of 1.0 call it. */
        pushNotificationConfig: push.nullish(),
      }),
    ).nullish(),
    metadata,
    context: z.unknown().optional(),
  }),
);

export const send = sendShape.transform(({ message: said, configuration, metadata: about, context }): SendRequest => {
  const {
    acceptedOutputModes,
    historyLength: length,
    returnImmediately,
    taskPushNotificationConfig,
    pushNotificationConfig,
  } = configuration ?? {};
  return {
    message: said,
    blocking: returnImmediately !== true,
    historyLength: length ?? undefined,
    acceptedOutputModes: acceptedOutputModes ?? undefined,
    push: taskPushNotificationConfig ?? pushNotificationConfig ?? undefined,
    metadata: about ?? undefined,
    context,
    finished: "refuse",
  };
});

export const getTask = camel(z.object({ id: name, historyLength })).transform(({ id, historyLength: length }) => ({
  id,
  historyLength: length ?? undefined,
}));

export const byId = camel(z.object({ id: name }));

export const listTasks = camel(
  z.object({
    contextId: text,
    status: z.enum([...STATES, "TASK_STATE_UNSPECIFIED"]).nullish(),
    pageSize: z.int().min(1).max(100).nullish(),
    pageToken: text,
    historyLength,
    statusTimestampAfter: z.iso.datetime({ offset: true }).nullish(),
    includeArtifacts: z.boolean().nullish(),
  }),
).transform((given): TaskQuery => {
  const { status, statusTimestampAfter: after } = given;
  const state: TaskState | undefined =
    status == null || status === "TASK_STATE_UNSPECIFIED" ? undefined : stateOf(status);
  return {
    contextId: given.contextId,
    state,
    since: after == null ? undefined : Date.parse(after),
    pageSize: given.pageSize ?? 50,
    pageToken: given.pageToken,
    historyLength: given.historyLength ?? undefined,
    includeArtifacts: given.includeArtifacts ?? false,
  };
});

/** The members of the config beside the task's id; some clients put them into `config`. */
export const createPush = camel(
  z.looseObject({ taskId: name, configId: text, config: z.unknown().optional() }),
).transform(({ taskId, configId, config, ...own }, context) => {
  const parsed = push.safeParse(
    isObject(config) ? { ...config, ...(configId === undefined ? {} : { id: configId }) } : own,
  );
  if (parsed.success) return { taskId, config: parsed.data };
  for (const issue of parsed.error.issues)
    context.addIssue({ code: "custom", message: issue.message, path: [...issue.path] });
  return z.NEVER;
});

export const onePush = camel(z.object({ taskId: name, id: name }));

export const listPushes = camel(
  z.object({ taskId: name, pageSize: z.int().min(0).max(100).nullish(), pageToken: text }),
);
