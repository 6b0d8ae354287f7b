// The chunks of an answer, from the tokens of a run.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ResponseChunks, type Chunk } from "../../src/a2a/deltas.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function start(): {
  chunks: ResponseChunks;
  sent: Chunk[];
  tokens: (id: string, ...words: string[]) => void;
  frame: (message: unknown) => void;
} {
  const sent: Chunk[] = [];
  const chunks = new ResponseChunks((chunk) => sent.push(chunk));
  const frame = (message: unknown): void =>
    chunks.frames(`event: messages\ndata: ${JSON.stringify([message, {}])}\nid: 1\n\n`);
  return {
    chunks,
    sent,
    frame,
    tokens: (id, ...words) => words.forEach((content) => frame({ type: "AIMessageChunk", id, content })),
  };
}
const answer = (text: string) => ({ artifactId: "a", name: "Answer", parts: [{ kind: "text", text }] as const });
const chunk = (text: string, append: boolean, lastChunk = false): Chunk => ({ text, append, lastChunk });

describe("an answer", () => {
  it("comes in pieces of which the last one says so", () => {
    const { chunks, sent, tokens } = start();
    tokens("m", "a", "b", "c");
    expect(sent).toEqual([chunk("a", false), chunk("b", true)]);
    expect(chunks.finish(answer("abc"))).toBe(true);
    expect(sent).toEqual([chunk("a", false), chunk("b", true), chunk("c", true, true)]);
    expect(chunks.sent).toBe("abc");
  });

  it("does not keep a piece back for long", () => {
    const { chunks, sent, tokens } = start();
    tokens("m", "a");
    expect(sent).toEqual([]);
    expect(chunks.sent).toBeUndefined();
    vi.advanceTimersByTime(100);
    expect(sent).toEqual([chunk("a", false)]);
    // Then the end is a piece without text.
    expect(chunks.finish(answer("a"))).toBe(true);
    expect(sent.at(-1)).toEqual(chunk("", true, true));
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is replaced by the next message", () => {
    const { chunks, sent, tokens } = start();
    tokens("thought", "let me ", "think");
    tokens("answer", "yes");
    expect(chunks.finish(answer("yes"))).toBe(true);
    expect(sent).toEqual([chunk("let me ", false), chunk("think", true), chunk("yes", false, true)]);
  });

  it("is the message that began last, when two are written at the same time", () => {
    const { chunks, sent, tokens } = start();
    tokens("one", "a");
    tokens("two", "x");
    tokens("one", "b");
    tokens("two", "y");
    expect(chunks.finish(answer("xy"))).toBe(true);
    expect(sent).toEqual([chunk("a", false), chunk("x", false), chunk("y", true, true)]);
  });

  it("is sent as a whole when it is something else than what was written", () => {
    const { chunks, sent, tokens } = start();
    tokens("m", "a", "b");
    expect(chunks.finish(answer("other"))).toBe(false);
    expect(sent).toEqual([chunk("a", false)]);
    vi.advanceTimersByTime(1000);
    expect(sent).toHaveLength(1);
  });

  it("is sent as a whole when nothing was written, or it is more than text", () => {
    expect(start().chunks.finish(answer("a"))).toBe(false);
    const { chunks, tokens } = start();
    tokens("m", "a");
    expect(
      chunks.finish({
        ...answer("a"),
        parts: [
          { kind: "text", text: "a" },
          { kind: "data", data: 1 },
        ],
      }),
    ).toBe(false);
  });

  it("needs nothing when there is none", () => {
    const { chunks, sent } = start();
    expect(chunks.finish(undefined)).toBe(true);
    expect(sent).toEqual([]);
  });

  it("forgets what it keeps back when the run is left", () => {
    const { chunks, sent, tokens } = start();
    tokens("m", "a");
    chunks.drop();
    vi.advanceTimersByTime(1000);
    expect(sent).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("frames", () => {
  it("reads whole messages, content blocks and several frames at once", () => {
    const { chunks, sent, frame } = start();
    frame({
      type: "ai",
      id: "m",
      content: [
        { type: "text", text: "a" },
        { type: "reasoning", reasoning: "hm" },
      ],
    });
    const more = ["b", "c"].map(
      (content) => `event: messages|node:1\ndata: ${JSON.stringify([{ type: "ai", id: "m", content }, {}])}\n\n`,
    );
    chunks.frames(more.join(""));
    chunks.finish(answer("abc"));
    expect(sent.map(({ text }) => text)).toEqual(["a", "b", "c"]);
  });

  it("passes over what is no text of the model", () => {
    const { chunks, sent, frame } = start();
    frame({ type: "human", id: "h", content: "hello" });
    frame({ type: "tool", id: "t", content: "result" });
    frame({ type: "AIMessageChunk", id: "m", content: "" });
    frame(null);
    chunks.frames("event: values\ndata: {}\n\n: ping\n\n");
    vi.advanceTimersByTime(1000);
    expect(sent).toEqual([]);
  });
});
