// What went wrong with answers: results that the official client cannot read, threads that showed more to do than there was, and factories
// that were asked too often.
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "../../src/server/start.ts";
import { useGates } from "./support/gates.ts";
import { call } from "./support/http.ts";
import { clientOf, useServer } from "./support/server.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "regression-project");
const server = useServer({ cwd: PROJECT });
const gates = useGates();

test.each([
  ["a text", "hello", { output: "hello" }],
  ["an empty text", "", { output: "" }],
  ["a number", 0, { output: 0 }],
  ["a truth", false, { output: false }],
  ["a list", ["a", { b: 1 }], ["a", { b: 1 }]],
  ["an object", { a: 1 }, { a: 1 }],
  ["nothing", null, {}],
])("the official client can read the result of a graph that returns %s", async (_what, value, expected) => {
  const { runs, threads } = server.client;
  const payload = { input: { value } };
  expect(await runs.wait(null, "plain", payload)).toEqual(expected);
  const { thread_id } = await threads.create();
  expect(await runs.wait(thread_id, "plain", payload)).toEqual(expected);
  const run = await runs.create(thread_id, "plain", payload);
  expect(await runs.join(thread_id, run.run_id)).toEqual(expected);
  // Also when it ended long ago. What is stored is what was returned.
  expect(await runs.join(thread_id, run.run_id)).toEqual(expected);
  expect((await threads.get(thread_id)).values).toEqual(value);
});

test("an interrupt shows beside whatever a graph has returned before", async () => {
  const { runs, threads } = server.client;
  const asked = [{ value: "what?" }];
  const { thread_id } = await threads.create();
  for (const value of ["hello", ["a"]]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await runs.wait(thread_id, "plain", { input: { value } });
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const values = await runs.wait(thread_id, "plain", { input: { ask: true } });
    expect(values).toMatchObject({ __interrupt__: asked });
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const [run] = await runs.list(thread_id, { limit: 1 });
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await runs.join(thread_id, run!.run_id)).toMatchObject({ __interrupt__: asked });
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await runs.wait(thread_id, "plain", { command: { resume: "this" } })).toEqual({ said: "this" });
  }
});

test("a run that is cancelled behind its last step leaves an idle thread", async () => {
  const { runs, threads } = server.client;
  const { thread_id } = await threads.create();
  const run = await runs.create(thread_id, "lingering", { input: { gate: gates.url("lingering") } });
  await gates.entered("lingering");
  await runs.cancel(thread_id, run.run_id, true);
  gates.open("lingering");
  expect((await runs.get(thread_id, run.run_id)).status).toBe("interrupted");
  const { next, values } = await threads.getState(thread_id);
  expect([(await threads.get(thread_id)).status, next, values]).toMatchObject(["idle", [], { log: ["saw 0"] }]);
});

test("a run that is cancelled between two steps leaves a thread that can go on", async () => {
  const { runs, threads } = server.client;
  const { thread_id } = await threads.create();
  const run = await runs.create(thread_id, "steps", { input: { gate: gates.url("between"), at: "two" } });
  await gates.entered("between");
  await runs.cancel(thread_id, run.run_id, true);
  gates.open("between");
  const { next } = await threads.getState(thread_id);
  expect([(await threads.get(thread_id)).status, next]).toEqual(["interrupted", ["two"]]);
});

test("a history asks the factory of its graph once", async () => {
  const { runs, threads } = server.client;
  const { thread_id } = await threads.create();
  for (let i = 0; i < 5; i++) await runs.wait(thread_id, "counted", { input: {} });
  onTestFinished(() => void delete process.env["REGRESSION_MADE"]);
  process.env["REGRESSION_MADE"] = "0";
  const history = await threads.getHistory(thread_id, { limit: 100 });
  expect(history).toHaveLength(15);
  expect(history.filter(({ next }) => next.length === 0)).toHaveLength(5);
  expect(process.env["REGRESSION_MADE"]).toBe("1");
});

test("a listener of the server that throws does not keep a run from ending", async () => {
  const running = await startServer({
    cwd: PROJECT,
    port: 0,
    strictPort: false,
    host: "127.0.0.1",
    persist: false,
    reload: false,
    jobs: 10,
    onEvent(event) {
      if (event.type === "run-failed") throw new Error("the listener broke");
    },
  });
  onTestFinished(async () => void (await running.stop()));
  const { runs, threads } = clientOf(running.url);
  const { thread_id } = await threads.create();
  const run = await runs.create(thread_id, "delta", {
    input: { messages: [] },
    config: { configurable: { fails: true } },
  });
  const behind = await runs.create(thread_id, "steps", { input: {} });
  expect(await runs.join(thread_id, run.run_id)).toMatchObject({ __error__: { message: "it failed" } });
  expect((await runs.get(thread_id, run.run_id)).status).toBe("error");
  expect(await runs.join(thread_id, behind.run_id)).toMatchObject({ log: ["one", "two", "three"] });
  expect((await call(running.url, "GET", `/threads/${thread_id}`)).json).toMatchObject({ status: "idle" });
});
