// A server that answers as a test says: for faults that the real one does not have.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** One request as it arrived. */
export interface Received {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

/** A running server and what it received, in order. */
export interface ScriptedServer {
  readonly url: string;
  readonly received: readonly Received[];
}

/** Answers `"METHOD /path"` (without query) with its handler; everything else is a test's mistake and gets 599. */
export type Routes = Record<string, (response: ServerResponse, request: Received) => unknown>;

/** Starts a server that stops with the test. */
export async function scripted(routes: Routes): Promise<ScriptedServer> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const entry = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: text === "" ? undefined : JSON.parse(text),
    };
    received.push(entry);
    const route = routes[`${entry.method} ${entry.path.split("?")[0]}`];
    if (route) await route(response, entry);
    else json(response, { detail: `the test has no answer for ${entry.method} ${entry.path}` }, 599);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

/** Answers with JSON. */
export function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Begins an event stream. */
export function events(response: ServerResponse, headers: Record<string, string> = {}): void {
  response.writeHead(200, { "content-type": "text/event-stream", ...headers });
}

/** One event as text. */
export function event(name: string, data: unknown, id?: string): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n${id === undefined ? "" : `id: ${id}\n`}\n`;
}

/** An address on which nothing listens. */
export async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
