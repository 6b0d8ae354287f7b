// Pages of foreign sites: DNS rebinding, which a foreign Host gives away, and origins that the config does not name. At every door.
import { expect, onTestFinished, test } from "vitest";
import { frames, call } from "./support/http.ts";
import { httpProject, serve, type HttpServer } from "./support/http-project.ts";
import { statusOfUpgrade, upgradeStatus } from "./support/upgrade.ts";

const APP = `
import { Hono } from "hono";
export const app = new Hono();
let calls = 0;
app.use(async (c, next) => {
  calls++;
  await next();
});
app.get("/custom", (c) => c.json({ calls }));
app.post("/custom", (c) => c.json({ calls }));
`;
const UI = `export default { card: () => null };`;
const files = { "src/app.ts": APP, "src/ui.tsx": UI };
const http = { app: "./src/app.ts:app" };

const RUN = { assistant_id: "counter", input: {} };
/** One request to every kind of door. */
const DOORS = [
  ["REST", "GET", "/assistants/counter", undefined],
  ["a run", "POST", "/runs/wait", RUN],
  ["an event stream", "POST", "/runs/stream", RUN],
  ["a preflight", "OPTIONS", "/threads", undefined],
  ["the store", "PUT", "/store/items", { namespace: ["a"], key: "k", value: {} }],
  ["MCP", "POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }],
  ["A2A", "POST", "/a2a/counter", { jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} }],
  ["an agent card", "GET", "/.well-known/agent-card.json?assistant_id=counter", undefined],
  ["the docs", "GET", "/docs", undefined],
  ["the document", "GET", "/openapi.json", undefined],
  ["UI components", "GET", "/ui/counter/entrypoint.js", undefined],
  ["UI of a page", "POST", "/ui/counter", { name: "card" }],
  ["metrics", "GET", "/metrics", undefined],
  ["health", "GET", "/ok", undefined],
  ["webhooks", "GET", "/internal/webhooks", undefined],
  ["a custom route", "GET", "/custom", undefined],
  ["a custom route that changes something", "POST", "/custom", {}],
  ["nothing", "GET", "/nowhere", undefined],
] as const;

const EVIL = { host: "evil.example:2024", origin: "http://evil.example:2024" };
const ACCEPT = { accept: "application/json, text/event-stream", "access-control-request-method": "POST" };

async function rebind(server: HttpServer, headers: Record<string, string>): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  for (const [name, method, path, body] of DOORS) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const answer = await call(server.url, method, path, { headers: { ...ACCEPT, ...headers }, body });
    statuses[name] = answer.status;
    if (answer.status === 403) {
      expect(answer.headers["content-type"], name).toBe("application/json");
      expect(answer.json, name).toMatchObject({ detail: expect.any(String) });
    }
  }
  const { thread_id } = (await call(server.url, "POST", "/threads", { body: {} })).json as { thread_id: string };
  statuses["a WebSocket"] = await upgradeStatus(server.url, thread_id, headers);
  return statuses;
}
const all = (status: number): Record<string, number> =>
  Object.fromEntries([...DOORS.map(([name]) => name), "a WebSocket"].map((name) => [name, status]));

test("a foreign Host gets nothing from any door of a server on loopback, and reaches no code of the project", async () => {
  const server = await serve(httpProject({ http, ui: { counter: "./src/ui.tsx" } }, files).folder);
  expect(await rebind(server, EVIL)).toEqual(all(403));
  // One thread was made above, by us.
  expect((await call(server.url, "POST", "/threads/count", { body: {} })).json).toBe(1);
  expect((await call(server.url, "GET", "/custom")).json).toEqual({ calls: 3 });
});

test("the same requests with a name of this machine are answered", async () => {
  const server = await serve(httpProject({ http, ui: { counter: "./src/ui.tsx" } }, files).folder);
  const { port } = new URL(server.url);
  const statuses = await rebind(server, { host: `localhost:${port}`, origin: `http://localhost:${port}` });
  expect(statuses).toEqual({
    ...all(200),
    "a preflight": 204,
    "the store": 204,
    nothing: 404,
    "a WebSocket": 101,
  });
});

test("hosts that look like this machine, and are not, are foreign", async () => {
  const server = await serve(httpProject({}).folder);
  for (const host of [
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.example#localhost",
    "localhost@evil.example",
    "evil-localhost",
    "notlocalhost",
    "127.0.0.1:80@evil.example",
    "0.0.0.0",
    "[::]",
    "192.168.1.10",
    "localhost.",
    "2130706433",
  ]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect((await call(server.url, "GET", "/ok", { headers: { host } })).status, host).toBe(403);
  }
});

test("a server that listens for others answers to any name: by which they reach it only they know", async () => {
  const server = await serve(httpProject({}).folder, { host: "0.0.0.0", insecure: true });
  for (const host of ["agent.internal:2024", "192.168.1.10:2024", "localhost"]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect((await call(server.url, "GET", "/ok", { headers: { host } })).status, host).toBe(200);
  }
});

test("with origins in the config, pages of others can neither change anything nor open a WebSocket", async () => {
  const project = httpProject({ http: { ...http, cors: { allow_origins: ["https://app.example"] } } }, files);
  const server = await serve(project.folder);
  const { thread_id } = (await call(server.url, "POST", "/threads", { body: {} })).json as { thread_id: string };
  const socket = `${server.url}/threads/${thread_id}/stream/events`;
  for (const [origin, changes, opens] of [
    ["https://evil.example", 403, 403],
    ["null", 403, 403],
    ["https://app.example.evil.example", 403, 403],
    ["https://app.example", 200, 101],
    [server.url, 200, 101],
  ] as const) {
    for (const path of ["/runs/wait", "/custom"]) {
      // As a page may send it without asking first.
      const headers = { origin, "content-type": "text/plain" };
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await call(server.url, "POST", path, { headers, body: RUN })).status, `${path} ${origin}`).toBe(changes);
    }
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await statusOfUpgrade(socket, { origin }), origin).toBe(opens);
  }
  // Nor can they stop a run by reading of it.
  const join = `/threads/${thread_id}/runs/${crypto.randomUUID()}/join?cancel_on_disconnect=1`;
  for (const [headers, status] of [
    [{ origin: "https://evil.example" }, 403],
    [{ "sec-fetch-site": "cross-site" }, 403],
    [{ origin: "https://app.example" }, 404],
    [{ origin: server.url }, 404],
    [{ "sec-fetch-site": "same-origin" }, 404],
    [{}, 404],
  ] as const)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect([headers, (await call(server.url, "GET", join, { headers })).status]).toEqual([headers, status]);
  const image = await call(server.url, "GET", join, { headers: { "sec-fetch-site": "cross-site" } });
  expect(image.json).toEqual({ detail: expect.stringMatching(/without an Origin/) as unknown });
  // What is only read is left to the browser, which does not show it to the page.
  const read = await call(server.url, "GET", "/assistants/counter", { headers: { origin: "https://evil.example" } });
  expect([read.status, read.headers["access-control-allow-origin"]]).toEqual([200, undefined]);
  const stream = await frames(server.url, "POST", "/runs/stream", {
    headers: { origin: "https://app.example" },
    body: RUN,
  });
  onTestFinished(() => stream.leave());
  expect(stream.headers["access-control-allow-origin"]).toBe("https://app.example");
});
