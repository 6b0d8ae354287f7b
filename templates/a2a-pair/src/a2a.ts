// The part of A2A that one agent needs to talk to another: send a message, and see whether the other one has answered or asks back.
// It is one HTTP request, and it works with every A2A server; @a2a-js/sdk has the rest of the protocol.
import { randomUUID } from "node:crypto";

interface Part {
  readonly text?: string;
}

interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string; readonly message?: { readonly parts: readonly Part[] } };
  readonly artifacts?: readonly { readonly parts: readonly Part[] }[];
}

/** Another agent. */
export interface Agent {
  /** Its A2A endpoint. */
  readonly url: string;
  /** What its server wants as an API key, if it wants one. */
  readonly key: string | undefined;
}

/** What came back. `taskId` is set when the other agent waits for an answer to `text`. */
export interface Reply {
  readonly text: string;
  readonly contextId: string;
  readonly taskId: string | undefined;
}

/** How a task ends without an answer. */
const PROBLEMS: Readonly<Record<string, string>> = {
  TASK_STATE_FAILED: "The other agent failed",
  TASK_STATE_CANCELED: "The other agent's task was canceled",
  TASK_STATE_REJECTED: "The other agent rejected the task",
};

/**
 * Sends a message to an agent.
 * @param contextId the conversation to go on with.
 * @param taskId the task that asked.
 */
export async function send({ url, key }: Agent, text: string, contextId?: string, taskId?: string): Promise<Reply> {
  const message = { role: "ROLE_USER", parts: [{ text }], messageId: randomUUID(), contextId, taskId };
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", ...(key ? { "x-api-key": key } : {}) },
    // A redirect would take the key elsewhere.
    redirect: "error",
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
  });
  const { result, error } = (await response.json()) as { result?: { task: Task }; error?: { message: string } };
  if (result === undefined) throw new Error(`The other agent refused: ${error?.message ?? response.status}`);
  const { id, contextId: context, status, artifacts = [] } = result.task;
  const said = textOf(status.message?.parts);
  const problem = PROBLEMS[status.state];
  if (problem !== undefined) throw new Error(`${problem}: ${said || "it does not say why"}`);
  const asks = status.state === "TASK_STATE_INPUT_REQUIRED";
  const answer = asks ? said : artifacts.map(({ parts }) => textOf(parts)).join("\n");
  return { text: answer, contextId: context, taskId: asks ? id : undefined };
}

const textOf = (parts: readonly Part[] = []): string => parts.map(({ text }) => text ?? "").join("");
