import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { afterEach, expect, test, vi } from "vitest";
import { OutgoingEvents } from "../../src/server/outgoing-events.ts";

const PING_MS = 5000;
/** Looks in a row that find nothing taken until a client is let go. */
const IDLE_LOOKS = 12;
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

test("small events come in their order, those that were sent before the client reads and those that come while it does", async () => {
  const events = new OutgoingEvents();
  const sent = Array.from({ length: 20_000 }, (_, i) => `data: ${i} é\n\n`);
  for (const text of sent.slice(0, 15_000)) events.send(text);
  const chunks: Buffer[] = [];
  const client = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      setImmediate(done);
    },
  });
  const over = pipeline(events, client);
  await new Promise(setImmediate);
  for (const text of sent.slice(15_000)) events.send(text);
  events.complete();
  await over;
  expect(Buffer.concat(chunks).toString()).toBe(sent.join(""));
  // They share pieces, and a piece is small.
  expect(chunks.length).toBeLessThan(100);
  expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThanOrEqual(64 * 1024);
});

test("a client that takes nothing for a minute is let go when much waits for it, and not before", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const events = new OutgoingEvents();
  const { over } = connected(events);
  events.send("x".repeat(LARGE));
  await new Promise(setImmediate);
  // What is being sent does not count.
  vi.advanceTimersByTime(2 * IDLE_LOOKS * PING_MS);
  expect(events.destroyed).toBe(false);
  events.send("x".repeat(LARGE));
  vi.advanceTimersByTime(PING_MS);
  expect(await over).toMatchObject({ message: "the client does not read this stream" });
});

test("a client that takes little, and not at every look, is not let go before it takes nothing", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const events = new OutgoingEvents();
  const { client, over } = connected(events);
  for (let count = 0; count < 3; count++) events.send("x".repeat(LARGE));
  events.complete();
  for (let pieces = 0; pieces < 5; pieces++) {
    await new Promise(setImmediate);
    client.take();
    await new Promise(setImmediate);
    // The first look sees what was taken.
    vi.advanceTimersByTime(IDLE_LOOKS * PING_MS);
    expect(events.destroyed).toBe(false);
  }
  expect(client.length).toBeLessThan(LARGE / 10);
  vi.advanceTimersByTime(PING_MS);
  expect(await over).toMatchObject({ message: "the client does not read this stream" });
});

test("a client that has taken everything may be sent much", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const events = new OutgoingEvents();
  const { client, over } = connected(events);
  client.read();
  for (let looks = 0; looks < 2 * IDLE_LOOKS; looks++) {
    await new Promise(setImmediate);
    vi.advanceTimersByTime(PING_MS);
  }
  for (let count = 0; count < 3; count++) events.send("x".repeat(LARGE));
  vi.advanceTimersByTime(PING_MS);
  events.complete();
  expect(await over).toBeUndefined();
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

test("the bound is that of what waits now: a large event that was taken makes no room any more", async () => {
  const events = new OutgoingEvents(40_000);
  const { client, over } = connected(events);
  await new Promise(setImmediate);
  events.send("a".repeat(16_384));
  for (const size of [100_000, 16_000, 16_000]) events.send("x".repeat(size));
  while (client.length < 100_000) {
    client.take();
    await new Promise(setImmediate);
  }
  // What is in the buffers of the streams does not wait, and a part of the rest may be in them as well.
  for (let count = 0; count < 4 && !events.destroyed; count++) events.send("x".repeat(16_000));
  expect(events.destroyed).toBe(true);
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
