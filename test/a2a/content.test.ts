// Parts of A2A and contents of LangChain messages.
import { describe, expect, it } from "vitest";
import { contentOf, matchesMode, partsOf, takesFile, textOf } from "../../src/a2a/content.ts";

describe("parts to content", () => {
  it("joins texts by a newline", () => {
    const parts = [
      { kind: "text", text: "one" },
      { kind: "data", data: { a: 1 } },
      { kind: "text", text: "two" },
    ] as const;
    expect(textOf(parts)).toBe("one\ntwo");
    expect(contentOf(parts)).toBe("one\ntwo");
  });

  it.each([
    ["image/png", "image"],
    ["audio/mpeg", "audio"],
    ["video/mp4", "video"],
    ["application/pdf", "file"],
    ["text/plain", "file"],
  ])("makes a %s a block of type %s", (mediaType, type) => {
    expect(contentOf([{ kind: "file", mediaType, name: "a", bytes: "AA==" }])).toEqual([
      { type, mimeType: mediaType, data: "AA==", metadata: { filename: "a" } },
    ]);
    expect(contentOf([{ kind: "file", mediaType, uri: "https://example.com/a" }])).toEqual([
      { type, mimeType: mediaType, url: "https://example.com/a" },
    ]);
  });

  it("keeps the order of texts and files, and knows a file without a type", () => {
    const content = contentOf([
      { kind: "text", text: "before" },
      { kind: "file", uri: "https://example.com/a" },
      { kind: "text", text: "after" },
    ]);
    expect(content).toEqual([
      { type: "text", text: "before" },
      { type: "file", url: "https://example.com/a" },
      { type: "text", text: "after" },
    ]);
  });
});

describe("content to parts", () => {
  it.each<[string, unknown, unknown[]]>([
    ["a string", "hello", [{ kind: "text", text: "hello" }]],
    ["an empty string", "", []],
    ["no content", undefined, []],
    [
      "texts that follow each other",
      ["a", { type: "text", text: "b" }, { type: "text", text: "" }],
      [{ kind: "text", text: "ab" }],
    ],
    [
      "texts around a file",
      [
        { type: "text", text: "a" },
        { type: "image", mimeType: "image/png", data: "AA==" },
        { type: "text", text: "b" },
      ],
      [
        { kind: "text", text: "a" },
        { kind: "file", mediaType: "image/png", bytes: "AA==" },
        { kind: "text", text: "b" },
      ],
    ],
    [
      "an older block",
      [{ type: "file", source_type: "base64", mime_type: "text/csv", data: "AA==", metadata: { name: "a.csv" } }],
      [{ kind: "file", mediaType: "text/csv", name: "a.csv", bytes: "AA==" }],
    ],
    [
      "a block of Python",
      [{ type: "image", base64: "AA==", mime_type: "image/png" }],
      [{ kind: "file", mediaType: "image/png", bytes: "AA==" }],
    ],
    [
      "an OpenAI image",
      [{ type: "image_url", image_url: { url: "https://example.com/a" } }],
      [{ kind: "file", uri: "https://example.com/a" }],
    ],
    [
      "an image in its URL",
      [{ type: "image_url", image_url: "data:image/gif;base64,R0lG" }],
      [{ kind: "file", mediaType: "image/gif", bytes: "R0lG" }],
    ],
    [
      "a file by URL",
      [{ type: "file", url: "https://example.com/a", mimeType: "text/plain" }],
      [{ kind: "file", mediaType: "text/plain", uri: "https://example.com/a" }],
    ],
    [
      "data",
      [
        { type: "non_standard", value: { a: 1 } },
        { type: "json", json: [1] },
      ],
      [
        { kind: "data", data: { a: 1 } },
        { kind: "data", data: [1] },
      ],
    ],
    [
      "thoughts, calls and what is no block",
      [{ type: "reasoning", reasoning: "hm" }, { type: "tool_use" }, null, 7, { type: "image" }],
      [],
    ],
  ])("reads %s", (_, content, parts) => {
    expect(partsOf(content)).toEqual(parts);
  });
});

describe("media types", () => {
  it.each([
    ["image/png", true],
    ["Text/Plain; charset=utf-8", true],
    ["application/pdf", true],
    ["application/vnd.ms-excel", true],
    ["application/ld+json", true],
    ["application/x-made-up", false],
    ["model/obj", false],
    ["nonsense", false],
  ])("without own modes %s is taken: %s", (type, taken) => {
    expect(takesFile(type, undefined)).toBe(taken);
  });

  it("with own modes only those are taken", () => {
    expect(takesFile("image/png", ["text/plain", "image/*"])).toBe(true);
    expect(takesFile("application/x-made-up", ["application/x-made-up"])).toBe(true);
    expect(takesFile("application/pdf", ["image/*"])).toBe(false);
    expect(takesFile("anything/else", ["*/*"])).toBe(true);
  });

  it("a range is not the begin of another word", () => {
    expect(matchesMode("imagery/png", "image/*")).toBe(false);
    expect(matchesMode("image/png", " Image/PNG ")).toBe(true);
  });
});
