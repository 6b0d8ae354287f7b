// WebSockets on the server's port. The only file that knows crossws, which is loaded when the first client asks for one.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { NodeAdapter } from "crossws/adapters/node";
import { offered, type SocketListener, type SocketOffer } from "./upgrade.ts";

/** The code of RFC 6455 for something that went wrong on our side. */
const INTERNAL_ERROR = 1011;

export interface WebSocketOptions {
  /** The application: it refuses a request, or leaves an offer for it. */
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** Bytes that a message may have. */
  readonly maxMessageBytes: number;
  /** Told of errors that are ours. */
  readonly report: (error: unknown) => void;
  /** Where the sockets are counted that are open. */
  readonly traffic: { openSockets: number };
}

/** What is kept of a socket between its hooks. */
interface SocketState {
  offer?: SocketOffer;
  listener?: SocketListener;
}

export class WebSockets {
  readonly #options: WebSocketOptions;
  #adapter: Promise<NodeAdapter> | undefined;
  #loaded: NodeAdapter | undefined;

  constructor(options: WebSocketOptions) {
    this.#options = options;
  }

  /** Node's `upgrade` event. */
  handle(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A client that is gone before it is answered is no error.
    socket.on("error", () => socket.destroy());
    this.#upgrade(request, socket, head).catch((error: unknown) => {
      this.#options.report(error);
      socket.destroy();
    });
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const headers = new Headers();
    for (let i = 0; i + 1 < request.rawHeaders.length; i += 2)
      headers.append(request.rawHeaders[i]!, request.rawHeaders[i + 1]!);
    let asked: Request;
    try {
      asked = new Request(`http://${request.headers.host ?? "localhost"}${request.url ?? "/"}`, { headers });
    } catch {
      return void socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    }
    await (await this.#load()).handleUpgrade(request, socket, head, asked);
  }

  #load(): Promise<NodeAdapter> {
    return (this.#adapter ??= this.#make());
  }

  async #make(): Promise<NodeAdapter> {
    const { fetch, maxMessageBytes, report, traffic } = this.#options;
    const { default: nodeAdapter } = await import("crossws/adapters/node");
    const stateOf = (peer: { readonly context: Record<string, unknown> }): SocketState => peer.context as SocketState;
    this.#loaded = nodeAdapter({
      serverOptions: { maxPayload: maxMessageBytes },
      hooks: {
        async upgrade(request) {
          const response = await fetch(request as Request);
          const offer = offered(request as Request);
          if (offer === undefined) throw response;
          return { context: { offer } satisfies SocketState };
        },
        open(peer) {
          const state = stateOf(peer);
          traffic.openSockets++;
          try {
            state.listener = state.offer!({
              send: (text) => Number(peer.send(text)),
              close: (code, reason) => peer.close(code, reason),
            });
          } catch (error) {
            report(error);
            peer.close(INTERNAL_ERROR, "Internal Server Error");
          }
        },
        message: (peer, message) => stateOf(peer).listener?.receive(message.text()),
        drain: (peer) => stateOf(peer).listener?.drained(),
        close(peer) {
          traffic.openSockets--;
          stateOf(peer).listener?.closed();
        },
        // Its `close` follows.
        error: () => undefined,
      },
    });
    return this.#loaded;
  }

  /** Breaks all sockets that are still open. */
  terminate(): void {
    this.#loaded?.closeAll(undefined, undefined, true);
  }
}
