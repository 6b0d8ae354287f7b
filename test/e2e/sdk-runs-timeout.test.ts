// The time limit of runs (BG_JOB_TIMEOUT_SECS) through the official client, on a clock that the tests own: what those see who wait, stream or
// look later.
import type { Client } from "@langchain/langgraph-sdk";
import { afterEach, expect, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import { useGates } from "./support/gates.ts";
import { collect } from "./support/http.ts";
import { clientOf, startTestServer, type TestServer } from "./support/server.ts";

const gates = useGates();
const LIMIT = "BG_JOB_TIMEOUT_SECS";
const clock = new TestClock(Date.now());

afterEach(() => {
  delete process.env[LIMIT];
});

async function withLimit<T>(seconds: string, use: (client: Client, server: TestServer) => Promise<T>): Promise<T> {
  process.env[LIMIT] = seconds;
  const server = await startTestServer({ persist: false, clock });
  try {
    return await use(clientOf(server.url), server);
  } finally {
    await server.stop();
  }
}

const stuck = (name: string, deaf: boolean) => ({ input: { name, gate: gates.url(name), deaf } });
const message = expect.stringMatching(/longer than 1 s /);
const TIMED_OUT = { __error__: { error: "TimeoutError", message } };

test.each([false, true])("a run that takes too long ends, also one that heeds no signal (%s)", async (deaf) => {
  await withLimit("1", async ({ runs, threads }, server) => {
    const { thread_id } = await threads.create();
    const name = `slow-${deaf}`;
    const stream = collect(runs.stream(thread_id, "gated", { ...stuck(name, deaf), streamMode: "updates" }));
    await gates.entered(name);
    const [run] = await runs.list(thread_id);
    await clock.advance(999);
    expect((await runs.get(thread_id, run!.run_id)).status).toBe("running");
    await clock.advance(1);
    expect(await runs.join(thread_id, run!.run_id)).toEqual(TIMED_OUT);
    const events = await stream;
    expect(events.at(-1)).toMatchObject({ event: "error", data: TIMED_OUT.__error__ });
    expect((await runs.get(thread_id, run!.run_id)).status).toBe("timeout");
    expect(await runs.list(thread_id, { status: "timeout" })).toHaveLength(1);
    // Also for those who come later.
    expect(await runs.join(thread_id, run!.run_id)).toEqual(TIMED_OUT);
    const thread = await threads.get(thread_id);
    expect([thread.status, thread.values]).toMatchObject(["error", { log: [`first ${name}`] }]);
    // The thread is free for the next one.
    await runs.create(thread_id, "gated", stuck(`behind-${name}`, false));
    await gates.entered(`behind-${name}`);
    gates.open(name);
    gates.open(`behind-${name}`);
    const failures = server.events.filter(({ type }) => type === "run-failed");
    expect(failures).toMatchObject([{ run_id: run!.run_id, error: expect.stringContaining("TimeoutError") }]);
  });
});

test("a run without a thread has the same limit", async () => {
  await withLimit("1", async ({ runs }) => {
    const waited = expect(runs.wait(null, "gated", stuck("slow-stateless", false))).rejects.toThrow("TimeoutError");
    await gates.entered("slow-stateless");
    await clock.advance(1000);
    await waited;
    gates.open("slow-stateless");
  });
});

test("the time that a run waits for its turn does not count", async () => {
  await withLimit("1", async ({ runs, threads }) => {
    const { thread_id } = await threads.create();
    const first = await runs.create(thread_id, "gated", stuck("turn", false));
    const second = await runs.create(thread_id, "gated", stuck("second turn", false));
    const status = async (run: typeof first): Promise<string> => (await runs.get(thread_id, run.run_id)).status;
    await gates.entered("turn");
    await clock.advance(1000);
    // It has waited as long as a run may take, and has all of its own time.
    await gates.entered("second turn");
    await clock.advance(999);
    expect([await status(first), await status(second)]).toEqual(["timeout", "running"]);
    gates.open("second turn");
    expect(await runs.join(thread_id, second.run_id)).toMatchObject({ name: "second turn" });
    expect(await status(second)).toBe("success");
    expect((await threads.get(thread_id)).status).toBe("idle");
    gates.open("turn");
  });
});

test.each(["soon", "0", "-5", "1e9"])("a limit of %s is reported, and the default taken", async (value) => {
  await withLimit(value, async ({ runs }, server) => {
    const warnings = server.events.filter((event) => event.type === "log" && event.level === "warn");
    expect(warnings).toMatchObject([{ message: expect.stringContaining(`"${value}"`) }]);
    expect(await runs.wait(null, "counter", { input: {} })).toMatchObject({ total: 111 });
  });
});

test("what a command changed stays when its run takes too long, and the thread shows what its state says", async () => {
  await withLimit("1", async ({ runs, threads }) => {
    const { thread_id } = await threads.create();
    gates.open("command-before");
    await runs.wait(thread_id, "gated", stuck("command-before", false));
    const update = { log: ["commanded"], gate: gates.url("command") };
    const run = await runs.create(thread_id, "gated", { command: { update, goto: "second" } });
    await gates.entered("command");
    await clock.advance(1000);
    expect(await runs.join(thread_id, run.run_id)).toEqual(TIMED_OUT);
    const [thread, state] = [await threads.get(thread_id), await threads.getState(thread_id)];
    expect(thread.values).toEqual(state.values);
    expect(state.values).toMatchObject({ log: expect.arrayContaining(["commanded"]) });
  });
});
