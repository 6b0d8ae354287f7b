// Gates: how a test holds a graph at a place and lets it go on. A node asks for the gate's URL and gets no answer until the test
// opens it, so that neither side polls, and it works the same in this process and in a child.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll } from "vitest";

interface Gate {
  /** Requests that wait. */
  readonly waiting: ServerResponse[];
  /** Tests that wait for somebody to come, with the number of the visit that they wait for. */
  readonly watchers: { visit: number; resolve: () => void }[];
  visits: number;
  open: boolean;
}

export interface Gates {
  /** What to give to a graph as its `gate`. */
  url(name: string): string;
  /** Resolves when somebody stands at the gate, or has passed it; with `visit`, when so many have come. */
  entered(name: string, visit?: number): Promise<void>;
  /** How often somebody came to the gate. */
  visits(name: string): number;
  /** Lets everybody pass who waits, and everybody who comes later. */
  open(name: string): void;
  /** Lets those pass who wait now. */
  pass(name: string): void;
  close(): Promise<void>;
}

/** Starts the server behind the gates. */
export async function startGates(): Promise<Gates> {
  const gates = new Map<string, Gate>();
  const gate = (name: string): Gate => {
    let found = gates.get(name);
    if (found === undefined) gates.set(name, (found = { waiting: [], watchers: [], visits: 0, open: false }));
    return found;
  };
  const release = (name: string): void => {
    for (const response of gate(name).waiting.splice(0)) response.end("open");
  };
  // A connection that waits is not closed: on a busy machine a client would ask on it at the very same time.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const found = gate(decodeURIComponent(request.url!.slice(1)));
    found.visits++;
    if (found.open) response.end("open");
    else found.waiting.push(response);
    for (const watcher of found.watchers) if (watcher.visit <= found.visits) watcher.resolve();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (name) => `http://127.0.0.1:${port}/${encodeURIComponent(name)}`,
    entered: (name, visit = 1) =>
      new Promise((resolve) => {
        const found = gate(name);
        if (found.visits >= visit) resolve();
        else found.watchers.push({ visit, resolve });
      }),
    visits: (name) => gate(name).visits,
    open(name) {
      gate(name).open = true;
      release(name);
    },
    pass: release,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Gates for one test file. Use a name of its own in every test. */
export function useGates(): Gates {
  let started: Gates | undefined;
  const get = (): Gates => {
    if (started === undefined) throw new Error("the gates of this file have not been started yet");
    return started;
  };
  beforeAll(async () => {
    started = await startGates();
  });
  // Those who still wait get an error, which ends their runs.
  afterAll(() => started?.close());
  return {
    url: (name) => get().url(name),
    entered: (name, visit) => get().entered(name, visit),
    visits: (name) => get().visits(name),
    open: (name) => get().open(name),
    pass: (name) => get().pass(name),
    close: () => get().close(),
  };
}
