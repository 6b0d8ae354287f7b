// API keys as such; that every request needs one is tested over HTTP.
import { inspect } from "node:util";
import { expect, it } from "vitest";
import { ApiKeys, keysOfFile, keysOfVariable, newApiKey, shownKeys } from "../../src/auth/api-keys.ts";

it("knows its keys and no others", () => {
  const keys = new ApiKeys(["one", "two", "two"]);
  expect(["one", "two", "three", "", "on", "onee", "One"].map((key) => keys.has(key))).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
  expect(new ApiKeys([]).has("")).toBe(false);
});

it("holds none of them", () => {
  const key = newApiKey();
  expect(inspect(new ApiKeys([key]), { depth: 9, showHidden: true })).not.toContain(key);
});

it("makes keys that are random and may stand in a header, a variable and a file", () => {
  const keys = Array.from({ length: 100 }, newApiKey);
  expect(new Set(keys).size).toBe(100);
  for (const key of keys) {
    expect(keysOfVariable(key)).toEqual([key]);
    expect(keysOfFile(key)).toEqual([key]);
    expect(new ApiKeys([key]).has(key)).toBe(true);
  }
});

it("reads variables and files", () => {
  expect(keysOfVariable(undefined)).toEqual([]);
  expect(keysOfVariable(" , ,")).toEqual([]);
  expect(keysOfVariable("one, two,,three ")).toEqual(["one", "two", "three"]);
  expect(keysOfFile("# comment\n\n one \r\ntwo#2\n  # another\n")).toEqual(["one", "two#2"]);
});

it("finds what a request shows", () => {
  expect(shownKeys(new Headers())).toEqual([]);
  expect(shownKeys(new Headers({ "X-API-Key": " one ", authorization: "BEARER two" }))).toEqual(["one", "two"]);
  expect(shownKeys(new Headers({ authorization: "Basic one" }))).toEqual([]);
  expect(shownKeys(new Headers({ authorization: "Bearer" }))).toEqual([]);
});
