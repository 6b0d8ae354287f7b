import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { build } from "vite";
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { CliError } from "../../src/errors.ts";
import { placeExclusively } from "../../src/storage/exclusive-file.ts";
import { claimDataDir, readInstance } from "../../src/storage/instance.ts";
import { currentProcess, isRunning } from "../../src/storage/process-identity.ts";

const onLinux = process.platform === "linux";

/** Claims the folder of its argument when told to, says what came of it, and lives until it is killed or its input ends. */
const HOLDER = `
import { claimDataDir } from "./instance.mjs";
import { createInterface } from "node:readline";
const say = (result) => console.log(JSON.stringify(result));
let claim;
createInterface({ input: process.stdin }).on("line", async (line) => {
  if (line === "release") { claim.release(); return say("released"); }
  try {
    claim = await claimDataDir(process.argv[2], { host: "127.0.0.1" });
    if (line !== "claim") claim.update({ port: Number(line), url: "http://127.0.0.1:" + line });
    say("claimed");
  } catch (error) {
    say(error.name + ": " + error.message);
  }
}).on("close", () => process.exit(0));
say("ready");
`;

let program: string;
let root: string;
let folder: string;

beforeAll(async () => {
  program = mkdtempSync(join(tmpdir(), "instance-program-"));
  // Node 20 does not run TypeScript, and the holders must be real processes.
  await build({
    configFile: false,
    logLevel: "silent",
    build: {
      ssr: resolve(import.meta.dirname, "../../src/storage/instance.ts"),
      outDir: program,
      emptyOutDir: true,
      rolldownOptions: { output: { entryFileNames: "instance.mjs" } },
    },
  });
  writeFileSync(join(program, "holder.mjs"), HOLDER);
  return () => rmSync(program, { recursive: true, force: true });
});

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "instance-"));
  folder = join(root, "project", ".agent-server");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

interface Holder {
  readonly pid: number;
  /** Sends a line and waits for the answer. */
  ask(line: string): Promise<string>;
  kill(): Promise<void>;
}

async function startHolder(): Promise<Holder> {
  const child = spawn(process.execPath, [join(program, "holder.mjs"), folder], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => kill(child));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(((await lines.next()) as IteratorYieldResult<string>).value) as string;
  expect(await next()).toBe("ready");
  return {
    pid: child.pid as number,
    async ask(line) {
      child.stdin.write(`${line}\n`);
      return next();
    },
    kill: () => kill(child),
  };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

const claim = () => claimDataDir(folder, { host: "localhost" });
const record = () => JSON.parse(readFileSync(join(folder, "server.json"), "utf8")) as Record<string, unknown>;
const leftInFolder = () => readdirSync(folder).toSorted();

async function refused(work: Promise<unknown>): Promise<CliError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CliError);
  return error as CliError;
}

describe("a claim", () => {
  test("makes the folder, keeps it out of git, and records the server for its owner only", async () => {
    const held = await claim();
    expect(leftInFolder()).toEqual([".gitignore", "server.json"]);
    expect(readFileSync(join(folder, ".gitignore"), "utf8")).toBe("*\n");
    expect(record()).toMatchObject({ pid: process.pid, port: null, host: "localhost", url: null, token: held.token });
    expect(new Date(record()["started_at"] as string).getTime()).toBeLessThanOrEqual(Date.now());
    if (process.platform !== "win32") expect(statSync(join(folder, "server.json")).mode & 0o077).toBe(0);
    expect(held.dir).toBe(folder);
    held.release();
  });

  test("leaves a .gitignore that is there", async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, ".gitignore"), "data.mdb\n");
    (await claim()).release();
    expect(readFileSync(join(folder, ".gitignore"), "utf8")).toBe("data.mdb\n");
  });

  test("is read by others from when the server listens until it is released", async () => {
    expect(readInstance(folder)).toBeNull();
    const held = await claim();
    expect(readInstance(folder)).toBeNull();
    held.update({ port: 2024, url: "http://localhost:2024" });
    const expected = {
      pid: process.pid,
      port: 2024,
      host: "localhost",
      url: "http://localhost:2024",
      token: held.token,
    };
    expect(readInstance(folder)).toEqual(expected);
    held.release();
    expect(readInstance(folder)).toBeNull();
    expect(leftInFolder()).toEqual([".gitignore"]);
  });

  test("that was released leaves a later one alone", async () => {
    const first = await claim();
    first.release();
    const second = await claim();
    first.release();
    expect(record()["token"]).toBe(second.token);
    second.release();
    expect(existsSync(join(folder, "server.json"))).toBe(false);
  });

  test("is refused to a second server of the same process", async () => {
    const held = await claim();
    expect((await refused(claim())).message).toContain(`pid ${process.pid}`);
    held.release();
  });
});

describe("a folder that another process claimed", () => {
  test("is refused with the pid and port of a running one, and free after it released it", async () => {
    const holder = await startHolder();
    expect(await holder.ask("4321")).toBe("claimed");
    const error = await refused(claim());
    expect(error.message).toContain(`pid ${holder.pid}, port 4321`);
    expect(error.hint).toContain("http://127.0.0.1:4321");
    expect(error.hint).toContain(folder);
    expect(readInstance(folder)).toMatchObject({ pid: holder.pid, port: 4321, url: "http://127.0.0.1:4321" });
    expect(leftInFolder()).toEqual([".gitignore", "server.json"]);
    expect(await holder.ask("release")).toBe("released");
    (await claim()).release();
  });

  test("is refused while that one does not listen yet", async () => {
    const holder = await startHolder();
    expect(await holder.ask("claim")).toBe("claimed");
    expect((await refused(claim())).message).toContain(`pid ${holder.pid}, it does not listen yet`);
  });

  test("is taken over after SIGKILL", async () => {
    const holder = await startHolder();
    expect(await holder.ask("4321")).toBe("claimed");
    await holder.kill();
    expect(record()["pid"]).toBe(holder.pid);
    expect(readInstance(folder)).toBeNull();
    const held = await claim();
    expect(record()).toMatchObject({ pid: process.pid, token: held.token });
    expect(leftInFolder()).toEqual([".gitignore", "server.json"]);
    held.release();
  });

  test.each(["new", "left by SIGKILL", "damaged"])("goes to one of many starters (%s)", async (state) => {
    const holders = await Promise.all(Array.from({ length: 6 }, startHolder));
    for (let round = 0; round < 3; round++) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      if (state === "left by SIGKILL") {
        const dead = await startHolder();
        await dead.ask("1");
        await dead.kill();
      }
      if (state === "damaged") writeFileSync(join(folder, "server.json"), '{"pid":');
      const answers = await Promise.all(holders.map((holder) => holder.ask("claim")));
      const winner = answers.indexOf("claimed");
      expect(answers.filter((answer) => answer === "claimed")).toHaveLength(1);
      expect(record()["pid"]).toBe(holders[winner]?.pid);
      for (const [i, answer] of answers.entries())
        if (i !== winner) expect(answer).toMatch(/^CliError: A server already/);
      expect(leftInFolder()).toEqual([".gitignore", "server.json"]);
      await holders[winner]?.ask("release");
    }
  });
});

describe("what a killed process left", () => {
  const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 32);

  test.runIf(onLinux)("is not mistaken for a later process with its pid", async () => {
    const later = await startHolder();
    mkdirSync(folder, { recursive: true });
    const old = {
      pid: later.pid,
      process_start: "another boot:1",
      port: 1,
      url: "http://localhost:1",
      host: "h",
      token: "t",
    };
    writeFileSync(join(folder, "server.json"), JSON.stringify(old));
    expect(readInstance(folder)).toBeNull();
    (await claim()).release();
  });

  test.runIf(onLinux)("is free although its process waits for a parent that never asks", async () => {
    const parent = spawn("sh", ["-c", "sleep 600 & echo $!; exec sleep 600"], { stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => kill(parent));
    const [chunk] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(chunk.toString());
    const stat = () => readFileSync(`/proc/${pid}/stat`, "latin1").split(" ");
    const identity = {
      pid,
      process_start: `${readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()}:${stat()[21]}`,
    };
    expect(isRunning(identity)).toBe(true);
    // Before this, the parent is still the shell, which does ask.
    await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, "latin1")).toBe("sleep\n");
    process.kill(pid, "SIGKILL");
    await expect.poll(() => stat()[2]).toBe("Z");
    expect(isRunning(identity)).toBe(false);
  });

  test("is continued from when it died while taking over", () => {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, "server.json");
    writeFileSync(file, "dead");
    writeFileSync(`${file}.after-${hash("dead")}`, "died later");
    writeFileSync(join(folder, "tmp"), "mine");
    const asked: string[] = [];
    placeExclusively(join(folder, "tmp"), file, (path) => asked.push(readFileSync(path, "utf8")));
    expect(asked).toEqual(["dead", "died later"]);
    expect(readFileSync(file, "utf8")).toBe("mine");
    expect(leftInFolder()).toEqual(["server.json", "tmp"]);
  });

  test("is left to whoever is taking it over now", () => {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, "server.json");
    writeFileSync(file, "dead");
    writeFileSync(`${file}.after-${hash("dead")}`, "alive");
    writeFileSync(join(folder, "tmp"), "mine");
    const refuse = (path: string) => {
      if (readFileSync(path, "utf8") === "alive") throw new Error("in use");
    };
    expect(() => placeExclusively(join(folder, "tmp"), file, refuse)).toThrow("in use");
    expect(readFileSync(file, "utf8")).toBe("dead");
  });
});

describe("isRunning", () => {
  test("knows this process and one that has ended", async () => {
    expect(isRunning(currentProcess())).toBe(true);
    expect(isRunning({ pid: process.pid, process_start: null })).toBe(true);
    const ended = spawn(process.execPath, ["--version"]);
    await once(ended, "exit");
    expect(isRunning({ pid: ended.pid as number, process_start: null })).toBe(false);
  });
});

describe("a folder that cannot be used", () => {
  test.each([
    ["is below a file", () => writeFileSync(root + "/project", ""), "a part of the path is a file"],
    ["is a file", () => (mkdirSync(join(root, "project")), writeFileSync(folder, "")), "there is a file of that name"],
  ])("because it %s is one clear error", async (_reason, prepare, message) => {
    prepare();
    const error = await refused(claim());
    expect(error.message).toBe(`Cannot write to the data folder ${folder}: ${message}.`);
    expect(error.hint).toContain("--data-dir");
    expect(readInstance(folder)).toBeNull();
  });

  test.skipIf(process.getuid?.() === 0 || process.platform === "win32")(
    "because it is read-only is one, too",
    async () => {
      mkdirSync(folder, { recursive: true, mode: 0o500 });
      expect((await refused(claim())).message).toContain("permission denied");
    },
  );

  test.each(["null", "{}", '{"pid":-1}', '{"pid":"1"}', "not json", ""])(
    "a record that says %j is of nobody",
    async (text) => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "server.json"), text);
      expect(readInstance(folder)).toBeNull();
      const held = await claim();
      expect(record()["token"]).toBe(held.token);
      held.release();
    },
  );
});
