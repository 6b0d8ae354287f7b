// `http.app`: the project's own routes and middleware in front of the API, of every kind that is taken; what falls through, and what breaks.
import NodeWebSocket from "crossws/websocket";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ExportError } from "../../src/graphs/exports.ts";
import type { ServerEvent } from "../../src/server/types.ts";
import { startGates } from "./support/gates.ts";
import { call, collect, frames, open } from "./support/http.ts";
import { httpProject, serve, type HttpServer } from "./support/http-project.ts";
import { clientOf } from "./support/server.ts";

const APP = { http: { app: "./src/app.ts:app" } };
const served = (text: string, config: Record<string, unknown> = APP): Promise<HttpServer> =>
  serve(httpProject(config, { "src/app.ts": text }).folder);

const HONO = `
import { Hono } from "hono";
export const app = new Hono();
app.get("/hello/:name", (c) => c.json({ hello: c.req.param("name"), path: c.req.path }));
app.post("/sum", async (c) => c.json((await c.req.json()).reduce((a, b) => a + b, 0)));
app.get("/info", (c) => c.json({ mine: true }));
app.get("/missing", (c) => c.text("mine is missing", 404));
app.get("/stream", () => new Response(new ReadableStream({
  async start(controller) {
    for (const part of ["one ", "two ", "three"]) {
      controller.enqueue(new TextEncoder().encode(part));
      await new Promise((resolve) => setImmediate(resolve));
    }
    controller.close();
  },
})));
app.get("/elsewhere", () => Response.redirect("https://example.com/", 302));
`;

const H3 = `
import { H3, HTTPError } from "h3";
export const app = new H3();
app.use(async (event, next) => {
  if (event.url.pathname === "/secret") throw new HTTPError({ status: 403, message: "not for you" });
  event.res.headers.set("x-middleware", "yes");
  return next();
});
app.get("/hello/:name", (event) => ({ hello: event.context.params.name, path: event.url.pathname }));
app.post("/sum", async (event) => (await event.req.json()).reduce((a, b) => a + b, 0));
app.get("/info", () => ({ mine: true }));
app.get("/missing", () => new Response("mine is missing", { status: 404 }));
app.get("/boom", () => {
  throw new TypeError("kaboom");
});
`;

const PLAIN = `
export async function app(request: Request): Promise<Response | undefined> {
  const { pathname } = new URL(request.url);
  if (pathname.startsWith("/hello/")) return Response.json({ hello: pathname.slice(7), path: pathname });
  if (pathname === "/sum") return Response.json((await request.json()).reduce((a, b) => a + b, 0));
  if (pathname === "/info") return Response.json({ mine: true });
  if (pathname === "/missing") return new Response("mine is missing", { status: 404 });
}
`;

const NOT_FOUND = `
export default {
  async fetch(request: Request) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/hello/")) return Response.json({ hello: pathname.slice(7), path: pathname });
    if (pathname === "/sum") return Response.json((await request.json()).reduce((a, b) => a + b, 0));
    if (pathname === "/info") return Response.json({ mine: true });
    await request.text();
    return new Response("mine is missing", { status: 404 });
  },
};
`;

describe.each([
  ["a Hono app", HONO, "app"],
  ["an h3 app", H3, "app"],
  ["a function", PLAIN, "app"],
  ["an object with fetch that answers 404", NOT_FOUND, "default"],
])("%s", (_name, text, exportName) => {
  test("has routes of its own, overrides built-in ones, and leaves the others alone", async () => {
    const server = await served(text, { http: { app: `./src/app.ts:${exportName}` } });
    const hello = await call(server.url, "GET", "/hello/you?x=1");
    expect([hello.status, hello.json]).toEqual([200, { hello: "you", path: "/hello/you" }]);
    // Readable from pages, and with an id, like all other answers.
    expect(hello.headers["access-control-allow-origin"]).toBe("*");
    expect(hello.headers["x-request-id"]).toMatch(/\S/);
    expect((await call(server.url, "POST", "/sum", { body: [1, 2, 3] })).json).toBe(6);
    expect((await call(server.url, "GET", "/info")).json).toEqual({ mine: true });
    const missing = await call(server.url, "GET", "/missing");
    expect([missing.status, missing.text]).toEqual([404, "mine is missing"]);
    // The built-in ones: with a body, with an event stream, with an error.
    const client = clientOf(server.url);
    const { thread_id } = await client.threads.create({ metadata: { a: 1 } });
    expect((await client.threads.get(thread_id)).metadata).toEqual({ a: 1 });
    const values = await client.runs.wait(thread_id, "counter", { input: {} });
    expect(values).toMatchObject({ total: 111 });
    const events = await collect(client.runs.stream(thread_id, "counter", { input: {} }));
    expect(events.at(-1)).toMatchObject({ event: "values", data: { total: 222 } });
    const nothing = await call(server.url, "GET", `/threads/${crypto.randomUUID()}`);
    expect(nothing).toMatchObject({ status: 404, json: { detail: expect.stringContaining("not found") } });
    expect((await call(server.url, "GET", "/nowhere")).status).toBe(404);
    expect((await call(server.url, "HEAD", "/ok")).status).toBe(200);
    expect((await call(server.url, "HEAD", "/hello/you")).text).toBe("");
    const malformed = await call(server.url, "POST", "/threads", { body: "{" });
    expect(malformed).toMatchObject({ status: 400, json: { detail: expect.stringContaining("JSON") } });
    expect(server.events.filter(({ type }) => type !== "loaded")).toEqual([]);
  });
});

describe("middleware of a Hono app runs around everything", () => {
  const MIDDLEWARE = `
import { Hono } from "hono";
export const app = new Hono();
app.use(async (c, next) => {
  c.header("x-before", "set before");
  await next();
  c.res.headers.set("x-after", "set after");
});
app.use("/threads/*", async (c, next) => (c.req.header("x-blocked") ? c.json({ blocked: true }, 451) : next()));
app.use("/runs/*", async (c, next) => {
  const body = await c.req.json();
  c.req.raw.headers.set("x-tenant", "tenant of " + body.assistant_id);
  await next();
});
app.get("/hello", (c) => c.text("hello " + (c.env.incoming === undefined)));
`;
  const config = { http: { app: "./src/app.ts:app", configurable_headers: { includes: ["x-tenant"] } } };

  test("it changes answers, refuses, reads bodies, and changes what the server sees", async () => {
    const server = await served(MIDDLEWARE, config);
    const hello = await call(server.url, "GET", "/hello");
    expect([hello.text, hello.headers["x-before"], hello.headers["x-after"]]).toEqual([
      "hello false",
      "set before",
      "set after",
    ]);
    const info = await call(server.url, "GET", "/info");
    expect(info.json).toMatchObject({ context: "js" });
    expect([info.headers["x-before"], info.headers["x-after"]]).toEqual(["set before", "set after"]);
    const path = `/threads/${crypto.randomUUID()}`;
    expect((await call(server.url, "GET", path, { headers: { "x-blocked": "1" } })).status).toBe(451);
    expect((await call(server.url, "GET", path)).status).toBe(404);
    // The middleware has read the body; the server reads it again, and finds the header that was added.
    const seen = await call(server.url, "POST", "/runs/wait", {
      body: { assistant_id: "mirror", input: { again: false } },
    });
    expect(seen.json).toMatchObject({ seen: { configurable: { "x-tenant": "tenant of mirror" } } });
    // A stream passes with its headers.
    const stream = await frames(server.url, "POST", "/runs/stream", { body: { assistant_id: "counter", input: {} } });
    expect([stream.headers["x-after"], stream.headers["content-type"]]).toEqual(["set after", "text/event-stream"]);
    expect((await stream.all()).at(-1)).toMatchObject({ data: { total: 111 } });
  });

  test("a body that is larger than allowed stays 413, whoever reads it", async () => {
    const before = process.env["HTTP_MAX_REQUEST_BODY_BYTES"];
    process.env["HTTP_MAX_REQUEST_BODY_BYTES"] = "1000";
    onTestFinished(() => {
      if (before === undefined) delete process.env["HTTP_MAX_REQUEST_BODY_BYTES"];
      else process.env["HTTP_MAX_REQUEST_BODY_BYTES"] = before;
    });
    const server = await served(MIDDLEWARE, config);
    for (const [path, chunked] of [
      ["/runs/wait", false],
      ["/runs/wait", true],
      ["/threads", true],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await send(server.url, path, "x".repeat(2000), chunked);
      expect([answer.status, answer.text.includes("maximum allowed size of 1000")], path).toEqual([413, true]);
    }
    expect(server.events.filter(({ type }) => type !== "loaded")).toEqual([]);
  });

  test("a client that leaves takes its run along, and a WebSocket opens", async () => {
    const server = await served(MIDDLEWARE, config);
    const gates = await startGates();
    onTestFinished(() => gates.close());
    const client = clientOf(server.url);
    const { thread_id } = await client.threads.create();
    const stream = await frames(server.url, "POST", `/threads/${thread_id}/runs/stream`, {
      body: { assistant_id: "gated", input: { name: "left", gate: gates.url("left") }, on_disconnect: "cancel" },
    });
    await gates.entered("left");
    const [run] = await client.runs.list(thread_id);
    stream.leave();
    await client.runs.join(thread_id, run!.run_id);
    expect((await client.runs.get(thread_id, run!.run_id)).status).toBe("interrupted");

    const socket = new NodeWebSocket(`${server.url.replace("http", "ws")}/threads/${thread_id}/stream/events`);
    const message = new Promise<unknown>((resolve, reject) => {
      socket.addEventListener("message", ({ data }) => resolve(JSON.parse(String(data))));
      socket.addEventListener("error", () => reject(new Error("refused")));
    });
    socket.addEventListener("open", () => socket.send(JSON.stringify({ id: 1, method: "state.get", params: {} })));
    expect(await message).toMatchObject({ type: "success", id: 1 });
    socket.close();
  });
});

test("streams of an app arrive piece by piece, redirects are left as they are", async () => {
  const server = await served(HONO);
  const response = await open(server.url, "GET", "/stream");
  expect((await collect(response.setEncoding("utf8"))).join("")).toBe("one two three");
  const redirect = await call(server.url, "GET", "/elsewhere");
  expect([redirect.status, redirect.headers["location"]]).toEqual([302, "https://example.com/"]);
  expect(redirect.headers["x-request-id"]).toMatch(/\S/);
});

describe("what goes wrong in an app", () => {
  const FAILING = `
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
export const app = new Hono();
app.get("/boom", () => {
  throw new TypeError("kaboom");
});
app.get("/reject", async () => {
  await Promise.resolve();
  return Promise.reject(new Error("later"));
});
app.get("/teapot", () => {
  throw new HTTPException(418, { message: "a teapot" });
});
`;
  test.each([
    ["Hono", FAILING],
    ["h3", H3],
    [
      "a function",
      `export const app = (request) => {
        if (request.url.endsWith("/boom")) throw new TypeError("kaboom");
      };`,
    ],
  ])("is a 500 for the caller and a place in the file at the terminal: %s", async (_name, text) => {
    const server = await served(text);
    const told = server.next(({ type }) => type === "diagnostic");
    const answer = await call(server.url, "GET", "/boom");
    expect([answer.status, answer.json]).toEqual([500, { detail: "Internal Server Error" }]);
    expect(answer.headers["access-control-allow-origin"]).toBe("*");
    expect(await told).toMatchObject({
      diagnostic: {
        message: "http.app failed at GET /boom: TypeError: kaboom",
        location: { file: expect.stringMatching(/src\/app\.ts$/) },
        frame: expect.stringContaining("kaboom"),
      },
    });
    expect((await call(server.url, "GET", "/ok")).status).toBe(200);
  });

  test("errors that say what they mean, and handlers of the app, are left alone", async () => {
    const server = await served(`${FAILING}
export const handled = new Hono();
handled.get("/boom", () => {
  throw new Error("kaboom");
});
handled.onError((error, c) => c.text("handled " + error.message, 502));
app.route("/handled", handled);
`);
    expect((await call(server.url, "GET", "/teapot")).text).toBe("a teapot");
    const handled = await call(server.url, "GET", "/handled/boom");
    expect([handled.status, handled.text]).toEqual([502, "handled kaboom"]);
    expect((await call(server.url, "GET", "/reject")).status).toBe(500);
    const h3 = await served(H3);
    const secret = await call(h3.url, "GET", "/secret");
    expect([secret.status, secret.text]).toEqual([403, expect.stringContaining("not for you")]);
    expect((await call(h3.url, "GET", "/info")).headers["x-middleware"]).toBe("yes");
    expect((await call(h3.url, "GET", "/assistants/counter")).headers["x-middleware"]).toBe("yes");
  });

  test.each([
    [
      "Hono",
      `import { Hono } from "hono";\nexport const app = new Hono();\napp.get("/stream", () => new Response(stream()));`,
    ],
    [
      "h3",
      `import { H3 } from "h3";
export const app = new H3();
app.get("/stream", (event) => {
  event.res.headers.set("content-type", "text/event-stream");
  return stream();
});`,
    ],
  ])("a stream that breaks off is told of: %s", async (_name, text) => {
    const server = await served(`${text}
function stream() {
  let pieces = 0;
  return new ReadableStream({
    pull(controller) {
      if (pieces++ === 2) throw new RangeError("broken stream");
      controller.enqueue(new TextEncoder().encode("piece "));
    },
  });
}`);
    const told = server.next(({ type }) => type === "diagnostic");
    await expect(call(server.url, "GET", "/stream")).rejects.toThrow(/aborted|hang up|closed/);
    expect(await told).toMatchObject({
      diagnostic: { message: "http.app failed at GET /stream: RangeError: broken stream", frame: expect.any(String) },
    });
    expect((await call(server.url, "GET", "/ok")).status).toBe(200);
  });

  test("an answer that is no Response", async () => {
    const server = await served(`export const app = () => "just text";`);
    const told = server.next(({ type }) => type === "log");
    expect((await call(server.url, "GET", "/x")).status).toBe(500);
    expect(await told).toMatchObject({
      message: expect.stringContaining("answered with a string and not with a Response"),
    });
  });

  test.each([
    ["a class", "export class app { fetch() {} }", "a class"],
    ["something else", "export const app = { routes: 1 };", "a plain object"],
    ["a handler of Node", "export const app = (req, res) => res.end();", "more than one parameter"],
    [
      "an Express app",
      "export const app = Object.assign((req, res, next) => next(), { handle() {}, listen() {} });",
      "use Hono or h3",
    ],
    ["an app of h3 1.x", "export const app = { stack: [], handler() {}, use() {} };", "toWebHandler"],
  ])("%s is refused with what to do", async (_name, text, expected) => {
    const server = await served(text);
    const failed = server.events.find(({ type }) => type === "failed") as unknown as { error: ExportError };
    expect(JSON.stringify(failed.error.diagnostic)).toContain(expected);
    const answer = await call(server.url, "GET", "/x");
    expect([answer.status, answer.json]).toEqual([
      422,
      { detail: expect.stringContaining("http.app cannot be loaded") },
    ]);
  });
});

describe("saving", () => {
  const app = (greeting: string): string => `
import { Hono } from "hono";
import { name } from "./name.ts";
export const app = new Hono();
app.get("/hello", (c) => c.text(\`${greeting} \${name}\`));
`;
  const ofApp = (type: ServerEvent["type"]) => (event: ServerEvent) =>
    event.type === type && "ids" in event && event.ids[0] === "http.app";

  test("the app or what it imports serves the new version; a broken one changes nothing", async () => {
    const project = httpProject(APP, { "src/app.ts": app("hello"), "src/name.ts": `export const name = "one";` });
    const server = await serve(project.folder, { reload: true });
    const hello = async (): Promise<string> => (await call(server.url, "GET", "/hello")).text;
    expect(await hello()).toBe("hello one");
    const save = async (path: string, text: string, type: ServerEvent["type"]): Promise<ServerEvent> => {
      const event = server.next(ofApp(type));
      project.save(path, text);
      return event;
    };
    await save("src/app.ts", app("good day"), "reloaded");
    expect(await hello()).toBe("good day one");
    await save("src/name.ts", `export const name = "two";`, "reloaded");
    expect(await hello()).toBe("good day two");
    const broken = await save("src/app.ts", "export const app = ;", "failed");
    expect(broken).toMatchObject({
      firstLoad: false,
      error: { diagnostic: { frame: expect.stringContaining("= ;") } },
    });
    expect(await hello()).toBe("good day two");
    await save("src/app.ts", "export const app = 1;", "failed");
    expect(await hello()).toBe("good day two");
    await save("src/app.ts", app("welcome back"), "reloaded");
    expect(await hello()).toBe("welcome back two");
  });

  test("an app that is broken from the start keeps everything closed but /ok, and opens when it is repaired", async () => {
    const project = httpProject(APP, { "src/app.ts": "export const app = ;" });
    const server = await serve(project.folder, { reload: true });
    expect((await call(server.url, "GET", "/info")).status).toBe(422);
    expect((await call(server.url, "GET", "/ok")).status).toBe(200);
    const reloaded = server.next(ofApp("reloaded"));
    project.save("src/app.ts", `export const app = () => undefined;`);
    await reloaded;
    expect((await call(server.url, "GET", "/info")).status).toBe(200);
  });

  test("the config takes an app in and out", async () => {
    const project = httpProject({}, { "src/app.ts": HONO });
    const server = await serve(project.folder, { reload: true });
    const status = async (): Promise<number> => (await call(server.url, "GET", "/hello/x")).status;
    expect(await status()).toBe(404);
    project.configure(APP);
    await expect.poll(status).toBe(200);
    project.configure({});
    await expect.poll(status).toBe(404);
  });
});

test.each([
  ["./src/other.ts:app", /does not exist/],
  ["./src/app.ts", /names no export/],
  ["./app.py:app", /is Python/],
])("a config that names no app is refused: %s", async (app, reason) => {
  const project = httpProject({ http: { app } }, { "src/app.ts": HONO });
  await expect(serve(project.folder)).rejects.toThrow(reason);
});

/** Posts a body, with its length or without. */
async function send(
  url: string,
  path: string,
  body: string,
  chunked: boolean,
): Promise<{ status: number; text: string }> {
  const init = chunked ? { body: new Blob([body]).stream(), duplex: "half" as const } : { body };
  const response = await fetch(`${url}${path}`, { method: "POST", ...init });
  return { status: response.status, text: await response.text() };
}
