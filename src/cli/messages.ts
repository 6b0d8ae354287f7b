// LangGraph messages as people read them. The shapes differ by server and age, so everything is looked at before it is trusted.
import { isRecord } from "./json.ts";

/** The parts of a message that a terminal shows. */
export interface Message {
  readonly type: string;
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** The text of `content`: the string itself, or its text blocks. */
  readonly text: string;
  /** Names of the tools that it calls. */
  readonly calls: readonly string[];
}

/** A message from its JSON; undefined when it is none. */
export function toMessage(value: unknown): Message | undefined {
  if (!isRecord(value) || !("content" in value)) return undefined;
  const type = value["type"] ?? value["role"];
  if (typeof type !== "string") return undefined;
  const calls = Array.isArray(value["tool_calls"]) ? value["tool_calls"] : [];
  return {
    type: normalType(type),
    id: typeof value["id"] === "string" ? value["id"] : undefined,
    name: typeof value["name"] === "string" ? value["name"] : undefined,
    text: contentText(value["content"]),
    calls: calls.flatMap((call) => (isRecord(call) && typeof call["name"] === "string" ? [call["name"]] : [])),
  };
}

/** The messages in a graph's state; undefined when it has none. */
export function messagesOf(values: unknown): Message[] | undefined {
  const list = isRecord(values) ? values["messages"] : undefined;
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((item) => toMessage(item) ?? []);
}

/** `AIMessageChunk` is how Python servers call the chunks of an `ai` message. */
function normalType(type: string): string {
  if (type === "assistant") return "ai";
  if (type === "user") return "human";
  return /^[A-Z].*Message(Chunk)?$/.test(type) ? type.replace(/Message(Chunk)?$/, "").toLowerCase() : type;
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: unknown) => {
      if (typeof block === "string") return block;
      return isRecord(block) && typeof block["text"] === "string" ? block["text"] : "";
    })
    .join("");
}
