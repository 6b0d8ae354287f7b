// Names that no header and no method can have, in every place of the config that takes some.
import { expect, test } from "vitest";
import { load, loadError, project } from "./project.ts";

const withHttp = (http: unknown, auth?: unknown): Promise<string> =>
  project({
    "src/agent.ts": "",
    "src/auth.ts": "",
    "langgraph.json": `{\n  "graphs": { "agent": "./src/agent.ts:graph" },\n  "http": ${JSON.stringify(http)},\n  "auth": ${JSON.stringify(auth ?? null)}\n}`,
  });

test.each([
  [{ cors: { expose_headers: ["Ключ"] } }, '"http.cors.expose_headers[0]" cannot be the name of a header: "Ключ".'],
  [
    { cors: { expose_headers: ["*", "x\ny"] } },
    '"http.cors.expose_headers[1]" cannot be the name of a header: "x\\ny".',
  ],
  [{ cors: { allow_headers: ["a, b"] } }, '"http.cors.allow_headers[0]" cannot be the name of a header: "a, b".'],
  [{ cors: { allow_headers: [""] } }, '"http.cors.allow_headers[0]" cannot be the name of a header: "".'],
  [{ cors: { allow_methods: ["GET", "P T"] } }, '"http.cors.allow_methods[1]" cannot be a method: "P T".'],
])("%j is refused where it stands", async (http, message) => {
  const { diagnostics } = await loadError(await withHttp(http));
  const word = /"([^"]*)"\.$/.exec(message)?.[0].slice(0, -1) ?? "";
  const column = `  "http": ${JSON.stringify(http)}`.indexOf(word) + 1;
  expect(diagnostics).toMatchObject([{ severity: "error", message, location: { line: 3, column } }]);
});

test("so are keys of the cache of authentication", async () => {
  const root = await withHttp({}, { path: "./src/auth.ts:auth", cache: { cache_keys: ["x-user", "x user"] } });
  const { diagnostics } = await loadError(root);
  expect(diagnostics.map(({ message }) => message)).toEqual([
    '"auth.cache.cache_keys[1]" cannot be the name of a header: "x user".',
  ]);
});

test("a pattern that no header matches is a warning", async () => {
  const filter = { includes: ["x-*", "x y"], excludes: ["ключ"] };
  const { warnings } = await load(
    await withHttp({ configurable_headers: filter, logging_headers: { include: [" x-a "] } }),
  );
  expect(warnings.map(({ message }) => message)).toEqual([
    '"http.configurable_headers.includes[1]" matches nothing: "x y".',
    '"http.configurable_headers.excludes[0]" matches nothing: "ключ".',
  ]);
});
