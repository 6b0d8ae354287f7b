// HTTP itself: health, information, CORS, the Host check, aliases, content types, and what must never be told.
import { describe, expect, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { call, collect, frames, open } from "./support/http.ts";
import { clientOf, useServer } from "./support/server.ts";

const server = useServer({ persist: false });
const gates = useGates();

const newThread = async (): Promise<string> => (await server.client.threads.create()).thread_id;
const BODY = { assistant_id: "counter", input: {} };

describe("system", () => {
  test("/ok", async () => {
    for (const path of ["/ok", "/ok?check_db=1", "/ok?check_db=0"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await call(server.url, "GET", path)).toMatchObject({ status: 200, json: { ok: true } });
    }
  });

  test("/info", async () => {
    const { status, json } = await call(server.url, "GET", "/info");
    expect(status).toBe(200);
    expect(json).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      langgraph_js_version: expect.stringMatching(/^1\.\d+\.\d+/),
      context: "js",
      // meta.test.ts has the flags.
      flags: expect.objectContaining({ assistants: true, langsmith: false }),
      metadata: {},
    });
  });

  test("HEAD has the head of GET and no body", async () => {
    const threadId = await newThread();
    for (const path of ["/ok", "/info", `/threads/${threadId}`, "/assistants/counter"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await call(server.url, "HEAD", path);
      expect([answer.status, answer.text], path).toEqual([200, ""]);
    }
  });
});

describe("CORS", () => {
  const preflight = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "x-api-key,content-type",
  };

  test("a preflight is answered for every path", async () => {
    for (const path of ["/threads", "/runs/stream", `/threads/${crypto.randomUUID()}/runs/wait`, "/nothing"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await call(server.url, "OPTIONS", path, {
        headers: { origin: "https://studio.example", ...preflight },
      });
      expect([answer.status, answer.text], path).toEqual([204, ""]);
      expect(answer.headers["access-control-allow-origin"]).toBe("*");
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"])
        expect(answer.headers["access-control-allow-methods"]).toContain(method);
      const allowed = answer.headers["access-control-allow-headers"]!.toLowerCase();
      expect(allowed === "*" || (allowed.includes("x-api-key") && allowed.includes("content-type"))).toBe(true);
      expect(answer.headers["access-control-allow-credentials"]).toBeUndefined();
    }
  });

  test("a page may be asked about the private network", async () => {
    const answer = await call(server.url, "OPTIONS", "/threads", {
      headers: { origin: "https://studio.example", ...preflight, "access-control-request-private-network": "true" },
    });
    expect(answer.headers["access-control-allow-private-network"]).toBe("true");
  });

  test("every answer may be read, with the headers that clients need", async () => {
    const threadId = await newThread();
    const headers = { origin: "https://studio.example" };
    const answers = [
      await call(server.url, "GET", "/ok", { headers }),
      await call(server.url, "POST", "/threads/search", { headers, body: {} }),
      await call(server.url, "POST", `/threads/${threadId}/runs/wait`, { headers, body: BODY }),
      await call(server.url, "PATCH", `/threads/${threadId}`, {
        headers: { ...headers, prefer: "return=minimal" },
        body: {},
      }),
      await call(server.url, "GET", "/nothing", { headers }),
      await call(server.url, "GET", "/threads/nothing", { headers }),
      await call(server.url, "POST", "/threads", { headers, body: "{" }),
      await frames(server.url, "POST", "/runs/stream", { headers, body: BODY }),
    ];
    for (const [i, answer] of answers.entries()) {
      expect(answer.headers["access-control-allow-origin"], String(i)).toBe("*");
      const exposed = answer.headers["access-control-expose-headers"]!.toLowerCase().split(/,\s*/);
      expect(exposed, String(i)).toEqual(
        expect.arrayContaining(["content-location", "location", "x-pagination-total", "x-pagination-next"]),
      );
    }
    await (answers.at(-1) as Awaited<ReturnType<typeof frames>>).all();
  });
});

describe("the Host header", () => {
  test("of a foreign name is refused: it may be a rebound one", async () => {
    const { port } = new URL(server.url);
    for (const host of [
      "evil.example",
      `evil.example:${port}`,
      "localhost.evil.example",
      "127.0.0.1.evil.example",
      "10.0.0.1",
    ]) {
      for (const [method, path] of [
        ["GET", "/ok"],
        ["POST", "/threads"],
        ["OPTIONS", "/threads"],
        ["GET", "/nothing"],
      ] as const) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const answer = await call(server.url, method, path, {
          headers: { host, origin: "http://evil.example", "access-control-request-method": "POST" },
        });
        expect(answer.status, `${method} ${path} ${host}`).toBe(403);
        expect(answer.json).toEqual({ detail: expect.any(String) });
      }
    }
    expect(await server.client.threads.search({ metadata: { evil: true } })).toEqual([]);
  });

  test("of this machine is fine", async () => {
    const { port } = new URL(server.url);
    for (const host of [
      "localhost",
      `localhost:${port}`,
      `127.0.0.1:${port}`,
      "127.0.0.1",
      `[::1]:${port}`,
      `app.localhost:${port}`,
      "LOCALHOST",
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await call(server.url, "GET", "/ok", { headers: { host } })).status, host).toBe(200);
    }
  });
});

describe("the spellings of the requirements", () => {
  test("/thread/… is /threads/…", async () => {
    const threadId = await newThread();
    const run = await call(server.url, "POST", `/thread/${threadId}/runs`, { body: BODY });
    expect(run.status).toBe(200);
    const { run_id } = run.json as { run_id: string };
    const joined = await call(server.url, "GET", `/thread/${threadId}/runs/${run_id}/join`);
    expect(joined.json).toMatchObject({ total: 111 });
    const waited = await call(server.url, "POST", `/thread/${threadId}/runs/wait`, { body: BODY });
    expect(waited.json).toMatchObject({ total: 222 });
    const stream = await frames(server.url, "POST", `/thread/${threadId}/runs/stream`, { body: BODY });
    expect((await stream.all()).at(-1)).toMatchObject({ event: "values", data: { total: 333 } });
    const state = await call(server.url, "GET", `/thread/${threadId}/state`);
    expect(state.json).toMatchObject({ values: { total: 333 } });
    const runs = await call(server.url, "GET", `/thread/${threadId}/runs`);
    expect(runs.json).toHaveLength(3);
    expect((await call(server.url, "POST", `/thread/${crypto.randomUUID()}/runs/wait`, { body: BODY })).status).toBe(
      404,
    );
  });

  test("a body is JSON whatever it calls itself, and may be absent", async () => {
    for (const type of [
      "text/plain;charset=UTF-8",
      "application/x-www-form-urlencoded",
      "application/json; charset=utf-8",
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await call(server.url, "POST", "/runs/wait", { headers: { "content-type": type }, body: BODY });
      expect(answer.json, type).toMatchObject({ total: 111 });
    }
    for (const path of ["/threads", "/threads/search", "/assistants/search", "/threads/count"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await call(server.url, "POST", path)).status, path).toBe(200);
    }
  });

  test("a query says yes and no in two ways", async () => {
    const threadId = await newThread();
    for (const wait of ["0", "false", "1", "true"]) {
      const name = `query-${wait}`;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const run = await server.client.runs.create(threadId, "gated", { input: { name, gate: gates.url(name) } });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await gates.entered(name);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await call(server.url, "POST", `/threads/${threadId}/runs/${run.run_id}/cancel?wait=${wait}`);
      expect(answer.status, wait).toBe(wait === "0" || wait === "false" ? 202 : 204);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await server.client.runs.join(threadId, run.run_id);
    }
  });
});

describe("server-sent events", () => {
  test("have the frames, headers and ids of the wire", async () => {
    const threadId = await newThread();
    const response = await open(server.url, "POST", `/threads/${threadId}/runs/stream`, {
      body: { ...BODY, stream_mode: ["updates"] },
    });
    expect(response.statusCode).toBe(200);
    expect(response.headers["content-type"]).toMatch(/^text\/event-stream/);
    expect(response.headers["cache-control"]).toContain("no-cache");
    const path = response.headers["content-location"]!;
    expect(path).toMatch(new RegExp(`^/threads/${threadId}/runs/[0-9a-f-]{36}$`));
    expect(response.headers["location"]).toBe(`${path}/stream?after=-1`);
    const text = (await collect(response.setEncoding("utf8"))).join("");
    const blocks = text.split("\n\n").filter((block) => block !== "" && !block.startsWith(":"));
    expect(blocks).toHaveLength(4);
    for (const [i, block] of blocks.entries()) {
      const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/, 2)));
      expect(Object.keys(fields).toSorted()).toEqual(["data", "event", "id"]);
      expect(fields.id).toBe(String(i));
      expect(JSON.parse(fields.data)).toBeTypeOf("object");
    }
    expect(blocks[0]).toContain("event: metadata");
  });

  test("a line end in the data does not end the event", async () => {
    const stream = await frames(server.url, "POST", "/runs/stream", {
      body: {
        assistant_id: "echo",
        input: { messages: [{ role: "user", content: "a\n\nevent: fake\r\ndata: {}\u2028" }] },
      },
    });
    const events = await stream.all();
    expect(events.map(({ event }) => event)).toEqual(["metadata", "values", "values"]);
    expect(JSON.stringify(events.at(-1)!.data)).toContain("event: fake");
  });

  test("errors come before the stream, as errors", async () => {
    const answer = await call(server.url, "POST", "/runs/stream", { body: { assistant_id: "nobody" } });
    expect([answer.status, answer.headers["content-type"]]).toEqual([404, "application/json"]);
  });
});

describe("waiting", () => {
  test("a long wait sends its head early and stays JSON", async () => {
    const threadId = await newThread();
    // Resolves when the head is there, while the run stands at its gate.
    const response = await open(server.url, "POST", `/threads/${threadId}/runs/wait`, {
      body: { assistant_id: "gated", input: { name: "long", gate: gates.url("long-wait") } },
    });
    expect(response.headers["content-type"]).toBe("application/json");
    expect(response.headers["content-location"]).toMatch(/^\/threads\/.*\/runs\//);
    gates.open("long-wait");
    const text = (await collect(response.setEncoding("utf8"))).join("");
    expect(text).toMatch(/^\n+\{/);
    expect(JSON.parse(text)).toMatchObject({ log: ["first long", "second long"] });
  });

  test("a long join that fails ends with the error", async () => {
    const threadId = await newThread();
    const run = await server.client.runs.create(threadId, "gated", {
      input: { name: "long", gate: gates.url("long-join") },
    });
    await gates.entered("long-join");
    const response = await open(server.url, "GET", `/threads/${threadId}/runs/${run.run_id}/join`);
    await server.client.threads.delete(threadId);
    const text = (await collect(response.setEncoding("utf8"))).join("");
    expect(JSON.parse(text)).toEqual({});
    gates.open("long-join");
  });
});

test("what a request carries in its headers is told to nobody", async () => {
  const secrets = {
    "x-api-key": "secret-key",
    authorization: "Bearer secret-token",
    "x-custom": "secret-custom",
    cookie: "session=secret-cookie",
    "user-agent": "secret-agent/1.0",
    "x-forwarded-for": "6.6.6.6",
  };
  const client = clientOf(server.url, secrets);
  const { thread_id } = await client.threads.create();
  const values = await client.runs.wait(thread_id, "mirror", { input: {}, streamMode: "debug" } as never);
  const events = await collect(client.runs.stream(thread_id, "mirror", { input: {}, streamMode: ["debug", "events"] }));
  const told = JSON.stringify([
    values,
    events,
    await client.threads.get(thread_id),
    await client.runs.list(thread_id),
    await client.threads.getState(thread_id),
    await client.threads.getHistory(thread_id),
  ]);
  expect(told).toContain(thread_id);
  expect(told).not.toMatch(/secret|6\.6\.6\.6/);
  expect(told).not.toMatch(/langgraph_auth/);
});
