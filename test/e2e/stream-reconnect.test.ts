// Broken wires: whatever breaks, and however often, the official client gets every event of a run once.
import { join } from "node:path";
import type { Client } from "@langchain/langgraph-sdk";
import { describe, expect, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { call, collect, type Frame, frames } from "./support/http.ts";
import { type Proxy, startProxy } from "./support/proxy.ts";
import { clientOf, useServer } from "./support/server.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "streams-project");
const BURST = 50;
const server = useServer({ cwd: PROJECT });
const gates = useGates();

const newThread = async (): Promise<string> => (await server.client.threads.create()).thread_id;
const input = (name: string, stations: number, burst = BURST) => ({
  gates: Array.from({ length: stations }, (_, i) => gates.url(`${name} ${i}`)),
  burst,
  station: 0,
});
/** What a run says at and behind some of its stations. */
const story = (first: number, last: number, burst = BURST): unknown[] =>
  Array.from({ length: last - first + 1 }, (_, i) => [
    { at: first + i },
    ...Array.from({ length: burst }, (_none, n) => ({ behind: first + i, i: n })),
  ]).flat();
const customOf = (events: readonly Frame[]): unknown[] =>
  events.filter(({ event }) => event === "custom").map(({ data }) => data);
const idsOf = (events: readonly Frame[]): number[] => events.map(({ id }) => Number(id));

/** Reads until an event says that. */
async function until(stream: AsyncIterator<unknown>, wanted: object, seen: Frame[]): Promise<void> {
  const text = JSON.stringify(wanted);
  for (;;) {
    const { value, done } = (await stream.next()) as IteratorResult<Frame>;
    if (done === true) throw new Error(`the stream ended before ${text}, with ${JSON.stringify(seen)}`);
    seen.push(value);
    if (JSON.stringify(value.data) === text) return;
  }
}

/**
 * Breaks the connection once per station of a run: as long as it halts there, so that it goes on while the client is away (behind
 * the last one to its end), or in the middle of what it says behind it.
 */
async function cutEverywhere(
  stream: AsyncIterableIterator<unknown>,
  proxy: Proxy,
  name: string,
  stations: number,
): Promise<Frame[]> {
  const seen: Frame[] = [];
  for (let station = 0; station < stations; station++) {
    await until(stream, { at: station }, seen);
    if (station % 2 === 1) {
      gates.open(`${name} ${station}`);
      await until(stream, { behind: station, i: 10 }, seen);
    }
    proxy.cut();
    gates.open(`${name} ${station}`);
  }
  seen.push(...((await collect(stream)) as Frame[]));
  return seen;
}

describe("the official client gets every event once, however often its connection breaks", () => {
  const STATIONS = 3;

  /** A stream that goes through a proxy. */
  async function wired(): Promise<{ proxy: Proxy; runs: Client["runs"] }> {
    const proxy = await startProxy(server.url);
    return { proxy, runs: clientOf(proxy.url).runs };
  }

  function expectAll(name: string, seen: readonly Frame[]): void {
    expect(seen.map(({ event }) => event).filter((event) => event !== "custom")).toEqual(["metadata"]);
    expect(customOf(seen), name).toEqual(story(0, STATIONS - 1));
    expect(idsOf(seen), name).toEqual(seen.map((_, i) => i));
  }

  // All at the same time, because the client takes its time before it tries again.
  test("on threads and without, streamed and joined, resumable and not", async () => {
    const tries: Promise<void>[] = [];
    for (const streamResumable of [true, false]) {
      for (const stateless of [true, false]) {
        const name = `streamed ${streamResumable} ${stateless}`;
        const streamed = async (): Promise<void> => {
          const { proxy, runs } = await wired();
          const payload = { input: input(name, STATIONS), streamMode: "custom", streamResumable } as const;
          const thread = stateless ? (null as never) : await newThread();
          expectAll(name, await cutEverywhere(runs.stream(thread, "stations", payload), proxy, name, STATIONS));
          // What the client had received before a break it may read behind it, so that two breaks are one to it.
          expect(proxy.connections).toBeGreaterThanOrEqual(STATIONS);
        };
        tries.push(streamed());
      }
    }
    const joined = async (name: string, streamResumable: boolean) => {
      const { proxy, runs } = await wired();
      const thread = await newThread();
      const payload = { input: input(name, STATIONS), streamMode: "custom", streamResumable } as const;
      const { run_id } = await server.client.runs.create(thread, "stations", payload);
      await gates.entered(`${name} 0`);
      const stream = runs.joinStream(thread, run_id, streamResumable ? { lastEventId: "-1" } : {});
      return { proxy, stream, run_id };
    };
    const joinedFromTheFirst = async (): Promise<void> => {
      const { proxy, stream } = await joined("joined kept", true);
      expectAll("joined kept", await cutEverywhere(stream, proxy, "joined kept", STATIONS));
    };
    const joinedInTheMiddle = async (): Promise<void> => {
      const name = "joined late";
      const { proxy, stream, run_id } = await joined(name, false);
      expect((await stream.next()).value).toMatchObject({ event: "metadata", data: { run_id, attempt: 1 } });
      proxy.cut();
      gates.open(`${name} 0`);
      const seen: Frame[] = [];
      await until(stream, { at: 1 }, seen);
      proxy.cut();
      for (const station of [1, 2]) gates.open(`${name} ${station}`);
      seen.push(...((await collect(stream)) as Frame[]));
      expect(seen.filter(({ event }) => event !== "custom")).toEqual([]);
      expect(customOf(seen)).toEqual(story(0, STATIONS - 1).slice(1));
      expect(idsOf(seen)).toEqual(seen.map((_, i) => i + 2));
    };
    await Promise.all([...tries, joinedFromTheFirst(), joinedInTheMiddle()]);
  });

  test("also when it breaks while the run waits for its turn", async () => {
    const all = [true, false].map(async (streamResumable) => {
      const name = `waiting ${streamResumable}`;
      const thread = await newThread();
      const blocker = await server.client.runs.create(thread, "stations", { input: input(name, 1) });
      await gates.entered(`${name} 0`);
      const proxy = await startProxy(server.url);
      let know!: () => void;
      const known = new Promise<void>((resolve) => (know = resolve));
      const stream = clientOf(proxy.url).runs.stream(thread, "stations", {
        input: input(name, 1),
        streamMode: "custom",
        streamResumable,
        onRunCreated: () => know(),
      });
      const early = stream.next();
      await known;
      proxy.cut();
      gates.open(`${name} 0`);
      await server.client.runs.join(thread, blocker.run_id);
      const [run] = await server.client.runs.list(thread);
      await server.client.runs.join(thread, run!.run_id);
      const seen = [(await early).value as Frame, ...((await collect(stream)) as Frame[])];
      expect(proxy.connections).toBe(2);
      expect(customOf(seen)).toEqual(story(0, 0));
      expect(idsOf(seen)).toEqual(seen.map((_, i) => i));
    });
    await Promise.all(all);
  });

  test("and what was on the wire when the run ended can be asked for again", async () => {
    const thread = await newThread();
    gates.open("end 0");
    const seen = (await collect(
      server.client.runs.stream(thread, "stations", { input: input("end", 1), streamMode: "custom" }),
    )) as Frame[];
    const { run_id } = seen[0]!.data as { run_id: string };
    const path = `/threads/${thread}/runs/${run_id}/stream`;
    const again = await frames(server.url, "GET", path, { headers: { "last-event-id": seen[10]!.id! } });
    expect(await again.all()).toEqual(seen.slice(11));
    // Who joins it anew gets what comes from now on, which is nothing.
    const nothing: Record<string, string>[] = [{}, { "last-event-id": "-1" }, { "last-event-id": "-" }];
    for (const headers of nothing) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await (await frames(server.url, "GET", path, { headers })).all()).toEqual([]);
    }
  });
});

describe("joining", () => {
  /** A run that halts at its first station. */
  async function halted(name: string, more: Record<string, unknown> = {}) {
    const thread = await newThread();
    const run = await server.client.runs.create(thread, "stations", {
      input: input(name, 1, 2),
      streamMode: ["custom", "updates"],
      ...more,
    });
    await gates.entered(`${name} 0`);
    return { thread, run_id: run.run_id, path: `/threads/${thread}/runs/${run.run_id}/stream` };
  }

  test("stream_mode: one, repeated, with commas; what the run does not have is nothing", async () => {
    const { path } = await halted("modes");
    const queries = {
      "": ["metadata", "custom", "custom", "updates"],
      "?stream_mode=custom": ["metadata", "custom", "custom"],
      "?stream_mode=custom&stream_mode=updates": ["metadata", "custom", "custom", "updates"],
      "?stream_mode=updates,custom": ["metadata", "custom", "custom", "updates"],
      "?stream_mode=updates&stream_mode=values,tasks": ["metadata", "updates"],
      "?stream_mode=events": ["metadata"],
      "?stream_mode=": ["metadata", "custom", "custom", "updates"],
    };
    const streams = await Promise.all(Object.keys(queries).map((query) => frames(server.url, "GET", path + query)));
    for (const query of ["?stream_mode=everything", "?stream_mode=custom,everything", "?after=soon"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await call(server.url, "GET", path + query)).toMatchObject({
        status: 422,
        json: { detail: expect.stringMatching(/^(stream_mode|after)/) },
      });
    }
    gates.open("modes 0");
    const seen = await Promise.all(streams.map((stream) => stream.all()));
    expect(seen.map((events) => events.map(({ event }) => event))).toEqual(Object.values(queries));
  });

  test("cancel_on_disconnect stops the run when the reader leaves, and only then", async () => {
    const { thread, run_id, path } = await halted("cancel");
    const patient = await frames(server.url, "GET", path);
    const strict = await frames(server.url, "GET", `${path}?cancel_on_disconnect=1`);
    await Promise.all([patient.next(), strict.next()]);
    (await frames(server.url, "GET", `${path}?cancel_on_disconnect=0`)).leave();
    expect((await server.client.runs.get(thread, run_id)).status).toBe("running");
    strict.leave();
    expect(await patient.all()).toEqual([]);
    expect((await server.client.runs.get(thread, run_id)).status).toBe("interrupted");
    gates.open("cancel 0");
  });

  test("the headers say where the run is and where to go on", async () => {
    const { thread, run_id, path } = await halted("headers");
    const joined = await frames(server.url, "GET", path);
    expect(joined.headers).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "content-location": `/threads/${thread}/runs/${run_id}`,
      location: path,
    });
    gates.open("headers 0");
    await joined.all();
    const streamed = await frames(server.url, "POST", `/threads/${thread}/runs/stream`, {
      body: { assistant_id: "stations", input: input("headers", 1, 1) },
    });
    const { run_id: second } = (await streamed.next()).value.data as { run_id: string };
    expect(streamed.headers).toMatchObject({
      "content-location": `/threads/${thread}/runs/${second}`,
      location: `/threads/${thread}/runs/${second}/stream?after=-1`,
    });
    await streamed.all();
    const stateless = await frames(server.url, "POST", "/runs/stream", {
      body: { assistant_id: "stations", input: input("headers", 1, 1) },
    });
    expect(stateless.headers["location"]).toBe(`${stateless.headers["content-location"]}/stream?after=-1`);
    await stateless.all();
  });

  test("events of a background run are kept, whoever joins before it begins, and however", async () => {
    const { thread } = await halted("block");
    const create = () =>
      server.client.runs.create(thread, "stations", {
        input: input("block", 1, 3),
        streamMode: "custom",
        streamResumable: true,
      });
    const [joined, silent] = [await create(), await create()];
    const early = await frames(server.url, "GET", `/threads/${thread}/runs/${joined.run_id}/stream`);
    gates.open("block 0");
    const live = await early.all();
    await server.client.runs.join(thread, silent.run_id);
    expect(customOf(live)).toEqual(story(0, 0, 3));
    for (const { run_id } of [joined, silent]) {
      const path = `/threads/${thread}/runs/${run_id}/stream`;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const stream = await frames(server.url, "GET", path, { headers: { "last-event-id": "-1" } });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(customOf(await stream.all())).toEqual(story(0, 0, 3));
    }
  });

  test("deleting the run, the thread, or rolling back takes the events with it", async () => {
    const { path: deleted, thread, run_id } = await halted("delete", { streamResumable: true });
    gates.open("delete 0");
    await server.client.runs.join(thread, run_id);
    const kept = { headers: { "last-event-id": "-" } };
    expect((await (await frames(server.url, "GET", deleted, kept)).all()).length).toBeGreaterThan(3);
    await server.client.runs.delete(thread, run_id);
    expect((await call(server.url, "GET", deleted, kept)).status).toBe(404);

    const undone = await halted("undo", { streamResumable: true });
    const reader = await frames(server.url, "GET", undone.path, kept);
    await reader.next();
    await server.client.runs.cancel(undone.thread, undone.run_id, true, "rollback");
    expect(customOf(await reader.all())).toEqual([{ at: 0 }]);
    expect((await call(server.url, "GET", undone.path, kept)).status).toBe(404);
    gates.open("undo 0");

    const gone = await halted("thread", { streamResumable: true });
    await server.client.threads.delete(gone.thread);
    expect((await call(server.url, "GET", gone.path, kept)).status).toBe(404);
    gates.open("thread 0");
  });
});
