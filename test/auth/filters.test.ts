// The filters of auth handlers as predicates. Whatever is not understood must let nobody through.
import { describe, expect, it } from "vitest";
import { compileFilter, FilterError } from "../../src/auth/filters.ts";
import type { Json } from "../../src/resources/json.ts";

const METADATA: Json = {
  owner: "ada",
  level: 3,
  public: false,
  nothing: null,
  tags: ["a", "b", { deep: [1] }],
  nested: { team: "red", ids: [1, 2] },
};

describe("lets through", () => {
  it.each<[Json]>([
    [{}],
    [{ owner: "ada" }],
    [{ owner: "ada", level: 3, public: false, nothing: null }],
    [{ owner: { $eq: "ada" } }],
    [{ nested: { team: "red", ids: [1, 2] } }],
    [{ nested: { $eq: { ids: [1, 2], team: "red" } } }],
    [{ tags: ["a", "b", { deep: [1] }] }],
    [{ tags: { $contains: "a" } }],
    [{ tags: { $contains: ["b", "a"] } }],
    [{ tags: { $contains: { deep: [1] } } }],
    [{ tags: { $contains: [] } }],
    [{ tags: { $contains: "a", $eq: ["a", "b", { deep: [1] }] } }],
    [{ $or: [{ owner: "bob" }, { owner: "ada" }] }],
    [{ $and: [{ owner: "ada" }, { $or: [{ level: 1 }, { level: { $eq: 3 } }] }] }],
    [{ $or: [{}, { owner: "bob" }] }],
    [{ owner: "ada", $or: [{ level: 3 }] }],
  ])("%j", (filter) => expect(compileFilter(filter)(METADATA)).toBe(true));
});

describe("does not let through", () => {
  it.each<[Json]>([
    [{ owner: "bob" }],
    [{ owner: "ADA" }],
    [{ owner: ["ada"] }],
    [{ level: "3" }],
    [{ level: { $eq: 4 } }],
    [{ missing: null }],
    [{ missing: undefined }],
    [{ owner: undefined }],
    [{ owner: { $eq: undefined } }],
    [{ missing: { $eq: undefined } }],
    [{ missing: { $contains: [] } }],
    [{ nested: { team: "red" } }],
    [{ nested: {} }],
    [{ tags: "a" }],
    [{ tags: { $contains: "c" } }],
    [{ tags: { $contains: ["a", "c"] } }],
    [{ tags: { $contains: undefined } }],
    // A text is no list of its letters.
    [{ owner: { $contains: "a" } }],
    [{ owner: { $contains: [] } }],
    [{ owner: "ada", level: 4 }],
    [{ $or: [{ owner: "bob" }, { level: 4 }] }],
    [{ $and: [{ owner: "ada" }, { level: 4 }] }],
    [{ owner: "bob", $or: [{}] }],
    [{ owner: "ada", $and: [{ owner: "bob" }] }],
    // What every object has is no metadata.
    [{ constructor: Object }],
    [{ toString: Object.prototype.toString }],
    [{ ["__proto__"]: Object.prototype }],
  ])("%j", (filter) => expect(compileFilter(filter)(METADATA)).toBe(false));
});

describe("refuses", () => {
  it.each<[Json, string]>([
    [{ $not: [{ owner: "ada" }] }, "a filter knows $or and $and, not $not"],
    [{ $eq: "ada" }, "a filter knows $or and $and, not $eq"],
    [{ owner: { $ne: "bob" } }, 'the filter for "owner" knows $eq and $contains, not $ne'],
    [{ owner: { $eq: "ada", team: "red" } }, 'the filter for "owner" knows $eq and $contains, not team'],
    [{ $or: [] }, "$or takes a list of filters"],
    [{ $and: [] }, "$and takes a list of filters"],
    [{ $or: { owner: "ada" } }, "$or takes a list of filters"],
    [{ $and: ["ada"] }, "$and takes a list of filters"],
    [{ $or: [{ $and: [{ owner: { $in: ["ada"] } }] }] }, 'the filter for "owner" knows $eq and $contains, not $in'],
  ])("%j", (filter, message) => {
    expect(() => compileFilter(filter)).toThrow(new FilterError(message));
  });
});
