// `config.configurable` and `context` say the same: what comes of what a caller gives.
import { describe, expect, test } from "vitest";
import { ApiError } from "../../src/errors.ts";
import { mirrored, overridden } from "../../src/resources/assistant-settings.ts";

const A = { model: "a" };
const B = { model: "b" };

describe("a new assistant", () => {
  test.each([
    ["nothing", {}, { config: {}, context: {} }],
    ["a context", { context: A }, { config: { configurable: A }, context: A }],
    ["a configurable", { config: { configurable: A } }, { config: { configurable: A }, context: A }],
    [
      "the same in both",
      { config: { configurable: A }, context: { ...A } },
      { config: { configurable: A }, context: A },
    ],
    [
      "an empty configurable and a context",
      { config: { configurable: {}, tags: ["t"] }, context: A },
      { config: { configurable: A, tags: ["t"] }, context: A },
    ],
    ["an empty context", { config: { configurable: A }, context: {} }, { config: { configurable: A }, context: A }],
    ["only other keys", { config: { tags: ["t"] } }, { config: { tags: ["t"] }, context: {} }],
    ["an empty configurable", { config: { configurable: {} } }, { config: { configurable: {} }, context: {} }],
  ])("with %s", (_, given, settings) => {
    expect(mirrored(given)).toEqual(settings);
  });

  test("with something different in both is refused", () => {
    const make = () => mirrored({ config: { configurable: A }, context: B });
    expect(make).toThrow(ApiError);
    expect(make).toThrow(/two names of one thing/);
  });
});

describe("a changed assistant", () => {
  const before = { config: { configurable: A, tags: ["t"] }, context: A };

  test.each([
    ["nothing", {}, before],
    ["a context", { context: B }, { config: { configurable: B, tags: ["t"] }, context: B }],
    ["a configurable", { config: { configurable: B } }, { config: { configurable: B }, context: B }],
    ["other keys", { config: { tags: ["u"] } }, { config: { configurable: A, tags: ["u"] }, context: A }],
    ["an empty context", { context: {} }, { config: { tags: ["t"] }, context: {} }],
    ["an empty configurable", { config: { configurable: {} } }, { config: { configurable: {} }, context: {} }],
    [
      "a new configurable beside the context as it was",
      { config: { configurable: B }, context: A },
      { config: { configurable: B }, context: B },
    ],
    [
      "a new context beside the configurable as it was",
      { config: { configurable: A }, context: B },
      { config: { configurable: B }, context: B },
    ],
  ])("with %s", (_, given, settings) => {
    expect(mirrored(given, before)).toEqual(settings);
  });

  test("with something new and different in both is refused", () => {
    const given = { config: { configurable: B }, context: { model: "c" } };
    expect(() => mirrored(given, before)).toThrow(/two names of one thing/);
  });
});

test("a run overrides what the assistant has, and nothing else is carried over", () => {
  expect(overridden(A, { model: "b", more: 1 })).toEqual(B);
  expect(overridden(A, { more: 1 }) ?? {}).toEqual({});
  expect(overridden({}, { model: "b" }) ?? {}).toEqual({});
  expect(overridden(A, "text") ?? {}).toEqual({});
  expect(overridden(A, undefined) ?? {}).toEqual({});
});
