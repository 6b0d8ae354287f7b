// What handlers may answer and what becomes of it: filters, refusals, mistakes, and changes of what was asked. The handlers are those of
// test/fixtures/auth-project/src/rules.ts, which do what the permissions of the caller say.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ServerEvent } from "../../src/server/types.ts";
import { useGates } from "./support/gates.ts";
import { type Answer, call } from "./support/http.ts";
import { complaints, startTestServer, type TestServer } from "./support/server.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "auth-project");
const gates = useGates();
let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({ cwd: PROJECT, config: "langgraph.rules.json", persist: false });
});
afterEach(() => server.stop());

/** A request of somebody with these permissions. */
const as =
  (who: string, permissions: readonly string[] = [], headers: Record<string, string> = {}) =>
  (method: string, path: string, body?: unknown): Promise<Answer> =>
    call(server.url, method, path, {
      headers: { "x-user": who, "x-permissions": permissions.join(","), ...headers },
      ...(body === undefined ? {} : { body }),
    });
const id = (answer: Answer, name = "thread_id"): string => (answer.json as Record<string, string>)[name]!;
/** What the terminal was told that is not about the graphs. */
const told = (): string[] =>
  complaints(server.events).map((event: ServerEvent) =>
    event.type === "diagnostic" ? event.diagnostic.message : JSON.stringify(event),
  );
const RUN = { assistant_id: "whoami", input: {} };

describe("authenticate", () => {
  test("an HTTPException is the answer, with its status, message and headers", async () => {
    const answer = await call(server.url, "POST", "/threads", { body: {} });
    expect([answer.status, answer.json]).toEqual([402, { detail: "Pay first" }]);
    expect(answer.headers).toMatchObject({ "x-price": "7", "content-type": "application/json" });
  });

  test("a string is an identity", async () => {
    expect((await as("plain")("POST", "/threads", {})).json).toMatchObject({ metadata: { owner: "plain" } });
  });

  test.each(["null", "nameless"])("what says nobody (%s) lets nobody in, and is told once", async (who) => {
    for (let i = 0; i < 2; i++) {
      const answer = await as(who)("POST", "/threads", {});
      expect([answer.status, answer.json]).toEqual([401, { detail: "The request could not be authenticated" }]);
    }
    expect(told()).toEqual(["auth.path: authenticate must return a string, or an object of JSON with an identity"]);
  });

  test("a mistake lets nobody in, and is told with its place, once and without the credentials", async () => {
    const secret = "Bearer eyJhbGciOiJIUzI1NiJ9";
    for (const token of [secret, `${secret}2`]) {
      const answer = await as("mistake", [], { authorization: token })("GET", "/threads/x");
      expect([answer.status, answer.json]).toEqual([401, { detail: "The request could not be authenticated" }]);
    }
    const [first, ...others] = complaints(server.events);
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      diagnostic: {
        message: "auth.path: authenticate threw TypeError (its message has a piece of a credential in it)",
        location: { file: join(PROJECT, "src", "rules.ts") },
      },
    });
    expect(JSON.stringify(server.events)).not.toContain("eyJ");
  });
});

describe("authorise", () => {
  test("the most specific handler wins: event, resource, action, all", async () => {
    const other = await startTestServer({ cwd: PROJECT, config: "langgraph.precedence.json", persist: false });
    const detail = async (method: string, path: string, body?: unknown): Promise<unknown> => {
      const { status, json } = await call(other.url, method, path, body === undefined ? {} : { body });
      expect(status).toBe(403);
      return (json as { detail: string }).detail;
    };
    try {
      expect(await detail("POST", "/threads", {})).toBe("threads:create");
      expect(await detail("POST", "/threads/search", {})).toBe("threads");
      expect(await detail("GET", `/threads/${crypto.randomUUID()}`)).toBe("threads");
      expect(await detail("GET", "/assistants/whoami")).toBe("*:read");
      expect(await detail("POST", "/assistants/search", {})).toBe("*");
    } finally {
      await other.stop();
    }
  });

  test("false is 403, whether the thing exists or not", async () => {
    const { status, json } = await as("ada", ["deny:assistants:read"])("GET", "/assistants/whoami");
    expect([status, json]).toEqual([403, { detail: "You may not do this (assistants:read)" }]);
    expect((await as("ada", ["deny:assistants:read"])("GET", "/assistants/nothing")).status).toBe(403);
  });

  test.each([
    ["throw", "threw RangeError (its message has a piece of a credential in it)"],
    ["unknown", 'threw FilterError: the filter for "owner" knows $eq and $contains, not $ne'],
    ["text", "threw TypeError: it must return nothing, a boolean or a filter, not a string"],
  ])("a mistake (%s) is a 500 that tells the caller nothing, and lets nobody through", async (what, message) => {
    const answer = await as("ada", [`${what}:assistants:read`], { "x-teams": "secret-team" })(
      "GET",
      "/assistants/whoami",
    );
    expect([answer.status, answer.json]).toEqual([500, { detail: "Internal Server Error" }]);
    // What a user has is no secret of a credential, but may be one of its own.
    const [only, ...others] = told();
    expect(others).toEqual([]);
    expect(only).toMatch(
      what === "throw" ? /threw RangeError/ : `auth.path: the handler for assistants:read ${message}`,
    );
  });

  test("metadata that is no object is refused", async () => {
    const answer = await as("ada", ["list:threads:create"])("POST", "/threads", {});
    expect([answer.status, answer.json]).toEqual([
      422,
      { detail: "The auth handler of this server has set metadata to what is no object" },
    ]);
  });
});

describe("filters", () => {
  test("$or, $and, $eq and $contains, in reading, searching and counting alike", async () => {
    const make = async (metadata: object): Promise<string> => id(await as("ada")("POST", "/threads", { metadata }));
    const own = await make({});
    const shared = await make({ readers: ["bob", "eve"] });
    const team = await make({ public: true, teams: ["red", "blue"] });
    await make({ public: false, teams: ["red", "blue"] });
    const seen = async (who: string, teams: string): Promise<unknown[]> => {
      const ask = as(who, [], { "x-teams": teams });
      const found = (await ask("POST", "/threads/search", { limit: 100 })).json as { thread_id: string }[];
      expect((await ask("POST", "/threads/count", {})).json).toBe(found.length);
      const read = await Promise.all([own, shared, team].map((thread) => ask("GET", `/threads/${thread}`)));
      const ids = found.map(({ thread_id }) => thread_id);
      expect(read.map(({ status }) => status === 200)).toEqual(
        [own, shared, team].map((thread) => ids.includes(thread)),
      );
      return ids.filter((thread) => [own, shared, team].includes(thread)).toSorted();
    };
    expect(await seen("ada", "none")).toEqual([own, shared, team].toSorted());
    expect(await seen("bob", "green")).toEqual([shared]);
    expect(await seen("bob", "red")).toEqual([shared, team].toSorted());
    expect(await seen("zoe", "blue,red")).toEqual([team]);
    expect(await seen("zoe", "blue,green")).toEqual([]);
  });

  test("pages and totals are those of what is seen", async () => {
    for (let i = 0; i < 3; i++) await as("ada")("POST", "/threads", {});
    for (let i = 0; i < 3; i++) await as("bob")("POST", "/threads", {});
    const { headers, json } = await as("bob", [], { "x-teams": "x" })("POST", "/threads/search", { limit: 2 });
    expect(json).toHaveLength(2);
    expect([headers["x-pagination-total"], headers["x-pagination-next"]]).toEqual(["3", "2"]);
  });

  test("who may read a thread may not write it, run on it, or stop its run by leaving", async () => {
    const threadId = id(await as("ada")("POST", "/threads", { metadata: { readers: ["bob"] } }));
    const input = { gate: gates.url("shared") };
    const runId = id(await as("ada")("POST", `/threads/${threadId}/runs`, { ...RUN, input }), "run_id");
    await gates.entered("shared");
    const bob = as("bob");
    const path = `/threads/${threadId}`;
    expect((await bob("GET", path)).status).toBe(200);
    expect((await bob("GET", `${path}/runs/${runId}`)).status).toBe(200);
    expect((await bob("PATCH", path, { metadata: { owner: "bob" } })).status).toBe(404);
    expect((await bob("DELETE", path)).status).toBe(404);
    expect((await bob("POST", `${path}/runs`, RUN)).status).toBe(404);
    expect((await bob("POST", `${path}/runs/crons`, { ...RUN, schedule: "* * * * *" })).status).toBe(404);
    expect((await bob("POST", `${path}/runs/${runId}/cancel`)).status).toBe(404);
    expect((await bob("POST", "/runs/cancel", { thread_id: threadId, run_ids: [runId] })).status).toBe(404);
    for (const how of ["join", "stream"]) {
      const leaving = await bob("GET", `${path}/runs/${runId}/${how}?cancel_on_disconnect=1`);
      expect([how, leaving.status, leaving.json]).toEqual([how, 404, { detail: "Run not found" }]);
    }
    const command = { id: 1, method: "run.start", params: RUN };
    expect((await bob("POST", `${path}/commands`, command)).json).toMatchObject({ type: "error" });
    const read = { id: 2, method: "agent.getTree" };
    expect((await bob("POST", `${path}/commands`, read)).json).toMatchObject({ type: "success" });
    gates.open("shared");
    expect((await bob("GET", `${path}/runs/${runId}/join`)).json).toMatchObject({ caller: { id: "ada" } });
    expect((await as("ada")("GET", `${path}/runs`)).json).toHaveLength(1);
  });
});

describe("what handlers change", () => {
  test("metadata of a run and of the thread that it makes, and its settings", async () => {
    const threadId = crypto.randomUUID();
    const run = { ...RUN, if_not_exists: "create", metadata: { a: 1 }, webhook: "http://10.0.0.1/never" };
    const made = await as("ada", ["gold"])("POST", `/threads/${threadId}/runs`, run);
    expect(made.json).toMatchObject({
      metadata: { a: 1, owner: "ada" },
      kwargs: { config: { configurable: { tier: "gold" } } },
    });
    expect(made.text).not.toContain("10.0.0.1");
    expect((await as("ada")("GET", `/threads/${threadId}`)).json).toMatchObject({ metadata: { a: 1, owner: "ada" } });
  });

  test("who may not make threads makes none by running on them", async () => {
    const ask = as("ada", ["deny:threads:create"]);
    const threadId = crypto.randomUUID();
    expect((await ask("POST", `/threads/${threadId}/runs/wait`, { ...RUN, if_not_exists: "create" })).status).toBe(403);
    const command = { id: 1, method: "run.start", params: RUN };
    const { status, json } = await ask("POST", `/threads/${threadId}/commands`, command);
    expect([status, json]).toMatchObject([403, { type: "error", id: 1, error: "permission_denied" }]);
    expect((await as("ada")("GET", `/threads/${threadId}`)).status).toBe(404);
    // A run without a thread makes none.
    expect((await ask("POST", "/runs/wait", RUN)).status).toBe(200);
  });

  test("metadata of the thread that a run makes, by the handler for threads", async () => {
    const ask = as("ada", ["bare:threads:create_run"]);
    const threadId = crypto.randomUUID();
    const made = await ask("POST", `/threads/${threadId}/runs`, {
      ...RUN,
      if_not_exists: "create",
      metadata: { a: 1 },
    });
    expect(made.json).toMatchObject({ metadata: { a: 1 } });
    expect((await ask("GET", `/threads/${threadId}`)).json).toMatchObject({ metadata: { a: 1, owner: "ada" } });
  });

  test("what is searched for", async () => {
    const own = id(await as("bob")("POST", "/threads", {}));
    const shared = id(await as("ada")("POST", "/threads", { metadata: { readers: ["bob"] } }));
    const found = async (permissions: string[]): Promise<string[]> => {
      const { json } = await as("bob", permissions)("POST", "/threads/search", { metadata: {} });
      return (json as { thread_id: string }[]).map(({ thread_id }) => thread_id).toSorted();
    };
    expect(await found([])).toEqual([own, shared].toSorted());
    expect(await found(["own:threads:search"])).toEqual([own]);
  });

  test("the namespace of the store: everybody has one of their own under the same name", async () => {
    const item = { namespace: ["notes"], key: "one" };
    for (const who of ["ada", "bob"]) {
      expect((await as(who)("PUT", "/store/items", { ...item, value: { of: who } })).status).toBe(204);
    }
    const query = "?namespace=notes&key=one";
    expect((await as("ada")("GET", `/store/items${query}`)).json).toMatchObject({
      namespace: ["ada", "notes"],
      value: { of: "ada" },
    });
    const found = await as("bob")("POST", "/store/items/search", {});
    expect((found.json as { items: unknown[] }).items).toMatchObject([
      { namespace: ["bob", "notes"], value: { of: "bob" } },
    ]);
    expect((await as("bob")("POST", "/store/namespaces", {})).json).toEqual({ namespaces: [["bob", "notes"]] });
    expect((await as("bob")("DELETE", "/store/items", item)).status).toBe(204);
    expect((await as("bob")("GET", `/store/items${query}`)).json).toBeNull();
    expect((await as("ada")("GET", `/store/items${query}`)).json).not.toBeNull();
  });

  test.each([
    ["dots", "Namespace labels cannot be empty or contain periods. Received: a.b"],
    ["number", "The auth handler of this server has made namespace something else than a list of strings"],
  ])("a namespace that is none (%s) is refused", async (permission, detail) => {
    const ask = as("ada", [permission]);
    const item = { namespace: ["notes"], key: "one" };
    const answers = [
      await ask("PUT", "/store/items", { ...item, value: {} }),
      await ask("GET", "/store/items?namespace=notes&key=one"),
      await ask("DELETE", "/store/items", item),
      await ask("POST", "/store/items/search", {}),
      await ask("POST", "/store/namespaces", {}),
    ];
    for (const { status, json } of answers) expect([status, json]).toEqual([422, { detail }]);
  });

  test("filters of the store are about the values of items", async () => {
    // What `*:…` makes of it is not rewritten here.
    const shared = as("ada", ["shared"]);
    const put = (key: string, team: string): Promise<Answer> =>
      shared("PUT", "/store/items", { namespace: ["team"], key, value: { team } });
    expect((await put("red", "red")).status).toBe(204);
    const refused = await put("blue", "blue");
    expect([refused.status, refused.json]).toEqual([
      403,
      { detail: "The filter of this server's auth handler for store:put does not let this item through" },
    ]);
    // Put by somebody without the filter: everybody has a namespace of their own.
    await as("team")("PUT", "/store/items", { namespace: ["inner"], key: "blue", value: { team: "blue" } });
    const blue = "namespace=team.inner&key=blue";
    expect((await shared("GET", `/store/items?${blue}`)).json).toBeNull();
    expect((await shared("DELETE", "/store/items", { namespace: ["team", "inner"], key: "blue" })).status).toBe(204);
    const taken = { namespace: ["team", "inner"], key: "blue", value: { team: "red" } };
    expect((await shared("PUT", "/store/items", taken)).status).toBe(403);
    const { items } = (await shared("POST", "/store/items/search", {})).json as { items: { key: string }[] };
    expect(items.map(({ key }) => key)).toEqual(["red"]);
    expect((await shared("POST", "/store/namespaces", {})).json).toEqual({ namespaces: [["team"]] });
    expect((await as("team")("GET", "/store/items?namespace=inner&key=blue")).json).toMatchObject({
      value: { team: "blue" },
    });
  });
});
