import { describe, expect, test } from "vitest";
import { extract, parsePath } from "../../src/resources/thread-extract.ts";

const thread: Record<string, unknown> = {
  values: { messages: [{ content: "a" }, { content: "b" }], "with space": 1, nothing: null, deep: [[1, 2], [3]] },
  metadata: { owner: { name: "ada" } },
  config: {},
  interrupts: { "task-1": [{ value: { question: "Sure?" } }] },
};

describe("a path", () => {
  test.for([
    ["values", thread["values"]],
    ["values.messages[0].content", "a"],
    ["values.messages[-1].content", "b"],
    ["values.messages[-2]", { content: "a" }],
    ["values.messages[-3]", null],
    ["values.messages[7]", null],
    ["values.with space", 1],
    ["values.deep[0][-1]", 2],
    ["values.nothing", null],
    ["values.nothing.more", null],
    ["values.messages.length", null],
    ["values.constructor", null],
    ["values[0]", null],
    ["metadata.owner.name", "ada"],
    ["metadata.owner[0]", null],
    ["config.tags", null],
    ["interrupts.task-1[0].value.question", "Sure?"],
  ] as const)("%s", ([text, wanted]) => {
    const path = parsePath(text);
    expect(path).toBeDefined();
    expect(extract(path!, (root) => thread[root])).toEqual(wanted);
  });

  test.for([
    "",
    "status",
    "valuesx",
    ".values",
    "values.",
    "values..a",
    "values.a.",
    "values[]",
    "values[a]",
    "values[1",
    "values[1.5]",
    "values[+1]",
    "values]",
    "values a",
    "values.a[0]b",
    "thread_id",
  ])("%s is none", (text) => {
    expect(parsePath(text)).toBeUndefined();
  });
});

test("paths that are parsed one after the other do not disturb each other", () => {
  expect(parsePath("values.a.")).toBeUndefined();
  expect(parsePath("values.a.b")).toEqual({ root: "values", steps: ["a", "b"] });
});
