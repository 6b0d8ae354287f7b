// MCP with the official client and with raw requests: each assistant is a tool.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { projectWith } from "./support/config.ts";
import { useGates } from "./support/gates.ts";
import { call, frames, open } from "./support/http.ts";
import { startTestServer, useServer } from "./support/server.ts";

const server = useServer();
const gates = useGates();
let client: Client;

beforeEach(async () => {
  client = new Client({ name: "test", version: "1.0.0" });
  // The client's own type is looser about undefined than ours.
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)) as never);
});
afterEach(() => client.close());

const BOTH = { accept: "application/json, text/event-stream" };
const rpc = (method: string, params?: unknown, id: unknown = 1): Record<string, unknown> => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params === undefined ? {} : { params }),
});
const post = (body: unknown, headers: Record<string, string> = BOTH): ReturnType<typeof call> =>
  call(server.url, "POST", "/mcp", { body, headers });

interface Content {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly isError?: boolean;
}
const callTool = async (name: string, args: Record<string, unknown>): Promise<Content> =>
  (await client.callTool({ name, arguments: args })) as unknown as Content;

describe("the official client", () => {
  test("connects, and learns what the server is", () => {
    expect(client.getServerVersion()).toMatchObject({ name: "agent-server" });
    expect(client.getServerCapabilities()).toEqual({ tools: {} });
  });

  test("pings", async () => {
    await expect(client.ping()).resolves.toEqual({});
  });

  test("lists a tool for each assistant, described by the config, with the graph's input as its schema", async () => {
    const { tools } = await client.listTools();
    const assistants = await server.client.assistants.search({ limit: 1000 });
    expect(tools).toHaveLength(assistants.length);
    const agent = tools.find(({ name }) => name === "agent");
    expect(agent).toMatchObject({ description: "Answers, and asks before it acts", inputSchema: { type: "object" } });
    expect(agent!.inputSchema.properties).toHaveProperty("messages");
  });

  test("calls a tool and gets the final state as JSON", async () => {
    const { content, isError } = await callTool("echo", { messages: [{ role: "user", content: "hello" }] });
    expect(isError).toBe(false);
    const values = JSON.parse(content[0]!.text) as { messages: { type: string; content: string }[] };
    expect(values.messages[0]).toMatchObject({ type: "human", content: "hello" });
  });

  test("keeps nothing of a call", async () => {
    const before = await server.client.threads.count();
    await callTool("echo", { messages: [{ role: "user", content: "hello" }] });
    expect(await server.client.threads.count()).toBe(before);
  });

  test("gets the error of a run as a result, not as a protocol error", async () => {
    const { content, isError } = await callTool("failing", { how: "class" });
    expect(isError).toBe(true);
    expect(content[0]!.text).toBe("PaymentRefused: the card has expired");
  });

  test("is told when the agent stops to ask", async () => {
    const { content, isError } = await callTool("approval", { topic: "it" });
    expect(isError).toBe(true);
    expect(content[0]!.text).toContain("stopped to ask");
    expect(content[0]!.text).toContain("Do it?");
  });

  test("hears of progress, in a stream", async () => {
    const progress: number[] = [];
    await client.callTool({ name: "gated", arguments: { name: "a" } }, undefined, {
      onprogress: (step) => progress.push(step.progress),
    });
    expect(progress).toEqual([1, 2]);
  });

  test("gets an error for a tool that is not there, and for methods that a tools server has not", async () => {
    await expect(client.callTool({ name: "nobody", arguments: {} })).rejects.toMatchObject({ code: -32602 });
    await expect(client.listPrompts()).rejects.toThrow();
    expect((await post(rpc("prompts/list"))).json).toMatchObject({ error: { code: -32601 } });
    expect((await post(rpc("resources/list"))).json).toMatchObject({ error: { code: -32601 } });
  });

  test("stops the run when it gives up", async () => {
    const controller = new AbortController();
    const calling = client.callTool({ name: "gated", arguments: { name: "a", gate: gates.url("left") } }, undefined, {
      signal: controller.signal,
    });
    await gates.entered("left");
    controller.abort();
    await expect(calling).rejects.toThrow();
  });
});

test.each([[null], [{}], [true]])("a progress token that is none (%j) asks for no progress", async (progressToken) => {
  const params = { name: "gated", arguments: { name: "a" }, _meta: { progressToken } };
  const { headers, json } = await post(rpc("tools/call", params));
  expect(headers["content-type"]).toMatch(/^application\/json/);
  expect(json).toMatchObject({ id: 1, result: { isError: false } });
});

test("a progress token may be a number, 0 as well", async () => {
  const params = { name: "gated", arguments: { name: "a" }, _meta: { progressToken: 0 } };
  expect((await post(rpc("tools/call", params))).text).toContain('"params":{"progressToken":0,"progress":1}');
});

test.each([
  ["Application/JSON, Text/Event-Stream", 200],
  ["application/*, text/*;q=0.5", 200],
  ["application/json;q=1 , text/event-stream; charset=utf-8", 200],
  ["*/*", 200],
  ["application/json, text/event-stream;q=0", 400],
  ["application/jsonl, text/event-stream", 400],
  ["application/*", 400],
  ["text/*", 400],
])("Accept: %s is %d", async (accept, status) => {
  expect((await post(rpc("ping"), { accept })).status).toBe(status);
});

test("a client that leaves in the middle stops its run", async () => {
  const body = rpc("tools/call", {
    name: "gated",
    arguments: { name: "a", gate: gates.url("gone") },
    _meta: { progressToken: 1 },
  });
  const stream = await frames(server.url, "POST", "/mcp", { body, headers: BOTH });
  await gates.entered("gone");
  stream.leave();
  const metrics = async (): Promise<string> => (await call(server.url, "GET", "/metrics")).text;
  await expect.poll(metrics).toMatch(/status="interrupted"[^\n]* [1-9]/);
});

describe("tool names", () => {
  test("are made of what every client takes, and are unique", async () => {
    const made = await Promise.all([
      server.client.assistants.create({ graphId: "echo", name: "My Assistant (v2)!" }),
      server.client.assistants.create({ graphId: "echo", name: "My Assistant (v2)?" }),
      server.client.assistants.create({ graphId: "echo", name: "echo" }),
      server.client.assistants.create({ graphId: "echo", name: "日本語" }),
      server.client.assistants.create({ graphId: "echo", name: "x".repeat(300) }),
    ]);
    try {
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(names).toContain("My_Assistant_v2");
      const { content } = await callTool("echo", { messages: [{ role: "user", content: "the graph's own" }] });
      expect(content[0]!.text).toContain("the graph's own");
    } finally {
      for (const { assistant_id } of made) await server.client.assistants.delete(assistant_id);
    }
  });
});

describe("HTTP", () => {
  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])("speaks revision %s", async (protocolVersion) => {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "t", version: "1" } };
    const { json, status } = await post(rpc("initialize", params), {
      ...BOTH,
      "mcp-protocol-version": protocolVersion,
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({ jsonrpc: "2.0", id: 1, result: { protocolVersion } });
  });

  test("answers an unknown revision with the newest, and refuses one in the header", async () => {
    const params = { protocolVersion: "1999-01-01", capabilities: {}, clientInfo: { name: "t", version: "1" } };
    expect((await post(rpc("initialize", params))).json).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
    const refused = await post(rpc("ping"), { ...BOTH, "mcp-protocol-version": "1999-01-01" });
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({ error: { code: -32600 } });
  });

  test("gives no session", async () => {
    const { headers } = await post(rpc("ping"));
    expect(headers["mcp-session-id"]).toBeUndefined();
  });

  test.each([
    ["{", 400, -32700],
    ["[]", 400, -32600],
    [{ id: 1, method: "ping" }, 400, -32600],
    [{ jsonrpc: "2.0", id: {}, method: "ping" }, 400, -32600],
    [{ jsonrpc: "2.0", id: 1, method: 5 }, 400, -32600],
    [rpc("nothing/like/this"), 200, -32601],
    [rpc("tools/call", {}), 200, -32602],
    [rpc("tools/call", { name: "echo", arguments: [] }), 200, -32602],
    [rpc("tools/call", "text"), 200, -32602],
    [rpc("tools/list", { cursor: "x" }), 200, -32602],
  ])("%j is answered with %d and %d", async (body, status, code) => {
    const answer = await post(body);
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ jsonrpc: "2.0", error: { code } });
  });

  test("echoes ids with their type", async () => {
    expect((await post(rpc("ping", undefined, "7"))).json).toEqual({ jsonrpc: "2.0", id: "7", result: {} });
    expect((await post(rpc("ping", undefined, 0))).json).toEqual({ jsonrpc: "2.0", id: 0, result: {} });
  });

  test("takes notifications and answers with 202 and nothing", async () => {
    const { status, text } = await post({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect([status, text]).toEqual([202, ""]);
    expect((await post({ jsonrpc: "2.0", id: 1, result: {} })).status).toBe(202);
  });

  test("takes batches, as revision 2025-03-26 has them", async () => {
    const { json } = await post([
      rpc("ping", undefined, 1),
      { jsonrpc: "2.0", method: "notifications/x" },
      rpc("nope", undefined, 2),
    ]);
    expect(json).toMatchObject([
      { id: 1, result: {} },
      { id: 2, error: { code: -32601 } },
    ]);
    expect((await post(Array.from({ length: 51 }, () => rpc("ping")))).status).toBe(400);
  });

  test("wants both types in Accept", async () => {
    expect((await post(rpc("ping"), { accept: "application/json" })).status).toBe(400);
    expect((await post(rpc("ping"), { accept: "text/event-stream" })).status).toBe(400);
    expect((await post(rpc("ping"), { accept: "*/*" })).status).toBe(200);
  });

  test("lets pages of this machine in, and no others", async () => {
    expect((await post(rpc("ping"), { ...BOTH, origin: "http://localhost:3000" })).status).toBe(200);
    expect((await post(rpc("ping"), { ...BOTH, origin: "https://evil.example" })).status).toBe(403);
    expect((await post(rpc("ping"), { ...BOTH, origin: "null" })).status).toBe(403);
    expect((await post(rpc("ping"), { ...BOTH, host: "evil.example" })).status).toBe(403);
  });

  test("has no stream and no session: GET is 405, DELETE is 404; /mcp/ works as well", async () => {
    const get = await open(server.url, "GET", "/mcp", { headers: { accept: "text/event-stream" } });
    get.resume();
    expect([get.statusCode, get.headers.allow]).toEqual([405, "POST"]);
    expect((await call(server.url, "DELETE", "/mcp")).status).toBe(404);
    expect((await call(server.url, "POST", "/mcp/", { body: rpc("ping"), headers: BOTH })).status).toBe(200);
  });
});

test("http.disable_mcp removes it", async () => {
  const own = await startTestServer({ cwd: projectWith({ http: { disable_mcp: true } }) });
  try {
    expect((await call(own.url, "POST", "/mcp", { body: rpc("ping"), headers: BOTH })).status).toBe(404);
    expect((await call(own.url, "GET", "/mcp")).status).toBe(404);
  } finally {
    await own.stop();
  }
});
