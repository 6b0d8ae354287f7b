// One WebSocket of protocol v2: what it holds for a client that does not read, and what a subscription that has ended still sends.
import { expect, test } from "vitest";
import { ProtocolConnection, type Socket } from "../../src/protocol/connection.ts";
import type { CommandContext, CommandResponse, ProtocolService } from "../../src/protocol/service.ts";
import { ThreadSession } from "../../src/protocol/session.ts";

const MB = 1024 * 1024;
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A connection whose commands are answered with so many characters, on a socket that takes what it is told to. */
function setUp(answerChars = 0) {
  const session = new ThreadSession("thread", {
    base: 0,
    isBusy: () => false,
    outcome: () => ({ values: "null", checkpoint: undefined, interrupts: [] }),
    onUse: () => undefined,
  });
  const service = {
    session: () => session,
    supported: async () => undefined,
    report: () => undefined,
    async command(
      _threadId: string,
      payload: { id: number; method: string; params?: object },
      context: CommandContext,
    ) {
      await turn();
      const own = context.commands?.[payload.method];
      const result = own === undefined ? "x".repeat(answerChars) : await own({ ...payload.params });
      const meta = { thread_id: "thread", applied_through_seq: 0 };
      return { status: 200, response: { type: "success", id: payload.id, result, meta } satisfies CommandResponse };
    },
  };
  const sent: Record<string, unknown>[] = [];
  const closed: [code: number, reason: string][] = [];
  let buffered = 0;
  const socket: Socket = {
    send(text) {
      sent.push(JSON.parse(text) as Record<string, unknown>);
      return (buffered += text.length);
    },
    close: (code, reason) => void closed.push([code, reason]),
  };
  const connection = new ProtocolConnection("thread", service as unknown as ProtocolService, socket, undefined);
  let commands = 0;
  const send = (method: string, params?: object): number => {
    connection.receive(JSON.stringify({ id: ++commands, method, params }));
    return commands;
  };
  /** The answer to a command. */
  const answer = async (id: number): Promise<Record<string, unknown>> => {
    for (;;) {
      const found = sent.find((message) => message["id"] === id);
      if (found !== undefined) return found["result"] as Record<string, unknown>;
      await turn();
    }
  };
  const drain = (): void => {
    buffered = 0;
    connection.drained();
  };
  /** Everything that can be done now is done. */
  const idle = async (): Promise<void> => {
    for (let before = -1; before !== sent.length;) {
      before = sent.length;
      for (let i = 0; i < 10; i++) await turn();
    }
  };
  return { session, connection, socket, sent, closed, send, answer, drain, idle, bufferedNow: () => buffered };
}

test("a client that sends commands and reads nothing is not answered ahead of what it takes", async () => {
  const { sent, closed, send, drain, idle, bufferedNow } = setUp(200_000);
  for (let i = 0; i < 100; i++) send("state.get");
  await idle();
  expect(bufferedNow()).toBeLessThan(1.5 * MB);
  expect(sent.length).toBeLessThan(10);
  for (let i = 0; i < 30; i++) {
    drain();
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await idle();
    expect(bufferedNow()).toBeLessThan(1.5 * MB);
  }
  expect(sent.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  expect(closed).toEqual([]);
});

test("commands that wait have a limit, by number and by size", async () => {
  const many = setUp(2 * MB);
  for (let i = 0; i < 2000; i++) many.send("state.get");
  expect(many.closed).toEqual([[1008, "too many commands at once"]]);
  const large = setUp(2 * MB);
  for (let i = 0; i < 20; i++) large.send("state.get", { note: "x".repeat(MB) });
  expect(large.closed).toEqual([[1008, "too many commands at once"]]);
  // One alone may be as large as a message may be.
  const one = setUp();
  one.send("state.get", { note: "x".repeat(20 * MB) });
  await one.idle();
  expect([one.closed, one.sent.length]).toEqual([[], 1]);
});

test("a closed connection carries out nothing that waits", async () => {
  const { connection, sent, send, idle } = setUp(2 * MB);
  for (let i = 0; i < 10; i++) send("state.get");
  await idle();
  expect(sent).toHaveLength(1);
  connection.closed();
  connection.drained();
  await idle();
  expect(sent).toHaveLength(1);
});

test("a subscription that has ended sends nothing of what has been any more", async () => {
  const { session, sent, send, answer, drain, idle } = setUp();
  session.log.beginRun();
  const event = { namespace: [], timestamp: 0, method: "values" };
  for (let i = 0; i < 20; i++) session.log.append({ ...event, data: JSON.stringify("x".repeat(200_000)) }, 1);
  const subscribed = send("subscription.subscribe", { channels: ["values"] });
  const { subscription_id, replayed_events } = await answer(subscribed);
  expect(replayed_events).toBe(20);
  await idle();
  const events = (): number => sent.filter(({ type }) => type === "event").length;
  // It takes no more for now.
  const before = events();
  expect(before).toBeLessThan(10);
  const ended = send("subscription.unsubscribe", { subscription_id });
  await idle();
  // It comes before the events that wait as well.
  drain();
  await answer(ended);
  const told = events();
  for (let i = 0; i < 10; i++) {
    drain();
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await idle();
  }
  expect(events()).toBe(told);
});
