// API keys: with them everything but `/ok` takes one, whatever the door; without them nothing does.
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { pathTemplate, type Operation } from "../../src/server/operation.ts";
import { registerRoutes } from "../../src/server/routes.ts";
import { rpc } from "./support/auth-world.ts";
import { type Answer, call } from "./support/http.ts";
import { httpProject, serve } from "./support/http-project.ts";
import { startTestServer, useServer } from "./support/server.ts";
import { upgradeStatus } from "./support/upgrade.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "auth-project");
const CONFIG = "langgraph.keys.json";
const KEYS = ["first-key-of-this-test", "second-key,with-a-comma"] as const;
const [KEY] = KEYS;
const server = useServer({ cwd: PROJECT, config: CONFIG, apiKeys: KEYS });

const operations: Operation[] = [];
// Nothing is called but the registration itself.
registerRoutes(((operation: Operation) => void operations.push(operation)) as never, { http: {} } as never);
const status = async (headers: Record<string, string>, path = "/threads/search"): Promise<number> =>
  (await call(server.url, "POST", path, { headers, body: {} })).status;

describe("with keys", () => {
  test.each(operations.map(({ method, path }) => [method, pathTemplate(path)] as const))(
    "%s %s takes one",
    async (method, template) => {
      const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
        name === "file" ? "scalar.js" : crypto.randomUUID(),
      );
      const body = method === "GET" || method === "DELETE" ? undefined : "no JSON";
      const ask = (headers: Record<string, string>): Promise<Answer> =>
        call(server.url, method, path, { headers, body });
      const expected = path === "/ok" ? 200 : 401;
      const wrong: Record<string, string>[] = [{}, { "x-api-key": "wrong" }, { "x-auth-scheme": "langsmith" }];
      for (const headers of wrong) {
        const answer = await ask(headers);
        expect(answer.status).toBe(expected);
        if (expected === 200) continue;
        expect(answer.headers["www-authenticate"]).toContain("Bearer");
        expect(Object.keys(answer.json as object)).toEqual(["detail"]);
      }
      expect((await ask({ "x-api-key": KEY })).status).not.toBe(401);
    },
  );

  test("nobody else learns which paths there are", async () => {
    for (const path of ["/nowhere", "/threads/x/nowhere", "/ok/x"]) {
      expect([await status({}, path), await status({ "x-api-key": KEY }, path)]).toEqual([401, 404]);
    }
    expect((await call(server.url, "PUT", "/ok")).status).toBe(401);
  });

  test.each([
    [{ "x-api-key": KEYS[0] }, 200],
    [{ "x-api-key": KEYS[1] }, 200],
    [{ "X-API-KEY": KEY }, 200],
    [{ authorization: `Bearer ${KEY}` }, 200],
    [{ authorization: `bearer   ${KEY}` }, 200],
    // Clients send both: what they have for a server behind this one, and the key.
    [{ authorization: "Bearer of-something-else", "x-api-key": KEY }, 200],
    [{ authorization: `Bearer ${KEY}`, "x-api-key": "wrong" }, 200],
    [{ authorization: KEY }, 401],
    [{ authorization: `Basic ${btoa(`user:${KEY}`)}` }, 401],
    [{ "x-api-key": KEY.toUpperCase() }, 401],
    [{ "x-api-key": `${KEY}x` }, 401],
    [{ "x-api-key": KEY.slice(0, -1) }, 401],
    [{ "x-api-key": `${KEY},${KEY}` }, 401],
    [{ "x-api-key": "" }, 401],
    [{ cookie: `x-api-key=${KEY}` }, 401],
  ])("%j is answered with %d", async (headers, expected) => {
    expect(await status(headers as unknown as Record<string, string>)).toBe(expected);
  });

  test("an address holds no key", async () => {
    expect(await status({}, `/threads/search?api_key=${KEY}&x-api-key=${KEY}`)).toBe(401);
  });

  test("a browser may ask which headers it may send", async () => {
    const headers = { origin: "https://app.example", "access-control-request-method": "POST" };
    const { status: preflight } = await call(server.url, "OPTIONS", "/threads", { headers });
    expect(preflight).toBe(204);
    const refused = await call(server.url, "POST", "/threads", { headers: { origin: "https://app.example" } });
    expect([refused.status, refused.headers["access-control-allow-origin"]]).toEqual([401, "*"]);
  });

  test("a WebSocket takes one", async () => {
    const upgrade = (headers: Record<string, string>): Promise<number> =>
      upgradeStatus(server.url, crypto.randomUUID(), headers);
    expect([await upgrade({}), await upgrade({ "x-api-key": "x" }), await upgrade({ "x-api-key": KEY })]).toEqual([
      401, 401, 101,
    ]);
  });

  test("the SDK sends what it is given, and what its environment has", async () => {
    const given = new Client({ apiUrl: server.url, apiKey: KEY });
    expect(await given.runs.wait(null, "whoami", { input: {} })).toMatchObject({ caller: { id: null } });
    vi.stubEnv("LANGGRAPH_API_KEY", KEY);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await new Client({ apiUrl: server.url }).threads.count()).toEqual(expect.any(Number));
  });

  test("A2A, MCP and streams work behind it, and a thread is everybody's who has one", async () => {
    const ask = (key: string, method: string, path: string, body?: unknown): Promise<Answer> =>
      call(server.url, method, path, { headers: { "x-api-key": key }, ...(body === undefined ? {} : { body }) });
    const parts = [{ kind: "data", data: {} }];
    const message = { kind: "message", role: "user", messageId: "1", parts };
    const sent = await ask(KEYS[0], "POST", "/a2a/whoami", rpc("message/send", { message }));
    const { id, contextId } = (sent.json as { result: { id: string; contextId: string } }).result;
    expect((await ask(KEYS[1], "POST", "/a2a/whoami", rpc("tasks/get", { id }))).json).toHaveProperty("result");
    expect((await ask(KEYS[1], "GET", `/threads/${contextId}`)).status).toBe(200);
    expect((await ask(KEYS[1], "POST", "/mcp", rpc("tools/list", {}))).text).toContain("whoami");
  });

  test("a key is told to nobody", async () => {
    expect(JSON.stringify(server.events)).not.toContain(KEY);
    const answers = [
      await call(server.url, "GET", "/openapi.json", { headers: { "x-api-key": KEY } }),
      await call(server.url, "GET", "/info", { headers: { "x-api-key": KEY } }),
      await call(server.url, "GET", "/metrics", { headers: { "x-api-key": KEY } }),
      await call(server.url, "GET", "/info", { headers: { "x-api-key": `${KEY}-wrong` } }),
    ];
    for (const { text } of answers) expect(text).not.toContain(KEY);
  });
});

test("the server's own way in passes the door, too", async () => {
  // A graph that sends a webhook here, and the SDK inside a graph, have no other rights than somebody outside.
  const global = globalThis as unknown as Record<symbol, (url: string, init?: RequestInit) => Promise<Response>>;
  const inside = global[Symbol.for("langgraph_api:fetch")]!;
  const url = String(global[Symbol.for("langgraph_api:url")]);
  expect((await inside(`${url}/threads/search`, { method: "POST", body: "{}" })).status).toBe(401);
  const headers = { "x-api-key": KEY };
  expect((await inside(`${url}/threads/search`, { method: "POST", body: "{}", headers })).status).toBe(200);
});

describe("where keys come from", () => {
  test("AGENT_SERVER_API_KEYS, in the project's .env as well", async () => {
    const project = httpProject({ env: ".env" }, { ".env": "AGENT_SERVER_API_KEYS= one , two,,\n" });
    const { url } = await serve(project.folder);
    const found = ["one", "two", "one , two", ""].map(
      async (key) => (await call(url, "GET", "/info", { headers: { "x-api-key": key } })).status,
    );
    expect(await Promise.all(found)).toEqual([200, 200, 401, 401]);
  });

  test("without keys nobody has to show one, and showing one does no harm", async () => {
    const open = await startTestServer({ cwd: PROJECT, config: CONFIG, persist: false });
    onTestFinished(async () => void (await open.stop()));
    expect((await call(open.url, "GET", "/info", { headers: { "x-api-key": "anything" } })).status).toBe(200);
    expect(open.running.auth).toBeNull();
  });

  test.each(["", " ", "a b", "ü", "a\nb"])("%j is none, and does not leave the server open", async (key) => {
    const refused = { exitCode: 2, message: expect.stringContaining("An API key has a space or a character") };
    await expect(
      startTestServer({ cwd: PROJECT, config: CONFIG, persist: false, apiKeys: [key] }),
    ).rejects.toMatchObject(refused);
  });
});

describe("an address that others reach", () => {
  const choices = { cwd: PROJECT, config: CONFIG, persist: false, host: "0.0.0.0" };
  test("needs keys, handlers, or --insecure", async () => {
    await expect(startTestServer(choices)).rejects.toMatchObject({
      message: "Everyone who can reach 0.0.0.0 could run these graphs and read these threads.",
      exitCode: 2,
      hint: expect.stringMatching(/keys new[\s\S]*auth\.path[\s\S]*--insecure/),
    });
    for (const [more, auth, expected] of [
      [{ apiKeys: [KEY] }, "keys", 401],
      [{ config: "langgraph.json" }, "project", 401],
      [{ insecure: true }, null, 200],
    ] as const) {
      const open = await startTestServer({ ...choices, ...more });
      onTestFinished(async () => void (await open.stop()));
      expect(open.running.auth).toBe(auth);
      expect((await call(`http://127.0.0.1:${open.running.port}`, "GET", "/metrics")).status).toBe(expected);
    }
  });

  test("does not lose its handlers by an edit of the config", async () => {
    const auth =
      'import { Auth } from "@langchain/langgraph-sdk/auth"; export const auth = new Auth().authenticate(() => { throw new Error(); });';
    const project = httpProject({ auth: { path: "./src/auth.ts:auth" } }, { "src/auth.ts": auth });
    const open = await serve(project.folder, { reload: true, host: "0.0.0.0" });
    const refused = open.next((event) => JSON.stringify(event).includes("Everyone who can reach"));
    project.configure({});
    await refused;
    expect((await call(`http://127.0.0.1:${open.running.port}`, "GET", "/metrics")).status).toBe(401);
  });
});
