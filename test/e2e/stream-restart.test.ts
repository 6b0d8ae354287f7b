// Streams over a SIGKILL: who had read a part of a resumable run goes on behind it when the server is back, and gets everything once.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import { openStorage } from "../../src/storage/open.ts";
import { useGates } from "./support/gates.ts";
import { collect, type Frame, frames, type FrameStream } from "./support/http.ts";
import { clientOf, type CliServer, startCli, startTestServer, temporaryFolder } from "./support/server.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "streams-project");
const BURST = 20;
const gates = useGates();

const input = (name: string, stations: number) => ({
  gates: Array.from({ length: stations }, (_, i) => gates.url(`${name} ${i}`)),
  burst: BURST,
  station: 0,
});
const behind = (station: number): unknown[] => Array.from({ length: BURST }, (_, i) => ({ behind: station, i }));
const dataOf = (events: readonly Frame[], name: string): unknown[] =>
  events.filter(({ event }) => event === name).map(({ data }) => data);
const idsOf = (events: readonly Frame[]): number[] => events.map(({ id }) => Number(id));
const upTo = (count: number, from = 0): number[] => Array.from({ length: count }, (_, i) => from + i);

/** Reads until a run halts at a station. */
async function untilAt(stream: AsyncIterator<unknown>, station: number): Promise<Frame[]> {
  const seen: Frame[] = [];
  for (;;) {
    const { value, done } = (await stream.next()) as IteratorResult<Frame>;
    if (done === true) throw new Error(`the stream ended before station ${station}, with ${JSON.stringify(seen)}`);
    seen.push(value);
    if ((value.data as { at?: number }).at === station) return seen;
  }
}

/** Number of stored events, and of records of logs. */
async function storedEvents(dataDir: string): Promise<[events: number, logs: number]> {
  const refuse = (trouble: unknown): never => {
    throw new Error(JSON.stringify(trouble));
  };
  const { database, storage, claim } = await openStorage(dataDir, {
    host: "127.0.0.1",
    onMovedAside: refuse,
    onError: refuse,
  });
  const count = (prefix: string): number => database.count(prefix, `${prefix}\uffff`);
  const found: [number, number] = [count("e/"), count("eh/")];
  await storage.dispose();
  claim?.release();
  return found;
}

describe("a SIGKILL in the middle of runs", () => {
  const dataDir = temporaryFolder();
  let server: CliServer;
  let client: Client;
  const thread: Record<"streamed" | "silent" | "ended" | "plain", string> = {
    streamed: "",
    silent: "",
    ended: "",
    plain: "",
  };
  const run: Record<"silent" | "ended" | "plain", string> = { silent: "", ended: "", plain: "" };
  let streamed: AsyncIterableIterator<unknown>;
  let stateless: AsyncIterableIterator<unknown>;
  const before: Record<"streamed" | "stateless" | "followed" | "ended", Frame[]> = {
    streamed: [],
    stateless: [],
    followed: [],
    ended: [],
  };
  /** Every one of them halts at station 1 when the server dies; what they say at it, they say again. */
  const halted = [{ at: 0 }, ...behind(0), { at: 1 }];

  const start = (port = 0): Promise<CliServer> => startCli({ cwd: PROJECT, dataDir, port });
  const stream = (path: string, lastEventId?: string, query = ""): Promise<FrameStream> =>
    frames(server.url, "GET", `${path}/stream${query}`, {
      headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId },
    });

  beforeAll(async () => {
    server = await start();
    client = clientOf(server.url);
    for (const name of ["streamed", "silent", "ended", "plain"] as const)
      thread[name] = (await client.threads.create()).thread_id;
    for (const name of ["streamed", "stateless", "silent", "ended", "plain"]) gates.open(`${name} 0`);

    const resumable = { streamMode: "custom", streamResumable: true } as const;
    before.ended = (await collect(
      client.runs.stream(thread.ended, "stations", { ...resumable, input: input("ended", 1) }),
    )) as Frame[];
    run.ended = (before.ended[0]!.data as { run_id: string }).run_id;
    const followed = await stream(`/threads/${thread.streamed}`, undefined, "?stream_mode=run_modes,lifecycle");
    streamed = client.runs.stream(thread.streamed, "stations", { ...resumable, input: input("streamed", 2) });
    stateless = client.runs.stream(null, "stations", { ...resumable, input: input("stateless", 2) });
    before.streamed = await untilAt(streamed, 1);
    before.stateless = await untilAt(stateless, 1);
    before.followed = await untilAt(followed, 1);
    const ended = followed.all().catch((error: unknown) => error);
    run.silent = (
      await client.runs.create(thread.silent, "stations", { ...resumable, input: input("silent", 2) })
    ).run_id;
    run.plain = (
      await client.runs.create(thread.plain, "stations", { streamMode: "custom", input: input("plain", 2) })
    ).run_id;
    await Promise.all([gates.entered("silent 1"), gates.entered("plain 1")]);

    expect(await server.kill("SIGKILL")).toBe("SIGKILL");
    expect(await ended).toBeInstanceOf(Error);
    server = await start(Number(new URL(server.url).port));
    await Promise.all(["streamed", "stateless", "silent", "plain"].map((name) => gates.entered(`${name} 1`, 2)));
  });
  afterAll(async () => {
    await server?.kill("SIGKILL");
    rmSync(dataDir, { recursive: true, force: true });
  });

  test("the client that streamed goes on by itself, on the thread and without one", async () => {
    gates.open("streamed 1");
    gates.open("stateless 1");
    for (const [name, rest] of [
      ["streamed", (await collect(streamed)) as Frame[]],
      ["stateless", (await collect(stateless)) as Frame[]],
    ] as const) {
      const all = [...before[name], ...rest];
      expect(dataOf(before[name], "custom"), name).toEqual(halted);
      expect(rest[0], name).toMatchObject({ event: "metadata", data: { attempt: 2 } });
      expect(dataOf(rest, "custom"), name).toEqual([{ at: 1 }, ...behind(1)]);
      expect(idsOf(all), name).toEqual(upTo(all.length));
    }
  });

  test("a run that nobody had read is told from its first event on", async () => {
    const path = `/threads/${thread.silent}/runs/${run.silent}`;
    const live = await stream(path, "-1");
    gates.open("silent 1");
    const all = await live.all();
    expect(dataOf(all, "metadata")).toEqual([
      { run_id: run.silent, attempt: 1 },
      { run_id: run.silent, attempt: 2 },
    ]);
    expect(dataOf(all, "custom")).toEqual([...halted, { at: 1 }, ...behind(1)]);
    expect(idsOf(all)).toEqual(upTo(all.length));
    // And again when it has ended, from anywhere.
    for (const id of ["5", "22", "23", "40"])
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await (await stream(path, id)).all()).toEqual(all.slice(Number(id) + 1));
    expect(await (await stream(path, String(all.length - 1))).all()).toEqual([]);
  });

  test("a run that had ended before is told as it was", async () => {
    const path = `/threads/${thread.ended}/runs/${run.ended}`;
    expect(await (await stream(path, "-")).all()).toEqual(before.ended);
    expect(await (await stream(path, "7", "?stream_mode=custom")).all()).toEqual(before.ended.slice(8));
    expect(await (await stream(path)).all()).toEqual([]);
  });

  test("a run that is not resumable is told from now on", async () => {
    const live = await stream(`/threads/${thread.plain}/runs/${run.plain}`, "-1");
    const first = (await live.next()).value as Frame;
    expect(first).toMatchObject({ event: "metadata", data: { run_id: run.plain, attempt: 2 } });
    gates.open("plain 1");
    expect(dataOf(await live.all(), "custom")).toEqual(behind(1));
  });

  test("who followed the thread goes on behind what was told there", async () => {
    const { id } = before.followed.at(-1)!;
    const all = await stream(`/threads/${thread.streamed}`, "-", "?stream_mode=run_modes,lifecycle");
    const rest = await stream(`/threads/${thread.streamed}`, id!, "?stream_mode=run_modes,lifecycle");
    const next: Frame[] = [];
    for await (const event of rest) {
      next.push(event);
      if (event.event === "run_done") break;
    }
    expect(next.map(({ event }) => event)).toEqual([
      "run_start",
      "metadata",
      ...Array.from({ length: BURST + 1 }, () => "custom"),
      "run_done",
    ]);
    expect(next.at(-1)!.data).toMatchObject({ attempt: 2, status: "success" });
    const told: Frame[] = [];
    for await (const event of all) {
      told.push(event);
      if (event.event === "run_done") break;
    }
    expect(told).toEqual([...before.followed, ...next]);
    expect(idsOf(told)).toEqual([...new Set(idsOf(told))].toSorted((a, b) => a - b));
  });
});

test("events of ended runs go when their time is over, also when the server is down then", async () => {
  const dataDir = temporaryFolder();
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const clock = new TestClock(Date.now());
  gates.open("time 0");
  const first = await startTestServer({ cwd: PROJECT, dataDir, clock });
  const client = clientOf(first.url);
  const whole = async (threadId: string | null): Promise<Frame[]> =>
    (await collect(
      client.runs.stream(threadId as string, "stations", {
        input: input("time", 1),
        streamMode: "custom",
        streamResumable: true,
      }),
    )) as Frame[];
  const again = async (url: string, threadId: string | null, told: Frame[]) => {
    const { run_id } = told[0]!.data as { run_id: string };
    return clientOf(url).runs.joinStream(threadId, run_id, { lastEventId: "-1" });
  };
  const { thread_id } = await client.threads.create();
  const early = await whole(thread_id);
  await clock.advance(100_000);
  const late = await whole(thread_id);
  const without = await whole(null);
  expect(await collect(await again(first.url, thread_id, early))).toEqual(early);
  await clock.advance(20_000);
  expect(await collect(await again(first.url, thread_id, early))).toEqual([]);
  expect(await collect(await again(first.url, thread_id, late))).toEqual(late);
  expect(await collect(await again(first.url, null, without))).toEqual(without);
  await first.stop();

  const second = await startTestServer({ cwd: PROJECT, dataDir, clock });
  expect(await collect(await again(second.url, thread_id, late))).toEqual(late);
  expect(await collect(await again(second.url, null, without))).toEqual(without);
  await second.stop();
  const [events, logs] = await storedEvents(dataDir);
  expect(events).toBeGreaterThan(40);
  expect(logs).toBe(2);

  await clock.advance(120_000);
  const third = await startTestServer({ cwd: PROJECT, dataDir, clock });
  expect(await collect(await again(third.url, thread_id, late))).toEqual([]);
  await expect(collect(await again(third.url, null, without))).rejects.toMatchObject({ status: 404 });
  await third.stop();
  expect(await storedEvents(dataDir)).toEqual([0, 0]);
});

test("runs that are not resumable store no events", async () => {
  const dataDir = temporaryFolder();
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  gates.open("none 0");
  const server = await startTestServer({ cwd: PROJECT, dataDir });
  const client = clientOf(server.url);
  const { thread_id } = await client.threads.create();
  const payload = { input: input("none", 1), streamMode: "custom" } as const;
  await collect(client.runs.stream(thread_id, "stations", payload));
  await client.runs.wait(thread_id, "stations", { input: input("none", 1) });
  await server.stop();
  expect(await storedEvents(dataDir)).toEqual([0, 0]);
});

test("a stop in the middle breaks streams, so that clients come back, and the events go on at the next start", async () => {
  const dataDir = temporaryFolder();
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  gates.open("stop 0");
  const first = await startTestServer({ cwd: PROJECT, dataDir });
  const { thread_id } = await clientOf(first.url).threads.create();
  const live = await frames(first.url, "POST", `/threads/${thread_id}/runs/stream`, {
    body: { assistant_id: "stations", input: input("stop", 2), stream_mode: "custom", stream_resumable: true },
  });
  const seen = await untilAt(live, 1);
  const { run_id } = seen[0]!.data as { run_id: string };
  const broken = expect(live.all()).rejects.toThrow("aborted");
  // The run is asked to stop behind the station; it is left there when the time for that is over.
  await first.stop();
  await broken;

  const second = await startTestServer({ cwd: PROJECT, dataDir });
  await gates.entered("stop 1", 2);
  const back = await frames(second.url, "GET", `/threads/${thread_id}/runs/${run_id}/stream`, {
    headers: { "last-event-id": seen.at(-1)!.id! },
  });
  gates.open("stop 1");
  const more = await back.all();
  expect(more.map(({ event }) => event).slice(0, 2)).toEqual(["metadata", "custom"]);
  expect(dataOf(more, "custom")).toEqual([{ at: 1 }, ...behind(1)]);
  expect(idsOf([...seen, ...more])).toEqual(upTo(seen.length + more.length));
  await second.stop();
});
