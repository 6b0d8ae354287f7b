// How the project's authentication comes into force: by the config and its keys, by a save, and not at all when something is wrong with it.
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { TestClock } from "../../src/clock.ts";
import type { ServerEvent } from "../../src/server/types.ts";
import { ADA, BOB } from "./support/auth-world.ts";
import { type Answer, call } from "./support/http.ts";
import { httpProject, serve, type HttpProject, type HttpServer } from "./support/http-project.ts";
import { complaints, startTestServer, type ServerChoices, type TestServer } from "./support/server.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "auth-project");
const AUTH = { auth: { path: "./src/auth.ts:auth" } };
/** Lets in whoever knows the word. */
const auth = (word: string, more = ""): string => `
import { Auth, HTTPException } from "@langchain/langgraph-sdk/auth";
export const auth = new Auth().authenticate((request) => {
  if (request.headers.get("x-word") !== "${word}") throw new HTTPException(401, { message: "Which word?" });
  return "somebody";
})${more};
`;
const project = (text: string, config: Record<string, unknown> = AUTH): HttpProject =>
  httpProject(config, { "src/auth.ts": text });
const fixture = async (choices: ServerChoices): Promise<TestServer> => {
  const server = await startTestServer({ cwd: PROJECT, persist: false, ...choices });
  onTestFinished(async () => void (await server.stop()));
  return server;
};
const status = async (url: string, headers: Record<string, string> = {}, path = "/threads"): Promise<number> =>
  (await call(url, "POST", path, { headers, body: {} })).status;
const word = (text: string): Record<string, string> => ({ "x-word": text });
const told = ({ events }: Pick<HttpServer, "events">): string[] =>
  complaints(events).map((event) => (event.type === "diagnostic" ? event.diagnostic.message : JSON.stringify(event)));

describe("a save", () => {
  test("is in force at once; one that is broken leaves the last good one in force", async () => {
    const own = project(auth("one"));
    const server = await serve(own.folder, { reload: true });
    const save = async (text: string, type: "reloaded" | "diagnostic"): Promise<unknown> => {
      const event = server.next((one) => one.type === type);
      own.save("src/auth.ts", text);
      return event;
    };
    expect([await status(server.url, word("one")), await status(server.url, word("two"))]).toEqual([200, 401]);
    expect(await save(auth("two"), "reloaded")).toMatchObject({ ids: ["auth.path"] });
    expect([await status(server.url, word("one")), await status(server.url, word("two"))]).toEqual([401, 200]);
    const broken = await save("export const auth = ;", "diagnostic");
    expect(broken).toMatchObject({ diagnostic: { severity: "error", frame: expect.stringContaining("= ;") } });
    expect(told(server)[0]).toMatch(/^auth\.path: .*; it stays in force as it was loaded last$/s);
    expect([await status(server.url, word("one")), await status(server.url, word("two"))]).toEqual([401, 200]);
    await save('export const auth = "nothing";', "diagnostic");
    expect([await status(server.url), await status(server.url, word("two"))]).toEqual([401, 200]);
    await save(auth("three"), "reloaded");
    expect([await status(server.url, word("two")), await status(server.url, word("three"))]).toEqual([401, 200]);
  });

  test("of the config puts it into force, and out of it", async () => {
    const own = project(auth("one"), {});
    const server = await serve(own.folder, { reload: true });
    expect(await status(server.url)).toBe(200);
    own.configure(AUTH);
    await expect.poll(() => status(server.url)).toBe(401);
    expect(await status(server.url, word("one"))).toBe(200);
    own.configure({});
    await expect.poll(() => status(server.url)).toBe(200);
  });

  test("of the config that goes with nothing changes nothing", async () => {
    const own = project(auth("one"), {});
    const server = await serve(own.folder, { reload: true, apiKeys: ["key"] });
    const refused = server.next((one) => one.type === "diagnostic" || one.type === "log" || one.type === "failed");
    own.configure(AUTH);
    expect(JSON.stringify(await refused)).toContain("auth.path decides who is let in");
    expect([await status(server.url, word("one")), await status(server.url, { "x-api-key": "key" })]).toEqual([
      401, 200,
    ]);
  });
});

describe("what is wrong", () => {
  test.each([
    ["noAuth", '"noAuth" is no Auth object: it is a plain object'],
    ["withoutAuthenticate", '"withoutAuthenticate" has no authenticate handler'],
    ["nothing", '"nothing"'],
  ])("an export that lets nobody in (%s)", async (name, message) => {
    const own = httpProject({ auth: { path: `${join(PROJECT, "src", "broken.ts")}:${name}` } });
    const server = await serve(own.folder);
    expect(told(server)).toHaveLength(1);
    expect(told(server)[0]).toContain(message);
    expect(told(server)[0]).toContain("nobody is let in");
    const answer = await call(server.url, "POST", "/threads", { headers: ADA, body: {} });
    expect([answer.status, answer.json]).toEqual([
      503,
      { detail: "The authentication of this server does not load, so that nobody is let in" },
    ]);
    expect((await call(server.url, "GET", "/threads/x")).status).toBe(503);
    expect((await call(server.url, "GET", "/nowhere")).status).toBe(503);
    expect((await call(server.url, "GET", "/ok")).status).toBe(200);
    expect(told(server)).toHaveLength(1);
  });

  test("a module that throws lets nobody in until it is repaired", async () => {
    const own = project("throw new Error('no such secret');");
    const server = await serve(own.folder, { reload: true });
    expect(await status(server.url, word("one"))).toBe(503);
    expect(told(server)[0]).toContain("no such secret");
    own.save("src/auth.ts", auth("one"));
    await expect.poll(() => status(server.url, word("one"))).toBe(200);
    expect(await status(server.url)).toBe(401);
  });

  test.each([
    ["./src/other.ts:auth", /does not exist/],
    ["./src/auth.ts", /names no export/],
    ["./auth.py:auth", /is Python/],
  ])("a path that names nothing is refused: %s", async (path, reason) => {
    await expect(serve(project(auth("one"), { auth: { path } }).folder)).rejects.toThrow(reason);
  });

  test("keys that would mean nothing are refused", async () => {
    const own = project(auth("one"));
    const refused = { message: expect.stringContaining("auth.path decides"), exitCode: 2 };
    await expect(serve(own.folder, { apiKeys: ["key"] })).rejects.toMatchObject(refused);
    vi.stubEnv("AGENT_SERVER_API_KEYS", "key");
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(serve(own.folder)).rejects.toMatchObject(refused);
  });

  test("events that no handler covers are told", async () => {
    const some = await serve(project(auth("one", `.on("threads", () => true).on("*:read", () => true)`)).folder);
    expect(told(some)).toHaveLength(1);
    expect(told(some)[0]).toMatch(/^auth\.path has no handler for assistants:create, .*store:delete.*may do that\.$/);
    expect(told(some)[0]).not.toMatch(/threads|:read/);
    expect(told(await serve(project(auth("one")).folder))).toEqual([]);
    expect(told(await serve(project(auth("one", `.on("*", () => true)`)).folder))).toEqual([]);
  });
});

describe("auth.cache", () => {
  /** How often `authenticate` had been called when this request's answer was made. */
  const caller = async ({ url }: TestServer, headers: Record<string, string>): Promise<unknown> => {
    const { json } = await call(url, "POST", "/threads", { headers, body: {} });
    return (json as { metadata: { caller: string } }).metadata.caller;
  };

  test("keeps who somebody is for its time, by its headers, and no more than its size", async () => {
    const clock = new TestClock("2026-03-01T00:00:00Z");
    const server = await fixture({ config: "langgraph.cache.json", clock });
    const one = { "x-user": "1" };
    const both = { "x-user": "1", "x-session": "2" };
    // The module may have been loaded before.
    const before = Number(String(await caller(server, one)).slice("call ".length));
    const calls = async (headers: Record<string, string>): Promise<number> =>
      Number(String(await caller(server, headers)).slice("call ".length)) - before;
    expect(await calls(one)).toBe(0);
    expect(await calls({ ...one, "x-other": "3" })).toBe(0);
    expect(await calls(both)).toBe(1);
    expect(await calls(both)).toBe(1);
    // Without any of the headers all are alike, so nobody is kept.
    expect(await calls({})).toBe(2);
    expect(await calls({})).toBe(3);
    await clock.advance(9_999);
    expect(await calls(one)).toBe(0);
    await clock.advance(2);
    expect(await calls(one)).toBe(4);
    // Three are one too many: the one that was used longest ago goes.
    expect(await calls(both)).toBe(5);
    expect(await calls({ "x-user": "3" })).toBe(6);
    expect(await calls(both)).toBe(5);
    expect(await calls(one)).toBe(7);
  });

  test("a refusal is not kept", async () => {
    const server = await fixture({ config: "langgraph.cache.json" });
    const refused = { "x-user": "refused", "x-refuse": "1" };
    expect(await status(server.url, refused)).toBe(401);
    expect(await status(server.url, { "x-user": "refused" })).toBe(200);
  });
});

describe("Studio", () => {
  const STUDIO = { "x-auth-scheme": "langsmith" };
  const read = (url: string, headers: Record<string, string>): Promise<Answer> =>
    call(url, "POST", "/threads", { headers, body: {} });

  test("comes in over loopback, and the handlers decide what it may", async () => {
    const { url } = await fixture({});
    const made = await read(url, STUDIO);
    expect(made.json).toMatchObject({ metadata: { owner: "langgraph-studio-user" } });
    expect((await call(url, "POST", "/threads/search", { headers: STUDIO, body: {} })).json).toHaveLength(1);
    expect((await call(url, "POST", "/threads/search", { headers: ADA, body: {} })).json).toEqual([]);
    expect(await status(url, { ...STUDIO, ...BOB, origin: "https://smith.langchain.com" })).toBe(200);
    for (const origin of ["https://eu.smith.langchain.com", "http://localhost:3000", "http://127.0.0.1"])
      expect([origin, await status(url, { ...STUDIO, origin })]).toEqual([origin, 200]);
  });

  test.each([
    [{ origin: "https://evil.example" }],
    [{ origin: "https://smith.langchain.com.evil.example" }],
    [{ origin: "http://smith.langchain.com" }],
    [{ origin: "null" }],
    [{ "x-forwarded-for": "127.0.0.1" }],
    [{ forwarded: "for=127.0.0.1" }],
    [{ via: "1.1 proxy" }],
    [{ "x-auth-scheme": "langsmith, langsmith" }],
  ])("is nobody with %j", async (headers) => {
    const { url } = await fixture({});
    expect(await status(url, { ...STUDIO, ...(headers as Record<string, string>) })).toBe(401);
  });

  const tellsOfStudio = (events: readonly ServerEvent[]): boolean[] =>
    events.flatMap((event) => (event.type === "log" && event.message.includes("disable_studio_auth") ? [true] : []));

  test("is nobody when auth.disable_studio_auth says so, or where keys decide", async () => {
    const own = project(auth("one"), { auth: { ...AUTH.auth, disable_studio_auth: true } });
    const closed = await serve(own.folder);
    expect(await status(closed.url, STUDIO)).toBe(401);
    expect(tellsOfStudio(closed.events)).toEqual([]);
    expect(tellsOfStudio((await fixture({})).events)).toEqual([true]);
    expect(await status((await fixture({ config: "langgraph.keys.json", apiKeys: ["key"] })).url, STUDIO)).toBe(401);
  });
});

describe("what is open", () => {
  test("says what a client needs to know to come in, and nothing of the project's", async () => {
    const { url } = await fixture({});
    const open = ["/ok", "/info", "/docs", "/docs/scalar.js", "/openapi.json", "/ui/whoami/entrypoint.js"];
    for (const path of open) {
      expect([path, (await call(url, "GET", path)).status]).toEqual([path, 200]);
    }
    for (const path of ["/", "/metrics", "/ok/metrics", "/internal/webhooks"]) {
      expect([path, (await call(url, "GET", path)).status]).toEqual([path, 401]);
    }
    const document = (await call(url, "GET", "/openapi.json")).json as Record<
      string,
      Record<string, Record<string, object>>
    >;
    expect(document["components"]!["securitySchemes"]).toEqual({ bearer: { type: "http", scheme: "bearer" } });
    expect(document["security"]).toEqual([{ bearer: [] }]);
    expect(document["paths"]!["/threads/search"]!["post"]).toMatchObject({ security: [{ bearer: ["search"] }] });
    expect(document["paths"]!["/ok"]!["get"]).toMatchObject({ security: [] });
    expect(document["paths"]!["/threads"]!["post"]).not.toHaveProperty("security");
    expect(JSON.stringify(document)).not.toMatch(/whoami|deadly/);
  });

  test("where keys decide, that is /ok alone; the document says how to send one", async () => {
    const { url } = await fixture({ config: "langgraph.keys.json", apiKeys: ["key"] });
    for (const path of ["/info", "/docs", "/docs/scalar.js", "/openapi.json", "/", "/metrics"]) {
      expect([path, (await call(url, "GET", path)).status]).toEqual([path, 401]);
    }
    const { json } = await call(url, "GET", "/openapi.json", { headers: { "x-api-key": "key" } });
    expect((json as { components: unknown }).components).toMatchObject({
      securitySchemes: { apiKeyAuth: { type: "apiKey", in: "header", name: "X-Api-Key" } },
    });
  });

  test("routes of the project's own app are, unless http.enable_custom_route_auth says no", async () => {
    const app = `export const app = (request) =>
      new URL(request.url).pathname === "/custom" ? new Response("custom") : undefined;`;
    const statuses = async (http: Record<string, unknown>): Promise<number[]> => {
      const files = { "src/auth.ts": auth("one"), "src/app.ts": app };
      const { folder } = httpProject({ ...AUTH, http: { app: "./src/app.ts:app", ...http } }, files);
      const { url } = await serve(folder);
      const get = async (path: string, headers = {}): Promise<number> =>
        (await call(url, "GET", path, { headers })).status;
      return [
        await get("/custom"),
        await get("/custom", word("one")),
        await get("/metrics"),
        await get("/metrics", word("one")),
      ];
    };
    expect(await statuses({})).toEqual([200, 200, 401, 200]);
    expect(await statuses({ enable_custom_route_auth: true })).toEqual([401, 200, 401, 200]);
  });
});
