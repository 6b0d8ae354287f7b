// For tests of users' own projects: a server on a free port whose time the test owns, so that a year of crons, retries and expiries passes
// in milliseconds.
import { TestClock } from "./clock.ts";
import { startServer } from "./server/start.ts";
import type { RunningServer, ServerEvent } from "./server/types.ts";

export { TestClock } from "./clock.ts";
export type { Timers } from "./clock.ts";

/** What a test may choose. */
export interface TestServerOptions {
  /** Folder of the project; the current one by default. */
  readonly cwd?: string;
  /** A clock that goes on only when it is told to; one that starts now by default. */
  readonly clock?: TestClock;
  /** Told of everything that `agent-server dev` would print. */
  readonly onEvent?: (event: ServerEvent) => void;
}

/** A server for a test. Stop it at the end. */
export interface TestServer extends RunningServer {
  readonly clock: TestClock;
}

/**
 * Starts a server on a free port of loopback that keeps nothing, and waits until its graphs are loaded.
 * @throws ConfigError or CliError when the project does not allow it.
 * @example
 * const server = await startTestServer();
 * const client = new Client({ apiUrl: server.url });
 * await client.crons.create("agent", { schedule: "0 9 * * *", input });
 * await server.clock.advance(24 * 60 * 60 * 1000); // it has run once
 * await server.stop();
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { cwd = process.cwd(), clock = new TestClock(Date.now()), onEvent = () => undefined } = options;
  const server = await startServer({
    cwd,
    clock,
    onEvent,
    port: 0,
    strictPort: false,
    host: "127.0.0.1",
    persist: false,
    reload: false,
    jobs: 1000,
  });
  await server.ready;
  return Object.assign(server, { clock });
}
