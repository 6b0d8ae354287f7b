import { describe, expect, it } from "vitest";
import { colorLevel, createOutput } from "../../src/cli/output.ts";
import { ago, bytes, oneLine, plain, shellQuote, table, toJson } from "../../src/cli/text.ts";
import { testProcess } from "./helpers/io.ts";

describe("colorLevel", () => {
  const terminal = { write: () => {}, isTTY: true, getColorDepth: () => 8 };
  const pipe = { write: () => {} };

  it.each<[string, typeof pipe, Record<string, string>, boolean | undefined, number]>([
    ["a terminal", terminal, {}, undefined, 2],
    ["a pipe", pipe, {}, undefined, 0],
    ["--no-color", terminal, {}, false, 0],
    ["--no-color against FORCE_COLOR", terminal, { FORCE_COLOR: "1" }, false, 0],
    ["NO_COLOR", terminal, { NO_COLOR: "1" }, undefined, 0],
    ["NO_COLOR=0: any value counts", terminal, { NO_COLOR: "0" }, undefined, 0],
    ["an empty NO_COLOR does not count", terminal, { NO_COLOR: "" }, undefined, 2],
    ["TERM=dumb", terminal, { TERM: "dumb" }, undefined, 0],
    ["FORCE_COLOR on a pipe", pipe, { FORCE_COLOR: "1" }, undefined, 1],
    ["FORCE_COLOR=3 on a pipe", pipe, { FORCE_COLOR: "3" }, undefined, 3],
    ["FORCE_COLOR without a value", pipe, { FORCE_COLOR: "" }, undefined, 1],
    ["FORCE_COLOR=0 on a terminal", terminal, { FORCE_COLOR: "0" }, undefined, 0],
    ["FORCE_COLOR against NO_COLOR", pipe, { FORCE_COLOR: "1", NO_COLOR: "1" }, undefined, 1],
    ["FORCE_COLOR against TERM=dumb", terminal, { FORCE_COLOR: "1", TERM: "dumb" }, undefined, 1],
  ])("%s", (_name, stream, env, flag, expected) => {
    expect(colorLevel(stream, env, flag)).toBe(expected);
  });

  it("is decided for each stream by itself", async () => {
    const { io } = testProcess({ tty: true });
    const output = await createOutput({ ...io, stdout: pipe }, {});
    expect([output.out.level, output.err.level]).toEqual([0, 1]);
  });
});

describe("createOutput", () => {
  it.each([
    [true, {}, false],
    [true, { json: true }, true],
    [false, {}, true],
  ])("terminal %s with %j gives JSON: %s", async (tty, flags, expected) => {
    expect((await createOutput(testProcess({ tty }).io, flags)).json).toBe(expected);
  });
});

describe("text for a terminal", () => {
  it("lets no control character of remote text through", () => {
    expect(plain("a\u001b[31mb\u0007c\u009bd\u007fe\u0000")).toBe("a␛[31mb␇c\\u009bd␡e␀");
    expect(plain("one\r\ntwo\tthree")).toBe("one\ntwo\tthree");
    expect(oneLine("  a\nb\t c ", 4)).toBe("a b…");
  });

  it("writes JSON without raw control characters and without changing it", () => {
    const value = { text: "\u001b]0;x\u0007 \u009b \u007f", lines: "a\nb" };
    expect(toJson(value)).toMatch(/^\P{Cc}*$/u);
    expect(JSON.parse(toJson(value))).toEqual(value);
    expect(JSON.parse(toJson(value, 2))).toEqual(value);
  });

  it("lays out a table", () => {
    expect(
      table(
        ["A", "LONG"],
        [
          ["1", "2"],
          ["three", ""],
        ],
      ),
    ).toEqual(["A      LONG", "1      2", "three"]);
  });

  it("says sizes and ages", () => {
    expect([0, 999, 1000, 1_449_000, 250_000_000].map(bytes)).toEqual(["0 B", "999 B", "1.0 kB", "1.4 MB", "250 MB"]);
    const now = Date.parse("2026-01-10T00:00:00Z");
    expect(
      ["2026-01-10T00:00:00Z", "2026-01-09T23:55:00Z", "2026-01-09T00:00:00Z", "2026-01-01T00:00:00Z", "soon"].map(
        (iso) => ago(iso, now),
      ),
    ).toEqual(["just now", "5 min ago", "24 h ago", "9 days ago", "soon"]);
  });

  it("quotes arguments for the shell", () => {
    expect(["abc-1", "two words", "it's", '{"a":1}', "<answer>", ""].map(shellQuote)).toEqual([
      "abc-1",
      "'two words'",
      "'it'\\''s'",
      `'{"a":1}'`,
      "'<answer>'",
      "''",
    ]);
  });
});
