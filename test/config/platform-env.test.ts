// The variables of the platform: they win over the file, name by name, and what is wrong with them is said of them and not of the file.
import { expect, test } from "vitest";
import { loadProject } from "../../src/config/load.ts";
import type { ProjectConfig } from "../../src/config/types.ts";
import { load, loadError, project } from "./project.ts";

const files = (config: Record<string, unknown> = {}): Record<string, string> => ({
  "langgraph.json": JSON.stringify({ graphs: { agent: "./src/agent.ts:graph" }, ...config }, null, 2),
  "src/agent.ts": "export const graph = 1;",
  "src/app.ts": "export const app = 1;",
  "src/auth.ts": "export const auth = 1;",
  "src/embed.ts": "export const embed = 1;",
  "src/ui.tsx": "export default {};",
});
const configOf = async (config: Record<string, unknown>, env: Record<string, string>): Promise<ProjectConfig> => {
  const { config: loaded, warnings } = await load(await project(files(config)), env);
  expect(warnings).toEqual([]);
  return loaded;
};

test("each of them acts like its key", async () => {
  const config = await configOf(
    {},
    {
      LANGSERVE_GRAPHS: JSON.stringify({ second: { path: "./src/agent.ts:graph", description: "Two" } }),
      LANGGRAPH_HTTP: JSON.stringify({ disable_mcp: true, app: "./src/app.ts:app", mount_prefix: "/api" }),
      LANGGRAPH_AUTH: JSON.stringify({ path: "./src/auth.ts:auth" }),
      LANGGRAPH_STORE: JSON.stringify({ ttl: { default_ttl: 5 }, index: { dims: 3, embed: "./src/embed.ts:embed" } }),
      LANGGRAPH_CHECKPOINTER: JSON.stringify({ ttl: { default_ttl: 7 } }),
      LANGGRAPH_WEBHOOKS: JSON.stringify({
        headers: { "x-a": "${{ env.LG_WEBHOOK_A }}" },
        url: { require_https: true },
      }),
      LG_WEBHOOK_A: "secret",
      LANGGRAPH_UI: JSON.stringify({ agent: "./src/ui.tsx" }),
      LANGGRAPH_UI_CONFIG: JSON.stringify({ shared: ["zod"] }),
    },
  );
  expect(config.graphs.map(({ id, description }) => [id, description])).toEqual([
    ["agent", null],
    ["second", "Two"],
  ]);
  expect(config.http).toMatchObject({
    disable_mcp: true,
    mount_prefix: "/api",
    app: { exportName: "app", file: `${config.root}/src/app.ts` },
  });
  expect(config.auth).toMatchObject({ file: `${config.root}/src/auth.ts`, exportName: "auth" });
  expect(config.store).toMatchObject({ ttl: { defaultMinutes: 5 }, index: { dims: 3 } });
  expect(config.checkpointer?.ttl?.defaultMinutes).toBe(7);
  expect(config.webhooks).toMatchObject({ headers: { "x-a": "secret" }, policy: { requireHttps: true } });
  expect(config.ui).toEqual({ files: { agent: `${config.root}/src/ui.tsx` }, shared: ["zod"] });
});

test("they win name by name: what they do not name stays as the file has it", async () => {
  const config = await configOf(
    { http: { disable_store: true, cors: { allow_origins: ["https://a.example"], max_age: 5 }, disable_ui: true } },
    { LANGGRAPH_HTTP: JSON.stringify({ disable_store: false, cors: { allow_origins: ["https://b.example"] } }) },
  );
  expect(config.http).toMatchObject({
    disable_store: false,
    disable_ui: true,
    // A name is taken as a whole.
    cors: { allow_origins: ["https://b.example"] },
  });
  expect(config.http.cors).not.toHaveProperty("max_age");
});

test("those of the env file count, those of the process count more, and empty ones not at all", async () => {
  const root = await project({
    ...files({ env: ".env", http: { disable_mcp: true } }),
    ".env": `LANGGRAPH_HTTP={"disable_ui": true}\nLANGGRAPH_CHECKPOINTER={"ttl": {"default_ttl": 7}}\n`,
  });
  const { config } = await load(root, {
    LANGGRAPH_HTTP: '{"disable_store": true}',
    LANGGRAPH_STORE: " ",
    LANGGRAPH_UI: "null",
  });
  expect(config.http).toMatchObject({ disable_mcp: true, disable_ui: false, disable_store: true });
  expect(config.checkpointer?.ttl?.defaultMinutes).toBe(7);
  expect(config.store).toBeUndefined();
});

test.each([
  ["LANGGRAPH_HTTP", "{disable_ui: true}", "LANGGRAPH_HTTP is not valid JSON"],
  ["LANGGRAPH_HTTP", "[]", 'LANGGRAPH_HTTP must be an object, like the config key "http", not a list'],
  ["LANGGRAPH_UI", '"ui.tsx"', 'LANGGRAPH_UI must be an object, like the config key "ui", not a string'],
  ["LANGGRAPH_HTTP", '{"disable_ui": "yes"}', 'LANGGRAPH_HTTP: "http.disable_ui" must be a boolean'],
  ["LANGGRAPH_HTTP", '{"cors": {"max_age": -1}}', 'LANGGRAPH_HTTP: "http.cors.max_age" must be a whole number'],
  ["LANGGRAPH_HTTP", '{"cors": {"allow_origin_regex": "("}}', 'LANGGRAPH_HTTP: "http.cors.allow_origin_regex" is not'],
  ["LANGGRAPH_HTTP", '{"app": "./none.ts:app"}', 'LANGGRAPH_HTTP: The file of "http.app" does not exist'],
  ["LANGGRAPH_STORE", '{"index": {"dims": 3}}', 'LANGGRAPH_STORE: "store.index.embed" is missing'],
  ["LANGSERVE_GRAPHS", '{"x": "./none.ts:graph"}', 'LANGSERVE_GRAPHS: The file of graph "x" does not exist'],
  ["LANGGRAPH_WEBHOOKS", '{"headers": {"a": "${{ env.NO }}"}}', 'LANGGRAPH_WEBHOOKS: The webhook header "a"'],
  ["LANGGRAPH_ENCRYPTION", '{"path": "./x.ts:y"}', "LANGGRAPH_ENCRYPTION asks for encryption"],
])("a mistake in %s is an error that names it: %s", async (variable, text, message) => {
  const error = await loadError(await project(files()), { [variable]: text });
  expect(error.diagnostics).toHaveLength(1);
  expect(error.diagnostics[0]).toMatchObject({ severity: "error", message: expect.stringContaining(message) });
  expect(error.diagnostics[0]!.location).toBeUndefined();
  expect(error.message).toContain("The environment has 1 error.");
});

test("unknown names and keys that have no effect are warned of", async () => {
  const { warnings } = await load(await project(files()), {
    LANGGRAPH_HTTP: '{"disable_uii": true}',
    LANGGRAPH_CHECKPOINTER: '{"backend": "mongo"}',
  });
  expect(warnings.map(({ message }) => message).toSorted()).toEqual([
    expect.stringMatching(/^LANGGRAPH_CHECKPOINTER: "checkpointer.backend" has no effect/),
    expect.stringMatching(/^LANGGRAPH_HTTP: Unknown key "http.disable_uii"/),
  ]);
});

test("a mistake in the file is still shown in the file", async () => {
  const error = await loadError(await project(files({ http: { disable_ui: 1 } })), {
    LANGGRAPH_HTTP: '{"disable_mcp": 1}',
  });
  expect(error.diagnostics.map(({ message, location }) => [message.slice(0, 22), location?.line])).toEqual([
    ['"http.disable_ui" must', expect.any(Number)],
    ['LANGGRAPH_HTTP: "http.', undefined],
  ]);
});

test("without a config file, graphs of the environment are a project, and other settings are those of the fallback", async () => {
  const root = await project({ "src/agent.ts": "export const graph = 1;" });
  const processEnv = { LANGSERVE_GRAPHS: '{"agent": "./src/agent.ts:graph"}', LANGGRAPH_HTTP: '{"disable_mcp": true}' };
  const { config } = await loadProject({ cwd: root, processEnv });
  expect(config).toMatchObject({ file: null, demo: false, root, http: { disable_mcp: true } });
  expect(config!.graphs.map(({ id, file }) => [id, file])).toEqual([["agent", `${root}/src/agent.ts`]]);

  const fallback = { ...config!, demo: true, http: { ...config!.http, disable_mcp: false } };
  const onlyHttp = await loadProject({ cwd: root, fallback, processEnv: { LANGGRAPH_HTTP: '{"disable_ui": true}' } });
  expect(onlyHttp.config).toMatchObject({
    demo: true,
    file: null,
    graphs: fallback.graphs,
    http: { disable_ui: true },
  });
  expect((await loadProject({ cwd: root, fallback, processEnv: {} })).config).toBe(fallback);
  expect((await loadProject({ cwd: root, processEnv: { LANGGRAPH_HTTP: "{}" } })).config).toBeNull();
  await expect(
    loadProject({ cwd: root, fallback, processEnv: { LANGGRAPH_HTTP: '{"disable_ui": 1}' } }),
  ).rejects.toThrow("The environment has 1 error");
});
