// What a message asks of a graph: the input of a new turn, or the answer to a question.
import { describe, expect, it } from "vitest";
import { checkModes, inputOf, modesOf, resumeOf, type InputShape } from "../../src/a2a/input.ts";
import type { Message, Part, SendRequest } from "../../src/a2a/model.ts";
import type { RpcFailure } from "../../src/json-rpc.ts";

const text = (said: string): Part => ({ kind: "text", text: said });
const data = (value: unknown): Part => ({ kind: "data", data: value });
const message = (...parts: Part[]): Message => ({ messageId: "m", role: "user", parts });
const chat: InputShape = { messages: true, keys: new Set(["messages", "tone"]) };
const form: InputShape = { messages: false, keys: new Set(["topic", "length"]) };
const unknown: InputShape = { messages: true, keys: undefined };
const failureOf = (work: () => unknown): RpcFailure => {
  try {
    work();
  } catch (error) {
    return error as RpcFailure;
  }
  throw new Error("it did not fail");
};

describe("the input of a turn", () => {
  it("is a human message with the id of the message", () => {
    expect(inputOf(message(text("a"), text("b")), chat)).toEqual({
      messages: [{ role: "user", id: "m", content: "a\nb" }],
    });
  });

  it("has the keys of data parts beside it, and the last of equal ones", () => {
    expect(inputOf(message(data({ tone: "dry", x: 1 }), text("a"), data({ tone: "wet" })), chat)).toEqual({
      tone: "wet",
      x: 1,
      messages: [{ role: "user", id: "m", content: "a" }],
    });
  });

  it("keeps messages that a data part has", () => {
    const before = { role: "system", content: "be kind" };
    expect(inputOf(message(data({ messages: [before] })), chat)).toEqual({ messages: [before] });
    expect(inputOf(message(data({ messages: [before] }), text("a")), chat)["messages"]).toEqual([
      before,
      { role: "user", id: "m", content: "a" },
    ]);
  });

  it("tells a graph with messages of data that none of its keys takes", () => {
    expect(inputOf(message(data({ other: 1 })), chat)).toEqual({
      messages: [{ role: "user", id: "m", content: '{"other":1}' }],
    });
    expect(inputOf(message(data([1, 2])), chat)).toEqual({ messages: [{ role: "user", id: "m", content: "[1,2]" }] });
    expect(inputOf(message(data({ other: 1 })), unknown)).toEqual({ other: 1 });
  });

  it("is the data alone for a graph without messages, which says why it takes no text", () => {
    expect(inputOf(message(data({ topic: "a" })), form)).toEqual({ topic: "a" });
    for (const part of [text("a"), { kind: "file", uri: "https://example.com" } as const]) {
      const { code, message: why } = failureOf(() => inputOf(message(part), form));
      expect(code).toBe(-32602);
      expect(why).toContain('need a graph whose input has the key "messages"');
      expect(why).toContain("Its input has the keys topic, length.");
    }
    expect(failureOf(() => inputOf(message(data("a")), form)).message).toContain("data parts must be objects");
  });
});

describe("the answer to a graph that waits", () => {
  const one = [{ id: "i1", value: "?" }];
  const two = [...one, { id: "i2", value: "?" }];

  it.each<[string, Part[], unknown]>([
    ["text", [text("yes")], "yes"],
    ["texts", [text("yes"), text("please")], "yes\nplease"],
    ["data", [data({ approved: true })], { approved: true }],
    ["data that is no object", [data([1])], [1]],
    ["data with a resume", [data({ resume: { a: 1 } })], { a: 1 }],
    ["data whose resume is false", [data({ resume: false })], false],
    ["data and text", [data({ approved: true }), text("because")], { approved: true, text: "because" }],
    ["answers by id", [data({ resume: [{ id: "i1", value: 7 }] })], { i1: 7 }],
  ])("is %s", (_, parts, expected) => {
    expect(resumeOf(message(...parts), one)).toEqual(expected);
  });

  it("names what it answers where there are several questions", () => {
    const answers = [
      { id: "i2", value: 2 },
      { id: "i1", value: 1 },
    ];
    expect(resumeOf(message(data({ resume: answers })), two)).toEqual({ i1: 1, i2: 2 });
    for (const parts of [[text("yes")], [data({ resume: true })]]) {
      const { code, message: why } = failureOf(() => resumeOf(message(...parts), two));
      expect(code).toBe(-32602);
      expect(why).toContain(
        'waits for 2 answers: send a data part with {"resume":[{"id":"i1","value":"…"},{"id":"i2","value":"…"}]}',
      );
    }
    const stray = failureOf(() => resumeOf(message(data({ resume: [{ id: "i9", value: 1 }] })), two));
    expect(stray.message).toContain('"i9" is none of what the task waits for: i1, i2');
  });
});

describe("modes", () => {
  const send = (parts: Part[], acceptedOutputModes?: string[]): SendRequest => ({
    message: message(...parts),
    blocking: true,
    acceptedOutputModes,
    finished: "refuse",
  });

  it("come from the assistant's metadata, as far as they are lists of words", () => {
    expect(modesOf({ a2a: { input_modes: ["image/*", 7], output_modes: [] } })).toEqual({
      input: ["image/*"],
      output: undefined,
    });
    expect(modesOf({ a2a: "x" })).toEqual({ input: undefined, output: undefined });
    expect(modesOf({})).toEqual({ input: undefined, output: undefined });
  });

  it("refuse files of other types, and clients that want other answers", () => {
    const none = modesOf({});
    const image: Part = { kind: "file", mediaType: "image/png", bytes: "AA==" };
    expect(() =>
      checkModes(send([image, text("a"), { kind: "file", uri: "https://example.com" }]), none),
    ).not.toThrow();
    expect(failureOf(() => checkModes(send([{ ...image, mediaType: "application/x-odd" }]), none)).code).toBe(-32005);
    expect(failureOf(() => checkModes(send([image]), modesOf({ a2a: { input_modes: ["text/plain"] } }))).code).toBe(
      -32005,
    );
    for (const accepted of [[], ["text"], ["text/*"], ["*/*"], ["video/mp4", "application/json"]]) {
      expect(() => checkModes(send([text("a")], accepted), none)).not.toThrow();
    }
    expect(failureOf(() => checkModes(send([text("a")], ["video/mp4"]), none)).code).toBe(-32005);
  });
});
