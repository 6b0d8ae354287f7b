import { describe, expect, test } from "vitest";
import { scanJson } from "../../src/config/json.ts";
import { parseConfig } from "../../src/config/parse.ts";
import type { ConfigSource, Span } from "../../src/config/source.ts";

async function parse(file: string, text: string): Promise<ConfigSource> {
  const { source, diagnostics } = await parseConfig(file, text);
  expect(diagnostics).toEqual([]);
  if (!source) throw new Error("no source");
  return source;
}

/** The text without comments and trailing commas. */
function plain(text: string, extras: readonly Span[]): string {
  let bare = text;
  for (const { offset, length } of extras)
    bare = bare.slice(0, offset) + " ".repeat(length) + bare.slice(offset + length);
  return bare;
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("locate", () => {
  const json = '{\n  "graphs": {\n    "a": { "path": "x" }\n  },\n\t"list": [1, [2, 3]]\n}';
  const yaml = "graphs:\n  a:\n    path: x\nlist: [1, [2, 3]]\nblock:\n  - one\n  - two\nempty:\n1: one\n";

  test.for([
    [[], "value", 1, 1],
    [["graphs"], "key", 2, 3],
    [["graphs"], "value", 2, 13],
    [["graphs", "a", "path"], "key", 3, 12],
    [["graphs", "a", "path"], "value", 3, 20],
    [["list", 1, 0], "value", 5, 15],
    [["list", 9], "value", 5, 10],
    [["nothing", "here"], "key", 1, 1],
    [["graphs", "b"], "value", 2, 13],
  ] as const)("JSON %j %s", async ([path, target, line, column]) => {
    const source = await parse("/x/langgraph.json", json);
    expect(source.locate(path, target)).toEqual({ file: "/x/langgraph.json", line, column });
  });

  test.for([
    [["graphs"], "key", 1, 1],
    [["graphs"], "value", 1, 1],
    [["graphs", "a", "path"], "key", 3, 5],
    [["graphs", "a", "path"], "value", 3, 11],
    [["list"], "value", 4, 7],
    [["list", 1, 1], "value", 4, 15],
    [["block", 1], "value", 7, 5],
    [["empty"], "value", 8, 1],
    [["1"], "value", 9, 4],
    [["graphs", "b"], "value", 1, 1],
  ] as const)("YAML %j %s", async ([path, target, line, column]) => {
    const source = await parse("/x/langgraph.yaml", yaml);
    expect(source.locate(path, target)).toEqual({ file: "/x/langgraph.yaml", line, column });
  });
});

test("JSON never goes through YAML", async () => {
  // The YAML library reads all of these without an error.
  for (const text of ['{"a": 1\n "b": 2}', '{"a": 1 # x\n}', "{a: 1}", "{'a': 1}", "a: 1"]) {
    const { diagnostics } = await parseConfig("/x/langgraph.json", text);
    expect(diagnostics, text).toHaveLength(1);
  }
});

test.for(["/x/langgraph.json", "/x/langgraph.jsonc"])("%s may have comments and trailing commas", async (file) => {
  const text =
    '\uFEFF// "graphs": {}\r\n{\r\n\t/* two\r\n lines */ "a": /**/ [1, 2,], // http://x\r\n\t"b": { "c": "// no comment", }, }\r\n// end';
  const source = await parse(file, text);
  expect(source.value).toEqual({ a: [1, 2], b: { c: "// no comment" } });
  expect(source.locate(["b", "c"], "value")).toEqual({ file, line: 5, column: 14 });
  expect(source.extras).toHaveLength(8);
});

test("what is wrong does not hide what is right", () => {
  const { root, problems } = scanJson('{ a: [1 2, , \'x\'], "b" = True; "__proto__": { "c": "C:\\d" }, "n": NaN }');
  expect(JSON.stringify(root?.value)).toBe('{"a":[1,2,"x"],"b":true,"__proto__":{"c":"C:\\\\d"}}');
  expect(problems).toHaveLength(9);
});

test("a text with too many mistakes is not read to its end", () => {
  const { root, problems } = scanJson(`{${"a: b, ".repeat(100)}}`);
  expect(root).toBeNull();
  expect(problems).toHaveLength(10);
});

test("a bomb of aliases is refused", async () => {
  const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(",")}]`);
  const { source, diagnostics } = await parseConfig("/x/langgraph.yaml", `l0: &l0 [x]\n${levels.join("\n")}\n`);
  expect(source).toBeNull();
  expect(diagnostics.map(({ severity, message }) => [severity, message])).toEqual([
    ["error", "Excessive alias count indicates a resource exhaustion attack."],
  ]);
});

test("the scanner and JSON.parse agree on what is JSON", () => {
  const seed = '{"a": [1, -2.5e+3, "x\\u00e9\\n", true, false, null], "b": {"c": {}, "d": []}, "é": " "}\n';
  const alphabet = [..."{}[]:,\"\\/'#0123456789.eE+-truefalsn \t\r\n=;`\u00A0\u2028\u201C\u0001"];
  // A small generator with a fixed seed: the same mutations in every run.
  let state = 42;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  let broken = 0;
  const count = 20_000;
  for (let round = 0; round < count; round++) {
    const text = [...seed];
    for (let edits = 1 + random(3); edits > 0; edits--) {
      const char = alphabet[random(alphabet.length)] ?? "";
      text.splice(random(text.length), random(3), ...(random(3) === 0 ? [] : [char]));
    }
    const mutated = text.join("");
    const { root, problems, extras } = scanJson(mutated);
    const reads = problems.length === 0;
    const bare = plain(mutated, extras);
    if (reads !== parses(bare)) expect.fail(`they differ on ${JSON.stringify(mutated)}`);
    if (reads && JSON.stringify(root?.value) !== JSON.stringify(JSON.parse(bare)))
      expect.fail(`they differ in the value of ${JSON.stringify(mutated)}`);
    if (!reads) broken++;
  }
  expect(broken).toBeGreaterThan(count / 4);
  expect(broken).toBeLessThan(count);
});
