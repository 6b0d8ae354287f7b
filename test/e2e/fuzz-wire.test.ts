// Bytes that are hardly HTTP, or stop in the middle: a client that writes nonsense, hangs up, or sends what it does not mean.
import { once } from "node:events";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ApiDocument } from "./support/document.ts";
import { DEADLINE_MS } from "./support/fuzz-http.ts";
import { faultsToldBy, Health } from "./support/fuzz-health.ts";
import { fuzzProject, fuzzWorld, type At } from "./support/fuzz-world.ts";
import { useGates } from "./support/gates.ts";
import { call } from "./support/http.ts";
import { clientOf, startTestServer, type TestServer } from "./support/server.ts";

const gates = useGates();
const project = fuzzProject();
let server: TestServer;
let document: ApiDocument;
let health: Health;
let place: At;

beforeAll(async () => {
  server = await startTestServer({ cwd: project.folder });
  gates.open("hook");
  document = new ApiDocument((await call(server.url, "GET", "/openapi.json")).json);
  ({
    places: [place = {}],
  } = await fuzzWorld(server.url, clientOf(server.url), gates.url("hook")));
  health = await Health.of(server);
});
afterAll(async () => {
  await server.stop();
  project.remove();
});

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly json: unknown;
}

/** How a client ends: it waits for the answer, says that it has nothing more to say, or breaks the connection. */
type Ending = "wait" | "end" | "break";

/** Writes bytes to the server, and reads what comes until the connection is closed. */
function exchange(pieces: readonly (string | Buffer)[], ending: Ending = "wait"): Promise<string> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(Number(port), hostname);
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection is not closed after ${DEADLINE_MS / 1000} s; so far: ${text.slice(0, 300)}`));
    }, DEADLINE_MS);
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => void (text += chunk));
    // Of what the server refuses, not everything is read.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(text);
    });
    const write = async (): Promise<void> => {
      for (const piece of pieces) {
        // oxlint-disable-next-line no-await-in-loop -- one packet after the other
        await new Promise<void>((next) => socket.write(piece, () => setImmediate(next)));
      }
      if (ending === "end") socket.end();
      if (ending === "break") socket.resetAndDestroy();
    };
    void write();
  });
}

/** The first answer in what came. */
function answerIn(text: string): Answer {
  const [head = "", body = ""] = text.split("\r\n\r\n");
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    json = undefined;
  }
  return { status: Number(head.split(" ")[1]), text: body, json };
}

/** The head of a request, with the empty line. */
const head = (line: string, ...headers: string[]): string => [line, "host: localhost", ...headers, "", ""].join("\r\n");

/** A path with the parameters of things that exist. */
const pathOf = (template: string): string =>
  template.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => place[parameter] ?? "a");

/** Operations with a body: first line and a good body. */
const withBody = (): { name: string; line: string; body: string }[] =>
  document.names
    .filter((name) => document.of(name).requestBody !== undefined)
    .map((name) => {
      const [method = "", template = ""] = name.split(" ");
      const { example } = document.of(name).requestBody!.content["application/json"];
      return { name, line: `${method} ${pathOf(template)} HTTP/1.1`, body: JSON.stringify(example) };
    });

test.each([
  ["no HTTP", "nonsense\r\n\r\n", 400],
  ["TLS", Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]), 400],
  ["a method that there is not", head("BREW /ok HTTP/1.1"), 400],
  ["a method in small letters", head("get /ok HTTP/1.1"), 400],
  ["a version that there is not", head("GET /ok HTTP/9.9"), 400],
  ["a path with bytes that are no ASCII", head("GET /\u00e9 HTTP/1.1"), 400],
  ["a path with a NUL", head("GET /\u0000 HTTP/1.1"), 400],
  ["a header with a NUL", head("GET /ok HTTP/1.1", "x-a: \u0000"), 400],
  ["a header without a colon", head("GET /ok HTTP/1.1", "nonsense"), 400],
  ["a length that is no number", head("POST /threads HTTP/1.1", "content-length: abc"), 400],
  ["a negative length", head("POST /threads HTTP/1.1", "content-length: -1"), 400],
  ["two lengths", head("POST /threads HTTP/1.1", "content-length: 2", "content-length: 3"), 400],
  [
    "a length and chunks",
    `${head("POST /threads HTTP/1.1", "content-length: 2", "transfer-encoding: chunked")}0\r\n\r\n`,
    400,
  ],
  ["chunks that are none", `${head("POST /threads HTTP/1.1", "transfer-encoding: chunked")}zz\r\n{}\r\n`, 400],
  ["a long path", head(`GET /${"x".repeat(20_000)} HTTP/1.1`), 414],
  ["a long header", head("GET /ok HTTP/1.1", `x-a: ${"x".repeat(20_000)}`), 431],
  ["many headers", head("GET /ok HTTP/1.1", ...Array.from({ length: 5000 }, (_, i) => `x-${i}: a`)), 431],
  ["a strange expectation", head("GET /ok HTTP/1.1", "expect: miracles", "connection: close"), 417],
])("%s is refused", async (_, bytes, status) => {
  const answer = answerIn(await exchange([bytes]));
  expect(answer).toMatchObject({ status, json: { detail: expect.any(String) } });
});

test("a request without a Host header is refused", async () => {
  // Node itself answers, without a body.
  expect(answerIn(await exchange(["GET /ok HTTP/1.1\r\n\r\n"])).status).toBe(400);
});

/** A request with a body: with the length that it claims to have. */
const request = (line: string, body: string | Buffer, length: number, ...headers: string[]): Buffer =>
  Buffer.concat([
    Buffer.from(
      head(line, "content-type: application/json", `content-length: ${length}`, "connection: close", ...headers),
    ),
    Buffer.from(body),
  ]);

test("a body that stops is nobody's fault: the server waits for no more of it, and says nothing", async () => {
  for (const ending of ["end", "break"] as const) {
    const half = ({ line, body }: { line: string; body: string }): Promise<string> =>
      exchange([request(line, body.slice(0, -1), body.length)], ending);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (const text of await Promise.all(withBody().map(half))) {
      if (text === "") continue;
      const { status, json } = answerIn(text);
      expect(status).toBeLessThan(500);
      expect(json).toMatchObject({ detail: expect.any(String) });
    }
    const chunked = ({ line, body }: { line: string; body: string }): Promise<string> =>
      exchange([`${head(line, "transfer-encoding: chunked")}${body.length.toString(16)}\r\n${body}\r\n`], ending);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await Promise.all(withBody().map(chunked));
  }
  expect(faultsToldBy(server.events)).toEqual([]);
});

test("a body that goes on behind its length is another request, and no good one", async () => {
  for (const { name, line, body } of withBody()) {
    const bytes = Buffer.concat([
      Buffer.from(head(line, "content-type: application/json", `content-length: ${body.length}`)),
      Buffer.from(`${body}}}}}\r\n\r\n`),
    ]);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const text = await exchange([bytes]);
    expect(answerIn(text).status, name).toBeLessThan(500);
  }
});

test("a body that is compressed is not decoded", async () => {
  for (const { name, line, body } of withBody()) {
    const bytes = gzipSync(body);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const answer = answerIn(await exchange([request(line, bytes, bytes.length, "content-encoding: gzip")]));
    // One that errors of JSON-RPC have too.
    const said = { ...(answer.json as object) } as { detail?: unknown; error?: { code: unknown } };
    const parseError = said.error?.code === -32_700;
    expect([name, answer.status, parseError || typeof said.detail === "string"]).toEqual([
      name,
      expect.any(Number),
      true,
    ]);
    expect(answer.status === 400 || answer.status === 404 || (parseError && answer.status === 200), answer.text).toBe(
      true,
    );
  }
});

test("a body may come byte by byte", async () => {
  const body = JSON.stringify({ metadata: { text: "\u{1f600} e\u0301" } });
  const bytes = request("POST /threads HTTP/1.1", body, Buffer.byteLength(body));
  const answer = answerIn(await exchange(Array.from(bytes, (byte) => Buffer.from([byte]))));
  expect(answer).toMatchObject({ status: 200, json: { metadata: { text: "\u{1f600} e\u0301" } } });
});

test("requests that come before the answers are answered in their order", async () => {
  const body = JSON.stringify({ assistant_id: "counter", input: {} });
  const wait =
    head("POST /runs/wait HTTP/1.1", "content-type: application/json", `content-length: ${body.length}`) + body;
  const last = head("GET /info HTTP/1.1", "connection: close");
  const text = await exchange([wait + head("GET /nothing HTTP/1.1") + head("GET /ok HTTP/1.1") + wait + last]);
  expect(Array.from(text.matchAll(/HTTP\/1\.1 (\d+) /g), ([, status]) => status)).toEqual([
    "200",
    "404",
    "200",
    "200",
    "200",
  ]);
});

test("requests whose client hangs up are carried out or not, but end", async () => {
  const body = JSON.stringify({ assistant_id: "tokens", input: { messages: [{ role: "user", content: "hello" }] } });
  const paths = ["/runs", "/runs/wait", "/runs/stream"].flatMap((path) => [
    path,
    `/threads/${place["thread_id"]}${path}`,
  ]);
  const run = (path: string): Buffer => request(`POST ${path} HTTP/1.1`, body, body.length);
  const streams = [
    `/threads/${place["thread_id"]}/stream`,
    `/threads/${place["thread_id"]}/runs/${place["run_id"]}/stream`,
  ];
  const many = Array.from({ length: 8 }, () => [
    ...paths.flatMap((path) => [exchange([run(path)], "break"), exchange([run(path)], "end")]),
    ...streams.map((path) => exchange([head(`GET ${path} HTTP/1.1`)], "break")),
    exchange([head("GET /openapi.json HTTP/1.1").repeat(20)], "break"),
  ]);
  await Promise.all(many.flat());
  expect(faultsToldBy(server.events)).toEqual([]);
});

test("an offer of HTTP/2, as Java's client and curl make it, is ignored, and the request is not", async () => {
  const offer = [
    "connection: close, Upgrade, HTTP2-Settings",
    "upgrade: h2c",
    "http2-settings: AAMAAABkAAQCAAAAAAIAAAAA",
  ];
  const line = "POST /threads HTTP/1.1";
  // As much as cannot come in one piece with the head.
  const metadata = { text: "\u{1f600}".repeat(200_000) };
  const body = JSON.stringify({ metadata });
  const length = Buffer.byteLength(body);
  const chunk = `${length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const withLength = head(line, ...offer, `content-length: ${length}`);
  const inChunks = head(line, ...offer, "transfer-encoding: chunked");
  for (const pieces of [[withLength, body], [withLength + body], [inChunks, chunk], [inChunks + chunk]]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(answerIn(await exchange(pieces))).toMatchObject({ status: 200, json: { metadata } });
  }
});

test("offers of HTTP/2 that come one after the other on a connection leave nothing behind on it", async () => {
  const warnings: string[] = [];
  const warn = ({ name }: Error): void => void warnings.push(name);
  process.on("warning", warn);
  onTestFinished(() => void process.off("warning", warn));
  const offer = ["connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQCAAAAAAIAAAAA"];
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  for (let i = 0; i < 30; i++) {
    socket.write(head("GET /ok HTTP/1.1", ...offer));
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString("latin1", 0, 12)).toBe("HTTP/1.1 200");
  }
  socket.destroy();
  expect(warnings).toEqual([]);
});

test.each([
  ["no key", ["connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13"]],
  ["a bad key", ["connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13", "sec-websocket-key: a"]],
  [
    "an old version",
    [
      "connection: upgrade",
      "upgrade: websocket",
      "sec-websocket-version: 1",
      "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    ],
  ],
  ["no version", ["connection: upgrade", "upgrade: websocket", "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="]],
])("an upgrade with %s gets no socket", async (_, headers) => {
  for (const path of [`/threads/${place["thread_id"]}/stream/events`, "/ok", "/threads/nothing/stream/events"]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { status } = answerIn(await exchange([head(`GET ${path} HTTP/1.1`, ...headers)]));
    expect(status).toBeGreaterThanOrEqual(200);
    expect(status).toBeLessThan(500);
  }
  expect(faultsToldBy(server.events)).toEqual([]);
});

test("HEAD of whatever GET has leaves no stream open", async () => {
  const paths = document.names
    .filter((name) => name.startsWith("GET "))
    .map((name) => pathOf(name.slice("GET ".length)));
  for (const path of paths) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { status, text } = answerIn(await exchange([head(`HEAD ${path} HTTP/1.1`, "connection: close")]));
    expect([path, status < 500, text]).toEqual([path, true, ""]);
  }
  await health.closed();
});

test("afterwards the server is as it was", { timeout: 120_000 }, () => health.check());
