// The agent template's graph by itself: with nothing but langgraph and core, as the demo project of `dev` loads it.
import { type AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { Command, InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, it, vi } from "vitest";
import { graph } from "../../templates/agent/src/agent.ts";

function agent() {
  const compiled = Object.assign(Object.create(graph) as typeof graph, {
    checkpointer: new MemorySaver(),
    store: new InMemoryStore(),
  });
  const config = (thread: string, user = "ada") => ({ configurable: { thread_id: thread, user_id: user } });
  const say = async (text: string, thread: string, user?: string) => {
    const state = await compiled.invoke({ messages: [new HumanMessage(text)] }, config(thread, user));
    return state.messages.at(-1)?.text;
  };
  return { compiled, config, say };
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("agent template", () => {
  it("recalls on one thread what it was told on another, for the same user only", async () => {
    const { say } = agent();
    expect(await say("Remember that I like green tea", "one")).toBe("Remembered: I like green tea");
    expect(await say("what do you remember?", "two")).toContain("- I like green tea");
    expect(await say("what do you remember?", "three", "bob")).toContain("Nothing yet.");
  });

  it.each([
    ["yes", /^Sent to ada@example.com: see you at ten/],
    [true, /^Sent to/],
    ["no", /^Not done: the person answered "no"/],
    [{ approved: false }, /^Not done/],
  ])("waits before it sends; the answer %j decides", async (answer, expected) => {
    const { compiled, config, say } = agent();
    await say("email ada@example.com: see you at ten", "one");
    const waiting = await compiled.getState(config("one"));
    expect(waiting.next).toEqual(["approve"]);
    expect(waiting.tasks[0]?.interrupts[0]?.value).toMatchObject({
      tool: "send_email",
      arguments: { to: "ada@example.com", text: "see you at ten" },
    });

    const state = await compiled.invoke(new Command({ resume: answer }), config("one"));

    expect(state.messages.at(-1)?.text).toMatch(expected);
  });

  it("streams its answer word by word", async () => {
    const { compiled, config } = agent();
    const tokens: string[] = [];
    const input = { messages: [new HumanMessage("hello")] };
    for await (const [chunk] of await compiled.stream(input, { ...config("one"), streamMode: "messages" })) {
      tokens.push((chunk as AIMessageChunk).text);
    }
    expect(tokens.length).toBeGreaterThan(5);
    expect(tokens.join("")).toMatch(/^You said: hello\nI am the built-in model/);
  });

  it("names the packages that a real model needs", async () => {
    vi.stubEnv("MODEL", "mistral:small");
    await expect(agent().say("hello", "one")).rejects.toThrow(
      "MODEL=mistral:small needs packages that are not installed. Run: npm install langchain @langchain/mistralai",
    );
  });

  it("says how to write MODEL", async () => {
    vi.stubEnv("MODEL", "gpt-4.1-mini");
    await expect(agent().say("hello", "one")).rejects.toThrow("Write it as provider:model");
  });
});
