// Real servers for the end-to-end tests: one in this process, on a real socket, or the built command line as a child process.
// Nothing here waits by the clock: an in-process server is ready when its promise says so, a child when its output does.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, afterEach, beforeAll, expect, onTestFinished } from "vitest";
import type { Timers } from "../../../src/clock.ts";
import { startServer } from "../../../src/server/start.ts";
import type { RunningServer, ServerEvent } from "../../../src/server/types.ts";
import { type Child, start } from "../../cli/helpers/built.ts";

/** The project whose graphs the tests know: test/fixtures/project. */
export const PROJECT = join(import.meta.dirname, "..", "..", "fixtures", "project");

/** A folder in the system's temporary one; the caller removes it. */
export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), "agent-server-e2e-"));

/** What a test may choose about its server. */
export interface ServerChoices {
  /** Folder of the project; the fixture project by default. */
  readonly cwd?: string;
  /** A config file of the project; the one that is found there by default. */
  readonly config?: string;
  /** Folder of the state; a temporary one by default, gone when the server stops. */
  readonly dataDir?: string;
  readonly persist?: boolean;
  readonly jobs?: number;
  readonly reload?: boolean;
  /** The address to listen on; loopback by default. */
  readonly host?: string;
  readonly apiKeys?: readonly string[];
  readonly insecure?: boolean;
  /** Time that the test owns (TestClock of src/clock.ts); the machine's by default. */
  readonly clock?: Timers;
}

/** A server in this process. */
export interface TestServer {
  readonly url: string;
  readonly running: RunningServer;
  /** Everything that the server told its terminal, in order. */
  readonly events: readonly ServerEvent[];
  /** Stops it; removes the state folder if it is the default one. More than once is fine. */
  stop(): Promise<{ finished: number; parked: number }>;
}

/** Starts a server in this process and waits until its graphs are loaded. */
export async function startTestServer(choices: ServerChoices = {}): Promise<TestServer> {
  const events: ServerEvent[] = [];
  const dataDir = choices.dataDir ?? temporaryFolder();
  const running = await startServer({
    cwd: choices.cwd ?? PROJECT,
    config: choices.config,
    port: 0,
    strictPort: false,
    host: choices.host ?? "127.0.0.1",
    apiKeys: choices.apiKeys,
    insecure: choices.insecure,
    dataDir,
    persist: choices.persist ?? true,
    reload: choices.reload ?? false,
    jobs: choices.jobs ?? 1000,
    clock: choices.clock,
    onEvent: (event) => events.push(event),
  });
  let stopped: Promise<{ finished: number; parked: number }> | undefined;
  const stop = async (): Promise<{ finished: number; parked: number }> => {
    const result = await running.stop();
    if (choices.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    return result;
  };
  await running.ready;
  return { url: running.url, running, events, stop: () => (stopped ??= stop()) };
}

/** A folder for state, and servers of a project on it; both go with the test that asks for them. */
export function place(cwd: string): { dataDir: string; up(): Promise<TestServer> } {
  const dataDir = temporaryFolder();
  const servers: TestServer[] = [];
  onTestFinished(async () => {
    for (const each of servers) await each.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const up = async (): Promise<TestServer> => {
    const started = await startTestServer({ cwd, dataDir });
    servers.push(started);
    return started;
  };
  return { dataDir, up };
}

/** A client that reports a 5xx at once instead of trying again, and may have many requests open. */
export function clientOf(url: string, headers: Record<string, string> = {}): Client {
  return new Client({
    apiUrl: url,
    apiKey: null as unknown as string,
    defaultHeaders: headers,
    callerOptions: { maxRetries: 0, maxConcurrency: 100 },
  });
}

/** Events that tell of something wrong with the server or the project, and not with a run. */
export function complaints(events: readonly ServerEvent[]): ServerEvent[] {
  return events.filter(
    (event) =>
      (event.type === "log" && event.level !== "info") ||
      event.type === "failed" ||
      event.type === "warning" ||
      event.type === "diagnostic" ||
      event.type === "moved-aside",
  );
}

/** The server of one test file. Its fields may be used inside tests and hooks only. */
export interface FileServer {
  readonly url: string;
  readonly client: Client;
  readonly events: readonly ServerEvent[];
  readonly running: RunningServer;
}

/**
 * Gives a test file its server: started before the first test, stopped behind the last. Every test that makes the server
 * complain fails.
 */
export function useServer(choices: ServerChoices = {}): FileServer {
  let server: TestServer | undefined;
  let client: Client | undefined;
  let seen = 0;
  const get = (): TestServer => {
    if (server === undefined) throw new Error("the server of this file has not been started yet");
    return server;
  };
  const check = (): void => {
    const fresh = get().events.slice(seen);
    seen = get().events.length;
    expect(complaints(fresh)).toEqual([]);
  };
  beforeAll(async () => {
    server = await startTestServer(choices);
    client = clientOf(server.url);
  });
  afterEach(check);
  afterAll(async () => {
    await server?.stop();
    if (server !== undefined) check();
  });
  return {
    get url() {
      return get().url;
    },
    get client() {
      get();
      return client!;
    },
    get events() {
      return get().events;
    },
    get running() {
      return get().running;
    },
  };
}

/** What a test may choose about a server in a process of its own. */
export interface CliChoices {
  /** Folder of the project; the fixture project by default. */
  readonly cwd?: string;
  /** Folder of the state. The caller's, because it outlives the process. */
  readonly dataDir: string;
  /** 0 (the default) takes any free one. */
  readonly port?: number;
  /** More arguments of `dev`. */
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
}

/** `agent-server dev` in a process of its own. */
export interface CliServer {
  readonly url: string;
  readonly pid: number;
  readonly child: Child;
  /** Sends a signal and waits for the end. @returns the exit code, or the name of the signal that ended the process. */
  kill(signal: NodeJS.Signals): Promise<number | string>;
}

/**
 * Starts `agent-server dev` and waits for the line that says that it is ready.
 * @throws Error with the output when the process ends before.
 */
export async function startCli({ cwd, dataDir, port = 0, args = [], env }: CliChoices): Promise<CliServer> {
  const child = start(
    ["dev", "--host", "127.0.0.1", "--port", String(port), "--data-dir", dataDir, "--no-reload", ...args],
    { cwd: cwd ?? PROJECT, ...(env === undefined ? {} : { env }) },
  );
  const [, url] = await child.seen(/url\s+(http:\/\/\S+)[\s\S]*ready in/);
  return {
    url: url!,
    pid: child.process.pid!,
    child,
    kill(signal) {
      child.process.kill(signal);
      return child.ended;
    },
  };
}
