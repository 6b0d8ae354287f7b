// The OpenAPI document is true: every operation in it exists, takes what it says and nothing else, and answers as it says, with every
// status that it names. The rows are in support/operations.ts; an operation without one fails here.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { pathTemplate, type Operation } from "../../src/server/operation.ts";
import { registerRoutes } from "../../src/server/routes.ts";
import { ApiDocument, type Schema } from "./support/document.ts";
import { useGates } from "./support/gates.ts";
import { call, glance, type Answer } from "./support/http.ts";
import { ROWS, type Request, type World } from "./support/operations.ts";
import { clientOf, PROJECT, startTestServer, type TestServer } from "./support/server.ts";
import { statusOfUpgrade } from "./support/upgrade.ts";

/** Bytes that a body may have here. */
const MAX_BODY = 200_000;

const gates = useGates();
const folder = mkdtempSync(join(tmpdir(), "agent-server-openapi-"));
let server: TestServer;
let world: World;
let document: ApiDocument;

beforeAll(async () => {
  vi.stubEnv("HTTP_MAX_REQUEST_BODY_BYTES", `${MAX_BODY}`);
  const at = (...path: string[]): string => `./${relative(folder, join(PROJECT, ...path))}`;
  const graphs = ["agent", "echo", "counter", "gated", "subgraph"].map((id) => [id, `${at("src", `${id}.ts`)}:graph`]);
  const config = {
    graphs: { ...Object.fromEntries(graphs), broken: "./broken.ts:graph" },
    ui: { echo: at("..", "ui-project", "src", "components.tsx"), broken: "./broken.tsx" },
    ui_config: { shared: ["shared-by-the-page"] },
  };
  for (const name of ["broken.ts", "broken.tsx"]) writeFileSync(join(folder, name), "export const graph = (;");
  writeFileSync(join(folder, "langgraph.json"), JSON.stringify(config));
  server = await startTestServer({ cwd: folder });
  vi.unstubAllEnvs();
  world = { url: server.url, client: clientOf(server.url), gates };
  document = new ApiDocument((await call(server.url, "GET", "/openapi.json")).json);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Named = Operation & { readonly name: string };
const operations: Named[] = [];
const register = (operation: Operation): void =>
  void operations.push({ ...operation, name: `${operation.method} ${pathTemplate(operation.path)}` });
// Nothing is called but the registration itself.
registerRoutes(register as never, { http: {} } as never);

const pathOf = ({ path }: Operation, { at = {}, query = "" }: Request): string =>
  pathTemplate(path).replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(at[name]!)) + query;

/** Sends a request; of a stream it reads the beginning. */
async function send(operation: Named, request: Request): Promise<Answer> {
  const { headers, body } = request;
  const sent = { ...(headers === undefined ? {} : { headers }), ...(body === undefined ? {} : { body }) };
  return glance(server.url, operation.method, pathOf(operation, request), sent);
}

/** Checks an answer against what the document says of its status. */
function check({ name }: Named, answer: Answer, status: number): void {
  expect([answer.status, answer.status === status ? "" : answer.text]).toEqual([status, ""]);
  const { content, headers = {} } = document.of(name).responses[status]!;
  for (const header of Object.keys(headers)) expect(answer.headers).toHaveProperty([header.toLowerCase()]);
  if (content === undefined) return expect(answer.text).toBe("");
  const [type = ""] = (answer.headers["content-type"] ?? "").split(";");
  expect(Object.keys(content)).toContain(type);
  const value = type === "application/json" ? answer.json : answer.text;
  expect(document.faultsOfAnswer(content[type]!.schema, value), answer.text.slice(0, 500)).toEqual([]);
}

const isSuccess = (status: number): boolean => status < 400;

/** A request that succeeds; an empty one for an operation that never does. */
function success(name: string): Promise<Request> | Request {
  const [first] = Object.entries(ROWS[name]!).filter(([status]) => isSuccess(Number(status)));
  return first === undefined ? {} : first[1](world);
}

/** A request for something that is not there; undefined when the operation names nothing. */
function missing(request: Request): Request | undefined {
  const { at = {}, body } = request;
  const ids = Object.keys(at).filter((name) => name.endsWith("_id"));
  if (ids.length > 0)
    return { ...request, at: { ...at, ...Object.fromEntries(ids.map((id) => [id, crypto.randomUUID()])) } };
  const [first] = [body].flat() as [Schema | undefined];
  const name = ["assistant_id", "graph_id"].find((field) => first !== undefined && field in first);
  if (name === undefined) return undefined;
  const changed = { ...first, [name]: "none" };
  return { ...request, body: Array.isArray(body) ? [changed] : changed };
}

/** How a documented error is brought about: as the row says, or as for every operation. */
async function provoke({ name }: Named, status: number): Promise<Request | undefined> {
  const own = ROWS[name]![status];
  if (own !== undefined) return own(world);
  const request = await success(name);
  const hasBody = document.of(name).requestBody !== undefined;
  switch (status) {
    case 400:
      return hasBody ? { ...request, body: '{"a":' } : undefined;
    case 404:
      return missing(request);
    case 413:
      return { ...request, body: { ...(request.body as object), padding: "x".repeat(MAX_BODY) } };
    case 422: {
      const [id] = document.uuids(name);
      if (id !== undefined) return { ...request, at: { ...request.at, [id]: "no-uuid" } };
      if (hasBody) return { ...request, body: JSON.stringify("a text") };
      const [query] = document.wrongQueries(name);
      return query === undefined ? undefined : { ...request, query };
    }
    default:
      return undefined;
  }
}

describe("the document", () => {
  test("is valid OpenAPI 3.1 and refers to nothing that is not in it", async () => {
    const checker = new Validator();
    expect(await checker.validate(structuredClone(document.json) as never)).toEqual({ valid: true });
    expect(document.json.openapi).toBe("3.1.0");
    const references = JSON.stringify(document.json).matchAll(/"\$ref":"([^"]*)"/g);
    for (const [, reference = ""] of references) expect(document.resolve(reference), reference).toBeDefined();
  });

  test("has all operations and no others, each with an id of its own", () => {
    expect(document.names.toSorted()).toEqual(operations.map(({ name }) => name).toSorted());
    const ids = document.names.map((name) => document.of(name).operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("names the server that it comes from, whatever its address", () => {
    expect(document.json.servers).toEqual([expect.objectContaining({ url: "/" })]);
  });

  test("has an example for every body, which is as the document says", () => {
    for (const { name } of operations.filter(({ body }) => body !== undefined)) {
      const { schema, example } = document.of(name).requestBody!.content["application/json"];
      expect(document.faults(schema, example), name).toEqual([]);
    }
  });

  test("has an input in its example that the first graph takes", async () => {
    const run = document.of("POST /runs/wait").requestBody!.content["application/json"].example;
    expect(run).toEqual({ assistant_id: "agent", input: { messages: [{ role: "user", content: "Hello" }] } });
    expect(await call(server.url, "POST", "/runs/wait", { body: run })).toMatchObject({ status: 200 });
  });
});

test("every row belongs to an operation", () => {
  const names = new Set(operations.map(({ name }) => name));
  expect(Object.keys(ROWS).filter((name) => !names.has(name))).toEqual([]);
});

describe.each(operations)("$name", (operation) => {
  const { name } = operation;

  test("succeeds as documented", async () => {
    expect(ROWS, "a row in support/operations.ts").toHaveProperty([name]);
    for (const status of document.statuses(name).filter(isSuccess)) {
      const make = ROWS[name]![status];
      expect(make, `the row has a request for ${status}`).toBeDefined();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const request = await make!(world);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      if (status === 101) expect(await statusOfUpgrade(server.url + pathOf(operation, request))).toBe(101);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      else check(operation, await send(operation, request), status);
    }
  });

  test("fails as documented", async () => {
    // It takes a million keys: see test/resources/idempotency.test.ts, which has them with fewer.
    const unreachable = new Set([429]);
    for (const status of document.statuses(name).filter((each) => !isSuccess(each) && !unreachable.has(each))) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const request = await provoke(operation, status);
      expect(request, `the row has a request for ${status}`).toBeDefined();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      check(operation, await send(operation, request!), status);
    }
  });

  test("refuses whatever the document does not allow", async () => {
    const request = await success(name);
    const ids = document.uuids(name).map((id) => ({ ...request, at: { ...request.at, [id]: "no-uuid" } }));
    const queries = document.wrongQueries(name).map((query) => ({ ...request, query }));
    const answers = await Promise.all([...ids, ...queries].map((wrong) => send(operation, wrong)));
    for (const answer of answers) check(operation, answer, 422);

    // JSON-RPC says what is wrong with a body in an answer with status 200.
    if (operation.body === undefined || operation.rpc === true) return;
    // An operation that describes its own 400 has one status for all that is wrong with a body.
    const refused = operation.answers[400] === undefined ? 422 : 400;
    for (const { field, body } of document.wrongBodies(name, request.body)) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await send(operation, { ...request, body });
      expect([answer.status, field], answer.text).toEqual([refused, field]);
      check(operation, answer, refused);
      expect(answer.text).toContain(field);
    }
  });
});
