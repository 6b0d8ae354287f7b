import { describe, expect, it } from "vitest";
import { followSse, parseSse, RETRY_DELAYS, type SseEvent } from "../../src/cli/sse.ts";

async function* bytesOf(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
}

async function collect(source: AsyncIterable<SseEvent>): Promise<SseEvent[]> {
  const found = [];
  for await (const event of source) found.push(event);
  return found;
}

const parse = (...chunks: (string | Uint8Array)[]) => collect(parseSse(bytesOf(...chunks)));

describe("parseSse", () => {
  it("reads event, data and id, and skips comments", async () => {
    expect(await parse(': heartbeat\n\nevent: values\ndata: {"a":1}\nid: 7\n\n: heartbeat\n')).toEqual([
      { id: "7", event: "values", data: '{"a":1}' },
    ]);
  });

  it("gives the same events wherever the bytes are cut, with every kind of line end", async () => {
    const text = '\uFEFFevent: a\r\ndata: "grün 👋 né"\r\rdata:one\ndata: two\r\nid: 2\n\nevent: c\rdata\r\n\r\n';
    const expected = [
      { id: undefined, event: "a", data: '"grün 👋 né"' },
      { id: "2", event: "message", data: "one\ntwo" },
      { id: "2", event: "c", data: "" },
    ];
    const whole = new TextEncoder().encode(text);
    for (let cut = 0; cut <= whole.length; cut += 1) {
      expect(await parse(whole.slice(0, cut), whole.slice(cut)), `cut at ${cut}`).toEqual(expected);
    }
    expect(await parse(...Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual(expected);
  });

  it("drops an event that the end of the stream cut off", async () => {
    expect(await parse("data: 1\n\ndata: 2\n")).toEqual([{ id: undefined, event: "message", data: "1" }]);
  });
});

describe("followSse", () => {
  class Broken extends Error {}
  class Refused extends Error {}

  async function* broken(text: string): AsyncGenerator<Uint8Array> {
    yield* bytesOf(text);
    throw new Broken();
  }

  function follow(streams: (() => AsyncIterable<Uint8Array>)[], canReopen = true) {
    const asked: (string | undefined)[] = [];
    const waits: number[] = [];
    const events = followSse({
      body: streams[0]?.() ?? bytesOf(),
      reopen: canReopen
        ? async (lastEventId) => {
            asked.push(lastEventId);
            return streams[asked.length]?.() ?? broken("");
          }
        : undefined,
      isTransient: (error) => error instanceof Broken,
      wait: async (ms) => void waits.push(ms),
      signal: new AbortController().signal,
    });
    return { events, asked, waits };
  }

  it("goes on after the last seen id and ends with a clean end", async () => {
    const { events, asked, waits } = follow([
      () => broken("data: a\nid: 1\n\ndata: b\nid: 2\n\ndata: half"),
      () => bytesOf("data: c\nid: 3\n\n"),
    ]);
    expect((await collect(events)).map((event) => event.data)).toEqual(["a", "b", "c"]);
    expect(asked).toEqual(["2"]);
    expect(waits).toEqual([RETRY_DELAYS[0]]);
  });

  it("gives up after its last delay, each longer than the one before", async () => {
    const { events, waits } = follow([() => broken("data: a\nid: 1\n\n")]);
    await expect(collect(events)).rejects.toThrow(Broken);
    expect(waits).toEqual(RETRY_DELAYS);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  });

  it("counts afresh after an event arrived", async () => {
    const { events, waits } = follow([
      () => broken(""),
      () => broken(""),
      () => broken("data: a\nid: 1\n\n"),
      () => bytesOf("data: b\nid: 2\n\n"),
    ]);
    expect((await collect(events)).map((event) => event.data)).toEqual(["a", "b"]);
    expect(waits).toEqual([RETRY_DELAYS[0], RETRY_DELAYS[1], RETRY_DELAYS[0]]);
  });

  it("does not try again when the server refuses, or when it gave no way back", async () => {
    const refusing = follow([
      () => broken("data: a\nid: 1\n\n"),
      () => {
        throw new Refused();
      },
    ]);
    await expect(collect(refusing.events)).rejects.toThrow(Refused);
    expect(refusing.asked).toHaveLength(1);

    const oneWay = follow([() => broken("data: a\nid: 1\n\n")], false);
    await expect(collect(oneWay.events)).rejects.toThrow(Broken);
    expect(oneWay.waits).toEqual([]);
  });
});
