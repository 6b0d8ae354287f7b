// LangChain messages as the wire has them: the constructor's fields flattened, with `type`. The same JSON is stored, so that
// serving a state needs no message objects; a letter before it names the class to build again.
import { isPlain, ObjectSnapshot, same } from "./same.ts";

/** What we touch of a LangChain message. */
export interface MessageLike {
  readonly lc_kwargs: Record<string, unknown>;
  getType(): string;
  [field: string]: unknown;
}

/** Letter of a stored part → class of `@langchain/core/messages`. */
const CLASS_OF_LETTER: Readonly<Record<string, string>> = {
  a: "AIMessage",
  A: "AIMessageChunk",
  h: "HumanMessage",
  H: "HumanMessageChunk",
  s: "SystemMessage",
  S: "SystemMessageChunk",
  t: "ToolMessage",
  T: "ToolMessageChunk",
  f: "FunctionMessage",
  F: "FunctionMessageChunk",
  g: "ChatMessage",
  G: "ChatMessageChunk",
  r: "RemoveMessage",
};
const LETTER_OF_CLASS = new Map(Object.entries(CLASS_OF_LETTER).map(([letter, name]) => [name, letter]));
const LETTER_OF_TYPE: Readonly<Record<string, string>> = {
  ai: "a",
  human: "h",
  system: "s",
  tool: "t",
  function: "f",
  generic: "g",
  remove: "r",
};

/** Fields that code sets on a message after it was built, which therefore may be missing in `lc_kwargs`. */
const LATE_FIELDS = ["id", "name", "tool_calls", "usage_metadata"] as const;

/** Whether `value` is a message of any copy of `@langchain/core`. */
export function isMessage(value: unknown): value is MessageLike {
  return (
    typeof value === "object" &&
    value !== null &&
    "lc_kwargs" in value &&
    "content" in value &&
    typeof (value as { getType?: unknown }).getType === "function"
  );
}

/** The message as one flat record, without copying what the fields hold. */
export function messageFields(message: MessageLike): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const key of Object.keys(message.lc_kwargs)) {
    // The constructor keeps its own spelling of the content beside `content`.
    if (key === "contentBlocks") continue;
    fields[key] = key in message ? message[key] : message.lc_kwargs[key];
  }
  for (const key of LATE_FIELDS) if (message[key] !== undefined) fields[key] = message[key];
  fields["content"] ??= message["content"];
  fields["type"] = message.getType();
  return fields;
}

/**
 * Whether `messageFields` of a message would still be what a snapshot of them says; without making them, because every message of
 * a conversation is asked this several times per turn.
 */
export function sameMessage(message: MessageLike, snap: unknown): boolean {
  if (!(snap instanceof ObjectSnapshot)) return false;
  const { keys, values } = snap;
  const kwargs = message.lc_kwargs;
  let at = 0;
  const next = (key: string, value: unknown): boolean => keys[at] === key && same(value, values[at++]);
  for (const key of Object.keys(kwargs)) {
    if (key !== "contentBlocks" && !next(key, key in message ? message[key] : kwargs[key])) return false;
  }
  for (const key of LATE_FIELDS) {
    if (message[key] !== undefined && !(key in kwargs) && !next(key, message[key])) return false;
  }
  if (!("content" in kwargs) && !next("content", message["content"])) return false;
  if (!("type" in kwargs) && !next("type", message.getType())) return false;
  return at === keys.length;
}

/** The letter under which a message with these plain fields is stored; undefined when it must go the lossless way. */
export function messageLetter(message: MessageLike, fields: Record<string, unknown>): string | undefined {
  if (!isPlain(fields)) return undefined;
  const prototype = Object.getPrototypeOf(message) as { constructor: { lc_name?: () => string } };
  const name = prototype.constructor.lc_name?.();
  return (name === undefined ? undefined : LETTER_OF_CLASS.get(name)) ?? LETTER_OF_TYPE[message.getType()];
}

/** Builds the message of a stored part again, with the classes of the user's own `@langchain/core`. */
export function reviveMessage(letter: string, json: string, classes: Record<string, unknown>): unknown {
  const { type: _type, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const name = CLASS_OF_LETTER[letter];
  const Class = name === undefined ? undefined : classes[name];
  if (typeof Class !== "function") throw new Error(`stored message of unknown kind "${letter}"`);
  return new (Class as new (fields: unknown) => unknown)(fields);
}

/** Whether a stored part begins with the letter of a message class. */
export const isMessageLetter = (letter: string): boolean => letter in CLASS_OF_LETTER;
