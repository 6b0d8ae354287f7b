// `agent-server doctor`: one line for each thing that it looks at, and nothing with -q when all is well.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { checkNode } from "../../src/cli/doctor/packages.ts";
import { version } from "../../src/cli/package.ts";
import { startServer } from "../../src/server/start.ts";
import { keys } from "../../src/storage/keys.ts";
import { lmdbDatabase } from "../../src/storage/lmdb-driver.ts";
import { cleanEnv, built } from "./helpers/built.ts";
import { closedPort } from "./helpers/http.ts";
import { call, finish, testProcess } from "./helpers/io.ts";
import { addTemplate, folderWith, projectWith, serve } from "./helpers/project.ts";

const CONFIG = { "langgraph.json": '{ "graphs": { "echo": "./src/graph.ts:graph" } }' };

function project(files: Record<string, string> = {}): string {
  const cwd = projectWith({ ...CONFIG, "package.json": "{}", ...files });
  addTemplate(cwd, "echo");
  return cwd;
}

const freePort = async (): Promise<string> => new URL(await closedPort()).port;

/** Findings by check, and how the command ended. The clock is that of the machine unless `now` says otherwise. */
async function doctor(cwd: string, args: readonly string[] = [], now = Date.now()) {
  const port = args.some((arg) => arg.startsWith("--port")) ? [] : ["--port", await freePort()];
  const started = call(["doctor", "--json", ...port, ...args], { cwd });
  started.advance(now - started.io.now());
  const code = await started.exitCode;
  const { ok, findings } = JSON.parse(started.stdout) as { ok: boolean; findings: Finding[] };
  expect({ stderr: started.stderr, ok }).toEqual({ stderr: "", ok: code === 0 });
  const of = (check: Finding["check"]): string[] =>
    findings
      .filter((each) => each.check === check)
      .map(({ level, message }) => `${level} ${message}`.replaceAll(`${cwd}/`, ""));
  return { code, findings, of };
}

/** A project that has been served; its server has stopped. */
async function served(): Promise<string> {
  const cwd = project();
  const server = await startServer({
    cwd,
    port: 0,
    strictPort: false,
    host: "127.0.0.1",
    persist: true,
    reload: false,
    jobs: 1,
    onEvent: () => {},
  });
  await server.ready;
  await fetch(`${server.url}/threads`, { method: "POST", body: "{}", headers: { "content-type": "application/json" } });
  await server.stop();
  return cwd;
}

describe("a project that is well", () => {
  it("has a line for everything", async () => {
    const cwd = project();
    const port = await freePort();
    const { code, stdout, stderr } = await finish(["doctor", "--port", port], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.replace(/[\d.]+ [GT]B free/, "90 GB free").replace(/time zone .+/, "time zone UTC")).toBe(
      `ok    node      Node ${process.versions.node}
ok    config    ${join(cwd, "langgraph.json")}, 1 graph
ok    packages  agent-server ${version}, @langchain/langgraph 1.4.18, @langchain/core 1.2.13, @langchain/langgraph-checkpoint 1.1.5, @langchain/langgraph-sdk 1.12.4
ok    port      ${port} is free
ok    data      .agent-server is made by the first dev
ok    disk      90 GB free
ok    clock     2026-01-01T12:00:00Z, time zone UTC
ok    files     no env files

All is well.
`,
    );
  });

  it("is silent with -q, and changes nothing", async () => {
    const cwd = project();
    const quiet = await finish(["doctor", "-q", "--port", await freePort()], { cwd });
    expect(quiet).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect(existsSync(join(cwd, ".agent-server"))).toBe(false);
  });

  it("may have been served, and may be served at the moment", async () => {
    const cwd = await served();
    const stopped = await doctor(cwd);
    expect(stopped.code).toBe(0);
    expect(stopped.of("data")).toEqual([expect.stringMatching(/^ok \.agent-server, [\d.]+ kB; whole, 1 thread$/)]);
    const { server } = await serve(cwd);
    const running = await doctor(cwd, ["--port", String(server.port)]);
    expect(running.of("port")).toEqual([
      `ok ${server.port} is this project's own server (pid ${process.pid}, ${server.url})`,
    ]);
    expect(running.of("data")).toEqual([
      expect.stringMatching(new RegExp(`; used by process ${process.pid} \\(${server.url}\\)$`)),
    ]);
  });

  it("may have no config, and may store nothing", async () => {
    const empty = await doctor(folderWith());
    expect(empty.code).toBe(0);
    expect(empty.of("config")).toEqual(["ok none here: dev would serve the demo agent"]);
    for (const [env, line] of [
      [{ LANGGRAPH_HTTP: "{}" }, /^ok +config +none here: dev would serve the demo agent, as the environment says$/m],
      [{ LANGGRAPH_HTTP: "{" }, /^fail +config +The environment has 1 error$/m],
    ] as const)
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await finish(["doctor", "-p", await freePort()], { cwd: folderWith(), env })).stdout).toMatch(line);
    const memory = project({
      "langgraph.json": '{ "graphs": { "echo": "./src/graph.ts:graph" }, "disable_persistence": true }',
    });
    expect((await doctor(memory)).of("data")).toEqual(["ok nothing is stored (disable_persistence)"]);
  });
});

describe("node", () => {
  it("must be one that this package and its own packages run on", () => {
    const patient = { io: testProcess().io, root: folderWith(), project: null, dataDir: null, port: 0 };
    const say = (running: string): string[] =>
      checkNode(patient, running).map(({ level, message }) => `${level} ${message}`);
    expect(say("20.19.0")).toEqual(["ok Node 20.19.0"]);
    expect(say("18.20.4")).toContain("fail Node 18.20.4: agent-server needs >=20.19");
    expect(say("21.7.0")).toEqual(["fail Node 21.7.0: vite needs ^20.19.0 || >=22.12.0"]);
  });

  it("should be one that the project wants", () => {
    const root = folderWith({ "package.json": '{ "engines": { "node": ">=99" } }' });
    const patient = { io: testProcess().io, root, project: null, dataDir: null, port: 0 };
    expect(checkNode(patient, "22.12.0")).toMatchObject([
      { level: "warn", message: "Node 22.12.0: this project needs >=99" },
    ]);
  });
});

describe("config", () => {
  it("with mistakes fails, and everything else is looked at all the same", async () => {
    const cwd = project({ "langgraph.json": '{ "graphs": { "echo": "./src/graph.ts:graph" }, "http": 1, "ui": 2 }' });
    const { code, findings, of } = await doctor(cwd);
    expect(code).toBe(1);
    expect(of("config")).toEqual(["fail langgraph.json has 2 errors"]);
    expect(findings.find(({ check }) => check === "config")?.hint).toBe("agent-server check shows them.");
    expect(findings.map(({ check }) => check)).toEqual([
      "node",
      "config",
      "packages",
      "port",
      "data",
      "disk",
      "clock",
      "files",
    ]);
  });

  it("that is a folder fails", async () => {
    const cwd = folderWith();
    mkdirSync(join(cwd, "langgraph.json"));
    expect((await doctor(cwd)).of("config")).toEqual(["fail langgraph.json is a folder; a file is needed."]);
  });

  it("that is named and not there is a mistake of the command line", async () => {
    expect(await finish(["doctor", "--config", "x.json"], { cwd: folderWith() })).toMatchObject({
      code: 2,
      stdout: "",
    });
  });
});

describe("packages", () => {
  const manifest = (name: string, value: object): Record<string, string> => ({
    [`node_modules/${name}/package.json`]: JSON.stringify({ name: name.replace(/^.*node_modules\//, ""), ...value }),
  });
  const installed = (langgraph = "1.4.18", core = "1.2.13"): Record<string, string> => ({
    ...CONFIG,
    "src/graph.ts": "",
    "package.json": JSON.stringify({ dependencies: { "@langchain/langgraph": "1", other: "1" } }),
    ...manifest("@langchain/langgraph", {
      version: langgraph,
      peerDependencies: { "@langchain/core": "^1.1.48" },
      dependencies: { "@langchain/langgraph-checkpoint": "1", "@langchain/langgraph-sdk": "1" },
    }),
    ...manifest("@langchain/core", { version: core }),
    ...manifest("@langchain/langgraph-checkpoint", { version: "1.1.5" }),
    ...manifest("@langchain/langgraph-sdk", { version: "1.12.4" }),
  });

  it("that are missing fail, with the command of the project's package manager", async () => {
    const cwd = folderWith({ ...CONFIG, "src/graph.ts": "", "package.json": "{}", "pnpm-lock.yaml": "" });
    const { code, findings } = await doctor(cwd);
    expect(code).toBe(1);
    expect(findings.filter(({ check }) => check === "packages")).toEqual([
      {
        check: "packages",
        level: "fail",
        message: `@langchain/langgraph is not installed in ${cwd}`,
        hint: "pnpm add @langchain/langgraph@1.4.18 @langchain/core@1.2.13 @langchain/langgraph-checkpoint@1.1.5 @langchain/langgraph-sdk@1.12.4",
      },
    ]);
  });

  it("of other versions than this one runs with fail; those that do not fit each other are told", async () => {
    const { code, of } = await doctor(folderWith(installed("0.4.9", "1.1.2")));
    expect(code).toBe(1);
    expect(of("packages")).toEqual([
      `fail agent-server ${version} needs @langchain/langgraph ^1.0.0, and 0.4.9 is installed`,
      "warn @langchain/langgraph 0.4.9 needs @langchain/core ^1.1.48, and 1.1.2 is installed",
    ]);
  });

  it("that are there twice are told, with the way to each", async () => {
    const cwd = folderWith({
      ...installed(),
      ...manifest("other", { version: "1.0.0", dependencies: { inner: "1" } }),
      ...manifest("other/node_modules/inner", { version: "2.0.0", dependencies: { "@langchain/core": "0.3" } }),
      ...manifest("other/node_modules/@langchain/core", { version: "0.3.1" }),
    });
    const { code, of } = await doctor(cwd);
    expect(code).toBe(0);
    expect(of("packages")).toEqual([
      "warn 2 copies of @langchain/core are reached: 1.2.13 (node_modules/@langchain/core, through @langchain/langgraph); 0.3.1 (node_modules/other/node_modules/@langchain/core, through other > inner)",
    ]);
  });

  it("of a workspace are those that the graphs find", async () => {
    const cwd = folderWith({
      "package.json": "{}",
      ...CONFIG,
      "langgraph.json": '{ "graphs": { "a": "./packages/a/graph.ts:graph" } }',
    });
    const inner = folderWith({ ...installed(), "graph.ts": "" });
    mkdirSync(join(cwd, "packages"));
    symlinkSync(inner, join(cwd, "packages", "a"));
    expect((await doctor(cwd)).of("packages")).toEqual([expect.stringMatching(/^ok .*@langchain\/langgraph 1\.4\.18/)]);
  });

  it("with another agent-server in the project are told", async () => {
    const cwd = folderWith({ ...installed(), ...manifest("agent-server", { version: "9.9.9" }) });
    expect((await doctor(cwd)).of("packages")).toEqual([
      expect.stringMatching(/^warn This is agent-server [\d.]+ \(.+\), and the project has 9\.9\.9$/),
    ]);
  });
});

describe("port", () => {
  it("of another program is told, and whose it is", async () => {
    const other = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const { code, of } = await doctor(project(), ["--port", String(port)]);
    expect(code).toBe(0);
    expect(of("port")).toEqual([
      expect.stringMatching(new RegExp(`^warn ${port} is taken( \\(process ${process.pid}, .+\\))?$`)),
    ]);
  });

  it("of another project's server is told", async () => {
    const { server } = await serve(project());
    expect((await doctor(project(), ["--port", String(server.port)])).of("port")).toEqual([
      expect.stringMatching(new RegExp(`^warn ${server.port} is taken \\(an agent server, version ${version}`)),
    ]);
  });
});

describe("data", () => {
  const dataFile = (cwd: string): string => join(cwd, ".agent-server", "state", "data.mdb");

  it("that is damaged fails, and stays as it is", async () => {
    const cwd = await served();
    const bytes = readFileSync(dataFile(cwd));
    const broken = Buffer.concat([bytes.subarray(0, 24), Buffer.alloc(8), bytes.subarray(32)]);
    writeFileSync(dataFile(cwd), broken);
    const { code, of } = await doctor(cwd);
    expect(code).toBe(1);
    expect(of("data")).toEqual([
      expect.stringMatching(/^fail \.agent-server, .+; it is damaged: the data file does not begin like a database$/),
    ]);
    expect(readFileSync(dataFile(cwd)).equals(broken)).toBe(true);
    expect(readdirSync(join(cwd, ".agent-server")).some((name) => name.startsWith("damaged-"))).toBe(false);
  });

  it("of a newer version fails", async () => {
    const cwd = project();
    const database = lmdbDatabase(join(cwd, ".agent-server", "state"));
    database.write([{ key: keys.format, value: "99" }]);
    await database.close();
    const { code, of } = await doctor(cwd);
    expect(code).toBe(1);
    expect(of("data")).toEqual([
      expect.stringContaining("a newer agent-server has written it (format 99, this one reads 1)"),
    ]);
  });

  it("that a killed server has left is told, and so is what was moved aside", async () => {
    const cwd = await served();
    // Above every pid that the system gives.
    const record = {
      pid: 2 ** 30,
      process_start: null,
      host: "127.0.0.1",
      port: 1,
      url: "http://127.0.0.1:1",
      token: "x",
    };
    writeFileSync(join(cwd, ".agent-server", "server.json"), JSON.stringify(record));
    mkdirSync(join(cwd, ".agent-server", "damaged-2026-01-01T00-00-00"));
    const { code, of } = await doctor(cwd);
    expect(code).toBe(0);
    expect(of("data")).toEqual([
      expect.stringMatching(/; whole, 1 thread$/),
      `warn .agent-server/server.json is of process ${2 ** 30}, which is gone`,
      "warn .agent-server/damaged-2026-01-01T00-00-00 was damaged and moved aside",
    ]);
  });

  it("elsewhere is looked at there", async () => {
    const cwd = await served();
    const { of } = await doctor(project(), ["--data-dir", join(cwd, ".agent-server")]);
    expect(of("data")).toEqual([expect.stringMatching(/whole, 1 thread$/)]);
  });

  it("where a file is fails", async () => {
    const cwd = project({ ".agent-server": "a file" });
    const { code, of } = await doctor(cwd);
    expect(code).toBe(1);
    expect(of("data")).toEqual(["fail .agent-server is a file; the data folder cannot be there"]);
  });
});

describe.skipIf(process.platform === "win32")("the built package", () => {
  beforeAll(() => {
    chmodSync(built.folder, 0o755);
  });

  it("ends by itself, and fails where it must not write", async () => {
    const cwd = project();
    chmodSync(cwd, 0o555);
    // Root may write everywhere.
    const rights = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const args = [built.bin, "doctor", "--port", await freePort()];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd,
      env: cleanEnv(),
      encoding: "utf8",
      ...rights,
    });
    chmodSync(cwd, 0o755);
    expect({ status, stderr }).toEqual({ status: 1, stderr: "" });
    expect(stdout).toContain(`fail  data      No permission to write to ${cwd}\n`);
    expect(stdout).toMatch(/\n1 failure\n$/);
  });
});

describe("clock", () => {
  it("behind what is stored is told", async () => {
    const cwd = await served();
    const early = Date.now() - 3_600_000;
    const { of } = await doctor(cwd, [], early);
    expect(of("clock")).toEqual([
      expect.stringMatching(/^warn it is \S+Z by this machine, and the newest thread was changed at \S+Z$/),
    ]);
    expect((await doctor(cwd)).of("clock")).toEqual([expect.stringMatching(/^ok /)]);
  });

  it("that cannot be fails", async () => {
    const { code, of } = await doctor(project(), [], Date.parse("1970-01-02T00:00:00Z"));
    expect(code).toBe(1);
    expect(of("clock")).toEqual(["fail it is 1970-01-02T00:00:00Z by this machine, which cannot be"]);
  });

  it("in a time zone that nobody knows is told", async () => {
    const { TZ } = process.env;
    onTestFinished(() => {
      if (TZ === undefined) delete process.env["TZ"];
      else process.env["TZ"] = TZ;
    });
    process.env["TZ"] = "Mars/Olympus";
    expect((await doctor(project())).of("clock")).toEqual([
      "warn the time zone that TZ names is not known; UTC is used",
    ]);
  });
});

describe.skipIf(process.platform === "win32")("env files", () => {
  it("that everyone may read are told, with what to type", async () => {
    const cwd = project({
      "langgraph.json": '{ "graphs": { "echo": "./src/graph.ts:graph" }, "env": "config/my secrets" }',
      "config/my secrets": "KEY=1\n",
      ".env": "OPENAI_API_KEY=x\n",
      ".env.local": "A=b\n",
      ".env.example": "A=b\n",
      ".env.empty": "# A=b\nB=\n",
    });
    for (const name of ["config/my secrets", ".env", ".env.example", ".env.empty"]) chmodSync(join(cwd, name), 0o644);
    chmodSync(join(cwd, ".env.local"), 0o600);
    const { code, findings } = await doctor(cwd);
    expect(code).toBe(0);
    expect(findings.filter(({ check }) => check === "files")).toEqual([
      { check: "files", level: "warn", message: "everyone on this machine may read .env", hint: "chmod 600 .env" },
      {
        check: "files",
        level: "warn",
        message: "everyone on this machine may read config/my secrets",
        hint: "chmod 600 'config/my secrets'",
      },
    ]);
    const quiet = await finish(["doctor", "-q", "--port", await freePort()], { cwd });
    expect(quiet.stdout).toBe(`warn  files     everyone on this machine may read .env
                chmod 600 .env
warn  files     everyone on this machine may read config/my secrets
                chmod 600 'config/my secrets'
`);
  });
});
