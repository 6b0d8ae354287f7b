// `http.app` and authentication: who comes first (`middleware_order`), and whether custom routes are for everybody
// (`enable_custom_route_auth`).
import { expect, test } from "vitest";
import { call } from "./support/http.ts";
import { httpProject, serve, type HttpServer } from "./support/http-project.ts";

const KEY = "key-of-this-test";
const APP = `
import { Hono } from "hono";
export const app = new Hono();
const seen = [];
app.use(async (c, next) => {
  if (c.req.path !== "/seen") seen.push(c.req.path);
  // A cookie that stands for a key.
  if (c.req.header("cookie") === "session=good") c.req.raw.headers.set("x-api-key", "${KEY}");
  await next();
  c.res.headers.set("x-middleware", "ran");
});
app.get("/custom", (c) => c.text("custom"));
app.get("/assistants/mine", (c) => c.text("mine"));
app.get("/seen", (c) => c.json(seen.splice(0)));
`;
const PLAIN = `
export const app = (request) => {
  const { pathname } = new URL(request.url);
  if (pathname === "/custom") return new Response("custom");
};
`;
const served = (http: Record<string, unknown>, text = APP): Promise<HttpServer> =>
  serve(httpProject({ http: { app: "./src/app.ts:app", ...http } }, { "src/app.ts": text }).folder, { apiKeys: [KEY] });

const key = { "x-api-key": KEY };
const get = async (server: HttpServer, path: string, headers: Record<string, string> = {}) => {
  const answer = await call(server.url, "GET", path, { headers });
  return [answer.status, answer.headers["x-middleware"] ?? null] as const;
};
const seen = async (server: HttpServer): Promise<unknown> =>
  (await call(server.url, "GET", "/seen", { headers: key })).json;

test("by default the app comes first: its routes are open, its middleware sees everything and may say who somebody is", async () => {
  const server = await served({});
  expect(await get(server, "/custom")).toEqual([200, "ran"]);
  expect(await get(server, "/assistants/counter")).toEqual([401, "ran"]);
  expect(await get(server, "/assistants/counter", key)).toEqual([200, "ran"]);
  expect(await get(server, "/assistants/counter", { cookie: "session=good" })).toEqual([200, "ran"]);
  expect(await get(server, "/assistants/counter", { cookie: "session=bad" })).toEqual([401, "ran"]);
  expect(await seen(server)).toHaveLength(5);
});

test("auth_first: no code of the app runs for who may not use a path of the server; routes of the app stay open", async () => {
  const server = await served({ middleware_order: "auth_first" });
  expect(await get(server, "/assistants/counter")).toEqual([401, null]);
  expect(await get(server, "/assistants/counter", { cookie: "session=good" })).toEqual([401, null]);
  // A path of the server, although the app has a route for it.
  expect(await get(server, "/assistants/mine")).toEqual([401, null]);
  expect(await seen(server)).toEqual([]);
  expect(await get(server, "/custom")).toEqual([200, "ran"]);
  expect((await call(server.url, "HEAD", "/custom")).status).toBe(200);
  expect(await get(server, "/assistants/counter", key)).toEqual([200, "ran"]);
  expect(await get(server, "/assistants/mine", key)).toEqual([200, "ran"]);
});

test.each(["middleware_first", "auth_first"])(
  "enable_custom_route_auth with %s: nothing of the app is open",
  async (order) => {
    for (const text of [APP, PLAIN]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const server = await served({ middleware_order: order, enable_custom_route_auth: true }, text);
      for (const path of ["/custom", "/assistants/counter", "/nowhere"]) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        expect(await get(server, path), path).toEqual([401, null]);
      }
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await get(server, "/custom", key))[0]).toBe(200);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await get(server, "/assistants/counter", key))[0]).toBe(200);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await get(server, "/ok"))[0]).toBe(200);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      if (text === APP) expect(await seen(server)).toEqual(["/custom", "/assistants/counter"]);
    }
  },
);

test("without authentication both keys change nothing", async () => {
  const project = httpProject(
    { http: { app: "./src/app.ts:app", middleware_order: "auth_first", enable_custom_route_auth: true } },
    { "src/app.ts": APP },
  );
  const server = await serve(project.folder);
  expect(await get(server, "/custom")).toEqual([200, "ran"]);
  expect(await get(server, "/assistants/counter")).toEqual([200, "ran"]);
});

test("a body is there for both, whoever is first", async () => {
  for (const order of ["middleware_first", "auth_first"]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const server = await served({ middleware_order: order });
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const thread = await call(server.url, "POST", "/threads", { headers: key, body: { metadata: { order } } });
    expect(thread).toMatchObject({ status: 200, json: { metadata: { order } } });
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect((await call(server.url, "POST", "/threads", { body: { metadata: { order } } })).status).toBe(401);
  }
});
