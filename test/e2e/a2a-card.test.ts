// Agent cards: what they say, for which generation, under which address, and how long they may be kept.
import { join } from "node:path";
import { AgentCard } from "@a2a-js/sdk";
import { describe, expect, test } from "vitest";
import { A2A_PROJECT, Agent, rpc, said03, type Wire } from "./support/a2a.ts";
import { projectWith } from "./support/config.ts";
import { call, type Answer } from "./support/http.ts";
import { PROJECT, startTestServer, useServer } from "./support/server.ts";

const server = useServer({ cwd: A2A_PROJECT });
const common = (query = "?assistant_id=kit", headers: Record<string, string> = {}): Promise<Answer> =>
  call(server.url, "GET", `/.well-known/agent-card.json${query}`, { headers });
const pure = (headers: Record<string, string> = {}): Promise<Answer> =>
  call(server.url, "GET", "/a2a/kit/.well-known/agent-card.json", { headers });
const assistantId = async (): Promise<string> =>
  (await server.client.assistants.search({ graphId: "kit" }))[0]!.assistant_id;

describe("what a card says", () => {
  test("CARD-DISC-001: name, description, skill, modes and endpoint of the assistant, for clients of 0.3 (test_agent_card_mandatory)", async () => {
    const id = await assistantId();
    const url = `${server.url}/a2a/${id}`;
    const { status, json, headers } = await common();
    expect([status, headers["content-type"]]).toEqual([200, "application/json"]);
    expect(json).toMatchObject({
      protocolVersion: "0.3.0",
      name: "kit",
      description: "Does what the id of a message says",
      url,
      preferredTransport: "JSONRPC",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      capabilities: { streaming: true, pushNotifications: true, stateTransitionHistory: false },
      defaultInputModes: ["text/plain", "application/json"],
      defaultOutputModes: ["text/plain", "application/json"],
      skills: [
        {
          id: `${id}-main`,
          name: "kit",
          description: "Does what the id of a message says",
          tags: ["assistant", "langgraph"],
        },
      ],
      supportsAuthenticatedExtendedCard: false,
    });
    // The endpoint is where it says.
    const agent = new Agent(() => url.slice(0, url.indexOf("/a2a/")), id);
    expect(await agent.result("message/send", said03("hi"))).toMatchObject({ status: { state: "completed" } });
  });

  test("CARD-PROTO-001, CARD-PROTO-002, BIND-FIELD-001: the interfaces of both versions, 1.0 first", async () => {
    const url = `${server.url}/a2a/${await assistantId()}`;
    for (const { json } of [await common(), await pure()]) {
      expect((json as Wire).supportedInterfaces).toEqual([
        { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        { url, protocolBinding: "JSONRPC", protocolVersion: "0.3" },
      ]);
    }
  });

  test("CARD-STRUCT-001: the card of 1.0 has its members and no others", async () => {
    for (const { json } of [await pure(), await common(undefined, { "a2a-version": "1.0" })]) {
      expect(AgentCard.toJSON(AgentCard.fromJSON(json))).toMatchObject({ name: "kit" });
      expect(Object.keys(json as object).toSorted()).toEqual([
        "capabilities",
        "defaultInputModes",
        "defaultOutputModes",
        "description",
        "name",
        "skills",
        "supportedInterfaces",
        "version",
      ]);
      const { capabilities, skills } = json as Wire;
      expect(capabilities).toEqual({ streaming: true, pushNotifications: true, extendedAgentCard: false });
      expect(Object.keys(skills[0]).toSorted()).toEqual([
        "description",
        "id",
        "inputModes",
        "name",
        "outputModes",
        "tags",
      ]);
    }
  });

  test("name, description and modes are the assistant's own", async () => {
    const made = await server.client.assistants.create({
      graphId: "kit",
      name: "My agent",
      metadata: { a2a: { input_modes: ["text/plain", "image/png"], output_modes: ["text/plain"] } },
    });
    const { json } = await common(`?assistant_id=${made.assistant_id}`);
    expect(json).toMatchObject({
      name: "My agent",
      description: "LangGraph agent: kit",
      defaultInputModes: ["text/plain", "image/png"],
      defaultOutputModes: ["text/plain"],
      skills: [{ name: "My agent", inputModes: ["text/plain", "image/png"], outputModes: ["text/plain"] }],
    });
  });
});

describe("under which address", () => {
  const urlOf = async (headers: Record<string, string>): Promise<string> =>
    ((await common(undefined, headers)).json as Wire).url.replace(/\/a2a\/.*/, "");

  test("the one that was asked", async () => {
    const port = new URL(server.url).port;
    expect(await urlOf({ host: `localhost:${port}` })).toBe(`http://localhost:${port}`);
  });

  test("behind a proxy, the proxy's", async () => {
    const forwarded = { "x-forwarded-proto": "https", "x-forwarded-host": "agents.example.com" };
    expect(await urlOf(forwarded)).toBe("https://agents.example.com");
    expect(await urlOf({ ...forwarded, "x-forwarded-host": "a.example.com:8443, b.internal" })).toBe(
      "https://a.example.com:8443",
    );
    expect(await urlOf({ "x-forwarded-host": "[2001:db8::1]:80" })).toBe("http://[2001:db8::1]:80");
  });

  test("what is no host and no protocol does not get into the card", async () => {
    for (const host of ["evil.example.com/path?", 'a"b', "user@host", "a b", "-"])
      expect(await urlOf({ "x-forwarded-host": host })).toBe(server.url);
    expect(await urlOf({ "x-forwarded-proto": "javascript" })).toBe(server.url);
  });
});

describe("how long it may be kept", () => {
  test("CARD-CACHE-001, CARD-CACHE-002, CARD-CACHE-003: Cache-Control with max-age, ETag, Last-Modified", async () => {
    for (const { headers } of [await common(), await pure()]) {
      expect(headers["cache-control"]).toMatch(/max-age=\d+/);
      expect(headers.etag).toMatch(/^"[^"]+"$/);
      expect(Date.parse(headers["last-modified"]!)).toBeLessThanOrEqual(Date.now());
      expect(headers.vary).toContain("A2A-Version");
    }
  });

  test("who has it gets 304, until the assistant changes", async () => {
    const made = await server.client.assistants.create({ graphId: "kit", name: "Before" });
    const ask = (headers: Record<string, string>) => common(`?assistant_id=${made.assistant_id}`, headers);
    const { headers } = await ask({});
    const { etag = "", "last-modified": since = "" } = headers;
    const known: Record<string, string>[] = [
      { "if-none-match": etag },
      { "if-none-match": `"x", W/${etag}` },
      { "if-modified-since": since },
    ];
    for (const has of known) {
      expect(await ask(has)).toMatchObject({ status: 304, text: "", headers: { etag } });
    }
    expect((await ask({ "if-none-match": '"other"', "if-modified-since": since })).status).toBe(200);
    await server.client.assistants.update(made.assistant_id, { name: "After" });
    expect(await ask({ "if-none-match": etag })).toMatchObject({ status: 200, json: { name: "After" } });
  });
});

describe("whose card", () => {
  test("without an assistant, where there are several, is an error that says what there is", async () => {
    expect(await common("")).toMatchObject({
      status: 400,
      json: {
        detail: expect.stringMatching(/assistant_id.*kit, ask/),
        error: { code: -32_602, message: expect.stringContaining("assistant_id") },
      },
    });
  });

  test("an unknown assistant is a 404 that says so", async () => {
    for (const answer of [
      await common("?assistant_id=none"),
      await call(server.url, "GET", "/a2a/none/.well-known/agent-card.json"),
    ]) {
      expect(answer).toMatchObject({
        status: 404,
        json: { detail: expect.stringContaining('"none"'), error: { code: -32_602 } },
      });
    }
  });

  test("where there is one assistant only, the bare address serves it", async () => {
    const single = await startTestServer({
      cwd: projectWith({ graphs: { echo: join(PROJECT, "src", "echo.ts:graph") } }),
    });
    try {
      const card = await call(single.url, "GET", "/.well-known/agent-card.json");
      expect(card).toMatchObject({ status: 200, json: { name: "echo", protocolVersion: "0.3.0" } });
    } finally {
      await single.stop();
    }
  });
});

describe("switched off", () => {
  test("http.disable_a2a removes endpoint and cards", async () => {
    const off = await startTestServer({ cwd: projectWith({ http: { disable_a2a: true } }) });
    try {
      for (const [method, path] of [
        ["POST", "/a2a/echo"],
        ["GET", "/a2a/echo"],
        ["GET", "/.well-known/agent-card.json?assistant_id=echo"],
        ["GET", "/a2a/echo/.well-known/agent-card.json"],
      ] as const) {
        const body = method === "POST" ? { body: rpc("message/send", said03("hi")) } : {};
        expect([path, (await call(off.url, method, path, body)).status]).toEqual([path, 404]);
      }
      expect((await call(off.url, "GET", "/openapi.json")).text).not.toContain("/a2a/");
    } finally {
      await off.stop();
    }
  });

  test("http.disable_webhooks takes push notifications away: CORE-CAP-001", async () => {
    const off = await startTestServer({ cwd: projectWith({ http: { disable_webhooks: true } }) });
    try {
      expect((await call(off.url, "GET", "/.well-known/agent-card.json?assistant_id=echo")).json).toMatchObject({
        capabilities: { pushNotifications: false },
      });
      const echo = new Agent(() => off.url, "echo");
      const config = { url: "https://example.com/hook" };
      const params = { taskId: "t", ...config };
      for (const method of [
        "CreateTaskPushNotificationConfig",
        "GetTaskPushNotificationConfig",
        "ListTaskPushNotificationConfigs",
        "DeleteTaskPushNotificationConfig",
      ]) {
        expect(await echo.error(method, { ...params, id: "c" })).toMatchObject({
          code: -32_003,
          data: [{ reason: "PUSH_NOTIFICATION_NOT_SUPPORTED" }],
        });
      }
      const asked = { ...said03("hi"), configuration: { pushNotificationConfig: config } };
      expect(await echo.error("message/send", asked)).toMatchObject({ code: -32_003 });
    } finally {
      await off.stop();
    }
  });
});
