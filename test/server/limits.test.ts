// Slow and idle connections, with limits short enough to be waited for: what hangs is ended with a word, what only takes long is not.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { refuseBrokenRequests } from "../../src/server/broken-request.ts";
import { bodyLimit, connectionLimits, limitConnections, type ConnectionLimits } from "../../src/server/limits.ts";

const LONG: ConnectionLimits = {
  headersMs: 60_000,
  idleMs: 60_000,
  requestMs: 600_000,
  keepAliveMs: 60_000,
  connections: 100,
};

/** A server with these limits. Node looks at the first two of them in the given interval. */
async function serverWith(limits: Partial<ConnectionLimits>, handler: RequestListener): Promise<number> {
  const server = createServer({ connectionsCheckingInterval: 10 }, handler);
  refuseBrokenRequests(server);
  limitConnections(server, { ...LONG, ...limits });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

async function open(port: number): Promise<{ socket: Socket; all: Promise<string> }> {
  const socket = connect(port, "127.0.0.1");
  const parts: string[] = [];
  socket.setEncoding("utf8").on("data", (part: string) => parts.push(part));
  const all = new Promise<string>((resolve) => {
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(parts.join("")));
  });
  await once(socket, "connect");
  return { socket, all };
}

const echo: RequestListener = (request, response) => {
  request.setEncoding("utf8");
  let text = "";
  request.on("data", (part: string) => (text += part));
  request.on("end", () => response.end(text));
  request.on("error", () => undefined);
};

describe("what never becomes a request", () => {
  test("a connection that says nothing is closed", async () => {
    const port = await serverWith({ idleMs: 20 }, echo);
    expect(await (await open(port)).all).toBe("");
  });

  test("headers that come byte by byte end with 408", async () => {
    const port = await serverWith({ headersMs: 100 }, echo);
    const { socket, all } = await open(port);
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
    // Never idle, and never done.
    const dripping = setInterval(() => void socket.write("x"), 10);
    socket.on("close", () => clearInterval(dripping));
    expect(await all).toMatch(/^HTTP\/1\.1 408 [\s\S]*\{"detail":"The request did not come in time"\}$/);
  });

  test("a body that stops in the middle ends with 408", async () => {
    const port = await serverWith({ idleMs: 50 }, echo);
    const { socket, all } = await open(port);
    socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
    expect(await all).toMatch(/^HTTP\/1\.1 408 [\s\S]*\{"detail":"The request did not come in time"\}$/);
  });

  test("a body that comes byte by byte ends with 408, however busy it is", async () => {
    const port = await serverWith({ requestMs: 200, headersMs: 100 }, echo);
    const { socket, all } = await open(port);
    socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n");
    const dripping = setInterval(() => void socket.write("x"), 10);
    socket.on("close", () => clearInterval(dripping));
    expect(await all).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe("what only takes long", () => {
  test("an answer that the client waits for is not cut", async () => {
    let answer: () => void = () => undefined;
    let idle = 0;
    const port = await serverWith({ idleMs: 20 }, (_request, response) => {
      // Node has told this often that nothing came or went, and the connection is still there.
      response.on("timeout", () => {
        idle++;
        answer();
      });
      answer = () => response.end("late");
    });
    const { socket, all } = await open(port);
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    expect(await all).toMatch(/late$/);
    expect(idle).toBe(1);
  });

  test("an upload that makes progress is not cut by the limit for idle ones", async () => {
    const port = await serverWith({ idleMs: 1500 }, echo);
    const { socket, all } = await open(port);
    const parts = 16;
    socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${parts}\r\n\r\n`);
    let sent = 0;
    // Together longer than the limit.
    const sending = setInterval(() => {
      socket.write("x");
      if (++sent === parts) clearInterval(sending);
    }, 100);
    expect(await all).toMatch(new RegExp(`^HTTP/1.1 200[\\s\\S]*x{${parts}}$`));
  });

  test("a connection may be used again, until it waits for longer than it may", async () => {
    const port = await serverWith({ keepAliveMs: 50 }, echo);
    const { socket, all } = await open(port);
    const ask = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    socket.write(ask);
    await once(socket, "data");
    socket.write(ask);
    expect((await all).match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  });
});

test("connections above the limit are turned away, and others go on", async () => {
  const port = await serverWith({ connections: 2 }, echo);
  const first = await open(port);
  await open(port);
  const third = await open(port);
  expect(await third.all).toBe("");
  first.socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const [answer] = (await once(first.socket, "data")) as [string];
  expect(answer).toMatch(/^HTTP\/1\.1 200/);
});

test("the limits of a server leave time for the largest body that it takes", () => {
  const mebibyte = 1024 * 1024;
  expect(connectionLimits(64 * mebibyte).requestMs).toBeGreaterThan(60 * 60 * 1000);
  expect(connectionLimits(mebibyte).requestMs).toBeLessThan(5 * 60 * 1000);
});

test.each([
  [undefined, 67_108_864, false],
  ["", 67_108_864, false],
  ["1000", 1000, false],
  [" 1000 ", 1000, false],
  ["64MB", 67_108_864, true],
  ["0", 67_108_864, true],
  ["-5", 67_108_864, true],
  ["1.5", 67_108_864, true],
])("HTTP_MAX_REQUEST_BODY_BYTES=%s", (text, bytes, isWrong) => {
  const limit = bodyLimit(text);
  expect([limit.bytes, limit.warning !== undefined]).toEqual([bytes, isWrong]);
});
