import { describe, expect, test } from "vitest";
import { JsonProblem, scanJson } from "../../src/config/json.ts";
import { parseConfig } from "../../src/config/parse.ts";
import type { ConfigSource } from "../../src/config/source.ts";

async function parse(file: string, text: string): Promise<ConfigSource> {
  const { source, diagnostics } = await parseConfig(file, text);
  expect(diagnostics).toEqual([]);
  if (!source) throw new Error("no source");
  return source;
}

function scans(text: string): boolean {
  try {
    scanJson(text);
    return true;
  } catch (error) {
    if (error instanceof JsonProblem) return false;
    throw error;
  }
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
  for (const text of ['{"a": 1\n "b": 2}', '{"a": 1 // x\n}', "{a: 1}", '{"a": 1,}', "a: 1"]) {
    const { source, diagnostics } = await parseConfig("/x/langgraph.json", text);
    expect(source, text).toBeNull();
    expect(diagnostics, text).toHaveLength(1);
  }
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
    if (scans(mutated) !== parses(mutated)) expect.fail(`they differ on ${JSON.stringify(mutated)}`);
    if (!parses(mutated)) broken++;
  }
  expect(broken).toBeGreaterThan(count / 4);
  expect(broken).toBeLessThan(count);
});
