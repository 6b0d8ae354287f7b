// A receiver of webhooks on loopback: it keeps what comes, answers as the test says, and tells when something has come.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request that came. */
export interface Hook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON. */
  readonly run: Record<string, unknown>;
}

/** What to answer: a status, with headers, or nothing until the test says so. */
export interface Reaction {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export interface Receiver {
  readonly url: string;
  readonly hooks: readonly Hook[];
  /** Decides what is answered; 200 by default. A promise holds the answer back. */
  react: (hook: Hook, index: number) => Reaction | Promise<Reaction>;
  /** Resolves with what has come when there are so many. */
  received(count: number): Promise<readonly Hook[]>;
  close(): Promise<void>;
}

/** Starts a receiver. */
export async function startReceiver(): Promise<Receiver> {
  const hooks: Hook[] = [];
  const watchers: { count: number; resolve: () => void }[] = [];
  const receiver: Omit<Receiver, "url"> = {
    hooks,
    react: () => ({ status: 200 }),
    async received(count) {
      if (hooks.length < count) await new Promise<void>((resolve) => watchers.push({ count, resolve }));
      return hooks.slice(0, count);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const answer = async (hook: Hook, response: ServerResponse): Promise<void> => {
    const { status, headers = {}, body = "" } = await receiver.react(hook, hooks.length - 1);
    if (!response.destroyed) response.writeHead(status, headers).end(body);
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const run = (text.startsWith("{") ? JSON.parse(text) : {}) as Record<string, unknown>;
      const hook: Hook = { path: request.url!, headers: request.headers, text, run };
      hooks.push(hook);
      void answer(hook, response);
      for (const { count, resolve } of watchers) if (hooks.length >= count) resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(receiver, { url: `http://127.0.0.1:${port}` });
}
