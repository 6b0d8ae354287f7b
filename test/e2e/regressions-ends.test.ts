// What went wrong with runs that end in an unusual way: graphs that stop themselves, ask with nothing, throw what is no error, or fail in one of
// several tasks.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { call, frames } from "./support/http.ts";
import { clientOf, startTestServer, temporaryFolder, useServer } from "./support/server.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "regression-project");
const server = useServer({ cwd: PROJECT });
const gates = useGates();

test.each([["values"], ["events"]])(
  "a graph that drains itself has ended, and can be gone on with (%s)",
  async (mode) => {
    const { runs, threads } = server.client;
    const { thread_id } = await threads.create();
    const body = { assistant_id: "draining", input: {}, stream_mode: [mode] };
    const events = await (await frames(server.url, "POST", `/threads/${thread_id}/runs/stream`, { body })).all();
    expect(events.map(({ event }) => event)).not.toContain("error");
    const [run] = await runs.list(thread_id);
    expect([run!.status, (await threads.get(thread_id)).status]).toEqual(["success", "interrupted"]);
    expect(await runs.join(thread_id, run!.run_id)).toEqual({ log: ["one"] });
    expect(await threads.getState(thread_id)).toMatchObject({ next: ["two"], values: { log: ["one"] } });
    expect(await runs.wait(thread_id, "draining", { input: null })).toMatchObject({ log: ["one", "two"] });
    // Without a thread, too.
    expect(await runs.wait(null, "draining", { input: {} })).toEqual({ log: ["one"] });
  },
);

test("a run that the server's stop and its graph let drain goes on at the next start, once", async () => {
  const dataDir = temporaryFolder();
  const first = await startTestServer({ cwd: PROJECT, dataDir });
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const { threads, runs } = clientOf(first.url);
  const { thread_id } = await threads.create();
  const run = await runs.create(thread_id, "draining", { input: { how: gates.url("drain") } });
  await gates.entered("drain");
  const stopped = first.stop();
  gates.open("drain");
  expect(await stopped).toMatchObject({ parked: 1 });
  const second = await startTestServer({ cwd: PROJECT, dataDir });
  onTestFinished(async () => void (await second.stop()));
  expect(await clientOf(second.url).runs.join(thread_id, run.run_id)).toMatchObject({ log: ["one", "two"] });
});

test("an interrupt that asks with nothing has the value null wherever it shows", async () => {
  const { threads } = server.client;
  const { thread_id } = await threads.create();
  const path = `/threads/${thread_id}`;
  const asked = [{ id: expect.any(String), value: null }];
  const body = {
    assistant_id: "silent",
    input: {},
    stream_mode: ["values", "updates", "tasks", "debug", "checkpoints"],
  };
  const text = JSON.stringify(await (await frames(server.url, "POST", `${path}/runs/stream`, { body })).all());
  const interrupts = text.match(/"(?:__interrupt__|interrupts)":\[\{[^\]]*\]/g)!;
  expect(interrupts.length).toBeGreaterThan(3);
  for (const each of interrupts) expect(each).toContain('"value":null');
  const thread = await threads.get(thread_id);
  expect(Object.values(thread.interrupts)).toEqual([asked]);
  expect(await threads.getState(thread_id)).toMatchObject({ interrupts: asked, tasks: [{ interrupts: asked }] });
  const waited = await call(server.url, "POST", "/runs/wait", { body: { assistant_id: "silent", input: {} } });
  expect(waited.json).toMatchObject({ __interrupt__: asked });
});

test("a function that waits before it has returned anything shows no values", async () => {
  const { runs, threads } = server.client;
  const { thread_id } = await threads.create();
  await runs.wait(thread_id, "plain", { input: { ask: true } });
  expect(await threads.getState(thread_id)).toMatchObject({ next: ["plain"], values: {} });
});

test.each([
  ["object", "Error", "no such thing"],
  ["nameless", "Error", "it broke"],
  ["structured", "Error", '{"reason":"this"}'],
  ["getter", "Error", expect.any(String)],
])("what a node throws is described by two texts (%s)", async (how, error, message) => {
  const { runs, threads } = server.client;
  const { thread_id } = await threads.create();
  const payload = { input: { how } };
  expect(await runs.wait(thread_id, "throwing", { ...payload, raiseError: false })).toEqual({
    __error__: { error, message },
  });
  expect((await threads.get(thread_id)).status).toBe("error");
});

test("values and state of a thread agree when one of several tasks has failed, or was stopped", async () => {
  const { runs, threads } = server.client;
  const { thread_id } = await threads.create();
  const agreed = async (): Promise<unknown> => {
    const [{ values }, state] = [await threads.get(thread_id), await threads.getState(thread_id)];
    expect(values).toEqual(state.values);
    return (values as { log: unknown }).log;
  };
  /** Runs workers side by side until the first has finished and the other stands at its gate. */
  const fan = async (first: string, second: object, gate: string) => {
    const how = [{ name: first }, { ...second, gate: gates.url(gate) }];
    const body = { assistant_id: "fanning", input: { how }, stream_mode: "updates" };
    const stream = await frames(server.url, "POST", `/threads/${thread_id}/runs/stream`, { body });
    await gates.entered(gate);
    for await (const { data } of stream) if (JSON.stringify(data).includes(`"${first}"`)) break;
    return String(stream.headers["content-location"]).split("/").at(-1)!;
  };
  const failing = await fan("a", { name: "b", fails: true }, "beside");
  gates.open("beside");
  expect(await runs.join(thread_id, failing)).toHaveProperty("__error__");
  expect(await agreed()).toEqual(["plan", "a"]);

  const stopped = await fan("c", { name: "d" }, "beside again");
  await runs.cancel(thread_id, stopped, true);
  gates.open("beside again");
  // New input gives up what waited at the step before.
  expect(await agreed()).toEqual(["plan", "plan", "c"]);
  expect(await runs.join(thread_id, stopped)).toMatchObject({ log: await agreed() });
});
