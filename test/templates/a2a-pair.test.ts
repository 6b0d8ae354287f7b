// The a2a-pair template on a real server: two agents of one server talk over A2A, and a question of one reaches the person behind the other.
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { json, scripted } from "../cli/helpers/http.ts";
import { useServer } from "../e2e/support/server.ts";

const server = useServer({ cwd: join(import.meta.dirname, "..", "..", "templates", "a2a-pair"), persist: false });

interface State {
  readonly messages: { readonly content: string }[];
  readonly contextId: string;
  readonly __interrupt__?: { readonly value: unknown }[];
}

const say = async (thread: string, content: string): Promise<State> =>
  (await server.client.runs.wait(thread, "concierge", { input: { messages: [{ role: "user", content }] } })) as never;

it("the concierge answers with what the expert says, in one conversation", async () => {
  const { thread_id: thread } = await server.client.threads.create();
  const first = await say(thread, "how far is 5 km?");
  expect(first.messages.at(-1)!.content).toBe("The expert says: 5 km are 3.11 miles.");
  const second = await say(thread, "and 2 miles?");
  expect(second.messages.at(-1)!.content).toBe("The expert says: 2 miles are 3.22 km.");
  expect(second.contextId).toBe(first.contextId);
  const expert = await server.client.threads.getState<State>(first.contextId);
  expect(expert.values.messages).toHaveLength(4);
});

/** An agent elsewhere that answers with this task, and what it was sent. */
async function elsewhere(task: object): Promise<IncomingHttpHeaders[]> {
  const { url, received } = await scripted({
    "POST /a2a/other": (response) => json(response, { jsonrpc: "2.0", id: 1, result: { task } }),
  });
  vi.stubEnv("EXPERT_URL", `${url}/a2a/other`);
  vi.stubEnv("AGENT_SERVER_API_KEY", "of-this-server");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { thread_id: thread } = await server.client.threads.create();
  problem = undefined;
  await say(thread, "hello").catch((error: unknown) => (problem = String(error)));
  return received.map(({ headers }) => headers);
}
let problem: string | undefined;

it("the key of this server goes nowhere else, and another server has a key of its own", async () => {
  const done = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" }, artifacts: [] };
  const [without] = await elsewhere(done);
  expect(without).not.toHaveProperty("x-api-key");
  expect(problem).toBeUndefined();
  vi.stubEnv("EXPERT_API_KEY", "of-the-expert");
  expect(await elsewhere(done)).toMatchObject([{ "x-api-key": "of-the-expert" }]);
});

it.each([
  ["CANCELED", "The other agent's task was canceled: for now"],
  ["REJECTED", "The other agent rejected the task: for now"],
  ["FAILED", "The other agent failed: for now"],
])("a task that is %s is an error and no answer", async (state, expected) => {
  const status = { state: `TASK_STATE_${state}`, message: { parts: [{ text: "for now" }] } };
  await elsewhere({ id: "t", contextId: "c", status });
  expect(problem).toBe(`Error: Error: ${expected}`);
});

it("a question of the expert reaches the person, and the answer reaches the expert's task", async () => {
  const { thread_id: thread } = await server.client.threads.create();
  const asked = await say(thread, "how far is 10?");
  expect(asked.__interrupt__).toMatchObject([{ value: "The expert asks: Kilometres or miles?" }]);
  const state = (await server.client.runs.wait(thread, "concierge", {
    command: { resume: "miles" },
  })) as unknown as State;
  expect(state.messages.at(-1)!.content).toBe("The expert says: 10 miles are 16.09 km.");
});
