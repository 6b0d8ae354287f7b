// The package as a newcomer gets it: packed, installed into an empty folder from the registry, and used through npx alone.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { cleanEnv } from "../cli/helpers/built.ts";
import { temporaryFolder } from "./support/server.ts";

const ROOT = join(import.meta.dirname, "..", "..");
/** Left to itself npm picks versions that do not install together. */
const LANGGRAPH = [
  "@langchain/langgraph@1.4.18",
  "@langchain/core@1.2.13",
  "@langchain/langgraph-checkpoint@1.1.5",
  "@langchain/langgraph-sdk@1.12.4",
];
const RETRY = ["--fetch-retries=5", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=5000"];
/** Milliseconds after which a command of npm is given up: one that searches for versions may search for minutes. */
const BOUND = 90_000;

interface Result {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command in a folder. `seen` waits for a line on stderr. */
function begin(cwd: string, command: string, args: readonly string[]) {
  const child = spawn(command, args, {
    cwd,
    env: cleanEnv({ NO_COLOR: "1" }),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: BOUND,
    killSignal: "SIGKILL",
  });
  const text = { stdout: "", stderr: "" };
  const checks = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (more: string) => (text.stdout += more));
  child.stderr.setEncoding("utf8").on("data", (more: string) => {
    text.stderr += more;
    for (const check of checks) check();
  });
  const ended = new Promise<Result>((resolve) => {
    child.on("close", (code, signal) => resolve({ code: code ?? signal ?? "unknown", ...text }));
  });
  const seen = (pattern: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (pattern.test(text.stderr)) resolve();
      };
      checks.add(check);
      check();
      void ended.then(({ code }) => reject(new Error(`ended with ${code} before ${pattern}:\n${text.stderr}`)));
    });
  return { child, ended, seen };
}

/** Runs a command to its end. @throws Error when it fails. */
async function run(cwd: string, command: string, ...args: string[]): Promise<Result> {
  const result = await begin(cwd, command, args).ended;
  if (result.code !== 0)
    throw new Error(`${command} ${args.join(" ")} ended with ${result.code}:\n${result.stdout}${result.stderr}`);
  return result;
}

/** Installs packages. A request that fails is repeated soon: left to itself npm waits ten seconds, and then a minute. */
const install = (cwd: string, ...packages: string[]): Promise<Result> =>
  run(cwd, "npm", "install", "--no-audit", "--no-fund", "--prefer-offline", ...RETRY, ...packages);

/** Starts `npx agent-server dev`, which ends with the test. `pid` is the server's, behind npx. */
async function dev(cwd: string) {
  const { seen, ended } = begin(cwd, "npx", ["agent-server", "dev", "--port", "0"]);
  const record = join(cwd, ".agent-server", "server.json");
  onTestFinished(async () => {
    // Behind npx, so that its end is not ours to ask for; a file that is still there may be of a process that was killed.
    const { pid } = JSON.parse(existsSync(record) ? readFileSync(record, "utf8") : "{}") as { pid?: number };
    if (pid !== undefined && isRunning(pid)) process.kill(pid, "SIGTERM");
    await ended;
  });
  await seen(/^ {2}ready in /m);
  const { pid, url } = JSON.parse(readFileSync(record, "utf8")) as { pid: number; url: string };
  return { seen, ended, pid, url };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const answerIn = (json: string): string => JSON.parse(json).messages.at(-1).content as string;

let work: string;
let tarball: string;
let files: string[];

beforeAll(async () => {
  work = temporaryFolder();
  // A copy, because `prepare` builds into the folder that is packed. With everything in it that must not be packed.
  const source = join(work, "source");
  cpSync(ROOT, source, {
    recursive: true,
    filter: (path) => ![".git", "node_modules", "dist", ".agent-server"].includes(basename(path)),
  });
  symlinkSync(join(ROOT, "node_modules"), join(source, "node_modules"));
  const { stdout } = await run(source, "npm", "pack", "--json", "--pack-destination", work);
  // The output of `prepare` may stand before it.
  const [packed] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as [{ filename: string; files: { path: string }[] }];
  tarball = join(work, packed.filename);
  files = packed.files.map(({ path }) => path);
}, 60_000);
afterAll(() => rmSync(work, { recursive: true, force: true }));

describe("the packed files", () => {
  test("are what users need and nothing else", () => {
    expect([...new Set(files.map((path) => path.split("/")[0]))].toSorted()).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "bin",
      "dist",
      "langgraph.json.example",
      "langgraph.schema.json",
      "package.json",
      "templates",
    ]);
    expect(files.filter((path) => /(^|\/)(node_modules|\.agent-server|package-lock\.json)|\.map$/.test(path))).toEqual(
      [],
    );
    expect(files).toContain("templates/agent/gitignore");
  });

  test("are built from each source and from nothing else", () => {
    const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(".ts"),
    );
    const built = sources.flatMap((path) => [".js", ".d.ts"].map((end) => `dist/${path.slice(0, -3)}${end}`));
    const page = ["dist/docs/LICENSE", "dist/docs/scalar.js.gz"];
    expect(files.filter((path) => path.startsWith("dist/")).toSorted()).toEqual([...built, ...page].toSorted());
  });
});

let project: string;

// No install script has to run.
test(
  "from an empty folder: install, dev says what is missing, init, dev, invoke, edit, invoke, kill -9, dev, threads state",
  { timeout: 150_000 },
  async () => {
    project = join(work, "newcomer");
    mkdirSync(project);
    await install(project, "--ignore-scripts", tarball);
    const missing = await begin(project, "npx", ["agent-server", "dev", "--port", "0"]).ended;
    expect(missing.code).toBe(1);
    const [, advice = ""] = /is not installed in .*\nnpm install (.+)$/m.exec(missing.stderr) ?? [];
    expect(advice.split(" ")).toEqual(LANGGRAPH);
    // As it says.
    await install(project, "--ignore-scripts", ...LANGGRAPH);
    const copies = readdirSync(join(project, "node_modules"), { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(join("@langchain", "langgraph", "package.json")),
    );
    expect(copies).toEqual([join("@langchain", "langgraph", "package.json")]);

    await run(project, "npx", "agent-server", "init");
    expect(readdirSync(project)).toEqual(expect.arrayContaining(["langgraph.json", "src", ".env", ".gitignore"]));

    const first = await dev(project);
    const page = await fetch(`${first.url}/docs/scalar.js`);
    expect([page.status, (await page.text()).length > 1_000_000]).toEqual([200, true]);
    const script = `import { startTestServer } from "agent-server/testing";
      const server = await startTestServer();
      const post = async (path, body) =>
        (await fetch(server.url + path, { method: "POST", body: JSON.stringify(body) })).json();
      await post("/runs/crons", { assistant_id: "agent", schedule: "0 9 * * *", on_run_completed: "keep" });
      await server.clock.advance(7 * 24 * 60 * 60 * 1000);
      console.log(await post("/threads/count", {}));
      await server.stop();`;
    const week = await run(project, process.execPath, "--input-type=module", "--eval", script);
    expect(week.stdout.trim()).toBe("7");
    const hello = await run(project, "npx", "agent-server", "invoke", "hello");
    expect(answerIn(hello.stdout)).toMatch(/^You said: hello\n/);
    const [, thread] = /^thread (\S+)$/m.exec(hello.stderr) ?? [];

    const model = join(project, "src", "built-in-model.ts");
    writeFileSync(model, readFileSync(model, "utf8").replace("You said: ", "You have just said: "));
    await first.seen(/^reloaded agent in /m);
    const again = await run(project, "npx", "agent-server", "invoke", "--thread", thread!, "again");
    expect(answerIn(again.stdout)).toMatch(/^You have just said: again\n/);

    process.kill(first.pid, "SIGKILL");
    expect((await first.ended).code).not.toBe(0);
    await dev(project);
    const state = await run(project, "npx", "agent-server", "threads", "state", thread!);
    const { messages } = JSON.parse(state.stdout).values as { messages: { type: string; content: string }[] };
    expect(messages.map(({ type, content }) => [type, content.split("\n")[0]])).toEqual([
      ["human", "hello"],
      ["ai", "You said: hello"],
      ["human", "again"],
      ["ai", "You have just said: again"],
    ]);
  },
);

test("help and version load no server", async () => {
  // Every module that Node loads, by its own word.
  const hook = `
    import { register } from "node:module";
    register("data:text/javascript," + encodeURIComponent(
      'export async function load(url, context, next) { process._rawDebug(url); return next(url, context); }'));`;
  const bin = join(project, "node_modules", "agent-server", "bin", "agent-server.js");
  for (const flag of ["--help", "--version"]) {
    const trace = ["--import", `data:text/javascript,${encodeURIComponent(hook)}`, bin, flag];
    const loaded = await run(project, process.execPath, ...trace);
    const packages = loaded.stderr.matchAll(/\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?:dist\/([^/\n]+))?/g);
    const parts = [...packages].map(([, name, part]) => (name === "agent-server" ? (part ?? "bin") : name));
    expect([...new Set(parts)].toSorted()).toEqual(["bin", "cli", "commander", "errors.js"]);
  }
});
