// Both generations of A2A as a person reads them: one way to write a message, one way to look at what comes back. What comes back is looked at
// before it is trusted, because it may come from any server.
import { isRecord } from "../json.ts";
import { toJson } from "../text.ts";

export type Version = "0.3" | "1.0";

/** The names of a method, by version. */
export const METHODS = {
  send: { "0.3": "message/send", "1.0": "SendMessage" },
  stream: { "0.3": "message/stream", "1.0": "SendStreamingMessage" },
  get: { "0.3": "tasks/get", "1.0": "GetTask" },
  cancel: { "0.3": "tasks/cancel", "1.0": "CancelTask" },
} as const;

/** A file to send: its bytes in base64, or where it is. */
export interface FileToSend {
  readonly name: string;
  readonly mediaType: string | undefined;
  readonly bytes?: string;
  readonly uri?: string;
}

/** What is to be said. */
export interface Saying {
  readonly text: string | undefined;
  readonly data: unknown;
  readonly files: readonly FileToSend[];
  readonly context: string | undefined;
  readonly task: string | undefined;
  readonly messageId: string;
}

/** The parameters of a message. */
export function messageParams(
  version: Version,
  { text, data, files, context, task, messageId }: Saying,
): Record<string, unknown> {
  const old = version === "0.3";
  const parts = [
    ...(text === undefined ? [] : [old ? { kind: "text", text } : { text }]),
    ...(data === undefined ? [] : [old ? { kind: "data", data } : { data }]),
    ...files.map(({ name, mediaType, bytes, uri }) =>
      old
        ? { kind: "file", file: { name, mimeType: mediaType, ...(bytes === undefined ? { uri } : { bytes }) } }
        : { ...(bytes === undefined ? { url: uri } : { raw: bytes }), filename: name, mediaType },
    ),
  ];
  const ids = {
    ...(context === undefined ? {} : { contextId: context }),
    ...(task === undefined ? {} : { taskId: task }),
  };
  const message = { ...(old ? { kind: "message", role: "user" } : { role: "ROLE_USER" }), parts, messageId, ...ids };
  return { message };
}

/** A part as it is printed. */
export interface ShownPart {
  readonly kind: "text" | "data" | "file";
  readonly text: string;
}

/** What a task, message or event says. */
export interface Shown {
  readonly kind: "task" | "message" | "status" | "artifact";
  readonly task: string | undefined;
  readonly context: string | undefined;
  /** In the spelling of 0.3. */
  readonly state: string | undefined;
  /** Of the message of its status, or of the message itself. */
  readonly said: readonly ShownPart[];
  readonly artifacts: readonly { readonly name: string; readonly parts: readonly ShownPart[] }[];
  /** Of an artifact event: whether it continues the one before. */
  readonly append: boolean;
  readonly changed: string | undefined;
  readonly history: readonly { readonly role: string; readonly parts: readonly ShownPart[] }[];
}

const textIn = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const listIn = (value: unknown): readonly Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

/** A result or event of any method; undefined when it is none. */
export function shown(result: unknown): Shown | undefined {
  if (!isRecord(result)) return undefined;
  for (const [member, kind] of [
    ["task", "task"],
    ["message", "message"],
    ["statusUpdate", "status"],
    ["artifactUpdate", "artifact"],
  ] as const) {
    const inner = result[member];
    if (isRecord(inner) && result["kind"] === undefined && result["id"] === undefined) return look(inner, kind);
  }
  const kinds: Record<string, Shown["kind"]> = {
    task: "task",
    message: "message",
    "status-update": "status",
    "artifact-update": "artifact",
  };
  const kind = kinds[String(result["kind"])] ?? (isRecord(result["status"]) ? "task" : undefined);
  return kind === undefined ? undefined : look(result, kind);
}

function look(value: Record<string, unknown>, kind: Shown["kind"]): Shown {
  const status = isRecord(value["status"]) ? value["status"] : {};
  const message = kind === "message" ? value : isRecord(status["message"]) ? status["message"] : {};
  const artifacts = kind === "artifact" ? listIn([value["artifact"]]) : listIn(value["artifacts"]);
  return {
    kind,
    task: textIn(kind === "task" ? value["id"] : value["taskId"]),
    context: textIn(value["contextId"]),
    state: stateOf(status["state"]),
    said: partsOf(message["parts"]),
    artifacts: artifacts.map(({ name, parts }) => ({ name: textIn(name) ?? "", parts: partsOf(parts) })),
    append: value["append"] === true,
    changed: textIn(status["timestamp"]),
    history: listIn(value["history"]).map(({ role, parts }) => ({
      role: String(role).toLowerCase().replace("role_", ""),
      parts: partsOf(parts),
    })),
  };
}

/** A state in the spelling of 0.3. */
function stateOf(state: unknown): string | undefined {
  return textIn(state)
    ?.replace(/^TASK_STATE_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
}

function partsOf(parts: unknown): ShownPart[] {
  return listIn(parts).flatMap((part): ShownPart[] => {
    if (typeof part["text"] === "string") return [{ kind: "text", text: part["text"] }];
    if (part["data"] !== undefined) return [{ kind: "data", text: toJson(part["data"], 2) }];
    const file = isRecord(part["file"]) ? part["file"] : part;
    const about = [file["name"] ?? file["filename"], file["mimeType"] ?? file["mediaType"], file["uri"] ?? file["url"]];
    return [{ kind: "file", text: `[file ${about.filter((word) => typeof word === "string").join(" ")}]` }];
  });
}

/** Whether a task in this state waits for a message. */
export const waits = (state: string | undefined): boolean => state === "input-required" || state === "auth-required";

/** What an answer says: its artifacts or, where there is none, its message. What a task waits for or failed at is told elsewhere. */
export function answerOf({ kind, artifacts, said, state }: Shown): string {
  const parts = artifacts.filter(({ name }) => name !== "Interrupt").flatMap((artifact) => artifact.parts);
  const spoken = parts.length === 0 && (kind === "message" || state === "completed") ? said : parts;
  return spoken.map(({ text }) => text).join("\n");
}
