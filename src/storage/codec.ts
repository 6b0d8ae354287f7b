// Turns graph values into JSON once, and back. One codec serves the event streams and the checkpoints, and remembers by object
// what it has serialised, so that a long message list costs what is new in it and not its length.
//
// A stored value is a letter and JSON: `j` plain JSON; a message letter (messages.ts) and its wire JSON; `x`, the length of the
// wire JSON, the wire JSON, and the lossless form written by LangGraph's own serializer; or `l`, the lengths of stored values and
// these. The wire JSON is a substring of all of them, so that a state is served without building any object. None holds a line end.
import type { LangGraphRuntime } from "../graphs/types.ts";
import {
  isMessage,
  isMessageLetter,
  messageFields,
  messageLetter,
  reviveMessage,
  type MessageLike,
  sameMessage,
} from "./messages.ts";
import { isPlain, same, snapshot } from "./same.ts";

/** What the codec needs of LangGraph's serializer (the user's own copy). */
interface Serializer {
  dumpsTyped(value: unknown): Promise<[string, Uint8Array]>;
  loadsTyped(type: string, data: Uint8Array | string): Promise<unknown>;
}

/** One serialised value. */
export interface Encoded {
  /** As clients see it. */
  readonly wire: string;
  /** As storage keeps it. */
  readonly stored: string;
}

/**
 * How deep in a value messages are looked for whose JSON is remembered: a state is an object of lists, an update an object of
 * such objects. Deeper values are serialised as a whole.
 */
const MEMO_DEPTH = 3;

interface Memo extends Encoded {
  readonly snap: unknown;
}

/** The wire JSON inside a stored value. */
export function wireOf(stored: string): string {
  if (stored[0] === "l") return `[${unpackList(stored).map(wireOf).join(",")}]`;
  if (stored[0] !== "x") return stored.slice(1);
  const colon = stored.indexOf(":");
  return stored.slice(colon + 1, colon + 1 + Number(stored.slice(1, colon)));
}

/** One stored list out of its stored elements. */
export function packList(parts: readonly string[]): string {
  if (parts.every((part) => part[0] === "j")) return `j[${parts.map((part) => part.slice(1)).join(",")}]`;
  return `l${parts.map((part) => part.length).join(",")};${parts.join("")}`;
}

/** The stored values inside one that `packList` made. */
export function unpackList(stored: string): string[] {
  let at = stored.indexOf(";") + 1;
  if (at === 2) return [];
  return stored
    .slice(1, at - 1)
    .split(",")
    .map((length) => stored.slice(at, (at += Number(length))));
}

export class Codec {
  readonly #classes: Record<string, unknown>;
  readonly #serializer: Serializer;
  readonly #memo = new WeakMap<object, Memo>();

  constructor(runtime: Pick<LangGraphRuntime, "messages" | "checkpoint">) {
    this.#classes = runtime.messages;
    // The serializer's class is not exported; a saver made without one has it.
    const MemorySaver = runtime.checkpoint["MemorySaver"] as new () => { serde: Serializer };
    this.#serializer = new MemorySaver().serde;
  }

  /** LangGraph's serializer, for code that looks for one on a checkpointer. */
  get serializer(): Serializer {
    return this.#serializer;
  }

  /**
   * Serialises a value for storage. What it holds at the time of the call counts, even if the promise resolves later.
   * @throws TypeError when the value cannot be stored at all (a bigint, a cycle), as LangGraph's own savers do.
   */
  async encode(value: unknown): Promise<string> {
    const quick = this.encodeQuick(value);
    if (quick !== undefined) return quick.stored;
    if (!Array.isArray(value)) return this.#encodeLossless(value);
    const parts = value.map((item) => this.encodeQuick(item)?.stored ?? this.#encodeLossless(item));
    return packList(await Promise.all(parts));
  }

  /**
   * Serialises a value that lives on in the graph's state (a message, an element of a list), remembering the result by object
   * identity. What the object holds is compared with what was serialised, so a change in place is never missed.
   * Returns undefined where only the slow, lossless way of `encode` will do.
   */
  encodeQuick(value: unknown): Encoded | undefined {
    if (typeof value !== "object" || value === null) {
      if (!isPlain(value)) return undefined;
      const wire = JSON.stringify(value);
      return { wire, stored: `j${wire}` };
    }
    const message = isMessage(value);
    const known = this.#memo.get(value);
    if (known !== undefined && (message ? sameMessage(value as MessageLike, known.snap) : same(value, known.snap))) {
      return known;
    }
    const content = message ? messageFields(value as MessageLike) : value;
    const letter = message
      ? messageLetter(value as MessageLike, content as Record<string, unknown>)
      : isPlain(value)
        ? "j"
        : undefined;
    if (letter === undefined) return undefined;
    const stored = letter + JSON.stringify(content);
    // A slice shares the memory of the whole.
    const memo: Memo = { wire: stored.slice(1), stored, snap: snapshot(content) };
    this.#memo.set(value, memo);
    return memo;
  }

  /** Serialises by LangGraph's own serializer; the snapshot of the value is taken before this returns its promise. */
  async #encodeLossless(value: unknown): Promise<string> {
    const wire = this.wire(value);
    const [type, bytes] = await this.#serializer.dumpsTyped(value);
    const lossless =
      type === "bytes" ? `b${Buffer.from(bytes).toString("base64")}` : `p${new TextDecoder().decode(bytes)}`;
    return `x${wire.length}:${wire}${lossless}`;
  }

  /**
   * The JSON that clients see of any value. Messages become flat records, maps objects or entry lists, sets arrays, bigints
   * strings, bytes base64, cycles "[Circular]": a value that a graph returns never makes its run fail here.
   */
  wire(value: unknown, depth = 0): string {
    if (typeof value === "string") return JSON.stringify(value);
    if (isMessage(value)) return this.encodeQuick(value)?.wire ?? stringifyTolerant(value);
    if (typeof value !== "object" || value === null)
      return isPlain(value) ? JSON.stringify(value) : stringifyTolerant(value);
    if (depth < MEMO_DEPTH) {
      if (Array.isArray(value)) return this.#wireArray(value, depth + 1);
      if (Object.getPrototypeOf(value) === Object.prototype && !("toJSON" in value))
        return this.#wireObject(value, depth + 1);
    }
    return isPlain(value) ? JSON.stringify(value) : stringifyTolerant(value);
  }

  #wireArray(value: readonly unknown[], depth: number): string {
    let text = "[";
    for (let i = 0; i < value.length; i++) text += (i === 0 ? "" : ",") + this.wire(value[i], depth);
    return `${text}]`;
  }

  #wireObject(value: object, depth: number): string {
    let text = "{";
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined || typeof item === "function" || typeof item === "symbol") continue;
      text += `${text.length === 1 ? "" : ","}${JSON.stringify(key)}:${this.wire(item, depth)}`;
    }
    return `${text}}`;
  }

  /** The wire JSON of something that is seen once, such as a token: nothing is remembered of it. */
  wireOnce(value: unknown): string {
    if (isMessage(value)) {
      const fields = messageFields(value);
      if (isPlain(fields)) return JSON.stringify(fields);
    }
    return stringifyTolerant(value);
  }

  /**
   * Builds the value of a stored part; it is remembered, so that storing it again unchanged costs a comparison.
   * Values that went the lossless way, and lists that hold some, come as promises.
   */
  revive(stored: string): unknown {
    const letter = stored[0]!;
    if (letter === "x") return this.#reviveLossless(stored);
    if (letter === "l") {
      const items = unpackList(stored).map((part) => this.revive(part));
      return items.some((item) => item instanceof Promise) ? Promise.all(items) : items;
    }
    const wire = stored.slice(1);
    if (!isMessageLetter(letter)) {
      const value: unknown = JSON.parse(wire);
      if (typeof value === "object" && value !== null) this.#memo.set(value, { wire, stored, snap: snapshot(value) });
      return value;
    }
    const message = reviveMessage(letter, wire, this.#classes) as MessageLike;
    // The class may add fields that the stored form lacks (empty tool calls): remember what it says now.
    this.#memo.set(message, { wire, stored, snap: snapshot(messageFields(message)) });
    return message;
  }

  #reviveLossless(stored: string): Promise<unknown> {
    const colon = stored.indexOf(":");
    const lossless = stored.slice(colon + 1 + Number(stored.slice(1, colon)));
    return lossless[0] === "b"
      ? this.#serializer.loadsTyped("bytes", Buffer.from(lossless.slice(1), "base64"))
      : this.#serializer.loadsTyped("json", lossless.slice(1));
  }
}

/** JSON.stringify for anything. */
function stringifyTolerant(value: unknown): string {
  const ancestors: unknown[] = [];
  const text = JSON.stringify(value, function (this: unknown, key: string, item: unknown) {
    const raw = (this as Record<string, unknown>)[key];
    if (typeof raw === "bigint") return String(raw);
    if (typeof raw !== "object" || raw === null) return item;
    while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop();
    const plain = plainOf(raw, item);
    if (typeof plain === "object" && plain !== null) {
      if (ancestors.includes(raw) || ancestors.includes(plain)) return "[Circular]";
      ancestors.push(plain);
    }
    return plain;
  });
  return text ?? "null";
}

function plainOf(raw: object, item: unknown): unknown {
  if (isMessage(raw)) return messageFields(raw);
  if (raw instanceof Uint8Array) return Buffer.from(raw).toString("base64");
  if (raw instanceof Set) return [...raw];
  if (raw instanceof Map) {
    return [...raw.keys()].every((key) => typeof key === "string") ? Object.fromEntries(raw) : [...raw];
  }
  if (raw instanceof Error) return { error: raw.name, message: raw.message };
  return item;
}
