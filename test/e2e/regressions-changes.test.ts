// What went wrong with changes of a state from outside: updates and imports that stand in the user's code, beside runs, deletions, sweeps, a
// stop and a crash.
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import { useGates } from "./support/gates.ts";
import { type Answer, call } from "./support/http.ts";
import {
  clientOf,
  complaints,
  startTestServer,
  type TestServer,
  temporaryFolder,
  useServer,
} from "./support/server.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "regression-project");
const server = useServer({ cwd: PROJECT });
const gates = useGates();
/** All servers with a clock share it, because time never goes backwards in one process. */
const clock = new TestClock(Date.now() + 86_400_000);

const newThread = async (graph: string): Promise<string> =>
  (await server.client.threads.create({ graphId: graph })).thread_id;
/** What a thread shows of itself, and what comes next on it. */
async function shown(threadId: string): Promise<{ status: string; next: readonly string[]; log: unknown }> {
  const { threads } = server.client;
  const { next, values } = await threads.getState<{ log?: string[] }>(threadId);
  return { status: (await threads.get(threadId)).status, next, log: values.log };
}

/** Lets the next use of a graph stand at a gate: an update, which has got there when this resolves. */
async function updating(threadId: string, gate: string, url = server.url): Promise<{ answer: Promise<Answer> }> {
  process.env["REGRESSION_GATE"] = gates.url(gate);
  const body = { values: { log: ["update"] }, as_node: "three" };
  const answer = call(url, "POST", `/threads/${threadId}/state`, { body });
  await gates.entered(gate);
  return { answer };
}

describe("a run that is created while an update is made", () => {
  test("keeps the thread busy until it has ended", async () => {
    const { runs, threads } = server.client;
    const threadId = await newThread("madeSteps");
    const { answer } = await updating(threadId, "busy update");
    const run = await runs.create(threadId, "madeSteps", { input: { gate: gates.url("busy run"), at: "two" } });
    gates.open("busy update");
    expect((await answer).status).toBe(200);
    await gates.entered("busy run");
    expect((await threads.get(threadId)).status).toBe("busy");
    expect(await threads.search({ ids: [threadId], status: "busy" })).toHaveLength(1);
    gates.open("busy run");
    await runs.join(threadId, run.run_id);
    expect(await shown(threadId)).toEqual({ status: "idle", next: [], log: ["update", "one", "two", "three"] });
  });

  test("leaves the thread, when it is rolled back, as the update made it", async () => {
    const { runs, threads } = server.client;
    const threadId = await newThread("madeSteps");
    await runs.wait(threadId, "madeSteps", { input: {}, interruptBefore: ["three"] });
    expect((await threads.get(threadId)).status).toBe("interrupted");
    const { answer } = await updating(threadId, "before update");
    const run = await runs.create(threadId, "madeSteps", { input: { gate: gates.url("before run"), at: "two" } });
    gates.open("before update");
    await answer;
    await gates.entered("before run");
    await runs.cancel(threadId, run.run_id, true, "rollback");
    gates.open("before run");
    expect(await shown(threadId)).toEqual({ status: "idle", next: [], log: ["one", "two", "update"] });
  });
});

/** An update of a graph that decides behind its first step where it goes on, and stands at a gate there. */
async function hanging(url: string, threadId: string, gate: string): Promise<{ answer: Promise<Answer> }> {
  const body = { values: { log: ["never"], gate: gates.url(gate), at: "branch" }, as_node: "one" };
  const answer = call(url, "POST", `/threads/${threadId}/state`, { body });
  await gates.entered(gate);
  return { answer };
}

describe("an update that hangs in the user's code", () => {
  async function timed(): Promise<{ up: TestServer; client: ReturnType<typeof clientOf> }> {
    const up = await startTestServer({ cwd: PROJECT, clock });
    onTestFinished(async () => void (await up.stop()));
    return { up, client: clientOf(up.url) };
  }

  test("is given up when its time is over; what it does then changes nothing", async () => {
    const { up, client } = await timed();
    const { thread_id } = await client.threads.create({ graphId: "branching" });
    const { answer } = await hanging(up.url, thread_id, "time over");
    const run = await client.runs.create(thread_id, "branching", { input: { at: "" } });
    await clock.advance(3_600_000);
    expect(await answer).toMatchObject({
      status: 422,
      json: { detail: expect.stringMatching(/longer than 3600 s .*BG_JOB_TIMEOUT_SECS/) },
    });
    expect(await client.runs.join(thread_id, run.run_id)).toMatchObject({ log: ["one", "two"] });
    const history = await client.threads.getHistory(thread_id);
    gates.open("time over");
    expect(
      await call(up.url, "POST", `/threads/${thread_id}/state`, { body: { values: {}, as_node: "two" } }),
    ).toMatchObject({ status: 200 });
    expect((await client.threads.getHistory(thread_id)).slice(1)).toEqual(history);
    expect(complaints(up.events)).toEqual([]);
  });

  test("does not keep its thread from being copied and deleted", async () => {
    const { client, up } = await timed();
    const { thread_id } = await client.threads.create({ graphId: "branching" });
    await client.runs.wait(thread_id, "branching", { input: { at: "" } });
    const { answer } = await hanging(up.url, thread_id, "deleted");
    const behind = call(up.url, "POST", `/threads/${thread_id}/state`, { body: { values: {}, as_node: "two" } });
    const copy = await client.threads.copy(thread_id);
    expect(await client.threads.getState(copy.thread_id)).toMatchObject({ values: { log: ["one", "two"] } });
    expect((await call(up.url, "DELETE", `/threads/${thread_id}`)).status).toBe(204);
    expect([await answer, await behind].map(({ status }) => status)).toEqual([404, 404]);
    await client.threads.create({ threadId: thread_id, graphId: "branching" });
    gates.open("deleted");
    expect(await client.threads.getHistory(thread_id)).toEqual([]);
    expect(complaints(up.events)).toEqual([]);
  });

  test("keeps the sweeper from nothing but its own thread", async () => {
    const { client, up } = await timed();
    const { thread_id } = await client.threads.create({ graphId: "branching", ttl: 1 });
    const other = await client.threads.create({ ttl: 2 });
    const { answer } = await hanging(up.url, thread_id, "swept");
    await clock.advance(10 * 60_000);
    expect((await call(up.url, "GET", `/threads/${other.thread_id}`)).status).toBe(404);
    expect((await call(up.url, "GET", `/threads/${thread_id}`)).status).toBe(200);
    gates.open("swept");
    expect((await answer).status).toBe(200);
    await clock.advance(10 * 60_000);
    expect((await call(up.url, "GET", `/threads/${thread_id}`)).status).toBe(404);
  });

  test("does not keep the server from stopping", async () => {
    const { client, up } = await timed();
    const { thread_id } = await client.threads.create({ graphId: "branching" });
    const { answer } = await hanging(up.url, thread_id, "stopped");
    const ended = answer.then(({ status }) => status);
    await up.stop();
    expect(await ended).toBe(503);
    gates.open("stopped");
  });
});

describe("a thread that is created with a history", () => {
  const supersteps = [{ updates: [{ values: { log: ["a"] }, as_node: "one" }] }];
  const asked = (threadId: string, more = {}) => ({
    body: { thread_id: threadId, metadata: { graph_id: "madeSteps" }, supersteps, ...more },
  });

  test("is seen by nobody before it has all of it", async () => {
    const threadId = crypto.randomUUID();
    process.env["REGRESSION_GATE"] = gates.url("import");
    const first = call(server.url, "POST", "/threads", asked(threadId));
    await gates.entered("import");
    expect((await call(server.url, "GET", `/threads/${threadId}`)).status).toBe(404);
    expect(await server.client.threads.search({ ids: [threadId] })).toEqual([]);
    // The same request again, before the first is done.
    const again = await call(server.url, "POST", "/threads", asked(threadId, { if_exists: "do_nothing" }));
    expect(again).toMatchObject({ status: 200, json: { thread_id: threadId, values: { log: ["a"] } } });
    gates.open("import");
    expect((await first).status).toBe(409);
    expect(await server.client.threads.getHistory(threadId)).toHaveLength(1);
    const late = await call(server.url, "POST", "/threads", asked(threadId, { if_exists: "do_nothing" }));
    expect(late).toMatchObject({ status: 200, json: { values: { log: ["a"] } } });
  });

  test("does not take with it what others made of its id, when the import fails", async () => {
    const { runs, threads } = server.client;
    const threadId = crypto.randomUUID();
    process.env["REGRESSION_GATE"] = gates.url("failing import");
    const wrong = [{ updates: [{ values: { log: ["a"] }, as_node: "nobody" }] }];
    const failing = call(server.url, "POST", "/threads", asked(threadId, { supersteps: wrong }));
    await gates.entered("failing import");
    const run = await runs.create(threadId, "steps", {
      input: { gate: gates.url("beside import"), at: "two" },
      ifNotExists: "create",
    });
    await gates.entered("beside import");
    gates.open("failing import");
    expect((await failing).status).toBe(422);
    gates.open("beside import");
    expect(await runs.join(threadId, run.run_id)).toMatchObject({ log: ["one", "two", "three"] });
    expect((await threads.get(threadId)).status).toBe("idle");
  });

  test("is not there after a crash in the middle, and can be made again", async () => {
    const [dataDir, left] = [temporaryFolder(), temporaryFolder()];
    onTestFinished(() => {
      for (const folder of [dataDir, left]) rmSync(folder, { recursive: true, force: true });
    });
    const threadId = crypto.randomUUID();
    const first = await startTestServer({ cwd: PROJECT, dataDir });
    process.env["REGRESSION_GATE"] = gates.url("crashed import");
    const never = call(first.url, "POST", "/threads", asked(threadId));
    await gates.entered("crashed import");
    // What a SIGKILL leaves in the folder.
    cpSync(dataDir, left, { recursive: true, filter: (path) => !/lock|claim|instance|server\.json/.test(path) });
    gates.open("crashed import");
    await never;
    await first.stop();
    const second = await startTestServer({ cwd: PROJECT, dataDir: left });
    onTestFinished(async () => void (await second.stop()));
    expect((await call(second.url, "GET", `/threads/${threadId}`)).status).toBe(404);
    expect(await call(second.url, "POST", "/threads", asked(threadId))).toMatchObject({
      status: 200,
      json: { values: { log: ["a"] } },
    });
  });

  test("lives as long as it was asked for", async () => {
    const up = await startTestServer({ cwd: PROJECT, clock });
    onTestFinished(async () => void (await up.stop()));
    const threadId = crypto.randomUUID();
    const made = await call(up.url, "POST", "/threads", asked(threadId, { ttl: { ttl: 5 } }));
    expect(made).toMatchObject({ status: 200, json: { status: "interrupted", values: { log: ["a"] } } });
    await clock.advance(6 * 60_000);
    expect((await call(up.url, "GET", `/threads/${threadId}`)).status).toBe(404);
  });
});
