import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parseConfigurable, readPayload } from "../../src/cli/invoke/payload.ts";
import { testProcess } from "./helpers/io.ts";

const read = (message: string | undefined, flags: Parameters<typeof readPayload>[1] = {}, options = {}) =>
  readPayload(message, flags, testProcess(options).io);

describe("readPayload", () => {
  it("makes a user message of text, also from stdin", async () => {
    const expected = { input: { messages: [{ role: "user", content: "hi" }] } };
    expect(await read("hi")).toEqual(expected);
    expect(await read("-", {}, { stdin: "hi\n" })).toEqual(expected);
  });

  it("takes --input as JSON, from a file and from stdin", async () => {
    const folder = await mkdtemp(join(tmpdir(), "agent-server-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, "in.json"), '{"topic":"cats"}');
    expect(await read(undefined, { input: "[1]" })).toEqual({ input: [1] });
    expect(await read(undefined, { input: "null" })).toEqual({ input: null });
    expect(await read(undefined, { input: "@in.json" }, { cwd: folder })).toEqual({ input: { topic: "cats" } });
    expect(await read(undefined, { input: "-" }, { stdin: ' {"a":"ü"}\n' })).toEqual({ input: { a: "ü" } });
    await expect(read(undefined, { input: "@none.json" }, { cwd: folder })).rejects.toThrow(
      /Cannot read .*none\.json: ENOENT/,
    );
  });

  it.each<[string, unknown]>([
    ["yes", "yes"],
    ["see you at ten", "see you at ten"],
    ["true", true],
    ["42", 42],
    ['{"ok":true}', { ok: true }],
    ['"quoted"', "quoted"],
  ])("takes --resume %s as %j", async (text, value) => {
    expect(await read(undefined, { resume: text, thread: "t" })).toEqual({ command: { resume: value } });
  });

  it("refuses broken JSON instead of sending it as an answer", async () => {
    await expect(read(undefined, { resume: '{"ok":tru}', thread: "t" })).rejects.toThrow(/--resume is not valid JSON/);
  });
});

describe("parseConfigurable", () => {
  it("keeps text as text and reads := as JSON", () => {
    expect(parseConfigurable(["user_id=123", "url=http://x?a=b", "t:=0.2", "empty=", 'list:=["a"]'])).toEqual({
      user_id: "123",
      url: "http://x?a=b",
      t: 0.2,
      empty: "",
      list: ["a"],
    });
    expect(() => parseConfigurable(["=x"])).toThrow("--configurable =x has no key.");
    expect(() => parseConfigurable(["x"])).toThrow("--configurable x has no value.");
    expect(() => parseConfigurable(["t:=x"])).toThrow(/--configurable t is not valid JSON/);
  });
});
