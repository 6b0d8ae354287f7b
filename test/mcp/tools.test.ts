// The names under which MCP clients call assistants.
import { expect, test } from "vitest";
import { toolNames } from "../../src/mcp/tools.ts";
import type { Assistant } from "../../src/resources/assistant.ts";

const named = (name: string, id = "a"): Assistant => ({
  assistant_id: id,
  graph_id: "the graph",
  name,
  description: null,
  config: {},
  context: {},
  metadata: {},
  created_at: id,
  updated_at: id,
  version: 1,
});
const nameOf = (name: string): string => [...toolNames([named(name)]).keys()][0]!;

test("what no client takes is replaced, and left away at both ends", () => {
  expect(nameOf("  My tool (v2)! ")).toBe("My_tool_v2");
  expect(nameOf("été_")).toBe("e_te");
  expect(nameOf("__")).toBe("the_graph");
  expect(nameOf("x".repeat(100))).toBe("x".repeat(64));
});

test("a name of any length is looked at no longer than another", () => {
  // Quadratic work on this would take hours.
  expect(nameOf(`a${"_".repeat(4_000_000)}a`)).toBe("a");
  expect(nameOf("é".repeat(4_000_000))).toHaveLength(64);
});
