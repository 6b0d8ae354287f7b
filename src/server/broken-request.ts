// What Node itself refuses, because it is no HTTP, never comes to the application; its errors are to look like all others.
import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { MAX_URL } from "./limits.ts";

/** Status line and detail by the code of Node's error. */
const REFUSALS: Readonly<Record<string, readonly [status: string, detail: string]>> = {
  LONG_ADDRESS: ["414 URI Too Long", `The address is longer than ${MAX_URL} characters`],
  HPE_HEADER_OVERFLOW: [
    "431 Request Header Fields Too Large",
    "The address or the headers of the request are too long",
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ["413 Payload Too Large", "The chunk extensions of the request are too long"],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request did not come in time"],
};

/** Gives Node's own refusals a JSON body. */
export function refuseBrokenRequests(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    // A client that is gone, or that is in the middle of an answer, would take ours for a part of that.
    if (error.code === "ECONNRESET" || !socket.writable || isAnswering(socket)) return void socket.destroy();
    const code = isLongAddress(error) ? "LONG_ADDRESS" : (error.code ?? "");
    const [status, detail] = REFUSALS[code] ?? ["400 Bad Request", `The request is no valid HTTP: ${error.message}`];
    const { headers, body } = answer(detail);
    const lines = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}\r\n`);
    const isHead = error.rawPacket?.toString("latin1", 0, 5) === "HEAD ";
    socket.end(`HTTP/1.1 ${status}\r\n${lines.join("")}\r\n${isHead ? "" : body}`);
  });
  server.on("checkExpectation", (request, response) => {
    const { headers, body } = answer(`This server cannot do what Expect asks for: "${request.headers.expect}"`);
    response.writeHead(417, headers).end(body);
  });
}

/** Whether it is the first line of a request that is too long, and not its headers. */
function isLongAddress({ code, rawPacket }: NodeJS.ErrnoException & { rawPacket?: Buffer }): boolean {
  if (code !== "HPE_HEADER_OVERFLOW" || rawPacket === undefined) return false;
  const end = rawPacket.indexOf("\n");
  return /^[A-Z]+ \S/.test(rawPacket.toString("latin1", 0, 20)) && (end < 0 || end > MAX_URL);
}

function answer(detail: string): { headers: Record<string, string | number>; body: string } {
  const body = JSON.stringify({ detail });
  return { headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) }, body };
}

/** Whether the head of an answer has gone out that is not complete: as Node finds it out for its own refusals. */
function isAnswering(socket: Duplex): boolean {
  const { _httpMessage: message } = socket as { _httpMessage?: { headersSent?: boolean } | null };
  return message?.headersSent === true;
}
