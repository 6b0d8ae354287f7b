// Message chunks of LangChain as message events of protocol v2: what the graphs of the end-to-end tests do not say.
import { AIMessage, AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import type { Chunk } from "../../src/runs/event-pipeline.ts";
import { MessageEvents } from "../../src/runs/message-events.ts";

const NS = ["node:task-1"];
const META = { langgraph_node: "node", run_id: "the run" };
const message = (value: unknown): Chunk => [NS, "messages", [value, META]];
const dataOf = (chunks: Iterable<Chunk>): unknown[] =>
  [...chunks].map(([, mode, payload]) => (mode === "messages" ? (payload as [unknown])[0] : mode));

describe("chunks", () => {
  test("of reasoning, text and unknown blocks become blocks in their order", () => {
    const events = new MessageEvents();
    const parts = [
      [{ type: "reasoning", reasoning: "let " }],
      [{ type: "thinking", thinking: "me" }],
      [{ type: "text", text: "yes" }],
      [{ type: "image", url: "x", index: 7 }],
      [{ type: "image", size: 1, index: 7 }],
    ];
    const seen = parts.flatMap((content) =>
      dataOf(events.chunks(message(new AIMessageChunk({ id: "m", content: content as never })))),
    );
    expect(seen).toEqual([
      { event: "message-start", id: "m" },
      { event: "content-block-start", index: 0, content: { type: "reasoning", reasoning: "" } },
      { event: "content-block-delta", index: 0, delta: { type: "reasoning-delta", reasoning: "let " } },
      { event: "content-block-delta", index: 0, delta: { type: "reasoning-delta", reasoning: "me" } },
      { event: "content-block-start", index: 1, content: { type: "text", text: "" } },
      { event: "content-block-delta", index: 1, delta: { type: "text-delta", text: "yes" } },
      { event: "content-block-start", index: 2, content: { type: "image", url: "x", index: 7 } },
      {
        event: "content-block-delta",
        index: 2,
        delta: { type: "block-delta", fields: { type: "image", size: 1, index: 7 } },
      },
    ]);
    expect(dataOf(events.rest())).toEqual([
      { event: "content-block-finish", index: 0, content: { type: "reasoning", reasoning: "let me" } },
      { event: "content-block-finish", index: 1, content: { type: "text", text: "yes" } },
      { event: "content-block-finish", index: 2, content: { type: "image", url: "x", size: 1, index: 7 } },
      { event: "message-finish" },
    ]);
  });

  test("of a tool call grow, and what is no JSON in the end is called that", () => {
    const events = new MessageEvents();
    const call = (more: object) =>
      new AIMessageChunk({ id: "m", content: "", tool_call_chunks: [{ type: "tool_call_chunk", index: 0, ...more }] });
    const seen = [call({ id: "c", name: "add", args: '{"a"' }), call({ args: ":" })].flatMap((chunk) =>
      dataOf(events.chunks(message(chunk))),
    );
    expect(seen.at(-1)).toEqual({
      event: "content-block-delta",
      index: 0,
      delta: { type: "block-delta", fields: { type: "tool_call_chunk", id: "c", name: "add", args: '{"a":' } },
    });
    expect(dataOf(events.rest())[0]).toMatchObject({
      event: "content-block-finish",
      content: { type: "invalid_tool_call", id: "c", name: "add", args: '{"a":', error: expect.any(String) },
    });
  });

  test("of two models in one node are kept apart, and end with the node's task", () => {
    const events = new MessageEvents();
    const seen: Chunk[] = [];
    for (const [id, content] of [
      ["a", "1"],
      ["b", "x"],
      ["a", "2"],
    ] as const)
      seen.push(...events.chunks(message(new AIMessageChunk({ id, content }))));
    expect(dataOf(events.chunks([["other:task-2"], "tasks", { id: "task-3", result: {} }]))).toEqual(["tasks"]);
    expect(dataOf(events.chunks([[], "tasks", { id: "task-1", name: "node", input: {} }]))).toEqual(["tasks"]);
    const end = [...events.chunks([[], "tasks", { id: "task-1", name: "node", result: {} }])];
    expect(dataOf(end)).toEqual([
      { event: "content-block-finish", index: 0, content: { type: "text", text: "12" } },
      { event: "message-finish" },
      { event: "content-block-finish", index: 0, content: { type: "text", text: "x" } },
      { event: "message-finish" },
      "tasks",
    ]);
    // The official client tells messages of one node apart by this.
    const runs = [...seen, ...end].flatMap(([, mode, payload]) =>
      mode === "messages" ? [(payload as [unknown, { run_id: string }])[1].run_id] : [],
    );
    expect(new Set(runs)).toEqual(new Set(["a", "b"]));
    expect(dataOf(events.rest())).toEqual([]);
  });
});

describe("whole messages", () => {
  test("come with their role, blocks and tool calls", () => {
    const events = new MessageEvents();
    expect(dataOf(events.chunks(message(new HumanMessage({ id: "h", content: "hi" }))))).toEqual([
      { event: "message-start", id: "h", role: "human" },
      { event: "content-block-start", index: 0, content: { type: "text", text: "" } },
      { event: "content-block-delta", index: 0, delta: { type: "text-delta", text: "hi" } },
      { event: "content-block-finish", index: 0, content: { type: "text", text: "hi" } },
      expect.objectContaining({ event: "message-finish" }),
    ]);
    const calling = new AIMessage({ id: "c", content: "", tool_calls: [{ id: "t", name: "add", args: { a: 1 } }] });
    expect(dataOf(events.chunks(message(calling)))).toContainEqual({
      event: "content-block-finish",
      index: 0,
      content: { type: "tool_call", id: "t", name: "add", args: { a: 1 } },
    });
  });

  test("that came in chunks before are not told twice", () => {
    const events = new MessageEvents();
    dataOf(events.chunks(message(new AIMessageChunk({ id: "m", content: "yes" }))));
    expect(dataOf(events.chunks(message(new AIMessage({ id: "m", content: "yes" }))))).toEqual([
      { event: "content-block-finish", index: 0, content: { type: "text", text: "yes" } },
      { event: "message-finish" },
    ]);
  });
});
