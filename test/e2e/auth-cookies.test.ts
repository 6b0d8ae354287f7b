// An `authenticate` that reads a cookie: browsers send that with requests of every page, which must not be able to use it.
import { describe, expect, test } from "vitest";
import { call } from "./support/http.ts";
import { httpProject, serve } from "./support/http-project.ts";
import { upgradeStatus } from "./support/upgrade.ts";

const AUTH = `
import { Auth, HTTPException } from "@langchain/langgraph-sdk/auth";
export const auth = new Auth().authenticate(({ headers }) => {
  if (headers.get("cookie") === "session=ada" || headers.get("authorization") === "Bearer ada") return "ada";
  throw new HTTPException(401, { message: "Who are you?" });
});
`;
const APP = `export const app = (request) => (request.url.includes("/callback") ? new Response("back") : undefined);`;
const COOKIE = { cookie: "session=ada" };
const FOREIGN = "https://evil.example";

/** What a page gets for a simple POST, and for a WebSocket. */
async function statuses(url: string, headers: Record<string, string>): Promise<[post: number, socket: number]> {
  const sent = { headers: { ...headers, "content-type": "text/plain" }, body: { metadata: { by: "a page" } } };
  const { status } = await call(url, "POST", "/threads", sent);
  const { thread_id } = (await call(url, "POST", "/threads", { headers: COOKIE, body: {} })).json as {
    thread_id: string;
  };
  return [status, await upgradeStatus(url, thread_id, headers)];
}
const projectOf = (cors?: object): string =>
  httpProject(
    {
      auth: { path: "./auth.ts:auth", disable_studio_auth: true },
      http: { app: "./app.ts:app", ...(cors === undefined ? {} : { cors }) },
    },
    { "auth.ts": AUTH, "app.ts": APP },
  ).folder;

test("is of no use to a page elsewhere, and of use to all that are not", async () => {
  const { url } = await serve(projectOf());
  const { port } = new URL(url);
  for (const origin of [FOREIGN, "null", `https://localhost.evil.example:${port}`])
    expect([origin, ...(await statuses(url, { ...COOKIE, origin }))]).toEqual([origin, 403, 403]);
  const trusted: Record<string, string>[] = [
    {},
    { origin: url },
    { host: `localhost:${port}`, origin: `http://localhost:${port}` },
    { host: `localhost:${port}`, origin: "http://localhost:3000" },
    { origin: "https://agents.example", "x-forwarded-host": "agents.example" },
    { origin: "https://agents.example", "sec-fetch-site": "same-origin" },
    // Cookies do not know ports: a page on another one has them anyway.
    { origin: "http://agents.example:3000", "x-forwarded-host": "Agents.example:2024, 10.0.0.7" },
  ];
  for (const headers of trusted)
    expect([headers, ...(await statuses(url, { ...COOKIE, ...headers }))]).toEqual([headers, 200, 101]);
  // Without the cookie the page is nobody, with credentials of its own it is somebody.
  expect(await statuses(url, { origin: FOREIGN })).toEqual([401, 401]);
  expect(await statuses(url, { origin: FOREIGN, authorization: "Bearer ada" })).toEqual([200, 101]);

  const search = { headers: COOKIE, body: { metadata: { by: "a page" } } };
  expect((await call(url, "POST", "/threads/count", search)).json).toBe(8);
  // What is only read, the browser does not show to the page; and what the project answers itself is its own business.
  const headers = { ...COOKIE, origin: FOREIGN };
  expect((await call(url, "GET", "/assistants/counter", { headers })).status).toBe(200);
  expect((await call(url, "POST", "/callback", { headers })).text).toBe("back");
});

test("is of use to pages on other ports of the name by which the server is reached", async () => {
  const { url } = await serve(projectOf(), { host: "0.0.0.0" });
  const { port } = new URL(url);
  const local = `http://127.0.0.1:${port}`;
  const host = `agents.example:${port}`;
  for (const origin of [`http://${host}`, "http://agents.example:3000", "https://agents.example"])
    expect([origin, ...(await statuses(local, { ...COOKIE, host, origin }))]).toEqual([origin, 200, 101]);
  for (const origin of ["http://other.example", "http://www.agents.example", "http://example", "http://localhost:3000"])
    expect([origin, ...(await statuses(local, { ...COOKIE, host, origin }))]).toEqual([origin, 403, 403]);
});

test("is refused with a reason that says what to do", async () => {
  const { url } = await serve(projectOf({ allow_origins: ["*"] }));
  const detailOf = async (headers: Record<string, string>): Promise<string> => {
    const { status, json } = await call(url, "POST", "/threads", { headers: { ...COOKIE, ...headers }, body: {} });
    expect(status).toBe(403);
    return (json as { detail: string }).detail;
  };
  const named = await detailOf({ origin: FOREIGN });
  expect(named).toContain(`A page of the origin ${FOREIGN} may not use cookies`);
  expect(named).toMatch(/"\*" in http\.cors\.allow_origins names nobody: name that origin there/);
  expect(named).toContain("allow_credentials");
  expect(named).toContain("proxy in front has to pass X-Forwarded-Host");
  const nameless = await detailOf({ "sec-fetch-site": "cross-site" });
  expect(nameless).toContain("with cookies and without an Origin");
  expect(nameless).not.toMatch(/null|allow_origins/);
});

test("is of no use to a page whose image would stop a run", async () => {
  const { url } = await serve(projectOf());
  const path = `/threads/${crypto.randomUUID()}/runs/${crypto.randomUUID()}/join`;
  const image = { ...COOKIE, "sec-fetch-site": "cross-site" };
  for (const query of ["?cancel_on_disconnect=1", "?a=b&cancel%5Fon_disconnect=true"])
    expect((await call(url, "GET", path + query, { headers: image })).status).toBe(403);
  for (const query of ["", "?cancel_on_disconnect=0"])
    expect((await call(url, "GET", path + query, { headers: image })).status).toBe(404);
  expect((await call(url, "GET", `${path}?cancel_on_disconnect=1`, { headers: COOKIE })).status).toBe(404);
});

describe("with origins in the config", () => {
  test("is of use to the pages that it names", async () => {
    const { url } = await serve(projectOf({ allow_origins: ["*", "https://app.example"] }));
    expect(await statuses(url, { ...COOKIE, origin: "https://app.example" })).toEqual([200, 101]);
    expect(await statuses(url, { ...COOKIE, origin: FOREIGN })).toEqual([403, 403]);
  });

  test("is of use to all when it says so", async () => {
    const { url } = await serve(projectOf({ allow_origins: ["*"], allow_credentials: true }));
    expect(await statuses(url, { ...COOKIE, origin: FOREIGN })).toEqual([200, 101]);
  });
});
