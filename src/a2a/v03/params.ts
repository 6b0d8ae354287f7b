// Parameters of A2A 0.3, and what they mean in the task model. Unknown members are ignored, and `kind` may be missing where the other
// members say what something is: the requirements' own messages have none.
import { z } from "zod";
import { base64, historyLength, MAX_PARTS, name } from "../generation.ts";
import { isObject, type Json } from "../../resources/json.ts";
import { authOf, schemeList } from "../push-auth.ts";
import type { Message, Part, PushConfig, SendRequest } from "../model.ts";

const metadata = z.record(z.string(), z.unknown()).nullish();
const text = z
  .string()
  .nullish()
  .transform((value) => value || undefined);

const file = z
  .object({ name: text, mimeType: text, bytes: base64.nullish(), uri: name.nullish() })
  .refine(({ bytes, uri }) => (bytes == null) !== (uri == null), "a file has either bytes or a uri");

const withKind = z.preprocess(
  (value) => {
    if (!isObject(value) || value["kind"] !== undefined) return value;
    const kind = ["text", "data", "file"].find((member) => value[member] !== undefined);
    return kind === undefined ? value : { ...value, kind };
  },
  z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("text"), text: z.string(), metadata }),
    z.object({
      kind: z.literal("data"),
      data: z.unknown().refine((data) => data !== undefined && data !== null, "is missing"),
      metadata,
    }),
    z.object({ kind: z.literal("file"), file, metadata }),
  ]),
);

const part = withKind.transform((given): Part => {
  const more = given.metadata == null ? {} : { metadata: given.metadata as Json };
  if (given.kind === "text") return { kind: "text", text: given.text, ...more };
  if (given.kind === "data") return { kind: "data", data: given.data, ...more };
  const { name: called, mimeType: mediaType, bytes, uri } = given.file;
  return { kind: "file", name: called, mediaType, ...(bytes == null ? { uri: uri! } : { bytes }), ...more };
});

const message = z
  .object({
    kind: z.literal("message").nullish(),
    messageId: name,
    role: z.enum(["user", "ROLE_USER"], 'must be "user"'),
    parts: z.array(part).min(1).max(MAX_PARTS),
    contextId: text,
    taskId: text,
  })
  .transform(({ messageId, parts, contextId, taskId }): Message => ({
    messageId,
    role: "user",
    parts,
    contextId,
    taskId,
  }));

const push = z
  .object({
    id: text,
    url: name,
    token: text,
    authentication: z.object({ schemes: schemeList.nullish(), credentials: text }).nullish(),
  })
  .transform(({ id, url, token, authentication }, context): PushConfig => ({
    id: id ?? "",
    url,
    token,
    ...authOf(authentication?.schemes ?? [], authentication?.credentials, context),
    generation: "0.3",
  }));

export const send = z
  .object({
    message,
    configuration: z
      .object({
        acceptedOutputModes: z.array(z.string()).nullish(),
        historyLength,
        blocking: z.boolean().nullish(),
        pushNotificationConfig: push.nullish(),
      })
      .nullish(),
    metadata,
    context: z.unknown().optional(),
  })
  .transform(({ message: said, configuration, metadata: about, context }): SendRequest => ({
    message: said,
    blocking: configuration?.blocking ?? true,
    historyLength: configuration?.historyLength ?? undefined,
    acceptedOutputModes: configuration?.acceptedOutputModes ?? undefined,
    push: configuration?.pushNotificationConfig ?? undefined,
    metadata: about ?? undefined,
    context,
    // The requirements' rule: later messages carry the ids of the answer before, whose task has ended.
    finished: "restart",
  }));

export const getTask = z
  .object({ id: name, contextId: text, historyLength })
  .transform(({ id, contextId, historyLength: length }) => ({ id, contextId, historyLength: length ?? undefined }));

export const byId = z.object({ id: name });

export const setPush = z.object({ taskId: name, pushNotificationConfig: push });
export const getPush = z.object({ id: name, pushNotificationConfigId: text });
export const deletePush = z.object({ id: name, pushNotificationConfigId: name });
