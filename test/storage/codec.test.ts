// The codec: what clients see of any value, what comes back from storage, and that a change in place is never missed.
import * as messages from "@langchain/core/messages";
import * as checkpoint from "@langchain/langgraph-checkpoint";
import { expect, test } from "vitest";
import { Codec, packList, unpackList, wireOf } from "../../src/storage/codec.ts";

const codec = (): Codec => new Codec({ messages: { ...messages }, checkpoint: { ...checkpoint } });
const { AIMessage, AIMessageChunk, HumanMessage, ToolMessage, SystemMessage } = messages;

test.each([
  new HumanMessage({ content: "hi", id: "1", name: "bob" }),
  new AIMessage({
    content: [{ type: "text", text: "x" }],
    id: "2",
    tool_calls: [{ name: "f", args: { a: 1 }, id: "c" }],
  }),
  new AIMessageChunk({ content: "part", id: "3" }),
  new ToolMessage({ content: "ok", tool_call_id: "c", id: "4", status: "error" }),
  new SystemMessage("be kind"),
])("a message comes back as its own class: %#", async (message) => {
  const stored = await codec().encode(message);
  const back = codec().revive(stored) as typeof message;
  expect(back.constructor).toBe(message.constructor);
  expect(back.content).toEqual(message.content);
  expect(back.toDict()).toEqual(message.toDict());
  expect(JSON.parse(wireOf(stored))).toMatchObject({ type: message.getType(), content: message.content });
});

test("a message changed in place is serialised again", () => {
  const one = codec();
  const message = new AIMessage({ content: "before", id: "1", additional_kwargs: { deep: { n: 1 } } });
  const before = one.wire([message]);
  expect(one.wire([message])).toBe(before);
  message.content = "after";
  expect(JSON.parse(one.wire([message]))[0].content).toBe("after");
  (message.additional_kwargs["deep"] as { n: number }).n = 2;
  expect(JSON.parse(one.wire([message]))[0].additional_kwargs.deep.n).toBe(2);
  message.tool_calls = [{ name: "late", args: {}, id: "t" }];
  expect(JSON.parse(one.wire([message]))[0].tool_calls[0].name).toBe("late");
});

test("a plain object changed in place is serialised again", async () => {
  const one = codec();
  const item: Record<string, unknown> = { a: [1, 2], b: { c: "x" } };
  const first = await one.encode(item);
  (item["a"] as number[]).push(3);
  const second = await one.encode(item);
  delete item["b"];
  const third = await one.encode(item);
  expect([first, second, third]).toEqual([
    'j{"a":[1,2],"b":{"c":"x"}}',
    'j{"a":[1,2,3],"b":{"c":"x"}}',
    'j{"a":[1,2,3]}',
  ]);
});

test("what JSON cannot say survives storage, as far as LangGraph's serializer keeps it", async () => {
  const value = {
    map: new Map([["k", new Set([1, 2])]]),
    bytes: new Uint8Array([1, 2, 3]),
    none: [undefined],
    re: /a+/gi,
  };
  const back = (await codec().revive(await codec().encode(value))) as typeof value;
  expect(back.map.get("k")).toEqual(new Set([1, 2]));
  expect(back.bytes).toEqual(new Uint8Array([1, 2, 3]));
  expect(back.re).toEqual(/a+/gi);
});

test("lists of messages and other values come back element by element", async () => {
  const value = [new HumanMessage({ content: "a", id: "1" }), { plain: true }, new Map([["x", 1]])];
  const stored = await codec().encode(value);
  const back = (await codec().revive(stored)) as unknown[];
  expect(back[0]).toBeInstanceOf(HumanMessage);
  expect(back[1]).toEqual({ plain: true });
  expect(back[2]).toEqual(new Map([["x", 1]]));
  expect(JSON.parse(wireOf(stored))).toEqual([expect.objectContaining({ type: "human" }), { plain: true }, { x: 1 }]);
});

test("clients get JSON of anything", () => {
  const cycle: Record<string, unknown> = { name: "loop" };
  cycle["self"] = cycle;
  const nested: unknown[] = [];
  nested.push(nested);
  class Thing {
    readonly a = 1;
  }
  const value = {
    date: new Date(0),
    big: 12n,
    map: new Map([[{ k: 1 }, 2]]),
    set: new Set(["s"]),
    bytes: new Uint8Array([255]),
    nan: Number.NaN,
    gone: undefined,
    fn: () => 1,
    error: new TypeError("bad"),
    thing: new Thing(),
    cycle,
    nested,
    deep: [[new HumanMessage({ content: "in", id: "i" })]],
  };
  expect(JSON.parse(codec().wire(value))).toEqual({
    date: "1970-01-01T00:00:00.000Z",
    big: "12",
    map: [[{ k: 1 }, 2]],
    set: ["s"],
    bytes: "/w==",
    nan: null,
    error: { error: "TypeError", message: "bad" },
    thing: { a: 1 },
    cycle: expect.objectContaining({ name: "loop" }),
    nested: expect.anything(),
    deep: [[expect.objectContaining({ type: "human", content: "in" })]],
  });
});

test("data that looks like a serialised object stays data", async () => {
  const value = {
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "messages", "HumanMessage"],
    kwargs: { content: "x" },
  };
  expect(codec().revive(await codec().encode(value))).toEqual(value);
  const proto = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') as object;
  expect(JSON.stringify(codec().revive(await codec().encode(proto)))).toBe(JSON.stringify(proto));
});

test("packed lists unpack, empty ones and empty parts included", () => {
  for (const parts of [[], ["j1"], ["j1", 'a{"x":"l;,"}'], ["a{}", "x2:{}p{}"]]) {
    const packed = packList(parts);
    if (packed.startsWith("l")) expect(unpackList(packed)).toEqual(parts);
    else expect(JSON.parse(wireOf(packed))).toEqual(parts.map((item) => JSON.parse(item.slice(1))));
  }
});
