// Bodies of fifty megabytes: within the limit of 64 MiB they are answered, beyond it refused, and what is in them may be anything. None of
// it stays in memory.
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiDocument } from "./support/document.ts";
import { Health } from "./support/fuzz-health.ts";
import { faultOf, type Got } from "./support/fuzz-http.ts";
import { fuzzProject, fuzzWorld, type At } from "./support/fuzz-world.ts";
import { useGates } from "./support/gates.ts";
import { call } from "./support/http.ts";
import { clientOf, startTestServer, type TestServer } from "./support/server.ts";

const MEGABYTES = 1_000_000;
const LARGE = 50 * MEGABYTES;
/** Of something that is worse than its size. */
const BOMB = 16 * MEGABYTES;
/** The limit, unless HTTP_MAX_REQUEST_BODY_BYTES says otherwise. */
const LIMIT = 64 * 1024 * 1024;
/** Milliseconds for a test on a machine that is busy with others; what takes longer hangs. */
const TIMEOUT = { timeout: 120_000 };

const gates = useGates();
const project = fuzzProject();
let server: TestServer;
let document: ApiDocument;
let health: Health;
let place: At;
let padding: Buffer;

beforeAll(async () => {
  server = await startTestServer({ cwd: project.folder });
  gates.open("hook");
  document = new ApiDocument((await call(server.url, "GET", "/openapi.json")).json);
  const { places } = await fuzzWorld(server.url, clientOf(server.url), gates.url("hook"));
  place = places[0]!;
  health = await Health.of(server);
  padding = Buffer.alloc(LARGE, "x");
});
afterAll(async () => {
  await server.stop();
  project.remove();
});

/** Sends pieces of a body one after the other; with `length` undefined in chunks. The server may answer and close before all is sent. */
function upload(name: string, pieces: readonly (string | Buffer)[], length: number | undefined): Promise<Got> {
  const [method = "", template = ""] = name.split(" ");
  const path = template.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => place[parameter] ?? "a");
  const size = length === undefined ? {} : { "content-length": String(length) };
  const headers = { "content-type": "application/json", ...size };
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${server.url}${path}`, { method, headers, agent: false });
    request.on("error", reject);
    request.on("response", (response) => {
      // It may close the connection while we still send.
      request.on("error", () => undefined);
      response.setEncoding("utf8");
      let text = "";
      response.on("data", (chunk: string) => {
        text += chunk;
        // What a stream says is not the point.
        if (response.headers["content-type"] === "text/event-stream") response.destroy();
      });
      response.on("close", () => {
        request.destroy();
        resolve({ status: response.statusCode!, headers: response.headers, text });
      });
    });
    for (const piece of pieces) request.write(piece);
    if (length === undefined || length === sum(pieces)) request.end();
  });
}

const sum = (pieces: readonly (string | Buffer)[]): number =>
  pieces.reduce((total, piece) => total + Buffer.byteLength(piece), 0);

const bodied = (): string[] => document.names.filter((name) => document.of(name).requestBody !== undefined);

/** A good body with a field of this size that nobody knows. */
function padded(name: string, size: number): (string | Buffer)[] {
  const { example } = document.of(name).requestBody!.content["application/json"];
  const list = Array.isArray(example);
  const text = JSON.stringify(list ? example[0] : example).slice(0, -1);
  const start = `${list ? "[" : ""}${text}${text === "{" ? "" : ","}"padding":"`;
  return [start, padding.subarray(0, size), `"}${list ? "]" : ""}`];
}

const check = (name: string, got: Got): void => {
  const fault = faultOf({ name, method: name.split(" ")[0]!, path: "", headers: {} }, got);
  expect([name, fault, got.status < 500, got.text.slice(0, 200)]).toEqual([name, undefined, true, expect.any(String)]);
};

test("every operation answers to fifty megabytes", TIMEOUT, async () => {
  // Each of them in CI; every fifth where a person waits, and where bodies are parsed in other places.
  const all = process.env["THOROUGH"] === "1";
  for (const name of bodied().filter((each, i) => all || i % 5 === 0 || PARSERS.includes(each))) {
    const pieces = padded(name, LARGE);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const got = await upload(name, pieces, sum(pieces));
    check(name, got);
    expect([name, got.status === 413]).toEqual([name, false]);
  }
});

test("every operation refuses what is beyond the limit, without reading it", TIMEOUT, async () => {
  for (const name of bodied()) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const got = await upload(name, ["{"], LIMIT + 1);
    check(name, got);
    expect([name, got.status]).toEqual([name, 413]);
  }
});

test("the limit holds for what does not say how long it is", TIMEOUT, async () => {
  const got = await upload("POST /threads", ['{"a":"', padding, padding.subarray(0, 20 * MEGABYTES), '"}'], undefined);
  expect([got.status, got.text]).toEqual([413, expect.stringContaining("detail")]);
});

/** Operations whose bodies are parsed in different places. */
const PARSERS = ["POST /threads", "POST /threads/{thread_id}/commands", "POST /mcp"];
/** One that keeps what it gets, and one that does not. */
const [KEEPS, REFUSES] = [["POST /threads"], ["POST /mcp"]];

const BOMBS: readonly (readonly [what: string, names: readonly string[], start: string, again: string, end: string])[] =
  [
    ["levels that never end", PARSERS, "", "[", ""],
    ["levels", PARSERS, '{"a":', '{"a":', ""],
    ["closed brackets", REFUSES, "", "]", ""],
    ["empty objects", PARSERS, '{"metadata":{"a":[', "{},", "{}]}}"],
    ["empty lists", KEEPS, "[", "[],", "[]]"],
    ["numbers", REFUSES, '{"metadata":{"a":[', "0,", "0]}}"],
    ["a field again and again", KEEPS, "{", '"a":0,', '"a":1}'],
    ["quotation marks", REFUSES, "", '"', ""],
    ["escapes", KEEPS, '{"metadata":{"a":"', "\\u0000", '"}}'],
    ["backslashes", REFUSES, '{"metadata":{"a":"', "\\\\", '"}}'],
    ["spaces", REFUSES, "", " ", "{}"],
    ["bytes that are no UTF-8", REFUSES, '{"metadata":{"a":"', "\u00ff", '"}}'],
  ];

test.each(BOMBS)("many megabytes of %s", TIMEOUT, async (_, names, start, again, end) => {
  const bytes = Buffer.alloc(BOMB - (BOMB % again.length), again, "latin1");
  const pieces = [start, bytes, end];
  for (const name of names) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    check(name, await upload(name, pieces, sum(pieces)));
  }
});

test("afterwards the server is as it was", TIMEOUT, async () => {
  // The heads of threads stay in memory, and with them what was given as metadata.
  const threads = await clientOf(server.url).threads.search({ limit: 1000, select: ["thread_id"] });
  await clientOf(server.url).threads.prune(threads.map(({ thread_id }) => thread_id));
  await health.check();
});
