// What went wrong with streams: ends that were no ends, runs that could not be joined, and places to come back to that skipped what came first.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { call, type Frame, frames } from "./support/http.ts";
import { clientOf, startTestServer, temporaryFolder, useServer } from "./support/server.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "regression-project");
const server = useServer({ cwd: PROJECT });
const gates = useGates();
/** The type of the client knows another word. */
const KEPT = { onCompletion: "keep" as "complete" };

const gated = (name: string) => ({ gate: gates.url(name), at: "two" });
const names = (events: readonly Frame[]): string[] => events.map(({ event }) => event);

test("a run of which nothing is stored and that the server's stop cuts off says so to those who stream it", async () => {
  const up = await startTestServer({ cwd: PROJECT });
  onTestFinished(async () => void (await up.stop()));
  const body = { assistant_id: "steps", input: gated("cut off"), stream_mode: "updates" };
  const stream = await frames(up.url, "POST", "/runs/stream", { body });
  const all = stream.all();
  await gates.entered("cut off");
  await up.stop();
  gates.open("cut off");
  const events = await all;
  expect(names(events)).toEqual(["metadata", "updates", "error"]);
  expect(events.at(-1)!.data).toEqual({
    error: "ServerStopped",
    message: "The server stopped before the run had ended.",
  });
});

test("the stream of a kept run without a thread can be joined when it has ended, by either path", async () => {
  const { runs } = server.client;
  const run = await runs.create(null, "steps", { input: {}, ...KEPT });
  await runs.join(run.thread_id, run.run_id);
  for (const path of [`/runs/${run.run_id}/stream`, `/threads/${run.thread_id}/runs/${run.run_id}/stream`]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const stream = await frames(server.url, "GET", path);
    expect([path, stream.status]).toEqual([path, 200]);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await stream.all()).toEqual([]);
  }
  await server.client.threads.delete(run.thread_id);
  expect((await call(server.url, "GET", `/runs/${run.run_id}/stream`)).status).toBe(404);
});

test("such a run is found when the server was started anew, and not when it was deleted", async () => {
  const dataDir = temporaryFolder();
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const first = await startTestServer({ cwd: PROJECT, dataDir });
  const run = await clientOf(first.url).runs.create(null, "steps", { input: {}, ...KEPT });
  await clientOf(first.url).runs.join(run.thread_id, run.run_id);
  await first.stop();
  const second = await startTestServer({ cwd: PROJECT, dataDir });
  onTestFinished(async () => void (await second.stop()));
  const path = `/runs/${run.run_id}/stream`;
  expect((await call(second.url, "GET", path)).status).toBe(200);
  await clientOf(second.url).runs.delete(run.thread_id, run.run_id);
  expect((await call(second.url, "GET", path)).status).toBe(404);
});

test("a client that lost its connection before the first event gets all of them where it is told to go on", async () => {
  const { thread_id } = await server.client.threads.create();
  const body = { assistant_id: "steps", input: gated("location"), stream_mode: "updates" };
  const stream = await frames(server.url, "POST", `/threads/${thread_id}/runs/stream`, { body });
  const { location } = stream.headers;
  await gates.entered("location");
  stream.leave();
  const again = await frames(server.url, "GET", location!);
  gates.open("location");
  expect(names(await again.all())).toEqual(["metadata", "updates", "updates", "updates"]);
  // Who has got something says so, and goes on behind it.
  const late = await frames(server.url, "GET", location!, { headers: { "last-event-id": "2" } });
  expect(names(await late.all())).toEqual(["updates"]);
});
