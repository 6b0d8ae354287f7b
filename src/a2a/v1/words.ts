// How A2A 1.0 spells the task model: ProtoJSON. Members without a value are left out.
import { A2AFailure } from "../errors.ts";
import type { RpcFailure } from "../../json-rpc.ts";
import type { Json } from "../../resources/json.ts";
import {
  TASK_STATES,
  type Artifact,
  type Message,
  type Part,
  type PushConfig,
  type Task,
  type TaskEvent,
  type TaskState,
  type TaskStatus,
} from "../model.ts";

type Spelled<S extends string> = `TASK_STATE_${Uppercase<S extends `${infer A}-${infer B}` ? `${A}_${B}` : S>}`;
export type State = Spelled<TaskState>;

const spell = (state: TaskState): State => `TASK_STATE_${state.toUpperCase().replace("-", "_")}` as State;
export const STATES: readonly State[] = TASK_STATES.map(spell);
export const stateOf = (state: State): TaskState => TASK_STATES[STATES.indexOf(state)]!;

function partJson(part: Part): Json {
  const { metadata } = part;
  const more = metadata === undefined ? {} : { metadata };
  if (part.kind === "text") return { text: part.text, ...more };
  if (part.kind === "data") return { data: part.data, mediaType: "application/json", ...more };
  const { name, mediaType, bytes, uri } = part;
  return {
    ...(bytes === undefined ? { url: uri } : { raw: bytes }),
    ...(name === undefined ? {} : { filename: name }),
    ...(mediaType === undefined ? {} : { mediaType }),
    ...more,
  };
}

const messageJson = ({ messageId, role, parts, contextId, taskId }: Message): Json => ({
  messageId,
  role: role === "user" ? "ROLE_USER" : "ROLE_AGENT",
  parts: parts.map(partJson),
  ...(contextId === undefined ? {} : { contextId }),
  ...(taskId === undefined ? {} : { taskId }),
});

const statusJson = ({ state, timestamp, message }: TaskStatus): Json => ({
  state: spell(state),
  timestamp,
  ...(message === undefined ? {} : { message: messageJson(message) }),
});

const artifactJson = ({ artifactId, name, parts }: Artifact): Json => ({
  artifactId,
  name,
  parts: parts.map(partJson),
});

/** @param empty whether an empty list of artifacts is shown. */
export function taskJson({ id, contextId, status, artifacts = [], history = [] }: Task, empty = false): Json {
  return {
    id,
    contextId,
    status: statusJson(status),
    ...(artifacts.length > 0 || empty ? { artifacts: artifacts.map(artifactJson) } : {}),
    ...(history.length > 0 ? { history: history.map(messageJson) } : {}),
  };
}

export function eventJson(event: TaskEvent): Json {
  if (event.type === "task") return { task: taskJson(event.task) };
  const { taskId, contextId } = event;
  if (event.type === "status") return { statusUpdate: { taskId, contextId, status: statusJson(event.status) } };
  const { artifact, append, lastChunk } = event;
  return { artifactUpdate: { taskId, contextId, artifact: artifactJson(artifact), append, lastChunk } };
}

export const pushJson = (taskId: string, { id, url, token, scheme, credentials }: PushConfig): Json => ({
  taskId,
  id,
  url,
  ...(token === undefined ? {} : { token }),
  ...(scheme === undefined
    ? {}
    : { authentication: { scheme, ...(credentials === undefined ? {} : { credentials }) } }),
});

/** Errors of A2A carry an ErrorInfo; those of JSON-RPC itself need none. */
export function errorData(failure: RpcFailure): unknown {
  if (!(failure instanceof A2AFailure)) return failure.data;
  const { reason, about } = failure;
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "a2a-protocol.org" };
  return [Object.keys(about).length === 0 ? info : { ...info, metadata: about }];
}
