// The bound of a run's event log, and the stream that sends it: a reader learns that it lost something, and gets the end else.
import type { Readable } from "node:stream";
import { afterEach, expect, test, vi } from "vitest";
import { TestClock } from "../../src/clock.ts";
import type { RunRecord } from "../../src/resources/runs.ts";
import { EventLog } from "../../src/runs/events.ts";
import type { LogReader } from "../../src/runs/log-reader.ts";
import { StoredLogs } from "../../src/runs/stored-logs.ts";
import type { Reply } from "../../src/server/respond.ts";
import { eventStream } from "../../src/server/sse.ts";
import { buffered } from "../../src/storage/buffered.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";

const RESUMABLE = { run: { run_id: "run", thread_id: "thread" }, attempt: 1 } as unknown as RunRecord;
const MB = 1024 * 1024;
/** More than a log may hold. */
const HUGE = `"${"x".repeat(70 * MB)}"`;
const HALF = `"${"y".repeat(40 * MB)}"`;

afterEach(() => void vi.useRealTimers());

/** Everything that the event loop has in hand is done. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** The stream that a reader's events go out on. */
function streamOf(reader: LogReader, prelude = ""): Readable {
  let stream: Readable | undefined;
  const reply = { stream: (body: Readable) => (stream = body) } as unknown as Reply;
  eventStream(reply, reader, {}, prelude);
  return stream!;
}

test("one event that is larger than the bound is read", () => {
  const log = new EventLog();
  log.expectReader();
  const reader = log.reader("start");
  log.push("metadata", "{}");
  reader.read();
  log.push("values", HUGE, "values");
  expect([reader.ended, reader.lost]).toEqual([false, false]);
  expect(reader.read().length).toBeGreaterThan(HUGE.length);
  log.push("end", "1");
  expect([reader.lost, reader.read()]).toEqual([false, "event: end\ndata: 1\nid: 2\n\n"]);
});

test("what all readers have read is kept for a while only, by number and by size", () => {
  const log = new EventLog();
  const [fast, slow] = [log.reader("start"), log.reader("start")];
  const data = `"${"x".repeat(MB / 2)}"`;
  const most: number[] = [];
  for (let i = 0; i < 100; i++) {
    log.push("values", data);
    while (!fast.caughtUp) fast.read();
    if (i === 19) most.push(log.chars);
    // The other one stands still for a while; what it has not read is kept.
    if (i >= 20) while (!slow.caughtUp) slow.read();
    if (i > 30) most.push(log.chars);
  }
  expect(most[0]).toBeGreaterThan(10 * MB);
  expect(Math.max(...most.slice(1))).toBeLessThan(5 * MB);
  expect([fast.lost, slow.lost]).toEqual([false, false]);
  // One that comes back finds the last of it.
  expect(log.reader({ after: 98 }).read()).toContain("id: 99");
  expect(log.reader({ after: 96 }).read()).toContain("id: 97");
});

test("the last event that was read may be on its way still, and stays however large it is", () => {
  const log = new EventLog();
  const reader = log.reader("start");
  for (let i = 0; i < 3; i++) {
    log.push("values", `"${"x".repeat(5 * MB)}"`);
    reader.read();
  }
  log.push("values", "1");
  expect(log.chars).toBeLessThan(11 * MB);
  expect(log.reader({ after: 1 }).read()).toMatch(/^event: values\ndata: "x[^]*id: 2\n/);
});

test("a reader that lost events knows it, and reads what is left", () => {
  const log = new EventLog();
  const reader = log.reader("start");
  log.push("metadata", "{}");
  log.push("values", HALF);
  expect(reader.lost).toBe(false);
  log.push("values", HALF);
  expect([reader.lost, reader.ended]).toEqual([true, false]);
  expect(reader.read()).toMatch(/^event: values\n/);
  log.close();
  expect([reader.lost, reader.ended, reader.read()]).toEqual([true, true, ""]);
});

test("the stream of a reader that lost events breaks, and does not end", async () => {
  const log = new EventLog();
  const stream = streamOf(log.reader("start"));
  const failed = new Promise<Error>((resolve) => void stream.on("error", resolve));
  let ended = false;
  stream.on("end", () => (ended = true));
  stream.resume();
  await turn();
  log.push("values", HALF);
  log.push("values", HALF);
  log.push("values", "1");
  expect((await failed).message).toBe("the client is too slow for this stream");
  expect([ended, stream.destroyed]).toEqual([false, true]);
});

test("a heartbeat behind the end does not break the stream of a slow client", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const log = new EventLog();
  const stream = streamOf(log.reader("start"), ": stream\n");
  const errors: unknown[] = [];
  stream.on("error", (error) => errors.push(error));
  // The client wants something and gets the opening, a heartbeat and an event; then the run ends, and nobody has read yet.
  stream.read(0);
  vi.advanceTimersByTime(5000);
  log.push("values", "1");
  await turn();
  await turn();
  log.push("values", "2");
  log.close();
  await turn();
  await turn();
  vi.advanceTimersByTime(60_000);
  await turn();
  expect(errors).toEqual([]);
  expect(stream.destroyed).toBe(false);
  const chunks: string[] = [];
  for await (const chunk of stream) chunks.push(String(chunk));
  expect(chunks.join("")).toBe(
    ": stream\n: heartbeat\nevent: values\ndata: 1\nid: 0\n\nevent: values\ndata: 2\nid: 1\n\n",
  );
});

test("a stream of which nothing is for the reader ends, without holding up the others", async () => {
  const logs = new StoredLogs(buffered(memoryDatabase()), 1000, new TestClock());
  const log = logs.open(RESUMABLE);
  for (let i = 0; i < 3000; i++) log.push("values", "1", "values");
  log.push("updates", "2", "updates");
  log.close();
  const stream = streamOf(log.reader("start", new Set(["updates"])));
  let turns = 0;
  const count = (): void => {
    turns++;
    if (!stream.readableEnded) setImmediate(count);
  };
  setImmediate(count);
  const chunks: string[] = [];
  for await (const chunk of stream) chunks.push(String(chunk));
  expect(chunks.join("")).toBe("event: updates\ndata: 2\nid: 3000\n\n");
  expect(turns).toBeGreaterThan(3);
});

test("the stream of a client that does not read holds one piece, and the rest comes when it reads", async () => {
  const logs = new StoredLogs(buffered(memoryDatabase()), 1000, new TestClock());
  const log = logs.open(RESUMABLE);
  const stream = streamOf(log.reader("start"));
  const data = `"${"x".repeat(10_000)}"`;
  for (let i = 0; i < 1000; i++) log.push("values", data, "values");
  stream.read(0);
  await turn();
  await turn();
  expect(stream.readableLength).toBeLessThan(MB);
  expect(log.chars).toBeLessThan(MB);
  log.close();
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  expect([...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]))).toEqual(
    Array.from({ length: 1000 }, (_, i) => i),
  );
});

test("the stream of events that cannot be stored breaks, and does not end", async () => {
  const inner = memoryDatabase();
  inner.write = () => {
    throw new Error("the disk is full");
  };
  const log = new StoredLogs(buffered(inner), 1000, new TestClock()).open(RESUMABLE);
  const stream = streamOf(log.reader("start"), ": stream\n");
  const failed = new Promise<Error>((resolve) => void stream.on("error", resolve));
  let text = "";
  stream.on("data", (chunk) => (text += String(chunk)));
  await turn();
  log.push("values", "1", "values");
  expect((await failed).message).toBe("the disk is full");
  expect(text).toBe(": stream\n");
});
