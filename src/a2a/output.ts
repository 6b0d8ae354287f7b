// From what a run leaves to what a task shows: artifacts of the answer, the question that a graph asks, and the history.
import { isObject, type Json } from "../resources/json.ts";
import type { InterruptJson } from "../resources/threads.ts";
import { partsOf } from "./content.ts";
import type { Artifact, Message, Part } from "./model.ts";
import { clientId } from "./message-ids.ts";
import type { Exchange } from "./tasks.ts";
import { artifactId } from "./times.ts";

/** What the platform calls the artifact of an answer. */
const RESPONSE = "Assistant Response";
const INTERRUPT = "Interrupt";
/** Keys of an interrupt's value in which people put their question. */
const PROMPTS = ["question", "prompt", "message", "text", "description", "title"];

/** The messages of a state. */
export const messagesIn = (values: unknown): readonly Json[] =>
  isObject(values) && Array.isArray(values["messages"]) ? (values["messages"] as unknown[]).filter(isObject) : [];

/** Who said a message of a state; undefined for tools, system messages and what else is none of a conversation's. */
function roleOf({ type, role }: Json): Message["role"] | undefined {
  const said = type ?? role;
  if (said === "human" || said === "user") return "user";
  return said === "ai" || said === "assistant" || said === "AIMessageChunk" ? "agent" : undefined;
}

/** Parts of the last thing that the agent has said since it was last spoken to; empty when it said nothing. */
function lastSaid(messages: readonly Json[]): readonly Part[] {
  for (const message of messages.toReversed()) {
    const role = roleOf(message);
    if (role === "user") return [];
    const parts = role === "agent" ? partsOf(message["content"]) : [];
    if (parts.length > 0) return parts;
  }
  return [];
}

/** The artifact that holds an answer. */
export const responseArtifact = (taskId: string, parts: readonly Part[]): Artifact => ({
  artifactId: artifactId(taskId, "response"),
  name: RESPONSE,
  parts,
});

/**
 * What a turn has made: the agent's last message or, where there is none, the state as data.
 * @param ended the turn is over; otherwise a state without an answer is nothing to show yet.
 */
export function responseOf(taskId: string, values: unknown, ended: boolean): Artifact[] {
  const said = lastSaid(messagesIn(values));
  if (said.length > 0) return [responseArtifact(taskId, said)];
  if (!ended || !isObject(values)) return [];
  const { __interrupt__: _interrupts, ...state } = values;
  const { messages, ...rest } = state;
  const data = Array.isArray(messages) ? rest : state;
  return Object.keys(data).length === 0 ? [] : [responseArtifact(taskId, [{ kind: "data", data }])];
}

/** What the graph asks, as data that an answer can refer to. */
const questions = (interrupts: readonly InterruptJson[]): Part => ({
  kind: "data",
  data: { interrupts: interrupts.map(({ id, value }) => ({ id: id ?? null, value })) },
});

export const interruptArtifact = (taskId: string, interrupts: readonly InterruptJson[]): Artifact => ({
  artifactId: artifactId(taskId, "interrupt"),
  name: INTERRUPT,
  parts: [questions(interrupts)],
});

/** What the graph asks, for people and as data. */
export function promptParts(interrupts: readonly InterruptJson[]): Part[] {
  if (interrupts.length === 0) {
    return [{ kind: "text", text: "The agent has stopped at a breakpoint; any message lets it go on." }, questions([])];
  }
  return [{ kind: "text", text: interrupts.map(({ value }) => promptOf(value)).join("\n") }, questions(interrupts)];
}

function promptOf(value: unknown): string {
  if (typeof value === "string") return value;
  const found = isObject(value)
    ? PROMPTS.map((name) => value[name]).find((text) => typeof text === "string")
    : undefined;
  return typeof found === "string" ? found : JSON.stringify(value ?? null);
}

/**
 * The conversation of a task, oldest first: messages of the thread, and between them what was said beside them.
 * @param messages of the thread. @param limit the newest ones that are wanted.
 */
export function historyOf(
  contextId: string,
  messages: readonly Json[],
  exchanges: readonly Exchange[],
  limit: number,
): Message[] {
  if (limit === 0) return [];
  const history: Message[] = [];
  const inThread = new Set(messages.map(({ id }) => id));
  let next = 0;
  const aside = (at: number): void => {
    for (; next < exchanges.length && exchanges[next]!.at <= at; next++)
      for (const said of exchanges[next]!.messages)
        if (!inThread.has(said.messageId)) history.push({ ...said, messageId: clientId(said.messageId) });
  };
  for (const [at, message] of messages.entries()) {
    aside(at);
    const role = roleOf(message);
    const parts = role === undefined ? [] : partsOf(message["content"]);
    if (role === undefined || parts.length === 0) continue;
    const { id } = message;
    history.push({
      messageId: typeof id === "string" ? clientId(id) : artifactId(contextId, `message ${at}`),
      role,
      parts,
      contextId,
    });
  }
  aside(Number.MAX_SAFE_INTEGER);
  return history.slice(-limit);
}
