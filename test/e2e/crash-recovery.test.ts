// What a server makes of the runs that its predecessor was killed in: where they go on, how often they are tried, what it says.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { RunRecord } from "../../src/resources/runs.ts";
import type { ThreadRecord } from "../../src/resources/threads.ts";
import { keys } from "../../src/storage/keys.ts";
import { openStorage } from "../../src/storage/open.ts";
import { start } from "../cli/helpers/built.ts";
import { useGates } from "./support/gates.ts";
import { frames } from "./support/http.ts";
import { clientOf, type CliServer, startCli, startTestServer, temporaryFolder } from "./support/server.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "crash-project");
const gates = useGates();

/** What a test's own look into the storage must not meet. */
const refuse = (trouble: unknown): never => {
  throw new Error(JSON.stringify(trouble));
};

const linesOf = (file: string): string[] => readFileSync(file, "utf8").trimEnd().split("\n");
const allSteps = (name: string): string[] => [1, 2, 3, 4, 5].map((step) => `${name}:${step}`);
const trailOf = async (client: Client, thread: string): Promise<unknown> =>
  (await client.threads.getState<{ trail: string[] }>(thread)).values.trail;

describe("one SIGKILL", () => {
  const dataDir = temporaryFolder();
  const file = join(dataDir, "effects.txt");
  const threads: Record<"walk" | "queue" | "approval", string> = { walk: "", queue: "", approval: "" };
  const runs: Record<string, string> = {};
  let second: CliServer;
  let client: Client;
  let streamBroke: unknown;

  beforeAll(async () => {
    const first = await startCli({ cwd: PROJECT, dataDir });
    client = clientOf(first.url);
    for (const name of ["walk", "queue", "approval"] as const)
      threads[name] = (await client.threads.create()).thread_id;
    const begin = async (thread: string, input: { name: string; gate: string; at: number }): Promise<void> => {
      runs[input.name] = (await client.runs.create(thread, "steps", { input: { ...input, file } })).run_id;
    };
    await begin(threads.queue, { name: "first", gate: gates.url("first"), at: 1 });
    await begin(threads.queue, { name: "second", gate: "", at: 0 });
    await begin(threads.queue, { name: "third", gate: "", at: 0 });
    await client.runs.wait(threads.approval, "approval", { input: { name: "leave" } });
    await begin(threads.walk, { name: "walk", gate: gates.url("walk"), at: 3 });
    await Promise.all([gates.entered("first"), gates.entered("walk")]);
    const stream = await frames(first.url, "GET", `/threads/${threads.walk}/runs/${runs["walk"]}/stream`);
    const reading = stream.all().catch((error: unknown) => error);
    expect(await first.kill("SIGKILL")).toBe("SIGKILL");
    streamBroke = await reading;

    second = await startCli({ cwd: PROJECT, dataDir });
    client = clientOf(second.url);
  });
  afterAll(async () => {
    await second?.kill("SIGKILL");
    rmSync(dataDir, { recursive: true, force: true });
  });

  test("is answered by one line about what was recovered", () => {
    expect(second.child.output.stderr.match(/^recovered: .*$/gm)).toEqual([
      "recovered: 2 waiting runs queued again, 2 interrupted runs continued from the last checkpoint",
    ]);
  });

  test("breaks open streams instead of ending them", () => {
    expect(streamBroke).toBeInstanceOf(Error);
  });

  test("lets a run go on from its last checkpoint, as the next attempt", async () => {
    await gates.entered("walk", 2);
    const stream = await frames(second.url, "GET", `/threads/${threads.walk}/runs/${runs["walk"]}/stream`);
    expect((await stream.next()).value).toMatchObject({
      event: "metadata",
      data: { run_id: runs["walk"], attempt: 2 },
    });
    gates.open("walk");
    await stream.all();
    expect(await client.runs.join(threads.walk, runs["walk"]!)).toMatchObject({ trail: allSteps("walk") });
    // Only the step that was in flight ran again.
    expect(linesOf(file).filter((line) => line.startsWith("walk"))).toEqual([
      "walk 1 1",
      "walk 2 1",
      "walk 3 1",
      "walk 3 2",
      "walk 4 2",
      "walk 5 2",
    ]);
    expect(await client.runs.get(threads.walk, runs["walk"]!)).toMatchObject({ status: "success" });
    expect(await client.threads.get(threads.walk)).toMatchObject({ status: "idle" });
  });

  test("keeps the order of the runs that waited, and their first attempt", async () => {
    await gates.entered("first", 2);
    expect(await client.threads.get(threads.queue)).toMatchObject({ status: "busy" });
    const before = await client.runs.list(threads.queue);
    expect(before.map(({ run_id, status }) => [run_id, status])).toEqual([
      [runs["third"], "pending"],
      [runs["second"], "pending"],
      [runs["first"], "running"],
    ]);
    gates.open("first");
    await client.runs.join(threads.queue, runs["third"]!);
    expect(await trailOf(client, threads.queue)).toEqual(["first", "second", "third"].flatMap(allSteps));
    expect(linesOf(file)).toContain("second 1 1");
    expect(linesOf(file)).toContain("third 5 1");
    expect(await client.threads.get(threads.queue)).toMatchObject({ status: "idle" });
  });

  test("leaves an interrupt to be answered", async () => {
    const { thread_id } = await client.threads.get(threads.approval);
    const asked = await client.threads.get(thread_id);
    expect(asked.status).toBe("interrupted");
    expect(Object.values(asked.interrupts).flat()).toMatchObject([{ value: "may I leave?" }]);
    expect(await client.runs.wait(thread_id, "approval", { command: { resume: "yes" } })).toMatchObject({
      trail: ["leave:planned", "leave:answered yes", "leave:done"],
    });
    expect(await client.threads.get(thread_id)).toMatchObject({ status: "idle", interrupts: {} });
  });
});

test("a run that kills the server every time is given up behind the third attempt", async () => {
  const dataDir = temporaryFolder();
  const file = join(dataDir, "effects.txt");
  const first = await startCli({ cwd: PROJECT, dataDir });
  let client = clientOf(first.url);
  const begin = async (thread: string, graph: string, input: Record<string, unknown>): Promise<string> =>
    (await client.runs.create(thread, graph, { input: { file, ...input } })).run_id;
  const alone = (await client.threads.create()).thread_id;
  const shared = (await client.threads.create()).thread_id;
  const lonely = await begin(alone, "deadly", { name: "lonely", gate: gates.url("die") });
  const deadly = await begin(shared, "deadly", { name: "deadly", gate: gates.url("die") });
  const behind = await begin(shared, "steps", { name: "behind", gate: gates.url("behind"), at: 1 });
  // Both are there when the process dies, so both have died with it.
  await gates.entered("die", 2);
  gates.open("die");
  expect(await first.child.ended).toBe("SIGKILL");
  const args = ["dev", "--port", "0", "--no-reload", "--data-dir", dataDir];
  for (const attempt of [2, 3])
    expect([attempt, await start(args, { cwd: PROJECT }).ended]).toEqual([attempt, "SIGKILL"]);

  const last = await startCli({ cwd: PROJECT, dataDir });
  onTestFinished(async () => {
    await last.kill("SIGKILL");
    rmSync(dataDir, { recursive: true, force: true });
  });
  client = clientOf(last.url);
  expect(last.child.output.stderr).toContain(
    "recovered: 1 waiting run queued again, 2 runs given up after three attempts\n",
  );
  expect(last.child.output.stderr).toMatch(
    new RegExp(`^run failed: RunAttemptsExceeded: .* 3 times.*thread ${alone}, run ${lonely}`, "m"),
  );
  for (const [thread, run] of [
    [shared, deadly],
    [alone, lonely],
  ] as const) {
    expect(await client.runs.get(thread, run)).toMatchObject({ status: "error" });
    await expect(client.runs.join(thread, run)).resolves.toEqual({
      __error__: { error: "RunAttemptsExceeded", message: expect.stringContaining("3 times") },
    });
  }
  expect(await client.threads.get(alone)).toMatchObject({ status: "error" });
  // What was done before the step that kills was done once.
  expect(linesOf(file).filter((line) => line.includes(" live "))).toEqual(["lonely live 1", "deadly live 1"]);
  expect(linesOf(file)).not.toContain("deadly die 4");

  await gates.entered("behind");
  expect(await client.threads.get(shared)).toMatchObject({ status: "busy" });
  gates.open("behind");
  await client.runs.join(shared, behind);
  expect(await client.runs.get(shared, behind)).toMatchObject({ status: "success" });
  expect(await client.threads.get(shared)).toMatchObject({ status: "idle" });
  expect(await client.runs.wait(alone, "slow", { input: { name: "after" } })).toMatchObject({
    trail: ["lonely:alive", "after:1"],
  });
});

describe("a SIGKILL between the last checkpoint and the end of the run", () => {
  /** Makes a run what it was in that moment: everything that the graph did is stored, and the run is still running. */
  async function unend(dataDir: string, thread: string, run: string): Promise<void> {
    const { database, storage, claim } = await openStorage(dataDir, {
      host: "127.0.0.1",
      onMovedAside: refuse,
      onError: refuse,
    });
    const record = JSON.parse(database.get(keys.run(thread, run))!) as RunRecord;
    const head = JSON.parse(database.get(keys.thread(thread))!) as ThreadRecord;
    const before: RunRecord = { ...record, run: { ...record.run, status: "running" } };
    database.write([
      { key: keys.run(thread, run), value: JSON.stringify(before) },
      { key: keys.thread(thread), value: JSON.stringify({ ...head, status: "busy", interrupts: {} }) },
      { key: keys.queued(run), value: thread },
    ]);
    await storage.dispose();
    claim?.release();
  }

  /** Runs a graph, pretends that, and gives what the next server made of it. */
  async function killedAtTheEnd(
    graph: string,
    options: { input: Record<string, unknown>; interruptBefore?: string[] },
  ) {
    const dataDir = temporaryFolder();
    const first = await startTestServer({ cwd: PROJECT, dataDir });
    let client = clientOf(first.url);
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, graph, options);
    const [{ run_id } = { run_id: "" }] = await client.runs.list(thread_id);
    const before = await client.threads.getState(thread_id);
    await first.stop();
    await unend(dataDir, thread_id, run_id);
    const second = await startTestServer({ cwd: PROJECT, dataDir });
    onTestFinished(async () => {
      await second.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });
    client = clientOf(second.url);
    await client.runs.join(thread_id, run_id);
    return {
      client,
      before,
      run: await client.runs.get(thread_id, run_id),
      thread: await client.threads.get(thread_id),
      state: await client.threads.getState(thread_id),
    };
  }

  test("executes nothing again", async () => {
    const file = join(temporaryFolder(), "effects.txt");
    onTestFinished(() => rmSync(join(file, ".."), { recursive: true, force: true }));
    const { run, thread, state } = await killedAtTheEnd("steps", { input: { name: "done", file } });
    expect({ run: run.status, thread: thread.status }).toEqual({ run: "success", thread: "idle" });
    expect(state.values).toMatchObject({ trail: allSteps("done") });
    expect(linesOf(file)).toHaveLength(5);
  });

  test("still waits at the same interrupt", async () => {
    const { client, before, run, thread, state } = await killedAtTheEnd("approval", { input: { name: "go" } });
    expect({ run: run.status, thread: thread.status }).toEqual({ run: "success", thread: "interrupted" });
    expect(state.tasks).toEqual(before.tasks);
    await client.runs.wait(thread.thread_id, "approval", { command: { resume: "no" } });
    expect(await trailOf(client, thread.thread_id)).toEqual(["go:planned", "go:answered no", "go:done"]);
  });

  test("does not pass a breakpoint that the run had stopped at", async () => {
    const { thread, state } = await killedAtTheEnd("steps", { input: { name: "halt" }, interruptBefore: ["three"] });
    expect({ next: state.next, thread: thread.status }).toEqual({ next: ["three"], thread: "interrupted" });
    expect(state.values).toMatchObject({ trail: ["halt:1", "halt:2"] });
  });
});
