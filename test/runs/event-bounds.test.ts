// The bound of a run's event log, and the stream that sends it: a reader learns that it lost something, and gets the end else.
import type { Readable } from "node:stream";
import { afterEach, expect, test, vi } from "vitest";
import { EventLog, type LogReader } from "../../src/runs/events.ts";
import type { Reply } from "../../src/server/respond.ts";
import { eventStream } from "../../src/server/sse.ts";

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
  const log = new EventLog(false);
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

test("a reader that lost events knows it, and reads what is left", () => {
  const log = new EventLog(false);
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
  const log = new EventLog(false);
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
  const log = new EventLog(false);
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
