// The only file that knows listhen: finds a free port, listens, and closes for good.
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { Duplex } from "node:stream";
import { isBlockedPort } from "../blocked-ports.ts";
import { CliError, EXIT } from "../errors.ts";
import { refuseBrokenRequests } from "./broken-request.ts";
import { limitConnections, type ConnectionLimits } from "./limits.ts";
import { answerWithoutUpgrade, asksForSocket } from "./other-upgrades.ts";

/** Ports that are tried upwards from the wanted one. */
const PORTS_TRIED = 100;
/** Milliseconds that answers may take to be written when the server stops. */
const CLOSE_GRACE_MS = 1000;

export interface Listening {
  readonly port: number;
  /** Base URL to reach the server at, without a trailing slash. */
  readonly url: string;
  /** Closes all connections and the port. */
  close(): Promise<void>;
}

/** Who speaks with clients that ask for a WebSocket. */
export interface Upgrades {
  handle(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Breaks all sockets that are still open. */
  terminate(): void;
}

/**
 * Listens on `port`, or on the next free one.
 * @throws CliError when the port is taken and `strict` is set, when the address cannot be bound to, or when no client connects to the port.
 */
export async function listenOn(
  handler: RequestListener,
  upgrades: Upgrades,
  options: {
    readonly port: number;
    readonly host: string;
    readonly strict: boolean;
    readonly limits: ConnectionLimits;
  },
): Promise<Listening> {
  const port = await findPort(options);
  const { listen } = await import("listhen");
  const listener = await listen(handler, {
    port: { port, random: false, portRange: [port, port], alternativePortRange: [port, port] },
    hostname: options.host,
    // Given explicitly, because listhen looks for --host in our own arguments otherwise.
    public: false,
    showURL: false,
    autoClose: false,
    isProd: true,
    isTest: false,
    qr: false,
    open: false,
    clipboard: false,
    tunnel: false,
  });
  const { server } = listener;
  // listhen's own way to close counts idle sockets in a listener per request, which throws for a request that is broken off before its
  // answer is out, and in one per connection, which adds another each time that a connection is given back to HTTP. This server closes in
  // its own way.
  for (const listening of server.listeners("request"))
    if (listening !== handler) server.off("request", listening as RequestListener);
  const nodes = createServer().listeners("connection");
  for (const listening of server.listeners("connection"))
    if (!nodes.includes(listening)) server.off("connection", listening as () => void);
  refuseBrokenRequests(server);
  limitConnections(server, options.limits);
  // Newer versions of Node ask; for the others there is the second branch below.
  Object.assign(server, { shouldUpgradeCallback: asksForSocket });
  server.on("upgrade", (request, socket, head) => {
    if (asksForSocket(request)) upgrades.handle(request, socket, head);
    else answerWithoutUpgrade(server, request, socket, head);
  });
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  if (bound !== port) {
    // Somebody took it in between, and listhen chose another one by itself.
    server.close();
    throw new CliError(bindFailure("EADDRINUSE", port, options.host), { exitCode: EXIT.failed });
  }
  return {
    port: bound,
    url: `http://${urlHost(options.host)}:${bound}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      // Answers that are being written may finish; a client that does not read must not hold the server up.
      const force = setTimeout(() => {
        server.closeAllConnections();
        upgrades.terminate();
      }, CLOSE_GRACE_MS);
      await closed;
      clearTimeout(force);
    },
  };
}

/** The name to reach a bound address at: an address that means "all" is reached over loopback. */
function urlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::" || host === "") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

async function findPort({ port, host, strict }: { port: number; host: string; strict: boolean }): Promise<number> {
  if (port === 0) {
    const free = await tryPort(0, host);
    return isBlockedPort(free) ? findPort({ port, host, strict }) : free;
  }
  if (isBlockedPort(port)) {
    throw new CliError(`Port ${port} belongs to another protocol: browsers and Node's fetch never connect to it.`, {
      exitCode: EXIT.usage,
      hint: "Choose another one with --port.",
    });
  }
  for (let candidate = port; candidate < port + PORTS_TRIED && candidate <= 65_535; candidate++) {
    if (isBlockedPort(candidate)) continue;
    try {
      return await tryPort(candidate, host);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EADDRINUSE" && !strict) continue;
      throw new CliError(bindFailure(code, candidate, host), {
        exitCode: EXIT.failed,
        hint: code === "EADDRINUSE" ? `agent-server dev --port ${candidate + 1}` : undefined,
        cause: error,
      });
    }
  }
  throw new CliError(`No free port between ${port} and ${port + PORTS_TRIED - 1} on ${host}.`, {
    hint: "agent-server dev --port 0",
  });
}

function bindFailure(code: string | undefined, port: number, host: string): string {
  if (code === "EADDRINUSE") return `Port ${port} is taken on ${host}.`;
  if (code === "EACCES") return `Port ${port} on ${host} needs rights that this user does not have.`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `This machine has no address ${host}.`;
  return `Cannot listen on ${host}:${port} (${code ?? "unknown error"}).`;
}

/** Whether a port can be bound to: listhen itself would not tell why it cannot. */
function tryPort(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(port, host, () => {
      const address = probe.address();
      const found = typeof address === "object" && address !== null ? address.port : port;
      probe.close(() => resolve(found));
    });
  });
}
