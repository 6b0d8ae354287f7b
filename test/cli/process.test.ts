// The built command line as a process: signals, pipes, terminals, exit codes. What needs no process is tested without one.
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Child, cleanEnv, installInto, start, built } from "./helpers/built.ts";
import { json, scripted } from "./helpers/http.ts";
import { addTemplate, folderWith } from "./helpers/project.ts";

/** A project with the built package installed; its graph comes from a template. */
function project(template?: string): string {
  const cwd = folderWith();
  installInto(cwd);
  if (template === undefined) return cwd;
  addTemplate(cwd, template);
  writeFileSync(join(cwd, "langgraph.json"), JSON.stringify({ graphs: { [template]: `./src/graph.ts:graph` } }));
  return cwd;
}

function dev(cwd: string, args: readonly string[] = [], env: Record<string, string> = {}): Child {
  const child = start(["dev", ...args], { cwd, env: { NO_COLOR: "1", AGENT_SERVER_PORT: "0", ...env } });
  onTestFinished(async () => {
    child.process.kill("SIGKILL");
    await child.ended;
  });
  return child;
}

const urlOf = async (child: Child): Promise<string> => (await child.seen(/^ {2}url +(http\S+)$/m))[1] ?? "";

async function execute(args: readonly string[], cwd: string, env: Record<string, string> = {}) {
  const child = start(args, { cwd, env });
  return { code: await child.ended, ...child.output };
}

/** A port that something else holds until the test ends. */
async function takenPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe("dev", () => {
  it("serves the demo where there is no config, finds it again, and stops with Ctrl-C", async () => {
    const cwd = project();
    const child = dev(cwd);
    const url = await urlOf(child);
    await child.seen(/^ {2}ready in \d+ ms$/m);
    expect(child.output.stderr).toMatch(/^ {2}graph +agent {2}The built-in demo agent$/m);
    expect(child.output.stderr).toMatch(/^ {2}state +\.agent-server, empty$/m);
    expect(child.output.stderr).toContain("Start your own with: agent-server init my-agent");

    const invoked = await execute(["invoke", "hello"], cwd);
    expect(invoked.code).toBe(0);
    expect(JSON.parse(invoked.stdout).messages[1].content).toMatch(/^You said: hello\n/);
    expect((await execute(["threads", "ls"], folderWith(), { AGENT_SERVER_URL: url })).stdout).toContain(
      '"status": "idle"',
    );

    child.process.kill("SIGINT");
    expect(await child.ended).toBe(130);
    expect(child.output.stderr).toMatch(/\nstopping… \(Ctrl-C again to force\)\nstopped\n$/);
    expect(child.output.stdout).toBe("");
  });

  it("shows at the next start what is stored", async () => {
    const cwd = project("echo");
    const first = dev(cwd);
    await urlOf(first);
    expect((await execute(["invoke", "hello"], cwd)).code).toBe(0);
    first.process.kill("SIGTERM");
    expect(await first.ended).toBe(0);

    const second = dev(cwd);
    await second.seen(/^ {2}state +\.agent-server, 1 thread, \d+(\.\d)? \w+$/m);
    expect(JSON.parse((await execute(["threads", "ls"], cwd)).stdout)).toHaveLength(1);
  });

  it("takes the next port and says so, or fails with --strict-port", async () => {
    const taken = await takenPort();
    const child = dev(project("echo"), ["--port", `${taken}`, "--no-persist"]);
    const url = await urlOf(child);
    expect(Number(new URL(url).port)).toBeGreaterThan(taken);
    expect(child.output.stderr).toContain(`note: port ${taken} is taken, using ${new URL(url).port}\n`);

    const strict = dev(project("echo"), ["--strict-port", "--no-persist"], { AGENT_SERVER_PORT: `${taken}` });
    expect(await strict.ended).toBe(1);
    expect(strict.output.stderr).toContain(`error: Port ${taken} is taken`);
  });

  it("says so when the project's code ends the process", async () => {
    const cwd = project("echo");
    writeFileSync(join(cwd, "src", "graph.ts"), "process.exit(3);\n");
    const child = dev(cwd, ["--no-persist"]);
    expect(await child.ended).toBe(3);
    expect(child.output.stderr).toContain("error: The project's code ended the process (exit code 3): ");
  });

  it("parks a run that does not end, says so, and goes on with it at the next start", async () => {
    const cwd = project("echo");
    const file = join(cwd, "src", "graph.ts");
    const waiting = 'if (!existsSync("go")) await new Promise(() => {});\n  return {';
    const source = readFileSync(file, "utf8")
      .replace("function echo", "async function echo")
      .replace("return {", waiting);
    writeFileSync(file, `import { existsSync } from "node:fs";\n${source}`);
    const first = dev(cwd);
    const api = new Client({ apiUrl: await urlOf(first), callerOptions: { maxRetries: 0 } });
    const { thread_id } = await api.threads.create();
    const input = { messages: [{ role: "user", content: "hi" }] };
    const stream = api.runs.stream(thread_id, "echo", { input, streamMode: "values" });
    // Its first event comes when the run is running.
    await stream.next();
    first.process.kill("SIGINT");
    expect(await first.ended).toBe(130);
    expect(first.output.stderr).toMatch(/\nstopped · 1 run parked: the next start goes on with it\n$/);

    writeFileSync(join(cwd, "go"), "");
    const second = dev(cwd);
    await second.seen(/^recovered: 1 /m);
    const [run] = await new Client({ apiUrl: await urlOf(second) }).runs.list(thread_id);
    const { stdout } = await execute(["stream", thread_id, run?.run_id ?? ""], cwd);
    expect(stdout).not.toContain('"error"');
    expect(JSON.parse((await execute(["threads", "state", thread_id], cwd)).stdout).values.messages[1].content).toBe(
      "Echo: hi",
    );
  });

  it("refuses a second server on the same state", async () => {
    const cwd = project("echo");
    const first = dev(cwd);
    await urlOf(first);
    const second = dev(cwd);
    expect(await second.ended).toBe(1);
    expect(second.output.stderr).toMatch(new RegExp(`^error: .*\\(pid ${first.process.pid}, port \\d+\\)`, "m"));
  });

  it("ends with code 2 and the place in the file when the config is broken", async () => {
    const cwd = project();
    writeFileSync(join(cwd, "langgraph.json"), '{\n  "graphs": { "agent": 1 }\n}\n');
    const child = dev(cwd);
    expect(await child.ended).toBe(2);
    expect(child.output.stderr).toMatch(/^langgraph\.json:2:\d+ - error: /m);
    expect(child.output.stderr).not.toContain("bug in agent-server");
  });

  it("reloads an edit, keeps serving a broken one's last version, and recovers", async () => {
    const cwd = project("echo");
    const file = join(cwd, "src", "graph.ts");
    const good = readFileSync(file, "utf8");
    const child = dev(cwd);
    await child.seen(/^ {2}ready/m);
    const answer = async (): Promise<string> =>
      JSON.parse((await execute(["invoke", "hi"], cwd)).stdout).messages[1].content;
    expect(await answer()).toBe("Echo: hi");

    appendFileSync(file, "\nconst = 1;\n");
    await child.seen(/echo keeps running as it was last loaded/);
    expect(child.output.stderr).toContain("src/graph.ts:");
    expect(await answer()).toBe("Echo: hi");

    writeFileSync(file, good.replace("Echo: ", "Again: "));
    await child.seen(/^reloaded echo in \d+ ms$/m);
    expect(await answer()).toBe("Again: hi");
  });

  it("frames the error of a run and goes on", async () => {
    const cwd = project("echo");
    const file = join(cwd, "src", "graph.ts");
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace("return {", 'throw new RangeError("too loud");\n  return {'),
    );
    const child = dev(cwd);
    await urlOf(child);
    const failed = await execute(["invoke", "hi"], cwd);
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toContain("error: The run failed: RangeError: too loud\n");
    await child.seen(/^run failed: RangeError: too loud \(thread \S+, run \S+\)\nat src\/graph\.ts:\d+:\d+\n/m);
    expect((await execute(["threads", "ls"], cwd)).stdout).toContain('"status": "error"');
  });

  it("survives a forgotten promise in a graph", async () => {
    const cwd = project("echo");
    const file = join(cwd, "src", "graph.ts");
    const stray = 'void Promise.reject(new Error("forgotten"));\n  return {';
    writeFileSync(file, readFileSync(file, "utf8").replace("return {", stray));
    const child = dev(cwd);
    await urlOf(child);
    expect((await execute(["invoke", "hi"], cwd)).code).toBe(0);
    await child.seen(/^error outside of a run: Error: forgotten\n/m);
    expect((await execute(["invoke", "hi"], cwd)).code).toBe(0);
  });

  it("warns when it opens itself to the network", async () => {
    const child = dev(project("echo"), ["--host", "0.0.0.0", "--no-persist", "--insecure"]);
    await child.seen(/nobody has to authenticate/);
  });

  it("takes --no-browser, so that scripts for langgraphjs work", async () => {
    const child = dev(project("echo"), ["--no-browser", "--no-persist"]);
    await child.seen(/^ {2}state +in memory; gone at the end$/m);
  });
});

describe("templates", () => {
  it.each(["echo", "agent"])("%s passes its own test", async (template) => {
    const cwd = folderWith();
    expect((await execute(["init", ".", "--template", template], cwd)).code).toBe(0);
    installInto(cwd);
    const tested = spawnSync(process.execPath, ["--test"], { cwd, env: cleanEnv(), encoding: "utf8" });
    expect(tested.status, tested.stdout + tested.stderr).toBe(0);
    expect(tested.stdout).toMatch(/^# pass [1-9]/m);
  });
});

describe("a pipe and a terminal", () => {
  const thread = { thread_id: "t", status: "idle", updated_at: "2026-01-01T00:00:00Z", metadata: {} };

  it("colours by NO_COLOR, FORCE_COLOR and TERM", async () => {
    const { url } = await scripted({ "POST /threads/search": (response) => json(response, { detail: "No." }, 400) });
    const red = async (env: Record<string, string>, flags: string[] = []): Promise<boolean> =>
      (await execute(["threads", "ls", "--url", url, ...flags], "/", env)).stderr.startsWith("\u001b[31merror:");
    expect(await red({})).toBe(false);
    expect(await red({ FORCE_COLOR: "1" })).toBe(true);
    expect(await red({ FORCE_COLOR: "0" })).toBe(false);
    expect(await red({ FORCE_COLOR: "1" }, ["--no-color"])).toBe(false);
    expect(await red({ NO_COLOR: "1", TERM: "xterm-256color" })).toBe(false);
  });

  it("ends quietly when the reader of its output leaves", async () => {
    let answer!: () => void;
    const left = new Promise<void>((resolve) => (answer = resolve));
    const { url } = await scripted({
      "POST /threads/search": async (response) => {
        await left;
        json(
          response,
          Array.from({ length: 5000 }, () => thread),
        );
      },
    });
    const child = start(["threads", "ls", "--url", url], { cwd: "/" });
    child.process.stdout.destroy();
    answer();
    expect({ code: await child.ended, stderr: child.output.stderr }).toEqual({ code: 0, stderr: "" });
  });

  const script = spawnSync("script", ["--version"], { encoding: "utf8" });
  it.runIf(script.stdout?.includes("util-linux"))("prints a table with colour on a real terminal", async () => {
    const { url } = await scripted({ "POST /threads/search": (response) => json(response, [thread]) });
    const onTerminal = async (env: Record<string, string>): Promise<string> => {
      const command = `'${process.execPath}' '${built.bin}' threads ls --url ${url}`;
      const child = spawn("script", ["-qec", command, "/dev/null"], { env: cleanEnv({ TERM: "xterm", ...env }) });
      let output = "";
      for await (const chunk of child.stdout) output += chunk;
      return output;
    };
    const bold = "\u001b[1m";
    const coloured = await onTerminal({});
    expect(coloured.startsWith(`${bold}THREAD `), coloured).toBe(true);
    expect(coloured).toMatch(/\r\nt +idle /);
    expect(await onTerminal({ NO_COLOR: "1" })).toMatch(/^THREAD .*GRAPH\r\nt +idle /);
    expect(await onTerminal({ TERM: "dumb" })).toMatch(/^THREAD /);
  });
});

describe("start-up", () => {
  it("refuses an old Node with one sentence and code 2", () => {
    const pretend = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.18.3" } })';
    const old = spawnSync(
      process.execPath,
      ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`, built.bin],
      {
        encoding: "utf8",
      },
    );
    expect(old).toMatchObject({ status: 2, stdout: "" });
    expect(old.stderr).toBe("agent-server needs Node 20.19 or newer; this is Node 20.18.3.\n");
  });

  it("loads no server code and no HTTP client for help and version", () => {
    const hook = `
      import { register } from "node:module";
      register("data:text/javascript," + encodeURIComponent(
        'export async function load(url, context, next) { process._rawDebug(url); return next(url, context); }'));`;
    for (const flag of ["--help", "--version"]) {
      const args = ["--import", `data:text/javascript,${encodeURIComponent(hook)}`, built.bin, flag];
      const loaded = spawnSync(process.execPath, args, { encoding: "utf8" });
      expect(loaded.status).toBe(0);
      expect(loaded.stderr).toContain("dist/cli/program.js");
      const allowed = /^(node:|data:)|\/(commander|bin)\/|\/dist\/(cli\/|errors\.js$)/;
      expect(
        loaded.stderr
          .trim()
          .split("\n")
          .filter((url) => !allowed.test(url)),
      ).toEqual([]);
    }
  });

  it("can be called from any folder", async () => {
    const cwd = folderWith();
    mkdirSync(join(cwd, "deep"));
    expect((await execute(["--version"], join(cwd, "deep"))).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
