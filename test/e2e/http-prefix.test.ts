// `http.mount_prefix`: everything below the prefix, and the SDK none the wiser when its URL has it.
import { rmSync } from "node:fs";
import { Client } from "@langchain/langgraph-sdk";
import { expect, onTestFinished, test } from "vitest";
import { readInstance } from "../../src/storage/instance.ts";
import { finish } from "../cli/helpers/io.ts";
import { startGates } from "./support/gates.ts";
import { call, collect } from "./support/http.ts";
import { httpProject, serve } from "./support/http-project.ts";
import { startProxy } from "./support/proxy.ts";
import { clientOf, temporaryFolder } from "./support/server.ts";

const API = { http: { mount_prefix: "/team/api" } };

test("paths below the prefix answer, all others do not, but /ok", async () => {
  const server = await serve(httpProject(API).folder);
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/team\/api$/);
  const { origin } = new URL(server.url);
  for (const path of ["/ok", "/info", "/assistants/counter", "/openapi.json", "/docs", "/metrics", "/", ""]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect((await call(server.url, "GET", path)).status, path).toBe(200);
  }
  expect((await call(origin, "GET", "/ok")).json).toEqual({ ok: true });
  for (const path of ["/info", "/threads", "/docs", "/", "/team", "/team/apix/info", "/api/info", "//team/api/info"]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const answer = await call(origin, "GET", path);
    expect([answer.status, answer.json], path).toEqual([
      404,
      { detail: expect.stringContaining("begin with /team/api") },
    ]);
  }
});

test("documents name the prefix, and links lead to where they should", async () => {
  const server = await serve(httpProject({ ...API, ui: {} }).folder);
  const { origin } = new URL(server.url);
  const document = (await call(server.url, "GET", "/openapi.json")).json as { servers: unknown; paths: object };
  expect(document.servers).toEqual([{ url: "/team/api", description: expect.any(String) }]);
  expect(Object.keys(document.paths)).toContain("/threads");
  for (const path of ["", "/"]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const redirect = await call(server.url, "GET", path, { headers: { accept: "text/html" } });
    expect(new URL(redirect.headers["location"]!, `${server.url}${path}`).href).toBe(`${server.url}/docs`);
  }
  const root = (await call(server.url, "GET", "/")).json as Record<string, string>;
  expect((await call(origin, "GET", root["openapi"]!)).status).toBe(200);
  for (const path of ["/docs", "/docs/"]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { text } = await call(server.url, "GET", path);
    const script = /<script src="([^"]+)"/.exec(text)![1]!;
    expect(new URL(script, `${server.url}${path}`).href).toContain(`${server.url}/docs/scalar.js`);
  }
  const card = await call(server.url, "GET", "/.well-known/agent-card.json?assistant_id=counter");
  expect((card.json as { url: string }).url).toMatch(new RegExp(`^${server.url}/a2a/`));
});

test("the SDK with the prefix in its URL works, and goes on when its connection breaks", async () => {
  const server = await serve(httpProject(API).folder);
  const gates = await startGates();
  onTestFinished(() => gates.close());
  const client = clientOf(server.url);
  const { thread_id } = await client.threads.create();
  expect(await client.runs.wait(thread_id, "counter", { input: {} })).toMatchObject({ total: 111 });
  expect(await collect(client.runs.stream(thread_id, "counter", { input: {} }))).toContainEqual(
    expect.objectContaining({ data: expect.objectContaining({ total: 222 }) }),
  );
  const proxy = await startProxy(new URL(server.url).origin);
  const remote = new Client({ apiUrl: `${proxy.url}/team/api`, apiKey: null as unknown as string });
  let created: string | undefined;
  const stream = remote.runs.stream(thread_id, "gated", {
    input: { name: "prefix", gate: gates.url("prefix") },
    streamMode: "updates",
    streamResumable: true,
    onRunCreated: ({ run_id }) => (created = run_id),
  });
  const seen: string[] = [];
  for await (const { event, data } of stream) {
    seen.push(event);
    if (event === "updates" && JSON.stringify(data).includes("first")) {
      proxy.cut();
      gates.open("prefix");
    }
  }
  expect(created).toBeDefined();
  expect(seen.filter((event) => event === "updates")).toHaveLength(2);
});

test("protocol v2 of the SDK, MCP and the store work below it", async () => {
  const server = await serve(httpProject(API).folder);
  const client = clientOf(server.url);
  const { thread_id } = await client.threads.create();
  await client.store.putItem(["a"], "key", { value: 1 });
  expect((await client.store.getItem(["a"], "key"))?.value).toEqual({ value: 1 });
  const started = await call(server.url, "POST", `/threads/${thread_id}/commands`, {
    body: { id: 1, method: "run.start", params: { assistant_id: "counter", input: {} } },
  });
  const { run_id } = (started.json as { result: { run_id: string } }).result;
  expect(await client.runs.join(thread_id, run_id)).toMatchObject({ total: 111 });
  expect((await call(server.url, "GET", `/thread/${thread_id}/runs/${run_id}/join`)).json).toMatchObject({
    total: 111,
  });
  const mcp = await call(server.url, "POST", "/mcp", {
    headers: { accept: "application/json, text/event-stream" },
    body: { jsonrpc: "2.0", id: 1, method: "ping" },
  });
  expect(mcp.json).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
});

test("a webhook to a path of this server, with the prefix or without, arrives", async () => {
  const app = `
const seen = [];
export const app = (request) => {
  const { pathname } = new URL(request.url);
  if (pathname === "/seen") return Response.json(seen);
  if (!pathname.startsWith("/hooks/")) return undefined;
  seen.push(pathname);
  return new Response(null, { status: 204 });
};`;
  const project = httpProject({ http: { ...API.http, app: "./src/app.ts:app" } }, { "src/app.ts": app });
  const server = await serve(project.folder);
  const client = clientOf(server.url);
  for (const webhook of ["/hooks/one", "/team/api/hooks/two"]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await client.runs.wait(null, "counter", { input: {}, webhook });
    const name = webhook.slice(webhook.lastIndexOf("/"));
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await expect.poll(async () => (await call(server.url, "GET", "/seen")).json).toContain(`/hooks${name}`);
  }
});

test("the state folder names the address with the prefix, for the client commands; a change of the config moves it", async () => {
  const project = httpProject(API);
  const dataDir = temporaryFolder();
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const server = await serve(project.folder, { persist: true, dataDir, reload: true });
  expect(readInstance(dataDir)?.url).toBe(server.url);
  const list = async (): Promise<number> =>
    (await finish(["threads", "ls", "--data-dir", dataDir], { cwd: project.folder })).code;
  expect(await list()).toBe(0);
  const { origin } = new URL(server.url);
  const moved = server.next((event) => event.type === "log" && event.message.startsWith("now at"));
  project.configure({ http: { mount_prefix: "/v2/" } });
  await moved;
  expect(server.url).toBe(`${origin}/v2`);
  expect(readInstance(dataDir)?.url).toBe(`${origin}/v2`);
  expect(await list()).toBe(0);
  expect((await call(origin, "GET", "/team/api/info")).status).toBe(404);
});

test.each([
  ["api", 'Write "/api"'],
  ["//api", 'Write "/api"'],
  ["/a b", "is no path"],
  ["/:id", "is no path"],
  ["/a/**", "is no path"],
  ["/a/../b", "is no path"],
  ["https://example.com/api", "is no path"],
])("a prefix that is none is refused: %s", async (prefix, reason) => {
  await expect(serve(httpProject({ http: { mount_prefix: prefix } }).folder)).rejects.toThrow(reason);
});

test("an empty prefix is none", async () => {
  for (const prefix of ["", "/"]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const server = await serve(httpProject({ http: { mount_prefix: prefix } }).folder);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect((await call(server.url, "GET", "/info")).status).toBe(200);
  }
});
