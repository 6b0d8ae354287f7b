// Two texts come of whatever is thrown.
import { expect, test } from "vitest";
import { describeError } from "../../src/runs/describe-error.ts";

const hostile = new Proxy(
  {},
  {
    get() {
      throw new Error("no");
    },
    ownKeys() {
      throw new Error("no");
    },
  },
);
const cycle: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
cycle["itself"] = cycle;

test.each<[string, unknown, string, string]>([
  ["an error", new TypeError("it broke"), "TypeError", "it broke"],
  ["a text", "it broke", "Error", "it broke"],
  ["undefined", undefined, "Error", "undefined"],
  ["null", null, "Error", "null"],
  ["a number", 5, "Error", "5"],
  ["a record without a message", { code: 1 }, "Error", '{"code":1}'],
  ["what has no prototype", Object.create(null), "Error", "{}"],
  ["names and messages of other kinds", { name: 7, message: { reason: "this" } }, "Error", '{"reason":"this"}'],
  ["a cycle", Object.assign([], { message: cycle }), "Error", "what was thrown cannot be shown"],
  ["what cannot be looked at", hostile, "Error", "what was thrown cannot be shown"],
])("%s", (_what, thrown, error, message) => {
  expect(describeError(thrown)).toEqual({ error, message });
});
