// `auth` in the config: what becomes of it, and what of it goes with nothing.
import { join } from "node:path";
import { expect, test } from "vitest";
import { load, loadError, project } from "./project.ts";

const rootOf = (auth: object): Promise<string> =>
  project({
    "src/agent.ts": "export const graph = {};",
    "src/auth.ts": "export const auth = {};",
    "langgraph.json": JSON.stringify({ graphs: { agent: "./src/agent.ts:graph" }, auth }),
  });
const messages = (diagnostics: readonly { severity: string; message: string }[]): string[] =>
  diagnostics.map(({ severity, message }) => `${severity}: ${message}`);

test("a path alone: Studio may come in, and nothing is kept", async () => {
  const root = await rootOf({ path: "./src/auth.ts:auth" });
  const { config, warnings } = await load(root);
  expect(warnings).toEqual([]);
  expect(config.auth).toMatchObject({ file: join(root, "src", "auth.ts"), exportName: "auth", studio: true });
  expect(config.auth).not.toHaveProperty("cache");
  expect(config).not.toHaveProperty("security");
});

test.each([
  [{}, { headers: ["authorization", "x-api-key", "cookie"], ttlSeconds: 60, maxSize: 1000 }],
  [
    { cache_keys: ["X-User"], ttl_seconds: 5, max_size: 7 },
    { headers: ["x-user"], ttlSeconds: 5, maxSize: 7 },
  ],
])("a cache %j", async (cache, expected) => {
  const { config } = await load(await rootOf({ path: "./src/auth.ts:auth", cache }));
  expect(config.auth?.cache).toEqual(expected);
});

test("what says something about handlers that are not there", async () => {
  const { config, warnings } = await load(await rootOf({ disable_studio_auth: true, cache: { max_size: 1 } }));
  expect(messages(warnings)).toEqual(
    ["disable_studio_auth", "cache"].map(
      (name) =>
        `warning: "auth.${name}" has no effect without "auth.path": requests are not authenticated by the project.`,
    ),
  );
  expect(config).not.toHaveProperty("auth");
});

test("LangSmith's keys cannot be checked here", async () => {
  const { warnings } = await load(await rootOf({ path: "./src/auth.ts:auth", allow_langsmith_api_keys: true }));
  expect(messages(warnings)).toEqual([expect.stringMatching(/^warning: .*only LangSmith can check its keys/)]);
});

test("openapi goes into the document, with or without handlers", async () => {
  const openapi = {
    securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    security: [{ bearer: [] }],
    paths: { "/threads": { post: [{ bearer: ["write"] }], get: [] } },
  };
  const { config, warnings } = await load(await rootOf({ openapi }));
  expect(warnings).toEqual([]);
  expect(config.security).toEqual(openapi);
});

test.each([
  [{ securitySchemes: [] }, 'error: "auth.openapi.securitySchemes" must be an object of schemes.'],
  [{ security: { bearer: [] } }, /^error: "auth\.openapi\.security" must be a list such as/],
  [{ security: ["bearer"] }, /^error: "auth\.openapi\.security" must be a list such as/],
  [{ paths: { "/threads": { post: {} } } }, /^error: "auth\.openapi\.paths" must be an object such as/],
])("%j goes into no document", async (openapi, message) => {
  const { diagnostics } = await loadError(await rootOf({ openapi }));
  expect(messages(diagnostics)).toEqual([typeof message === "string" ? message : expect.stringMatching(message)]);
});

test("what the document does not know is ignored, and said", async () => {
  const { warnings } = await load(await rootOf({ openapi: { info: {} } }));
  expect(messages(warnings)).toEqual([
    'warning: Unknown key "auth.openapi.info"; it is ignored. Known are securitySchemes, security, paths.',
  ]);
});
