// Every key of `http` that a file of its own does not cover: that it acts, and what is left as it was. By the file and by the environment.
import { afterEach, describe, expect, test, vi } from "vitest";
import { eventPrinter } from "../../src/cli/dev/events.ts";
import { createOutput } from "../../src/cli/output.ts";
import { testProcess } from "../cli/helpers/io.ts";
import { call, frames } from "./support/http.ts";
import { httpProject, serve, type HttpServer } from "./support/http-project.ts";
import { clientOf } from "./support/server.ts";

afterEach(() => void vi.unstubAllEnvs());

const serverWith = (http: Record<string, unknown>): Promise<HttpServer> => serve(httpProject({ http }).folder);

describe("what can be switched off", () => {
  const THREAD = "00000000-0000-4000-8000-000000000000";
  /** Key → a path that is gone with it, and one that stays. */
  const KEYS = [
    ["disable_assistants", ["GET", "/assistants/counter"], ["POST", "/runs/wait"]],
    ["disable_threads", ["POST", "/threads"], ["POST", "/runs/wait"]],
    ["disable_threads", ["GET", `/threads/${THREAD}/state`], ["GET", "/assistants/counter"]],
    ["disable_threads", ["POST", `/threads/${THREAD}/commands`], ["GET", "/info"]],
    ["disable_runs", ["POST", "/runs/wait"], ["POST", "/threads"]],
    ["disable_runs", ["POST", `/threads/${THREAD}/runs`], ["GET", "/ok"]],
    ["disable_runs", ["POST", "/runs/crons/search"], ["POST", "/threads/search"]],
    ["disable_store", ["POST", "/store/items/search"], ["POST", "/threads"]],
    ["disable_meta", ["GET", "/info"], ["GET", "/ok"]],
    ["disable_meta", ["GET", "/docs"], ["POST", "/threads"]],
    ["disable_meta", ["GET", "/openapi.json"], ["POST", "/threads"]],
    ["disable_meta", ["GET", "/metrics"], ["POST", "/threads"]],
    ["disable_mcp", ["POST", "/mcp"], ["POST", "/threads"]],
    ["disable_a2a", ["GET", "/.well-known/agent-card.json?assistant_id=counter"], ["POST", "/threads"]],
    ["disable_a2a", ["POST", "/a2a/counter"], ["POST", "/threads"]],
    ["disable_ui", ["GET", "/ui/counter/entrypoint.js"], ["GET", "/info"]],
  ] as const;
  const body = { assistant_id: "counter", input: {} };
  const isGone = async (server: HttpServer, [method, path]: readonly [string, string]): Promise<boolean> => {
    const sent = method === "GET" ? {} : { body };
    const { status, json } = await call(server.url, method, path, sent);
    return status === 404 && (json as { detail: string }).detail === `Not found: ${method} ${path.replace(/\?.*/, "")}`;
  };

  test.each([...new Set(KEYS.map(([key]) => key))])("http.%s", async (key) => {
    const [on, off, byVariable] = await Promise.all([
      serverWith({}),
      serverWith({ [key]: true }),
      (async () => {
        vi.stubEnv("LANGGRAPH_HTTP", JSON.stringify({ [key]: true }));
        return serverWith({ [key]: false });
      })(),
    ]);
    vi.unstubAllEnvs();
    for (const [name, gone, stays] of KEYS) {
      if (name !== key) continue;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const found = [
        await isGone(on, gone),
        await isGone(off, gone),
        await isGone(byVariable, gone),
        await isGone(off, stays),
      ];
      expect(found, gone.join(" ")).toEqual([false, true, true, false]);
    }
  });
});

describe("http.cors", () => {
  const ORIGIN = "https://app.example";
  const PREFLIGHT = { "access-control-request-method": "PUT", "access-control-request-headers": "x-one, x-two" };
  const preflight = async (server: HttpServer, origin = ORIGIN): Promise<Record<string, string>> => {
    const { status, headers } = await call(server.url, "OPTIONS", "/threads", { headers: { origin, ...PREFLIGHT } });
    expect(status).toBe(204);
    return headers as Record<string, string>;
  };
  const read = async (server: HttpServer, origin = ORIGIN): Promise<Record<string, string>> =>
    (await call(server.url, "GET", "/ok", { headers: { origin } })).headers as Record<string, string>;

  test("by default any origin, no credentials, and the headers that clients need", async () => {
    const server = await serverWith({});
    const headers = await read(server);
    expect(headers["access-control-allow-origin"]).toBe("*");
    expect(headers["access-control-allow-credentials"]).toBeUndefined();
    expect(headers["access-control-expose-headers"]!.toLowerCase().split(/,\s*/).toSorted()).toEqual([
      "content-location",
      "location",
      "x-pagination-next",
      "x-pagination-total",
      "x-request-id",
    ]);
    const asked = await preflight(server);
    expect(asked["access-control-allow-methods"]).toBe("GET, POST, PUT, PATCH, DELETE, OPTIONS");
    expect(asked["access-control-allow-headers"]).toBe("x-one, x-two");
    expect(asked["access-control-max-age"]).toBe("600");
    expect(asked["access-control-allow-private-network"]).toBeUndefined();
    const local = await call(server.url, "OPTIONS", "/threads", {
      headers: { origin: ORIGIN, ...PREFLIGHT, "access-control-request-private-network": "true" },
    });
    expect(local.headers["access-control-allow-private-network"]).toBe("true");
  });

  test("allow_origins", async () => {
    const server = await serverWith({ cors: { allow_origins: [ORIGIN, "https://other.example"] } });
    expect((await read(server))["access-control-allow-origin"]).toBe(ORIGIN);
    expect((await read(server))["vary"]).toBe("Origin");
    expect((await preflight(server))["access-control-allow-origin"]).toBe(ORIGIN);
    for (const origin of ["https://evil.example", "https://app.example.evil.example", "http://app.example"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await read(server, origin))["access-control-allow-origin"], origin).toBeUndefined();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await preflight(server, origin))["access-control-allow-origin"], origin).toBeUndefined();
    }
    // An event stream and an error as well.
    const stream = await frames(server.url, "POST", "/runs/stream", {
      headers: { origin: ORIGIN },
      body: { assistant_id: "counter", input: {} },
    });
    expect(stream.headers["access-control-allow-origin"]).toBe(ORIGIN);
    await stream.all();
    const error = await call(server.url, "GET", "/nowhere", { headers: { origin: ORIGIN } });
    expect([error.status, error.headers["access-control-allow-origin"]]).toEqual([404, ORIGIN]);
  });

  test("allow_origin_regex matches the whole origin", async () => {
    const server = await serverWith({ cors: { allow_origin_regex: String.raw`https://.*\.example` } });
    expect((await read(server))["access-control-allow-origin"]).toBe(ORIGIN);
    for (const origin of ["https://app.example.evil", "xhttps://app.example", "https://example"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await read(server, origin))["access-control-allow-origin"], origin).toBeUndefined();
    }
  });

  test("allow_credentials names the origin, even when all are allowed", async () => {
    const server = await serverWith({ cors: { allow_origins: ["*"], allow_credentials: true } });
    const headers = await read(server);
    expect(headers["access-control-allow-origin"]).toBe(ORIGIN);
    expect(headers["access-control-allow-credentials"]).toBe("true");
    expect((await preflight(server))["access-control-allow-credentials"]).toBe("true");
  });

  test("with credentials a * of the config is spelled out, as browsers do not take it then", async () => {
    const any = { allow_methods: ["*"], allow_headers: ["*"], expose_headers: ["*"] };
    const server = await serverWith({ cors: { ...any, allow_origins: [ORIGIN], allow_credentials: true } });
    const asked = await preflight(server);
    expect(asked["access-control-allow-methods"]!.split(", ")).toEqual(
      expect.arrayContaining(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]),
    );
    expect(asked["access-control-allow-headers"]).toBe("x-one, x-two");
    const { "access-control-expose-headers": exposed = "" } = await read(server);
    expect(exposed.split(", ")).toEqual(expect.arrayContaining(["x-request-id", "content-type"]));
  });

  test("allow_methods, allow_headers and max_age", async () => {
    const server = await serverWith({ cors: { allow_methods: ["GET"], allow_headers: ["x-one"], max_age: 5 } });
    const headers = await preflight(server);
    expect(headers["access-control-allow-methods"]).toBe("GET");
    expect(headers["access-control-allow-headers"]).toBe("x-one");
    expect(headers["access-control-max-age"]).toBe("5");
  });

  test("expose_headers", async () => {
    const server = await serverWith({ cors: { expose_headers: ["x-mine"] } });
    expect((await read(server))["access-control-expose-headers"]).toBe("x-mine");
  });
});

describe("x-request-id", () => {
  test("is on every answer, and no two are the same", async () => {
    const server = await serverWith({});
    const stream = await frames(server.url, "POST", "/runs/stream", { body: { assistant_id: "counter", input: {} } });
    const { thread_id } = await clientOf(server.url).threads.create();
    const ids = [
      stream.headers["x-request-id"],
      (await call(server.url, "GET", "/ok")).headers["x-request-id"],
      (await call(server.url, "GET", "/docs")).headers["x-request-id"],
      (await call(server.url, "GET", "/nowhere")).headers["x-request-id"],
      (await call(server.url, "GET", "/threads/x")).headers["x-request-id"],
      (await call(server.url, "DELETE", `/threads/${thread_id}`)).headers["x-request-id"],
      (await call(server.url, "GET", "/ok", { headers: { host: "evil.example" } })).headers["x-request-id"],
    ];
    await stream.all();
    for (const id of ids) expect(id).toMatch(/^[\w-]{5,40}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("is the client's own, if that is sane", async () => {
    const server = await serverWith({});
    const given = async (id: string): Promise<string> =>
      (await call(server.url, "GET", "/ok", { headers: { "x-request-id": id } })).headers["x-request-id"] as string;
    for (const id of ["0b9b2a5e-1c1e-4c4b-8f58-0d6a9e2f9d11", "trace:a/b=c+d@e.f"]) expect(await given(id)).toBe(id);
    for (const id of ["", "x".repeat(129), "a b", "<script>", "a,b", "ü"]) expect(await given(id)).not.toBe(id);
  });
});

describe("dev --log-requests and http.logging_headers", () => {
  const FILTER = { includes: ["x-*", "user-agent", "authorization"], excludes: ["x-hidden", "x-no-*"] };
  const HEADERS = {
    "x-trace": "abc",
    "x-api-key": "secret-one",
    "x-session-token": "secret-two",
    authorization: "Bearer secret-three",
    cookie: "a=secret-four",
    "x-hidden": "secret-five",
    "x-no-log": "secret-six",
    "user-agent": "test/1.0",
  };

  test("a line per request, with the headers that are chosen and no secret", async () => {
    const project = httpProject(
      { http: { logging_headers: FILTER, app: "./src/app.ts:app" } },
      {
        "src/app.ts": `export const app = (request) => (request.url.includes("/custom") ? new Response("x") : undefined);`,
      },
    );
    const server = await serve(project.folder, { logRequests: true });
    const logged = async (method: string, path: string, body?: unknown) => {
      const line = server.next(({ type }) => type === "request");
      await call(server.url, method, path, { headers: HEADERS, body });
      return line;
    };
    expect(await logged("GET", "/ok?check_db=1&token=secret-seven&api_key=secret-eight")).toMatchObject({
      method: "GET",
      path: "/ok?check_db=1&token=***&api_key=***",
      status: 200,
      left: false,
      headers: {
        "x-trace": "abc",
        "x-api-key": "***",
        "x-session-token": "***",
        authorization: "***",
        "user-agent": "test/1.0",
      },
    });
    // Names may be written in other ways, and a query may be made to be hard to look through.
    const query = "p%61ssword=secret-9&jwt=secret-10&limit=1&%ff=secret-11";
    expect(await logged("GET", `/ok?${query}`)).toMatchObject({ path: "/ok?p%61ssword=***&jwt=***&limit=1&%ff=***" });
    const hard = `/ok?${"?token".repeat(1300)}`;
    expect(await logged("GET", hard)).toMatchObject({ path: hard, status: 200 });
    expect(await logged("POST", "/runs/stream", { assistant_id: "counter", input: {} })).toMatchObject({ status: 200 });
    expect(await logged("GET", "/nowhere")).toMatchObject({ status: 404, path: "/nowhere" });
    expect(await logged("GET", "/custom")).toMatchObject({ status: 200 });
    expect(await logged("POST", "/threads", "{")).toMatchObject({ status: 400 });

    // A client that leaves; and what the terminal shows of it all.
    const left = server.next((event) => event.type === "request" && event.left);
    const { thread_id } = await clientOf(server.url).threads.create();
    const stream = await frames(server.url, "GET", `/threads/${thread_id}/stream`);
    stream.leave();
    await left;
    const process = testProcess();
    const print = eventPrinter(await createOutput(process.io, {}), "/p");
    for (const event of server.events) print(event);
    expect(process.stderr).toContain("POST /runs/stream 200");
    expect(process.stderr).toContain("user-agent=test/1.0 x-api-key=*** x-session-token=*** x-trace=abc\n");
    expect(process.stderr).not.toContain("secret");
    expect(JSON.stringify(server.events)).not.toContain("secret");
  });

  test("is printed on one line", async () => {
    const process = testProcess();
    const print = eventPrinter(await createOutput(process.io, {}), "/p");
    const line = {
      type: "request",
      method: "GET",
      path: "/ok",
      status: 200,
      ms: 3.4,
      left: false,
      headers: {},
    } as const;
    print(line);
    print({
      ...line,
      method: "POST",
      path: "/runs/wait\u001b[31m",
      status: 500,
      ms: 61_234,
      left: true,
      headers: { "x-a": "1\n2" },
    });
    expect(process.stderr).toBe("GET /ok 200 3 ms\nPOST /runs/wait␛[31m 500 61.2 s, the client left x-a=1 2\n");
  });

  test("without --log-requests there is none, and without logging_headers no header", async () => {
    const quiet = await serve(httpProject({ http: { logging_headers: FILTER } }).folder);
    await call(quiet.url, "GET", "/ok", { headers: HEADERS });
    expect(quiet.events.some(({ type }) => type === "request")).toBe(false);
    const bare = await serve(httpProject({}).folder, { logRequests: true });
    const line = bare.next(({ type }) => type === "request");
    await call(bare.url, "GET", "/ok", { headers: HEADERS });
    expect(await line).toMatchObject({ headers: {} });
  });
});

test("settings of the environment act, and stay when the file changes", async () => {
  vi.stubEnv("LANGGRAPH_HTTP", JSON.stringify({ mount_prefix: "/env", disable_mcp: true }));
  const project = httpProject({ http: { mount_prefix: "/file", disable_ui: true } });
  const server = await serve(project.folder, { reload: true });
  // What is set later is not what the process was started with.
  vi.stubEnv("LANGGRAPH_HTTP", JSON.stringify({ mount_prefix: "/later" }));
  expect(server.url).toMatch(/\/env$/);
  project.configure({ http: { mount_prefix: "/file", disable_store: true } });
  await expect.poll(async () => (await call(server.url, "POST", "/store/items/search", { body: {} })).status).toBe(404);
  expect(server.url).toMatch(/\/env$/);
  expect((await call(server.url, "POST", "/mcp", { body: {} })).status).toBe(404);
});

test("a mistake in the environment keeps the server from starting, and is named", async () => {
  vi.stubEnv("LANGGRAPH_HTTP", '{"cors": {"max_age": "long"}}');
  await expect(serverWith({})).rejects.toThrow('LANGGRAPH_HTTP: "http.cors.max_age" must be a whole number');
  vi.stubEnv("LANGGRAPH_HTTP", "");
  vi.stubEnv("LANGGRAPH_ENCRYPTION", '{"path": "./e.ts:e"}');
  await expect(serverWith({})).rejects.toThrow("LANGGRAPH_ENCRYPTION asks for encryption");
});
