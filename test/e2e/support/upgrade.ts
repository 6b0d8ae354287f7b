// The answer to a request for a WebSocket, where a test wants no more than that.
import { request as httpRequest, type IncomingMessage } from "node:http";

/** Asks for a WebSocket at an address. @returns the head of the answer; status 101 when it is one, which is closed again. */
export function upgrade(address: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(address, {
      agent: false,
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        ...headers,
      },
    });
    asked.on("response", (response) => resolve(response.resume()));
    asked.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response);
    });
    asked.on("error", reject);
    asked.end();
  });
}

/** Asks for a WebSocket at an address. @returns the status of the answer. */
export const statusOfUpgrade = async (address: string, headers: Record<string, string> = {}): Promise<number> =>
  (await upgrade(address, headers)).statusCode!;

/** Asks for a WebSocket of a thread's events. @returns the status of the answer. */
export const upgradeStatus = (url: string, threadId: string, headers: Record<string, string> = {}): Promise<number> =>
  statusOfUpgrade(`${url}/threads/${threadId}/stream/events`, headers);
