// What `dev` says, and how it takes signals. The whole command with the real server is in dev-process.test.ts.
import { describe, expect, it } from "vitest";
import type { Diagnostic, ProjectConfig } from "../../src/config/types.ts";
import { isLoopback, printAddress, printReady } from "../../src/cli/dev/banner.ts";
import { eventPrinter } from "../../src/cli/dev/events.ts";
import { createOutput } from "../../src/cli/output.ts";
import { version } from "../../src/cli/package.ts";
import { onStop } from "../../src/cli/signals.ts";
import type { RunningServer } from "../../src/server/types.ts";
import { finish, testProcess } from "./helpers/io.ts";
import { folderWith } from "./helpers/project.ts";

function running(changes: Partial<RunningServer> = {}, project: Partial<ProjectConfig> = {}): RunningServer {
  const graphs = [
    { id: "agent", file: "/p/a.ts", exportName: "graph", description: "Remembers\u001b[31m" },
    { id: "echo", file: "/p/e.ts", exportName: "graph", description: null },
  ];
  return {
    url: "http://127.0.0.1:2024",
    port: 2024,
    host: "127.0.0.1",
    project: { file: "/p/langgraph.json", root: "/p", demo: false, graphs, http: {}, ...project } as ProjectConfig,
    auth: null,
    dataDir: "/p/.agent-server",
    stored: { threads: 0, bytes: 0, items: 0 },
    ready: Promise.resolve(),
    stop: async () => ({ finished: 0, parked: 0 }),
    ...changes,
  };
}

async function session() {
  const process = testProcess({ cwd: "/p" });
  return { process, output: await createOutput(process.io, {}) };
}

async function ready(server: RunningServer, ms = 312): Promise<string> {
  const { process, output } = await session();
  printReady(output, server, process.io, ms);
  expect(process.stdout).toBe("");
  return process.stderr;
}

describe("banner", () => {
  it("gives the address as soon as there is one", async () => {
    const { process, output } = await session();
    printAddress(output, running());
    expect(process.stderr).toBe(
      `\n  agent-server ${version}\n\n  url     http://127.0.0.1:2024\n  docs    http://127.0.0.1:2024/docs\n`,
    );
  });

  it("names no page that is switched off", async () => {
    const { process, output } = await session();
    printAddress(output, running({}, { http: { disable_meta: true } as ProjectConfig["http"] }));
    expect(process.stderr).not.toContain("docs");
  });

  it("gives graphs, state and time when they are loaded", async () => {
    expect(await ready(running())).toBe(
      `  graphs  agent  Remembers␛[31m\n          echo\n  state   .agent-server, empty\n\n  ready in 312 ms\n\n`,
    );
  });

  it.each<[Partial<RunningServer>, string]>([
    [{ stored: { threads: 1, bytes: 1_200_000, items: 0 } }, "  state   .agent-server, 1 thread, 1.2 MB\n"],
    [{ stored: { threads: 12, bytes: 900, items: 3 } }, "  state   .agent-server, 12 threads, 3 memory items, 900 B\n"],
    [{ dataDir: "/elsewhere/state" }, "  state   /elsewhere/state, empty\n"],
    [{ dataDir: null }, "  state   in memory; gone at the end\n"],
  ])("says what is stored: %j", async (changes, line) => {
    expect(await ready(running(changes))).toContain(line);
  });

  it("says that it serves the demo, and how to start an own project", async () => {
    expect(await ready(running({}, { demo: true, file: null }))).toContain(
      "built-in demo agent.\n  Start your own with: agent-server init my-agent\n",
    );
    expect(await ready(running())).not.toContain("demo");
  });

  it.each([
    ["127.0.0.1", true],
    ["127.1.2.3", true],
    ["localhost", true],
    ["::1", true],
    ["0.0.0.0", false],
    ["::", false],
    ["192.168.1.5", false],
    ["127.0.0.1.example.com", false],
  ])("%s is only this machine: %s", async (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
    const { process, output } = await session();
    printAddress(output, running({ host }));
    expect(process.stderr.includes("nobody has to authenticate")).toBe(!expected);
  });
});

describe("events", () => {
  const diagnostic: Diagnostic = {
    severity: "error",
    message: "x is not defined",
    location: { file: "/p/src/a.ts", line: 3, column: 7 },
    frame: "  3 | x()\u001b[31m\n    | ^",
  };
  const failed = (error: Error, firstLoad = false) => ({ type: "failed" as const, ids: ["agent"], error, firstLoad });
  const withFrame = () => Object.assign(new Error("x is not defined"), { diagnostic });

  async function print(...list: Parameters<ReturnType<typeof eventPrinter>>[0][]): Promise<string> {
    const { process, output } = await session();
    const printer = eventPrinter(output, "/p");
    for (const event of list) printer(event);
    expect(process.stdout).toBe("");
    return process.stderr;
  }

  it("frames a broken graph once, and again after it was good", async () => {
    const text = await print(
      failed(withFrame()),
      failed(withFrame()),
      { type: "reloaded", ids: ["agent"], ms: 10.6 },
      failed(withFrame()),
    );
    const framed =
      "src/a.ts:3:7 - error: x is not defined\n\n  3 | x()␛[31m\n    | ^\nagent keeps running as it was last loaded.\n";
    expect(text).toBe(`${framed}still broken: agent\nreloaded agent in 11 ms\n${framed}`);
  });

  it("shows the stack of an error without a place", async () => {
    expect(await print(failed(new RangeError("too deep"), true))).toMatch(
      /^RangeError: too deep\n +at [\s\S]*agent cannot run until this is repaired/,
    );
  });

  it("frames a failed run", async () => {
    expect(await print({ type: "run-failed", run_id: "r", thread_id: "t", error: "Error: a\nb", diagnostic })).toMatch(
      /^run failed: Error: a b \(thread t, run r\)\nat src\/a\.ts:3:7\n\n {2}3 \| x\(\)/,
    );
    expect(await print({ type: "run-failed", run_id: "r", thread_id: "t", error: "Error", diagnostic: null })).toBe(
      "run failed: Error (thread t, run r)\n",
    );
  });

  it.each<[Parameters<ReturnType<typeof eventPrinter>>[0], string]>([
    [{ type: "loaded", ids: ["agent"], ms: 1 }, ""],
    [{ type: "warning", message: "own checkpointer" }, "warning: own checkpointer\n"],
    [{ type: "port-taken", wanted: 2024, port: 2025 }, "note: port 2024 is taken, using 2025\n"],
    [
      { type: "recovered", pending: 1, resumed: 2, failed: 0 },
      "recovered: 1 waiting run queued again, 2 interrupted runs continued from the last checkpoint\n",
    ],
    [{ type: "recovered", pending: 0, resumed: 0, failed: 3 }, "recovered: 3 runs given up after three attempts\n"],
    [
      { type: "moved-aside", from: "/p/.agent-server", to: "/p/.agent-server.1", reason: "bad page" },
      "warning: the state folder was damaged (bad page).\nIt was moved to /p/.agent-server.1, and /p/.agent-server starts empty.\n",
    ],
    [{ type: "log", level: "info", message: "hello" }, "hello\n"],
    [{ type: "log", level: "warn", message: "hello" }, "warn: hello\n"],
    [
      { type: "diagnostic", diagnostic: { severity: "warning", message: "odd key", hint: "Did you mean env?" } },
      "warning: odd key\nhint: Did you mean env?\n",
    ],
  ])("says %j", async (event, text) => {
    expect(await print(event)).toBe(text);
  });
});

describe("dev", () => {
  it.each([["6000", "--strict-port"], ["5060"]])(
    "-p %s %s is refused: no client connects to it",
    async (port, ...args) => {
      const cwd = folderWith();
      const { code, stdout, stderr } = await finish(["dev", "--no-persist", "-p", port, ...args], { cwd });
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toBe(
        `error: Port ${port} belongs to another protocol: browsers and Node's fetch never connect to it.\nChoose another one with --port.\n`,
      );
      const { stdout: found } = await finish(["doctor", "-p", port], { cwd });
      expect(found).toContain(`fail  port      ${port} belongs to another protocol`);
    },
  );
});

describe("onStop", () => {
  it("stops with the first signal, takes npm's echo for the same key, and forces with the next", () => {
    const process = testProcess();
    const stops: string[] = [];
    onStop(process.io, (signal) => void stops.push(signal));
    process.signal("SIGINT");
    process.advance(499);
    process.signal("SIGINT");
    expect({ stops, exits: process.exits }).toEqual({ stops: ["SIGINT"], exits: [] });
    process.advance(1);
    process.signal("SIGTERM");
    expect({ stops, exits: process.exits }).toEqual({ stops: ["SIGINT"], exits: [130] });
  });
});
