import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { formatDiagnostic } from "../../src/config/format.ts";
import { codeFrame } from "../../src/config/frame.ts";

describe("codeFrame", () => {
  const source = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join("\n");

  test("shows two lines around, with one width of gutter", () => {
    expect(codeFrame(source, 9, 6, { length: 1 })).toBe(
      ["   7 | line 7", "   8 | line 8", ">  9 | line 9", "     |      ^", "  10 | line 10", "  11 | line 11"].join(
        "\n",
      ),
    );
  });

  test("at the start and the end of the file", () => {
    expect(codeFrame(source, 1, 1, { length: 4 })).toBe("> 1 | line 1\n    | ^^^^\n  2 | line 2\n  3 | line 3");
    expect(codeFrame(source, 12, 8)).toBe("  10 | line 10\n  11 | line 11\n> 12 | line 12\n     |        ^");
  });

  test("of nothing", () => {
    expect(codeFrame("", 1, 1)).toBe("> 1 |\n    | ^");
  });

  test("keeps tabs before the caret, so that it stands right at any tab width", () => {
    expect(codeFrame('\t\t"a": x', 1, 8, { length: 1 })).toBe('> 1 | \t\t"a": x\n    | \t\t     ^');
  });

  test("never underlines past the line, nor leaves CRs in it", () => {
    expect(codeFrame("abc\r\ndef\r\n", 1, 2, { length: 50 })).toBe("> 1 | abc\n    |  ^^\n  2 | def\n  3 |");
  });

  test("holds a place outside the file at its edge", () => {
    expect(codeFrame("abc", 9, 9)).toBe("> 1 | abc\n    |    ^");
    expect(codeFrame("abc", 0, 0)).toBe("> 1 | abc\n    | ^");
  });

  test("cuts a long line around the place", () => {
    const line = `${"a".repeat(500)}HERE${"b".repeat(500)}`;
    const [shown = "", carets = ""] = codeFrame(`${line}`, 1, 501, { length: 4 }).split("\n");
    expect(shown.length).toBeLessThan(120);
    expect(shown).toMatch(/^> 1 \| …a+HEREb+…$/);
    expect(shown.slice(carets.indexOf("^"), carets.lastIndexOf("^") + 1)).toBe("HERE");
  });

  test("takes control characters out: they would reach the terminal", () => {
    expect(codeFrame("a\u001B[31mb", 1, 1)).not.toContain("\u001B");
  });
});

test("formatDiagnostic", () => {
  const location = { file: join("/work", "app", "langgraph.json"), line: 2, column: 3 };
  expect(
    formatDiagnostic({ severity: "error", message: "Broken.", location, frame: "> 1 |", hint: "Mend it." }, "/work"),
  ).toBe("app/langgraph.json:2:3 - error: Broken.\n\n> 1 |\n\nhint: Mend it.");
  expect(formatDiagnostic({ severity: "warning", message: "Odd.", location }, "/work/app/src")).toBe(
    "../langgraph.json:2:3 - warning: Odd.",
  );
  expect(formatDiagnostic({ severity: "warning", message: "Odd.", location }, "/a/b/c/d/e/f/g/h")).toBe(
    "/work/app/langgraph.json:2:3 - warning: Odd.",
  );
  expect(formatDiagnostic({ severity: "warning", message: "Odd.", hint: "Look." })).toBe("warning: Odd.\nhint: Look.");
});
