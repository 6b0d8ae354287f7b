// From the message chunks of LangGraph's ordinary stream to the message events of protocol v2, for runs that were started through REST and
// are watched: the stream that their own clients read has chunks, and one execution has one kind of token.
import { isObject, type Json } from "../resources/json.ts";
import type { Chunk } from "./event-pipeline.ts";

/** A message of LangChain, or a chunk of one. */
interface Message {
  readonly id?: string;
  readonly content?: unknown;
  readonly tool_call_chunks?: readonly ToolCallChunk[];
  readonly tool_calls?: readonly Json[];
  readonly tool_call_id?: string;
  readonly usage_metadata?: Json;
  readonly response_metadata?: Json;
  getType?(): string;
  /** Only chunks have it. */
  concat?: unknown;
}

interface ToolCallChunk {
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  readonly args?: string;
}

/** A content block that may still grow. */
interface Block {
  readonly index: number;
  content: Json;
}

/** A message that is not complete yet. */
interface Open {
  readonly namespace: string[];
  readonly metadata: Json;
  /** Content blocks in the order of their beginning, by what tells them apart. */
  readonly blocks: Map<string, Block>;
  usage: Json | undefined;
}

export class MessageEvents {
  readonly #open = new Map<string, Open>();

  /** The chunks for the pipeline: message events in place of a message, and before the end of a task those that end its messages. */
  *chunks(chunk: Chunk): Iterable<Chunk> {
    const [namespace, mode, payload] = chunk;
    if (mode === "messages") {
      const [message, metadata] = payload as [Message, Json];
      yield* typeof message.concat === "function"
        ? this.#part(namespace, message, metadata)
        : this.#whole(namespace, message, metadata);
      return;
    }
    if (mode === "tasks" && isObject(payload) && "result" in payload) yield* this.#endOf(String(payload["id"]));
    yield chunk;
  }

  /** What ends the messages that are still open when the run ends. */
  *rest(): Iterable<Chunk> {
    for (const id of this.#open.keys()) yield* this.#finish(id);
  }

  *#endOf(task: string): Iterable<Chunk> {
    for (const [id, { namespace }] of this.#open)
      if (namespace.some((segment) => segment.endsWith(`:${task}`))) yield* this.#finish(id);
  }

  *#part(namespace: string[], message: Message, metadata: Json): Iterable<Chunk> {
    const id = message.id ?? "";
    let open = this.#open.get(id);
    if (open === undefined) {
      open = { namespace, metadata: { ...metadata, run_id: id }, blocks: new Map(), usage: undefined };
      this.#open.set(id, open);
      yield event(open, { event: "message-start", id });
    }
    for (const block of blocksOf(message.content)) yield* this.#block(open, block);
    for (const call of message.tool_call_chunks ?? []) yield* this.#toolCall(open, call);
    open.usage = message.usage_metadata ?? open.usage;
  }

  *#block(open: Open, part: Json): Iterable<Chunk> {
    const text = typeof part["text"] === "string" ? part["text"] : undefined;
    const reasoning = part["reasoning"] ?? part["thinking"];
    if (part["type"] === "text" && text !== undefined) {
      yield* this.#grow(open, `text ${key(part)}`, "text", text);
    } else if (typeof reasoning === "string") {
      yield* this.#grow(open, `reasoning ${key(part)}`, "reasoning", reasoning);
    } else if (part["type"] !== "tool_use" && part["type"] !== "input_json_delta") {
      // Of what grows in no known way the newest state counts. Tool calls come as chunks of their own beside the content.
      const name = `${String(part["type"])} ${key(part)}`;
      const known = open.blocks.get(name);
      if (known === undefined) {
        const { index } = this.#begin(open, name, part);
        yield event(open, { event: "content-block-start", index, content: part });
      } else {
        known.content = { ...known.content, ...part };
        const delta = { type: "block-delta", fields: part };
        yield event(open, { event: "content-block-delta", index: known.index, delta });
      }
    }
  }

  #begin(open: Open, name: string, content: Json): Block {
    const block = { index: open.blocks.size, content };
    open.blocks.set(name, block);
    return block;
  }

  *#grow(open: Open, name: string, type: "text" | "reasoning", text: string): Iterable<Chunk> {
    if (text === "") return;
    let block = open.blocks.get(name);
    if (block === undefined) {
      block = this.#begin(open, name, { type, [type]: "" });
      yield event(open, { event: "content-block-start", index: block.index, content: block.content });
    }
    block.content = { ...block.content, [type]: String(block.content[type]) + text };
    const delta = { type: `${type}-delta`, [type]: text };
    yield event(open, { event: "content-block-delta", index: block.index, delta });
  }

  *#toolCall(open: Open, { index, id, name, args }: ToolCallChunk): Iterable<Chunk> {
    const known = `tool ${index ?? id ?? open.blocks.size}`;
    let block = open.blocks.get(known);
    if (block === undefined) {
      block = this.#begin(open, known, { type: "tool_call_chunk", id, name, args: "" });
      yield event(open, { event: "content-block-start", index: block.index, content: block.content });
    }
    const before = block.content;
    block.content = {
      ...before,
      id: before["id"] ?? id,
      name: before["name"] ?? name,
      args: String(before["args"]) + (args ?? ""),
    };
    const delta = { type: "block-delta", fields: block.content };
    yield event(open, { event: "content-block-delta", index: block.index, delta });
  }

  *#finish(id: string): Iterable<Chunk> {
    const open = this.#open.get(id)!;
    this.#open.delete(id);
    for (const { index, content } of open.blocks.values())
      yield event(open, { event: "content-block-finish", index, content: finished(content) });
    yield event(open, { event: "message-finish", ...(open.usage === undefined ? {} : { usage: open.usage }) });
  }

  /** A message that came in one piece. */
  *#whole(namespace: string[], message: Message, metadata: Json): Iterable<Chunk> {
    // Its chunks came before.
    if (message.id !== undefined && this.#open.has(message.id)) return yield* this.#finish(message.id);
    const { id, tool_call_id, usage_metadata, response_metadata } = message;
    const open: Open = { namespace, metadata: { ...metadata, run_id: id }, blocks: new Map(), usage: usage_metadata };
    const type = message.getType?.() ?? "ai";
    yield event(open, {
      event: "message-start",
      ...(id === undefined ? {} : { id }),
      ...(type === "ai" ? {} : { role: type }),
      ...(tool_call_id === undefined ? {} : { tool_call_id }),
    });
    const blocks = blocksOf(message.content);
    const calls = (message.tool_calls ?? []).map((call): Json => ({ ...call, type: "tool_call" }));
    const listed = blocks.some((block) => block["type"] === "tool_call");
    for (const [index, content] of [...blocks, ...(listed ? [] : calls)].entries()) {
      const text = content["type"] === "text" ? String(content["text"]) : "";
      const start = text === "" ? content : { type: "text", text: "" };
      yield event(open, { event: "content-block-start", index, content: start });
      if (text !== "") yield event(open, { event: "content-block-delta", index, delta: { type: "text-delta", text } });
      yield event(open, { event: "content-block-finish", index, content });
    }
    yield event(open, {
      event: "message-finish",
      ...(usage_metadata === undefined ? {} : { usage: usage_metadata }),
      ...(response_metadata === undefined ? {} : { responseMetadata: response_metadata }),
    });
  }
}

const event = ({ namespace, metadata }: Open, data: Json): Chunk => [namespace, "messages", [data, metadata]];

/** What tells blocks of one type apart. */
const key = (part: Json): string => String(part["index"] ?? "");

/** The content of a message as blocks. */
function blocksOf(content: unknown): Json[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.map((part): Json => (isObject(part) ? part : { type: "text", text: String(part) }));
}

/** A block as it is when it is complete: the arguments of a tool call are JSON by then, or are not. */
function finished(content: Json): Json {
  if (content["type"] !== "tool_call_chunk") return content;
  const { id, name, args } = content;
  try {
    return { type: "tool_call", id, name, args: JSON.parse(String(args) || "{}") as unknown };
  } catch {
    return { type: "invalid_tool_call", id, name, args, error: "Failed to parse tool call arguments as JSON" };
  }
}
