// The JSON Schema for editors says what the server says.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { configJsonSchema, SCHEMA_FILE, schemaText } from "../../src/config/json-schema.ts";
import { configKeys, configSchema } from "../../src/config/schema.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const GRAPHS = { agent: "./src/agent.ts:graph" };

const ajv = new Ajv({ allowUnionTypes: true, allErrors: true });
ajv.addVocabulary(["allowComments", "allowTrailingCommas"]);
const validate = ajv.compile(configJsonSchema());

type Json = Record<string, unknown>;

/** A config with `value` at `key`, and what its neighbours must have beside it. */
function configWith(key: string, value: unknown): Json {
  const config: Json = { graphs: GRAPHS };
  const path = key.split(".");
  let at = config;
  for (const part of path.slice(0, -1)) {
    at[part] = part === "index" ? { dims: 3, embed: "openai:x" } : {};
    at = at[part] as Json;
  }
  at[path.at(-1)!] = value;
  return config;
}

test("the shipped file is the one that is generated; `npm run build` writes it", () => {
  expect(readFileSync(join(ROOT, SCHEMA_FILE), "utf8")).toBe(schemaText());
  const { files } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { files: string[] };
  expect(files).toContain(SCHEMA_FILE);
});

const keys = configKeys().filter(({ key }) => key !== "graphs");
const values = [null, true, "", "x", "delete", 0, 1, 1.5, -1, 70_000, [], ["a"], [1], [443], {}, { A: "b" }, { A: 1 }];

test.for(keys)("$key takes the same values in an editor and in the server", ({ key }) => {
  for (const value of values) {
    const config = configWith(key, value);
    const { success } = configSchema.safeParse(config);
    expect(validate(config), `${key}: ${JSON.stringify(value)}`).toBe(success);
  }
});

test.for([
  [GRAPHS, true],
  [{ agent: { path: "./src/agent.ts:graph", description: "x" } }, true],
  [{ agent: { path: "./src/agent.ts:graph", description: null } }, true],
  [{ agent: { path: "./src/agent.ts:graph", descripton: "x" } }, false],
  [{ agent: { description: "x" } }, false],
  [{ agent: "./src/agent.ts" }, false],
  [{ agent: "C:\\src\\agent.ts" }, false],
  [{ agent: 1 }, false],
  [{}, false],
  [null, false],
] as const)("graphs %j: %j", ([graphs, isGood]) => {
  expect(validate({ graphs })).toBe(isGood);
});

test("unknown keys are marked at every level, and graphs are asked for", () => {
  for (const key of ["grahps", "http.corse", "http.cors.allow_origin", "store.index.dim", "agent_server.cron"])
    expect(validate(configWith(key, {})), key).toBe(false);
  expect(validate({})).toBe(false);
});

test("every key is explained, and its default is one of its values", () => {
  const walk = (schema: Json, path: string): void => {
    for (const [name, child] of Object.entries((schema["properties"] ?? {}) as Record<string, Json>)) {
      const here = path === "" ? name : `${path}.${name}`;
      expect(child["description"], here).toMatch(/^\S.*\.$/);
      if ("default" in child) expect(validate(configWith(here, child["default"])), here).toBe(true);
      walk(child, here);
    }
  };
  walk(configJsonSchema(), "");
});

test("the example and the templates are good and name the shipped schema", () => {
  const templates = readdirSync(join(ROOT, "templates")).map((name) => join("templates", name, "langgraph.json"));
  for (const file of ["langgraph.json.example", ...templates]) {
    const config = JSON.parse(readFileSync(join(ROOT, file), "utf8")) as Json;
    expect(validate(config), `${file}: ${ajv.errorsText(validate.errors)}`).toBe(true);
    expect(config["$schema"]).toBe(`./node_modules/agent-server/${SCHEMA_FILE}`);
  }
});
