// A wire between client and server that a test can cut, as a sleeping laptop or a restarted router does.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface Proxy {
  readonly url: string;
  /** Connections so far. */
  readonly connections: number;
  /** Resolves when the server has begun to answer on so many connections. */
  answered(count: number): Promise<void>;
  /** Breaks all connections of this moment; new ones work. */
  cut(): void;
}

/** Starts a proxy for `target` that ends with the test. */
export async function startProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const watchers: { count: number; resolve: () => void }[] = [];
  let connections = 0;
  let answers = 0;
  const server = createServer((client) => {
    connections++;
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("close", () => open.delete(socket));
      // What happens to one side happens to the other.
      socket.on("error", () => undefined);
    }
    upstream.once("data", () => {
      answers++;
      for (const { count, resolve } of watchers) if (count <= answers) resolve();
    });
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const socket of open) socket.resetAndDestroy();
  };
  onTestFinished(async () => {
    cut();
    await new Promise((resolve) => void server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    answered: (count) =>
      new Promise((resolve) => {
        if (answers >= count) resolve();
        else watchers.push({ count, resolve });
      }),
    cut,
  };
}
