// How a route offers a WebSocket: the request goes through the application like any other, with its checks, and the handler leaves word of
// what is to become of the socket. websocket.ts takes it up.

/** The server's end of a WebSocket. */
export interface ServerSocket {
  /** @returns bytes that are on their way to the client and have not left. */
  send(text: string): number;
  close(code: number, reason: string): void;
}

/** Who speaks on it. */
export interface SocketListener {
  receive(text: string): void;
  /** The client has taken what was sent. */
  drained(): void;
  closed(): void;
}

/** Called when the socket is open. */
export type SocketOffer = (socket: ServerSocket) => SocketListener;

const offers = new WeakMap<Request, SocketOffer>();

/** Whether a request asks for a WebSocket. */
export const wantsSocket = (request: Request): boolean =>
  request.headers.get("upgrade")?.toLowerCase() === "websocket" && request.method === "GET";

export function offerSocket(request: Request, offer: SocketOffer): void {
  offers.set(request, offer);
}

/** What was offered to a request; undefined when it was refused. */
export const offered = (request: Request): SocketOffer | undefined => offers.get(request);
