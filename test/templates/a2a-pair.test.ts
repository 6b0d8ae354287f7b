// The a2a-pair template on a real server: two agents of one server talk over A2A, and a question of one reaches the person behind the other.
import { join } from "node:path";
import { expect, it } from "vitest";
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

it("a question of the expert reaches the person, and the answer reaches the expert's task", async () => {
  const { thread_id: thread } = await server.client.threads.create();
  const asked = await say(thread, "how far is 10?");
  expect(asked.__interrupt__).toMatchObject([{ value: "The expert asks: Kilometres or miles?" }]);
  const state = (await server.client.runs.wait(thread, "concierge", {
    command: { resume: "miles" },
  })) as unknown as State;
  expect(state.messages.at(-1)!.content).toBe("The expert says: 10 miles are 16.09 km.");
});
