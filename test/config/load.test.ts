import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { GOOD, load, project } from "./project.ts";

const agent = { "src/agent.ts": "" };

describe("a good config", () => {
  test("has defaults", async () => {
    const root = await project({ ...agent, "langgraph.json": GOOD });
    expect(await load(root)).toEqual({
      warnings: [],
      config: {
        file: join(root, "langgraph.json"),
        root,
        demo: false,
        persist: true,
        env: {},
        envFile: null,
        graphs: [
          {
            id: "agent",
            file: join(root, "src/agent.ts"),
            exportName: "graph",
            description: null,
            location: { file: join(root, "langgraph.json"), line: 1, column: 24 },
          },
        ],
        http: {
          disable_assistants: false,
          disable_threads: false,
          disable_runs: false,
          disable_store: false,
          disable_meta: false,
          disable_ui: false,
          disable_webhooks: false,
          disable_mcp: false,
          disable_a2a: false,
        },
        ui: { files: {}, shared: [] },
      },
    });
  });

  test("may be YAML, with comments, CRLF, a BOM and settings", async () => {
    const text = `\uFEFF# config
graphs:
  agent:
    path: ./src/agent.ts:default
    description: Answers questions.
env:
  NAME: value
  PORT: 8080
  DEBUG: true
http:
  disable_threads: true
  cors:
    allow_origins: [https://example.com]
    allow_credentials: true
    max_age: 60
disable_persistence: true
`.replaceAll("\n", "\r\n");
    const root = await project({ ...agent, "langgraph.yml": text });
    const { config, warnings } = await load(root);
    expect(warnings).toEqual([]);
    expect(config).toMatchObject({
      persist: false,
      env: { NAME: "value", PORT: "8080", DEBUG: "true" },
      http: {
        disable_threads: true,
        cors: { allow_origins: ["https://example.com"], allow_credentials: true, max_age: 60 },
      },
    });
    expect(config.graphs).toEqual([
      {
        id: "agent",
        file: join(root, "src/agent.ts"),
        exportName: "default",
        description: "Answers questions.",
        location: { file: join(root, "langgraph.yml"), line: 4, column: 11 },
      },
    ]);
  });

  test("may be JSON with a BOM, CRLF and escapes", async () => {
    const text = '\uFEFF{\r\n  "graphs": {\r\n    "gr\\u00e4ph": "./src\\/agent.ts:graph"\r\n  }\r\n}\r\n';
    const root = await project({ ...agent, "langgraph.json": text });
    const { config } = await load(root);
    expect(config.graphs).toEqual([
      {
        id: "gräph",
        file: join(root, "src/agent.ts"),
        exportName: "graph",
        description: null,
        location: { file: join(root, "langgraph.json"), line: 3, column: 19 },
      },
    ]);
  });

  test("may name files outside its folder, absolute paths and every kind of module", async () => {
    const names = ["a.ts", "b.tsx", "c.mts", "d.cts", "e.js", "f.jsx", "g.mjs", "h.cjs"];
    const graphs = Object.fromEntries(names.map((name) => [name, `../shared/${name}:graph`]));
    const shared = Object.fromEntries(names.map((name) => [`shared/${name}`, ""]));
    const elsewhere = await project({ "agent.ts": "" });
    graphs["absolute"] = join(elsewhere, "agent.ts:$graph_1");
    const root = await project({ ...shared, "app/langgraph.json": JSON.stringify({ graphs }) });
    const { config } = await load(join(root, "app"));
    expect(config.graphs.map(({ file, exportName }) => [file, exportName])).toEqual([
      ...names.map((name) => [join(root, "shared", name), "graph"]),
      [join(elsewhere, "agent.ts"), "$graph_1"],
    ]);
  });

  test("may use anchors, and keeps the places of what they stand for", async () => {
    const text = "graphs:\n  a: &one\n    path: ./src/agent.ts:graph\n  b: *one\n";
    const root = await project({ ...agent, "langgraph.yaml": text });
    const { config } = await load(root);
    expect(config.graphs.map(({ id, location }) => [id, location?.line])).toEqual([
      ["a", 3],
      ["b", 3],
    ]);
  });

  test("may have null for what is not set", async () => {
    const text =
      "graphs:\n  agent: ./src/agent.ts:graph\nenv:\nauth:\nhttp:\n  cors:\n    max_age:\n    allow_headers: [x]\n";
    const root = await project({ ...agent, "langgraph.yaml": text });
    const { config, warnings } = await load(root);
    expect(warnings).toEqual([]);
    expect(config.http.cors).toEqual({ allow_headers: ["x"] });
  });
});

describe("warnings", () => {
  test("name what this version does not do, once, at its place", async () => {
    const text = `{
  "graphs": { "agent": "./src/agent.ts:graph" },
  "auth": { "path": "./src/agent.ts:auth", "allow_langsmith_api_keys": true },
  "webhooks": { "url": { "require_https": true } },
  "store": { "index": { "dims": 3, "embed": "openai:x" }, "ttl": { "default_ttl": 1 } },
  "checkpointer": { "path": "./c.ts:saver", "backend": "default", "ttl": { "strategy": "delete" } },
  "encryption": { "path": "./e.ts:e" }
}`;
    const { warnings } = await load(await project({ ...agent, "langgraph.json": text }));
    const effect = "has no effect in this version of agent-server";
    expect(warnings.map(({ location, message }) => `${location?.line}:${location?.column} ${message}`)).toEqual([
      `3:44 "auth.allow_langsmith_api_keys" ${effect}: only LangSmith can check its keys; all requests go to auth.path.`,
      `6:21 "checkpointer.path" ${effect}: checkpoints stay in the server's own storage.`,
      `7:3 "encryption" ${effect}: stored data is NOT encrypted.`,
    ]);
    expect(new Set(warnings.map(({ severity }) => severity))).toEqual(new Set(["warning"]));
  });

  test("are not given for tolerated keys, satisfied ones and defaults", async () => {
    const config = {
      $schema: "https://example.com/schema.json",
      graphs: { agent: "./src/agent.ts:graph" },
      http: {
        disable_mcp: true,
        disable_a2a: true,
        disable_ui: true,
        disable_webhooks: true,
        middleware_order: "middleware_first",
        enable_custom_route_auth: false,
      },
      dependencies: ["."],
      node_version: 20,
      node_loader: "tsx",
      ui: { chat: "./src/agent.ts" },
      ui_config: { shared: ["react"] },
      python_version: "3.11",
      api_version: "0.4",
      _INTERNAL_docker_tag: "x",
      base_image: "x",
      image_distro: "wolfi",
      pip_config_file: "x",
      pip_installer: "uv",
      source: { kind: "uv", root: ".", package: "p" },
      dockerfile_lines: ["RUN true"],
      keep_pkg_tools: ["pip"],
      docker_compose_file: "x.yml",
    };
    const root = await project({ ...agent, "langgraph.json": JSON.stringify(config) });
    expect((await load(root)).warnings).toEqual([]);
  });

  test.for([
    ['"grahps": {}', "grahps", "graphs"],
    ['"disable_persistance": true', "disable_persistance", "disable_persistence"],
    ['"disable_runs": true', "disable_runs", "http.disable_runs"],
    ['"cors": {}', "cors", "http.cors"],
    ['"http": { "disableRuns": true }', "http.disableRuns", "disable_runs"],
    ['"http": { "corse": {} }', "http.corse", "cors"],
    ['"http": { "cors": { "allow_origin": [] } }', "http.cors.allow_origin", "allow_origins"],
    ['"http": { "cors": { "disable_runs": true } }', "http.cors.disable_runs", "http.disable_runs"],
    ['"store": { "idnex": {} }', "store.idnex", "index"],
    ['"store": { "constructor": {} }', "store.constructor", undefined],
    ['"something": 1', "something", undefined],
    ['"a key": 1', '["a key"]', undefined],
  ] as const)("an unknown key %s", async ([entry, path, guess]) => {
    const text = `{ "graphs": { "agent": "./src/agent.ts:graph" }, ${entry} }`;
    const { warnings } = await load(await project({ ...agent, "langgraph.json": text }));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.message).toBe(`Unknown key "${path}"; it is ignored.`);
    expect(warnings[0]?.hint).toBe(guess === undefined ? undefined : `Did you mean "${guess}"?`);
  });

  test("an unknown tag of YAML is one", async () => {
    const root = await project({ ...agent, "langgraph.yaml": "graphs:\n  agent: !secret ./src/agent.ts:graph\n" });
    const { warnings } = await load(root);
    expect(warnings.map(({ location, message }) => [location?.line, message])).toEqual([
      [2, "Unresolved tag: !secret."],
    ]);
  });
});
