// From a message to what a run is asked to do: the input of a new turn, or the answer to what the graph asked.
import { RPC, RpcFailure } from "../json-rpc.ts";
import { isObject, type Json } from "../resources/json.ts";
import type { InterruptJson } from "../resources/threads.ts";
import { contentOf, matchesMode, takesFile, textOf } from "./content.ts";
import { A2AFailure } from "./errors.ts";
import type { Message, Part, SendRequest } from "./model.ts";

/** What is known of the input of a graph. */
export interface InputShape {
  /** Whether it has `messages`; true when nothing is known of it. */
  readonly messages: boolean;
  /** Names of its keys; undefined when they are not known. */
  readonly keys: ReadonlySet<string> | undefined;
}

/** The media types of an assistant that names its own. */
export interface Modes {
  readonly input: readonly string[] | undefined;
  readonly output: readonly string[] | undefined;
}

/** What this server takes from a client and gives to it when the assistant does not say anything else. */
export const DEFAULT_MODES = ["text/plain", "application/json"] as const;

const invalid = (message: string): RpcFailure => new RpcFailure(RPC.invalidParams, `Invalid params: ${message}`);

/** The modes in an assistant's metadata: `{"a2a": {"input_modes": […], "output_modes": […]}}`. */
export function modesOf(metadata: Json): Modes {
  const own = isObject(metadata["a2a"]) ? metadata["a2a"] : {};
  const list = (value: unknown): readonly string[] | undefined => {
    const modes = Array.isArray(value) ? value.filter((mode): mode is string => typeof mode === "string") : [];
    return modes.length === 0 ? undefined : modes;
  };
  return { input: list(own["input_modes"]), output: list(own["output_modes"]) };
}

/** @throws A2AFailure -32005 when a file is of a type that the assistant does not take, or no type of an answer is accepted. */
export function checkModes({ message, acceptedOutputModes = [] }: SendRequest, modes: Modes): void {
  for (const part of message.parts) {
    if (part.kind !== "file" || part.mediaType === undefined || takesFile(part.mediaType, modes.input)) continue;
    const takes = (modes.input ?? DEFAULT_MODES).join(", ");
    const text = `Content type not supported: ${part.mediaType.slice(0, 100)} (this agent takes ${takes})`;
    throw new A2AFailure("CONTENT_TYPE_NOT_SUPPORTED", text, { mediaType: part.mediaType.slice(0, 100) });
  }
  const gives = modes.output ?? DEFAULT_MODES;
  // "text" is how clients of the first releases name text/plain.
  const accepted = acceptedOutputModes.map((mode) => (mode === "text" ? "text/plain" : mode));
  if (accepted.length === 0 || accepted.some((mode) => gives.some((type) => matchesMode(type, mode)))) return;
  const text = `Content type not supported: none of acceptedOutputModes is given by this agent (${gives.join(", ")})`;
  throw new A2AFailure("CONTENT_TYPE_NOT_SUPPORTED", text);
}

/** The input of a new turn. @throws RpcFailure -32602 when the graph cannot take what the message has. */
export function inputOf({ messageId, parts }: Message, { messages: takesMessages, keys }: InputShape): Json {
  const said = parts.filter(({ kind }) => kind !== "data");
  if (said.length > 0 && !takesMessages) {
    const names = keys === undefined ? "" : ` Its input has the keys ${[...keys].join(", ")}.`;
    throw invalid(
      `text and file parts need a graph whose input has the key "messages", and this one has none.${names} Send a data part: {"kind": "data", "data": {…}} in A2A 0.3, {"data": {…}} in 1.0`,
    );
  }
  const values = dataOf(parts);
  const objects = values.filter(isObject);
  if (objects.length < values.length && !takesMessages)
    throw invalid("data parts must be objects: they are merged into the input of the graph");
  const input: Json = Object.assign({}, ...objects) as Json;
  // What no key of the graph takes would be lost without a word, so it is said to the graph.
  const lost = takesMessages && keys !== undefined && !Object.keys(input).some((key) => keys.has(key));
  const aside = said.length === 0 && lost ? values : values.filter((value) => !isObject(value));
  const spoken: Part[] = [...said, ...aside.map((value) => ({ kind: "text", text: JSON.stringify(value) }) as const)];
  if (spoken.length === 0) return input;
  const before = Array.isArray(input["messages"]) ? (input["messages"] as unknown[]) : [];
  return { ...(aside === values ? {} : input), messages: [...before, humanMessage(messageId, spoken)] };
}

/** A message for the graph. One with content blocks says that they are standard ones, so that models' packages read them as such. */
export function humanMessage(id: string, parts: readonly Part[]): Json {
  const content = contentOf(parts);
  const blocks = typeof content !== "string" ? { response_metadata: { output_version: "v1" } } : {};
  return { role: "user", id, content, ...blocks };
}

const dataOf = (parts: readonly Part[]): unknown[] =>
  parts.flatMap((part) => (part.kind === "data" ? [part.data] : []));

/**
 * What a message answers to a graph that waits.
 * @param interrupts what it asks; empty at a breakpoint.
 * @throws RpcFailure -32602 when it answers something that is not asked, or not clearly.
 */
export function resumeOf({ parts }: Message, interrupts: readonly InterruptJson[]): unknown {
  const data: Json = Object.assign({}, ...dataOf(parts).filter(isObject)) as Json;
  const { resume } = data;
  if (isAnswerList(resume)) return answersOf(resume, interrupts);
  const ids = interrupts.map(({ id }) => String(id));
  if (interrupts.length > 1) {
    const example = JSON.stringify({ resume: ids.map((id) => ({ id, value: "…" })) });
    throw invalid(`this task waits for ${ids.length} answers: send a data part with ${example}`);
  }
  if (resume !== undefined) return resume;
  return plainAnswer(parts, data);
}

type Answer = { readonly id: string; readonly value: unknown };

const isAnswerList = (value: unknown): value is Answer[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((one) => isObject(one) && typeof one["id"] === "string" && "value" in one);

function answersOf(answers: readonly Answer[], interrupts: readonly InterruptJson[]): Json {
  const open = new Set(interrupts.map(({ id }) => String(id)));
  const stray = answers.find(({ id }) => !open.has(id));
  if (stray !== undefined)
    throw invalid(`"${stray.id.slice(0, 100)}" is none of what the task waits for: ${[...open].join(", ")}`);
  return Object.fromEntries(answers.map(({ id, value }) => [id, value]));
}

/** Text alone is a string, data alone is the data; files make content blocks. */
function plainAnswer(parts: readonly Part[], data: Json): unknown {
  const values = dataOf(parts);
  if (parts.some(({ kind }) => kind === "file")) {
    const content = contentOf(parts);
    return values.length === 0 ? content : { ...data, content };
  }
  const text = textOf(parts);
  if (values.length === 0) return text;
  if (parts.every(({ kind }) => kind === "data")) return values.length === 1 ? values[0] : data;
  return { ...data, text };
}
