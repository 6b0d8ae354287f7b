// Ctrl-C at the real command line: what runs finishes or is parked, streams end or go on at the next start, nothing acknowledged is lost; a
// second one forces.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { expect, onTestFinished, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { call, collect, type Frame, frames } from "./support/http.ts";
import { clientOf, type CliServer, startCli, temporaryFolder } from "./support/server.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "crash-project");
const gates = useGates();

/** A data folder, and how to start a server on it; both go with the test. */
function place(): { dataDir: string; up(port?: number): Promise<CliServer> } {
  const dataDir = temporaryFolder();
  const servers: CliServer[] = [];
  onTestFinished(async () => {
    for (const server of servers) await server.kill("SIGKILL");
    rmSync(dataDir, { recursive: true, force: true });
  });
  const up = async (port = 0): Promise<CliServer> => {
    const server = await startCli({ cwd: PROJECT, dataDir, port, env: { NO_COLOR: "1" } });
    servers.push(server);
    return server;
  };
  return { dataDir, up };
}

const allSteps = (name: string): string[] => [1, 2, 3, 4, 5].map((step) => `${name}:${step}`);

/** The events of a stream, and whether it ended; if not, it broke, which tells the client to come back. */
async function untilOver(stream: AsyncIterable<Frame>): Promise<{ events: Frame[]; ended: boolean }> {
  const events: Frame[] = [];
  try {
    for await (const event of stream) events.push(event);
    return { events, ended: true };
  } catch (error) {
    expect(String(error)).toMatch(/aborted|socket hang up/);
    return { events, ended: false };
  }
}

test("SIGINT lets a short run finish, and parks the others for the next start", async () => {
  const { dataDir, up } = place();
  const file = join(dataDir, "effects.txt");
  const first = await up();
  let client = clientOf(first.url);
  const begin = async (name: string, at: number) => {
    const { thread_id } = await client.threads.create();
    const body = {
      assistant_id: "steps",
      input: { name, file, gate: gates.url(name), at },
      stream_mode: "updates",
    };
    const stream = await frames(first.url, "POST", `/threads/${thread_id}/runs/stream`, { body });
    return { thread_id, run_id: stream.headers["content-location"]!.split("/").at(-1)!, over: untilOver(stream) };
  };
  // In its last step, in the middle of its steps, and in a step that does not end.
  const short = await begin("short", 5);
  const middle = await begin("middle", 2);
  const long = await begin("long", 2);
  const { run_id: waiting } = await client.runs.create(long.thread_id, "steps", {
    input: { name: "waiting", file, gate: "", at: 0 },
  });
  await Promise.all(["short", "middle", "long"].map((name) => gates.entered(name)));
  const joined = call(first.url, "GET", `/threads/${long.thread_id}/runs/${waiting}/join`);

  first.child.process.kill("SIGINT");
  const release = async (): Promise<void> => {
    await first.child.seen(/stopping/);
    gates.open("short");
    gates.open("middle");
  };
  await release();
  // What has ended ends; what goes on at the next start breaks, or the official client would take it for the end of the run.
  const told = await Promise.all([short, middle, long].map(async ({ over }) => over));
  expect(told.map(({ ended }) => ended)).toEqual([true, false, false]);
  const updates = told.map(({ events }) =>
    events.filter(({ event }) => event === "updates").map(({ data }) => Object.keys(data as object)[0]!),
  );
  expect(updates).toEqual([["one", "two", "three", "four", "five"], ["one", "two"], ["one"]]);
  expect(await joined).toMatchObject({ status: 200, json: { __error__: { error: "ServerStopped" } } });
  expect(await first.child.ended).toBe(130);
  expect(first.child.output.stderr).toMatch(
    /\nstopped · 1 run finished · 3 runs parked: the next start goes on with them\n$/,
  );
  expect(first.child.output.stdout).toBe("");

  gates.open("long");
  const second = await up();
  client = clientOf(second.url);
  expect(second.child.output.stderr).toMatch(/^recovered: 3 waiting runs queued again$/m);
  for (const { thread_id, run_id } of [middle, long]) await client.runs.join(thread_id, run_id);
  await client.runs.join(long.thread_id, waiting);
  const trails: Record<string, unknown> = {};
  for (const [name, { thread_id }] of Object.entries({ short, middle, long })) {
    trails[name] = (await client.threads.getState<{ trail: string[] }>(thread_id)).values.trail;
    expect(await client.threads.get(thread_id)).toMatchObject({ status: "idle" });
  }
  expect(trails).toEqual({
    short: allSteps("short"),
    middle: allSteps("middle"),
    long: [...allSteps("long"), ...allSteps("waiting")],
  });
  // All in their first attempt; only the step that was cut off ran again.
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  expect(lines.filter((line) => !line.endsWith(" 1"))).toEqual([]);
  const twice = lines.filter((line, i) => lines.indexOf(line) !== i);
  expect(twice).toEqual(["long 2 1"]);
});

test("the official client that streams goes on by itself over a restart, and misses nothing of a resumable run", async () => {
  const { up } = place();
  const first = await up();
  // It tries again while the server is down, as it does by default.
  const client = new Client({ apiUrl: first.url, apiKey: null as unknown as string });
  const { thread_id } = await client.threads.create();
  const input = { name: "streamed", gate: gates.url("streamed"), at: 2 };
  const stream = client.runs.stream(thread_id, "steps", { input, streamMode: "updates", streamResumable: true });
  const followed = await frames(first.url, "GET", `/threads/${thread_id}/stream`);
  const all = collect(stream);
  const over = untilOver(followed);
  await gates.entered("streamed");
  expect(await first.kill("SIGINT")).toBe(130);
  expect((await over).ended).toBe(false);

  const second = await up(Number(new URL(first.url).port));
  await gates.entered("streamed", 2);
  gates.open("streamed");
  const events = (await all) as Frame[];
  expect(events.map(({ event, data }) => (event === "updates" ? Object.keys(data as object)[0] : event))).toEqual([
    "metadata",
    "one",
    "metadata",
    "two",
    "three",
    "four",
    "five",
  ]);
  expect(events.map(({ id }) => Number(id))).toEqual(events.map((_, i) => i));
  expect(await second.kill("SIGTERM")).toBe(0);
});

test("SIGTERM stops with code 0, one Ctrl-C that arrives twice with 130, and what was created is there", async () => {
  const { up } = place();
  const first = await up();
  const ids: string[] = [];
  const client = clientOf(first.url);
  await Promise.all(
    Array.from({ length: 500 }, async () => {
      ids.push((await client.threads.create()).thread_id);
    }),
  );
  // npx passes the signal on that the terminal has sent already.
  first.child.process.kill("SIGINT");
  expect(await first.kill("SIGINT")).toBe(130);
  expect(first.child.output.stderr).toMatch(/\nstopped\n$/);

  const second = await up();
  const { url } = second;
  expect(second.child.output.stderr).toMatch(/^ {2}state .*, 500 threads,/m);
  const found = (await clientOf(url).threads.search({ limit: 1000 })).map(({ thread_id }) => thread_id);
  expect(found.toSorted()).toEqual(ids.toSorted());
  expect(await second.kill("SIGTERM")).toBe(0);
});

test("a second Ctrl-C forces the end, and loses nothing either", async () => {
  const { up } = place();
  const first = await up();
  let client = clientOf(first.url);
  const { thread_id } = await client.threads.create();
  const input = { name: "forced", gate: gates.url("forced"), at: 3 };
  const { run_id } = await client.runs.create(thread_id, "steps", { input });
  await gates.entered("forced");
  // A person who presses on until it is over.
  const pressing = setInterval(() => first.child.process.kill("SIGINT"), 100);
  onTestFinished(() => clearInterval(pressing));
  expect(await first.child.ended).toBe(130);
  clearInterval(pressing);
  expect(first.child.output.stderr).toContain("stopping… (Ctrl-C again to force)");
  expect(first.child.output.stderr).not.toMatch(/^stopped/m);

  gates.open("forced");
  const second = await up();
  client = clientOf(second.url);
  await client.runs.join(thread_id, run_id);
  expect(await client.threads.getState(thread_id)).toMatchObject({ values: { trail: allSteps("forced") }, next: [] });
});
