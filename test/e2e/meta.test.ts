// What the server says about itself: `/`, `/info`, and what `http.disable_meta` takes away.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { call } from "./support/http.ts";
import { PROJECT, startTestServer, useServer, type TestServer } from "./support/server.ts";

const server = useServer({ persist: false });

/** A server of one graph with these `http` settings; gone with the test. */
async function serverWith(http: object): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), "agent-server-meta-"));
  const echo = relative(folder, join(PROJECT, "src", "echo.ts"));
  writeFileSync(join(folder, "langgraph.json"), JSON.stringify({ graphs: { echo: `./${echo}:graph` }, http }));
  const started = await startTestServer({ cwd: folder, persist: false });
  onTestFinished(async () => {
    await started.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return started;
}

afterEach(() => void vi.unstubAllEnvs());

const flags = async (url: string): Promise<Record<string, boolean>> =>
  ((await call(url, "GET", "/info")).json as { flags: Record<string, boolean> }).flags;

test("/ gives a program the paths, and each of them answers", async () => {
  const { status, json, headers } = await call(server.url, "GET", "/", { headers: { accept: "*/*" } });
  expect(status).toBe(200);
  expect(headers["vary"]).toBe("Accept");
  const { name, version, ...paths } = json as Record<string, string>;
  expect(name).toBe("agent-server");
  expect(version).toBe(((await call(server.url, "GET", "/info")).json as { version: string }).version);
  expect(Object.keys(paths).toSorted()).toEqual(["docs", "info", "metrics", "ok", "openapi"]);
  const answers = await Promise.all(Object.values(paths).map((path) => call(server.url, "GET", path)));
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
});

test("/ sends a browser to /docs", async () => {
  const { status, headers, text } = await call(server.url, "GET", "/", {
    headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" },
  });
  expect([status, text]).toEqual([302, ""]);
  expect(new URL(headers.location!, `${server.url}/`).href).toBe(`${server.url}/docs`);
});

test("/info has a flag for each part, as it is", async () => {
  const document = (await call(server.url, "GET", "/openapi.json")).json as { paths: Record<string, unknown> };
  const paths = Object.keys(document.paths);
  const has = (start: string): boolean => paths.some((path) => path === start || path.startsWith(`${start}/`));
  expect(await flags(server.url)).toEqual({
    assistants: has("/assistants"),
    crons: has("/runs/crons"),
    a2a: has("/a2a"),
    mcp: has("/mcp"),
    langsmith: false,
    langsmith_tracing_replicas: false,
  });
  const without = await serverWith({ disable_assistants: true });
  expect(await flags(without.url)).toMatchObject({ assistants: false });
});

test("the langsmith flag needs tracing to be switched on and a key", async () => {
  vi.stubEnv("LANGSMITH_API_KEY", "key");
  expect(await flags(server.url)).toMatchObject({ langsmith: false });
  vi.stubEnv("LANGSMITH_TRACING", "true");
  expect(await flags(server.url)).toMatchObject({ langsmith: true });
  vi.stubEnv("LANGSMITH_API_KEY", "");
  expect(await flags(server.url)).toMatchObject({ langsmith: false });
});

test("http.disable_meta takes everything away but /ok", async () => {
  const { url } = await serverWith({ disable_meta: true });
  const gone = ["/", "/info", "/metrics", "/docs", "/docs/scalar.js", "/openapi.json"];
  const answers = await Promise.all(gone.map((path) => call(url, "GET", path)));
  expect(answers.map(({ status, json }) => [status, json])).toEqual(
    gone.map((path) => [404, { detail: `Not found: GET ${path}` }]),
  );
  expect(await call(url, "GET", "/ok?check_db=1")).toMatchObject({ status: 200, json: { ok: true } });
});

test("a page of this server may change things even where other origins are named", async () => {
  const { url } = await serverWith({ cors: { allow_origins: ["https://app.example"] } });
  const post = async (origin: string): Promise<number> =>
    (await call(url, "POST", "/threads", { headers: { origin }, body: {} })).status;
  expect(await post(url)).toBe(200);
  expect(await post("https://app.example")).toBe(200);
  expect(await post("https://evil.example")).toBe(403);
  expect(await post("http://127.0.0.1:1")).toBe(403);
});
