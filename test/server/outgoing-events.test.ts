import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { afterEach, expect, test, vi } from "vitest";
import { OutgoingEvents } from "../../src/server/outgoing-events.ts";

const PING_MS = 5000;
const LARGE = 9 * 1024 * 1024;
afterEach(() => vi.useRealTimers());

/** A client that takes nothing before it is told to. */
class Client extends Writable {
  length = 0;
  readonly #held: (() => void)[] = [];
  #reads = false;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.length += chunk.length;
    if (this.#reads) done();
    else this.#held.push(done);
  }

  /** Takes what is there, and all that comes. */
  read(): void {
    this.#reads = true;
    for (const done of this.#held.splice(0)) done();
  }

  /** Takes one piece. */
  take(): void {
    this.#held.shift()?.();
  }
}

const connected = (events: OutgoingEvents): { client: Client; over: Promise<unknown> } => {
  const client = new Client({ highWaterMark: 1 });
  const over = pipeline(events, client).catch((error: unknown) => error);
  return { client, over };
};

test("events of any size reach a client that reads, before it is connected as well", async () => {
  const events = new OutgoingEvents();
  for (const part of ["é", "x"]) events.send(part.repeat(LARGE));
  events.complete();
  const { client, over } = connected(events);
  client.read();
  expect(await over).toBeUndefined();
  expect(client.length).toBe(3 * LARGE);
});

test("a client that takes nothing is let go when much waits for it, and not before", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const events = new OutgoingEvents();
  const { over } = connected(events);
  events.send("x".repeat(LARGE));
  await new Promise(setImmediate);
  // What is being sent does not count.
  for (let looks = 0; looks < 3; looks++) vi.advanceTimersByTime(PING_MS);
  expect(events.destroyed).toBe(false);
  events.send("x".repeat(LARGE));
  vi.advanceTimersByTime(PING_MS);
  expect(await over).toMatchObject({ message: "the client does not read this stream" });
});

test("a slow client is not let go", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const events = new OutgoingEvents();
  const { client, over } = connected(events);
  for (let count = 0; count < 3; count++) events.send("x".repeat(LARGE));
  events.complete();
  for (let looks = 0; looks < 5; looks++) {
    await new Promise(setImmediate);
    client.take();
    await new Promise(setImmediate);
    vi.advanceTimersByTime(PING_MS);
  }
  client.read();
  expect(await over).toBeUndefined();
  expect(client.length).toBe(3 * LARGE);
});

test("what waits is bounded, beside the largest event", async () => {
  const events = new OutgoingEvents(1000);
  const { over } = connected(events);
  await new Promise(setImmediate);
  // The first is being sent, and fills what lies between.
  for (const size of [LARGE, 5000, 600, 400]) events.send("x".repeat(size));
  expect(events.destroyed).toBe(false);
  events.send("x");
  expect(await over).toMatchObject({ message: "the client does not read this stream" });
});

test("a client that waits is sent comments", () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const events = new OutgoingEvents();
  events.read();
  vi.advanceTimersByTime(PING_MS);
  expect(String(events.read())).toBe(": ping\n\n");
  events.destroy();
  expect(vi.getTimerCount()).toBe(0);
});
