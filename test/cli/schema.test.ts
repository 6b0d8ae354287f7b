import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { finish } from "./helpers/io.ts";

it.each([true, false])("prints the JSON Schema of the config; a terminal: %j", async (tty) => {
  const { code, stdout, stderr } = await finish(["schema"], { tty });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toBe(readFileSync(join(import.meta.dirname, "..", "..", "langgraph.schema.json"), "utf8"));
  expect(JSON.parse(stdout)).toMatchObject({ $schema: "http://json-schema.org/draft-07/schema#", type: "object" });
});

it("says in its help how editors use it", async () => {
  const { stdout } = await finish(["schema", "--help"]);
  expect(stdout).toContain('"$schema": "./node_modules/agent-server/langgraph.schema.json"');
  expect(stdout).toContain("# yaml-language-server: $schema=");
});
