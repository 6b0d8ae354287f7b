// The data folder from outside: damaged, shared, left behind by a killed server, in another place, not wanted at all; and what a
// deleted thread leaves in it.
import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openStorage } from "../../src/storage/open.ts";
import { type Child, installInto, start } from "../cli/helpers/built.ts";
import { seeded } from "../storage/seeded.ts";
import { useGates } from "./support/gates.ts";
import { clientOf, PROJECT as GRAPHS, startTestServer, temporaryFolder } from "./support/server.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "crash-project");
const gates = useGates();

/** What a test's own look into the storage must not meet. */
const refuse = (trouble: unknown): never => {
  throw new Error(JSON.stringify(trouble));
};

/** A temporary folder that goes with the test. */
function folder(): string {
  const path = temporaryFolder();
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** `agent-server dev`, killed with the test. */
function dev(cwd: string, args: readonly string[] = []): Child {
  const child = start(["dev", "--port", "0", "--no-reload", ...args], { cwd, env: { NO_COLOR: "1" } });
  onTestFinished(async () => {
    child.process.kill("SIGKILL");
    await child.ended;
  });
  return child;
}

const urlOf = async (child: Child): Promise<string> => (await child.seen(/url\s+(http:\/\/\S+)/))[1]!;

/** Every file below a folder, with size and time of its last change. */
function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const { size, mtimeMs } = statSync(join(parentPath, name));
      return `${join(parentPath, name)} ${size} ${mtimeMs}`;
    })
    .toSorted();
}

describe("a damaged data file", () => {
  let intact: string;
  /** Records in the middle of the tree, as they stand in the file. */
  const middle = { short: "", long: "" };
  beforeAll(async () => {
    intact = temporaryFolder();
    const server = await startTestServer({ cwd: PROJECT, dataDir: intact });
    const client = clientOf(server.url);
    // Short values inside the pages of the tree, and long ones on pages of their own.
    const create = async (i: number, pad: string): Promise<string> =>
      (await client.threads.create({ metadata: { i, pad } })).thread_id;
    const ids: Record<keyof typeof middle, string[]> = { short: [], long: [] };
    for (let i = 0; i < 200; i++) ids.short.push(await create(i, ""));
    for (let i = 0; i < 100; i++) ids.long.push(await create(i, "x".repeat(3000)));
    for (const kind of ["short", "long"] as const)
      middle[kind] = `"thread_id":"${ids[kind].toSorted()[ids[kind].length / 2]}"`;
    const messages = [{ role: "user", content: "hello" }];
    for (const { thread_id } of await client.threads.search({ limit: 20 }))
      await client.runs.wait(thread_id, "echo", { input: { messages } });
    await server.stop();
  });
  afterAll(() => rmSync(intact, { recursive: true, force: true }));

  /** Overwrites a part of a file, given as fractions of its length, with numbers that are the same in every run. */
  function overwrite(file: string, from: number, to: number, byte: () => number): void {
    const bytes = readFileSync(file);
    for (let i = Math.floor(bytes.length * from); i < Math.floor(bytes.length * to); i++) bytes[i] = byte();
    writeFileSync(file, bytes);
  }
  const noise = (): (() => number) => {
    const random = seeded(1);
    return () => Math.floor(random() * 256);
  };

  /** Overwrites the pages that hold a text: the one in use, and those that it was copied from. */
  function overwritePages(file: string, text: string, byte: () => number): void {
    const bytes = readFileSync(file);
    let at = bytes.indexOf(text);
    expect(at).toBeGreaterThan(0);
    for (; at > 0; at = bytes.indexOf(text, at + 1)) {
      const page = at - (at % 4096);
      for (let i = 0; i < 4096; i++) bytes[page + i] = byte();
    }
    writeFileSync(file, bytes);
  }

  test.each<[what: string, damage: (file: string) => void]>([
    ["with text in it", (file) => writeFileSync(file, "this is no database\n".repeat(5000))],
    ["with noise in it", (file) => overwrite(file, 0, 1, noise())],
    ["with zeros in it", (file) => overwrite(file, 0, 1, () => 0)],
    ["cut in half", (file) => truncateSync(file, Math.floor(statSync(file).size / 2))],
    ["cut to its first bytes", (file) => truncateSync(file, 100)],
    // LMDB itself reads these as if they were whole, and takes the process down, or gives what is in them.
    ["with zeros in place of one page", (file) => overwritePages(file, middle.short, () => 0)],
    ["with noise in one long value", (file) => overwritePages(file, middle.long, noise())],
    ["with noise behind its head", (file) => overwrite(file, 0.05, 1, noise())],
    ["with noise in its middle", (file) => overwrite(file, 0.25, 0.75, noise())],
    ["with zeros in its middle", (file) => overwrite(file, 0.25, 0.75, () => 0)],
    [
      "with the middle twice",
      (file) => {
        const bytes = readFileSync(file);
        const quarter = Math.floor(bytes.length / 4096 / 4) * 4096;
        bytes.copyWithin(2 * quarter, quarter, 2 * quarter);
        writeFileSync(file, bytes);
      },
    ],
  ])("%s is moved aside, and said to be", async (_what, damage) => {
    const dataDir = folder();
    cpSync(intact, dataDir, { recursive: true });
    const file = join(dataDir, "state", "data.mdb");
    damage(file);
    const damaged = readFileSync(file);

    const child = dev(PROJECT, ["--data-dir", dataDir]);
    const client = clientOf(await urlOf(child));
    const { stderr } = child.output;
    expect(stderr).toMatch(/^warning: the state folder was damaged \(.+\)\.$/m);
    const [, to] = /^It was moved to (\S+), and \S+ starts empty\.$/m.exec(stderr) ?? [];
    expect(readFileSync(join(to!, "data.mdb")).equals(damaged)).toBe(true);
    const { thread_id } = await client.threads.create();
    expect(await client.threads.search()).toMatchObject([{ thread_id }]);
  });

  test("without a single byte is a new one", async () => {
    const dataDir = folder();
    cpSync(intact, dataDir, { recursive: true });
    truncateSync(join(dataDir, "state", "data.mdb"), 0);
    const client = clientOf(await urlOf(dev(PROJECT, ["--data-dir", dataDir])));
    const { thread_id } = await client.threads.create();
    expect(await client.threads.search()).toMatchObject([{ thread_id }]);
  });
});

test("one server per folder: the second is refused, and a killed one's place is taken", async () => {
  const project = folder();
  cpSync(PROJECT, project, { recursive: true });
  installInto(project);
  writeFileSync(join(project, ".gitignore"), "dist\n");
  const dataDir = join(project, ".agent-server");
  const record = (): unknown => JSON.parse(readFileSync(join(dataDir, "server.json"), "utf8"));

  const first = dev(project);
  const url = await urlOf(first);
  expect(record()).toMatchObject({ pid: first.process.pid, port: Number(new URL(url).port) });

  const second = dev(project);
  expect(await second.ended).toBe(1);
  const [sentence, hint, ...rest] = second.output.stderr.trimEnd().split("\n");
  expect(sentence).toBe(
    `error: A server already runs for this project (pid ${first.process.pid}, port ${new URL(url).port}).`,
  );
  expect(hint).toContain(url);
  expect({ rest, stdout: second.output.stdout }).toEqual({ rest: [], stdout: "" });
  const { thread_id } = await clientOf(url).threads.create();

  first.process.kill("SIGKILL");
  await first.ended;
  expect(record()).toMatchObject({ pid: first.process.pid });
  const third = dev(project);
  const client = clientOf(await urlOf(third));
  expect(record()).toMatchObject({ pid: third.process.pid });
  expect(await client.threads.get(thread_id)).toMatchObject({ thread_id });

  // It keeps itself out of git, and nothing else.
  expect(readFileSync(join(dataDir, ".gitignore"), "utf8")).toBe("*\n");
  expect(readFileSync(join(project, ".gitignore"), "utf8")).toBe("dist\n");
  third.process.kill("SIGTERM");
  expect(await third.ended).toBe(0);
  expect(readdirSync(dataDir).toSorted()).toEqual([".gitignore", "state"]);
});

test("--data-dir puts the state elsewhere, --no-persist nowhere", async () => {
  const project = folder();
  cpSync(PROJECT, project, { recursive: true });
  installInto(project);
  const before = filesBelow(project);
  const messages = [{ role: "user", content: "hello" }];

  const forgetful = dev(project, ["--no-persist"]);
  const client = clientOf(await urlOf(forgetful));
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, "echo", { input: { messages } });
  await client.store.putItem(["notes"], "one", { text: "kept in memory" });
  await forgetful.seen(/state\s+in memory/);
  forgetful.process.kill("SIGTERM");
  expect(await forgetful.ended).toBe(0);
  expect(filesBelow(project)).toEqual(before);

  const elsewhere = folder();
  const placed = dev(project, ["--data-dir", elsewhere]);
  await clientOf(await urlOf(placed)).threads.create();
  expect(readdirSync(elsewhere).toSorted()).toEqual([".gitignore", "server.json", "state"]);
  expect(filesBelow(project)).toEqual(before);
});

test("a deleted thread frees all its keys", async () => {
  const dataDir = folder();
  const keysNow = async (): Promise<string[]> => {
    const { database, storage, claim } = await openStorage(dataDir, {
      host: "127.0.0.1",
      onMovedAside: refuse,
      onError: refuse,
    });
    const found = Array.from(database.range({ start: "", end: "\uffff" }), ([key]) => key);
    await storage.dispose();
    claim?.release();
    return found;
  };
  const messages = (content: string) => ({ messages: [{ role: "user", content }] });

  let server = await startTestServer({ cwd: GRAPHS, dataDir });
  let client = clientOf(server.url);
  await client.store.putItem(["notes"], "one", { text: "stays" });
  await server.stop();
  const before = await keysNow();

  server = await startTestServer({ cwd: GRAPHS, dataDir });
  client = clientOf(server.url);
  const { thread_id } = await client.threads.create();
  for (let turn = 0; turn < 20; turn++)
    await client.runs.wait(thread_id, "echo", { input: messages(`turn ${turn} ${"long ".repeat(50)}`) });
  // Checkpoints of a subgraph, and the writes of an interrupt.
  await client.runs.wait(thread_id, "subgraph", { input: { ask: true } });
  await client.threads.updateState(thread_id, { values: { log: ["by hand"] } });
  await server.stop();
  const full = (await keysNow()).filter((key) => !before.includes(key)).map((key) => key.split("/"));
  const kinds = (at: number, of: string[][]): string[] => [...new Set(of.map((parts) => parts[at]!))];
  expect(kinds(0, full).toSorted()).toEqual(["k", "r", "t"]);
  // Checkpoints, pending writes, parts of values, contexts.
  const ofCheckpoints = full.filter(([kind]) => kind === "k");
  expect(kinds(2, ofCheckpoints)).toEqual(expect.arrayContaining(["c", "w", "p", "d"]));

  server = await startTestServer({ cwd: GRAPHS, dataDir });
  client = clientOf(server.url);
  // One run is at work and does not heed its being stopped, another waits.
  const input = { gate: gates.url("deleted"), deaf: true, name: "deleted" };
  await client.runs.create(thread_id, "gated", { input });
  await client.runs.create(thread_id, "gated", { input });
  await gates.entered("deleted");
  await client.threads.delete(thread_id);
  gates.open("deleted");
  // Another thread's turn behind it, so that whatever the deaf run still does is done.
  const other = (await client.threads.create()).thread_id;
  await client.runs.wait(other, "gated", { input: { gate: gates.url("deleted"), name: "other" } });
  await client.threads.delete(other);
  await server.stop();
  expect(await keysNow()).toEqual(before);
});
