// Requests that are too large, on a real socket: refused before anything is made of them, in the shape of all errors.
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { MAX_HEADERS, MAX_PARAMETERS, MAX_URL } from "../../src/server/limits.ts";
import { call } from "./support/http.ts";
import { httpProject, serve } from "./support/http-project.ts";
import { useServer } from "./support/server.ts";

vi.stubEnv("HTTP_MAX_REQUEST_BODY_BYTES", "100000");
const server = useServer({ persist: false });

/** Sends bytes and reads until the server ends the connection or `done` is seen. */
async function wire(
  text: string,
  done = /\r\n\r\n[\s\S]*\}$/,
): Promise<{ status: number; detail: string; text: string }> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let seen = "";
  const ended = new Promise<void>((resolve) => {
    socket.setEncoding("utf8").on("data", (part: string) => {
      seen += part;
      if (done.test(seen)) resolve();
    });
    socket.on("close", () => resolve());
    socket.on("error", () => resolve());
  });
  await once(socket, "connect");
  socket.write(text);
  await ended;
  socket.destroy();
  const body = seen.slice(seen.indexOf("\r\n\r\n") + 4);
  const { detail } = JSON.parse(body) as { detail: string };
  return { status: Number(seen.slice(9, 12)), detail, text: seen };
}
const request = (method: string, path: string, headers: readonly string[] = []): string =>
  [`${method} ${path} HTTP/1.1`, `Host: ${new URL(server.url).host}`, ...headers, "", ""].join("\r\n");

describe("the address", () => {
  test.each([MAX_URL + 1, 15_000, 17_000, 60_000])("of %i characters is 414", async (length) => {
    const { status, detail } = await wire(request("GET", `/threads/${"x".repeat(length - 9)}`));
    expect([status, detail]).toEqual([414, `The address is longer than ${MAX_URL} characters`]);
  });

  test("that just fits is looked at", async () => {
    const { status } = await wire(request("GET", `/threads/${"x".repeat(MAX_URL - 9)}`));
    expect(status).toBe(422);
  });

  test("with too many parameters is 414, with many it is not", async () => {
    const query = (count: number): string => `/ok?${Array.from({ length: count }, (_, i) => `a=${i}`).join("&")}`;
    expect((await wire(request("GET", query(MAX_PARAMETERS + 1)))).status).toBe(414);
    expect((await call(server.url, "GET", query(MAX_PARAMETERS))).status).toBe(200);
  });

  test("is measured for a WebSocket, too", async () => {
    const upgrade = [
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: eA==",
    ];
    const { status } = await wire(request("GET", `/threads/x?${"y".repeat(MAX_URL)}`, upgrade));
    expect(status).toBe(414);
  });
});

describe("headers", () => {
  const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `x-${i}: y`);

  test("that are too many are 431", async () => {
    const { status, detail } = await wire(request("GET", "/ok", many(MAX_HEADERS)));
    expect([status, detail]).toEqual([431, `The request has more than ${MAX_HEADERS} headers`]);
    // Node would leave out those above two thousand and say nothing.
    const short = Array.from({ length: 2100 }, (_, i) => `${i.toString(36)}:y`);
    expect((await wire(request("GET", "/ok", short))).status).toBe(431);
    expect((await wire(request("GET", "/ok", many(MAX_HEADERS - 1)))).text).toMatch(/^HTTP\/1\.1 200/);
  });

  test("that are too long are 431", async () => {
    const { status, detail } = await wire(request("GET", "/ok", [`x-long: ${"y".repeat(20_000)}`]));
    expect([status, detail]).toEqual([431, expect.stringContaining("too long")]);
  });
});

describe("a body", () => {
  test("that announces too much is refused before it is sent", async () => {
    const { status, detail } = await wire(request("POST", "/threads", ["Content-Length: 10000000000"]));
    expect([status, detail]).toEqual([413, expect.stringContaining("100000 bytes")]);
  });

  test("that goes on for ever is refused when it has grown too large", async () => {
    const chunk = "x".repeat(60_000);
    const chunked = `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
    const head = request("POST", "/threads", ["Transfer-Encoding: chunked"]);
    const { status, detail } = await wire(`${head}${chunked}${chunked}`);
    expect([status, detail]).toEqual([413, expect.stringContaining("100000 bytes")]);
  });

  test("that is nested too deeply is 400", async () => {
    const deep = `{"metadata":${'{"a":'.repeat(2000)}1${"}".repeat(2000)}}`;
    const answer = await call(server.url, "POST", "/threads", { body: deep });
    expect([answer.status, answer.json]).toEqual([400, { detail: expect.stringContaining("1000 levels") }]);
  });
});

test("what is refused can be read by pages, and has an id", async () => {
  const { status, headers } = await call(server.url, "GET", `/ok?${"x".repeat(MAX_URL)}`);
  expect([status, headers["access-control-allow-origin"]]).toEqual([414, "*"]);
  expect(headers["x-request-id"]).toMatch(/\S/);
});

test("a limit that is no number is said, and the default stands in", async () => {
  vi.stubEnv("HTTP_MAX_REQUEST_BODY_BYTES", "64MB");
  const other = await serve(httpProject({}).folder);
  vi.stubEnv("HTTP_MAX_REQUEST_BODY_BYTES", "100000");
  expect(other.events).toContainEqual({
    type: "log",
    level: "warn",
    message: expect.stringContaining("HTTP_MAX_REQUEST_BODY_BYTES must be a whole number"),
  });
  expect((await call(other.url, "POST", "/threads", { body: { metadata: { a: "x".repeat(200_000) } } })).status).toBe(
    200,
  );
});
