// How A2A 0.3 spells the task model; the types are those of the protocol's own package for 0.3.
import type {
  Artifact as WireArtifact,
  Message as WireMessage,
  Part as WirePart,
  Task as WireTask,
  TaskArtifactUpdateEvent,
  TaskPushNotificationConfig,
  TaskStatus as WireStatus,
  TaskStatusUpdateEvent,
} from "a2a-sdk-03";
import type { RpcFailure } from "../../json-rpc.ts";
import { isObject } from "../../resources/json.ts";
import { A2AFailure } from "../errors.ts";
import type { Artifact, Message, Part, PushConfig, Task, TaskEvent, TaskStatus } from "../model.ts";

function partJson(part: Part): WirePart {
  const { metadata } = part;
  const more = metadata === undefined ? {} : { metadata };
  if (part.kind === "text") return { kind: "text", text: part.text, ...more };
  // Only objects are data here.
  if (part.kind === "data")
    return { kind: "data", data: isObject(part.data) ? part.data : { value: part.data }, ...more };
  const { name, mediaType, bytes, uri = "" } = part;
  const about = {
    ...(name === undefined ? {} : { name }),
    ...(mediaType === undefined ? {} : { mimeType: mediaType }),
  };
  return { kind: "file", file: bytes === undefined ? { ...about, uri } : { ...about, bytes }, ...more };
}

const messageJson = ({ messageId, role, parts, contextId, taskId }: Message): WireMessage => ({
  kind: "message",
  messageId,
  role,
  parts: parts.map(partJson),
  ...(contextId === undefined ? {} : { contextId }),
  ...(taskId === undefined ? {} : { taskId }),
});

const statusJson = ({ state, timestamp, message }: TaskStatus): WireStatus => ({
  state,
  timestamp,
  ...(message === undefined ? {} : { message: messageJson(message) }),
});

const artifactJson = ({ artifactId, name, parts }: Artifact): WireArtifact => ({
  artifactId,
  name,
  parts: parts.map(partJson),
});

export const taskJson = ({ id, contextId, status, artifacts, history }: Task): WireTask => ({
  kind: "task",
  id,
  contextId,
  status: statusJson(status),
  ...(artifacts === undefined ? {} : { artifacts: artifacts.map(artifactJson) }),
  ...(history === undefined ? {} : { history: history.map(messageJson) }),
});

export function eventJson(event: TaskEvent): WireTask | TaskStatusUpdateEvent | TaskArtifactUpdateEvent {
  if (event.type === "task") return taskJson(event.task);
  const { taskId, contextId } = event;
  if (event.type === "status") {
    return { kind: "status-update", taskId, contextId, status: statusJson(event.status), final: event.final };
  }
  const { artifact, append, lastChunk } = event;
  return { kind: "artifact-update", taskId, contextId, artifact: artifactJson(artifact), append, lastChunk };
}

export const pushJson = (
  taskId: string,
  { id, url, token, scheme, schemes, credentials }: PushConfig,
): TaskPushNotificationConfig => ({
  taskId,
  pushNotificationConfig: {
    id,
    url,
    ...(token === undefined ? {} : { token }),
    ...(scheme === undefined
      ? {}
      : {
          authentication: {
            schemes: [...(schemes ?? [scheme])],
            ...(credentials === undefined ? {} : { credentials }),
          },
        }),
  },
});

/** In 0.3 it may be anything: the name of the error, and what it is about. */
export const errorData = (failure: RpcFailure): unknown =>
  failure instanceof A2AFailure ? { reason: failure.reason, ...failure.about } : failure.data;
