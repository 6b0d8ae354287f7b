// Java's HTTP client and `curl --http2` offer HTTP/2 with each first request. An offer may be ignored, but Node takes every request that has
// one out of HTTP as soon as anybody listens for upgrades, and its body with it.
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";

/** Whether a request asks for a WebSocket, and not for another protocol. */
export const asksForSocket = (request: IncomingMessage): boolean =>
  request.method === "GET" && request.headers.upgrade?.toLowerCase() === "websocket";

/**
 * Has a request of Node's `upgrade` event answered like any other: what was read of it goes back in front of the rest, without the offer.
 * @param head what was read behind the request's head.
 */
export function answerWithoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.toLowerCase() !== "upgrade") lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  // Node reads and shows the bytes of a head as Latin-1.
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}
