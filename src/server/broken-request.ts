// What Node itself refuses, because it is no HTTP, never comes to the application; its errors are to look like all others.
import type { Server } from "node:http";
import type { Duplex } from "node:stream";

/** Status line and detail by the code of Node's error. */
const REFUSALS: Readonly<Record<string, readonly [status: string, detail: string]>> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "The address or the headers of the request are too long"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ["413 Payload Too Large", "The chunk extensions of the request are too long"],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request did not come in time"],
};

/** Gives Node's own refusals a JSON body. */
export function refuseBrokenRequests(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // A client that is gone, or that is in the middle of an answer, would take ours for a part of that.
    if (error.code === "ECONNRESET" || !socket.writable || isAnswering(socket)) return void socket.destroy();
    const [status, detail] = REFUSALS[error.code ?? ""] ?? [
      "400 Bad Request",
      `The request is no valid HTTP: ${error.message}`,
    ];
    const body = JSON.stringify({ detail });
    const headers = ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`, "connection: close"];
    socket.end(`HTTP/1.1 ${status}\r\n${headers.join("\r\n")}\r\n\r\n${body}`);
  });
  server.on("checkExpectation", (request, response) => {
    const detail = `This server cannot do what the Expect header asks for: "${request.headers.expect}"`;
    response.writeHead(417, { "content-type": "application/json" }).end(JSON.stringify({ detail }));
  });
}

/** Whether the head of an answer has gone out that is not complete: as Node finds it out for its own refusals. */
function isAnswering(socket: Duplex): boolean {
  const { _httpMessage: message } = socket as { _httpMessage?: { headersSent?: boolean } | null };
  return message?.headersSent === true;
}
