// What protocol v2 keeps in memory: bounds, what becomes of slow readers, when it is freed, and that numbers never go backwards.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { systemTimers } from "../../src/clock.ts";
import { ProtocolConnection } from "../../src/protocol/connection.ts";
import { ProtocolService } from "../../src/protocol/service.ts";
import { ProtocolSessions } from "../../src/protocol/sessions.ts";
import { ThreadLog, type LogFollower } from "../../src/protocol/thread-log.ts";
import type { RunRecord } from "../../src/resources/runs.ts";
import type { RunObserver } from "../../src/runs/observer.ts";

const THREAD = "11111111-1111-4111-8111-111111111111";
const everything = { channels: new Set(["custom", "lifecycle"]) };
const record = { run: { run_id: "r", thread_id: THREAD }, graphId: "g", protocol: true } as RunRecord;
const custom = (data: string) => ({ method: "custom", namespace: [], timestamp: 1, data });

let updated: string | undefined;
const sessionsOf = (): ProtocolSessions =>
  new ProtocolSessions({
    threads: { find: () => (updated === undefined ? undefined : { updated_at: updated, interrupts: {} }) } as never,
    values: { json: () => "{}" } as never,
    checkpoints: { get: () => undefined } as never,
    clock: systemTimers,
    isBusy: () => false,
    watch: () => undefined,
  });
const ended = (run: RunObserver): void => run.ended({ status: "success", error: undefined, superseded: false });

describe("a log", () => {
  const follower = (cursor: number): Omit<LogFollower, "cursor"> & { cursor: number; cuts: number } => ({
    cursor,
    cuts: 0,
    wake: () => undefined,
    cutOff() {
      this.cuts++;
    },
  });

  test.each([
    ["characters", 64 * 1024, 2000, 32 * 1024 * 1024 + 64 * 1024],
    ["events", 10, 120_000, Infinity],
  ])("is bounded in its %s, and cuts off who has not kept up", (_what, size, count, most) => {
    const log = new ThreadLog(0);
    const [slow, quick] = [follower(1), follower(Number.MAX_SAFE_INTEGER)];
    log.follow(slow);
    log.follow(quick);
    const data = JSON.stringify("x".repeat(size));
    for (let i = 0; i < count; i++) log.append(custom(data), 1);
    expect(log.lastSeq).toBe(count);
    expect(log.chars).toBeLessThan(most);
    expect(log.lastSeq - log.firstSeq).toBeLessThanOrEqual(50_000);
    expect(log.at(1)).toBeUndefined();
    expect(log.at(count)!.seq).toBe(count);
    expect(log.at(count + 1)).toBeUndefined();
    expect(slow.cuts).toBeGreaterThan(0);
    expect(quick.cuts).toBe(0);
  });

  test("keeps some large events for who is about to read them, and no more", () => {
    const log = new ThreadLog(0);
    const reader = follower(1);
    log.follow(reader);
    const data = JSON.stringify("x".repeat(10 * 1024 * 1024));
    for (let i = 0; i < 7; i++) log.append(custom(data), 1);
    expect([reader.cuts, log.firstSeq]).toEqual([0, 1]);
    reader.cursor = 7;
    log.append(custom(data), 1);
    expect([reader.cuts, log.firstSeq]).toEqual([0, 7]);
    for (let i = 0; i < 7; i++) log.append(custom(data), 1);
    expect(reader.cuts).toBe(1);
  });

  test("keeps the newest event however large it is", () => {
    const log = new ThreadLog(0);
    log.append(custom("1"), 1);
    log.append(custom(JSON.stringify("x".repeat(40 * 1024 * 1024))), 1);
    expect(log.firstSeq).toBe(2);
    expect(log.at(2)!.json.length).toBeGreaterThan(40 * 1024 * 1024);
  });
});

describe("sessions", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: new Date("2026-01-01T00:00:00Z") });
    updated = undefined;
  });
  afterEach(() => vi.useRealTimers());

  test("are freed some time after the last reader has left and the last run has ended", () => {
    const sessions = sessionsOf();
    const run = sessions.observe(record)!;
    run.started();
    const reader = sessions.openToRead(THREAD).reader(everything, undefined);
    vi.advanceTimersByTime(3_600_000);
    expect(sessions.find(THREAD)).toBeDefined();
    reader.close();
    vi.advanceTimersByTime(3_600_000);
    expect(sessions.find(THREAD)).toBeDefined();
    ended(run);
    vi.advanceTimersByTime(60_000);
    expect(sessions.find(THREAD)).toBeDefined();
    // Somebody looks in, and the time begins anew.
    sessions.openToRead(THREAD).reader(everything, undefined).close();
    vi.advanceTimersByTime(119_000);
    expect(sessions.find(THREAD)).toBeDefined();
    vi.advanceTimersByTime(2000);
    expect(sessions.find(THREAD)).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("make way for others when they keep too much, the oldest first", () => {
    const sessions = sessionsOf();
    const data = JSON.stringify("x".repeat(1024 * 1024));
    const threads = Array.from({ length: 12 }, (_, i) => `thread ${i}`);
    for (const thread_id of threads) {
      const run = sessions.observe({ ...record, run: { ...record.run, thread_id } } as RunRecord)!;
      run.started();
      for (let i = 0; i < 30; i++) run.event(custom(data));
      ended(run);
    }
    const kept = threads.map((thread) => sessions.find(thread) !== undefined);
    expect(kept.at(-1)).toBe(true);
    expect(kept[0]).toBe(false);
    expect(kept.filter(Boolean).length).toBe(8);
  });

  test("count on from where they were, even when the clock was turned back", () => {
    const sessions = sessionsOf();
    const run = sessions.observe(record)!;
    run.started();
    ended(run);
    const last = sessions.lastSeq(THREAD);
    vi.advanceTimersByTime(121_000);
    vi.setSystemTime(new Date("2025-01-01T00:00:00Z"));
    expect(sessions.find(THREAD)).toBeUndefined();
    expect(sessions.lastSeq(THREAD)).toBeGreaterThanOrEqual(last);
    // A new process knows only what is stored.
    updated = "2026-01-01T00:00:00.000500+00:00";
    const anew = sessionsOf();
    expect(anew.lastSeq(THREAD)).toBeGreaterThanOrEqual(last);
    const again = anew.observe(record)!;
    again.started();
    expect(anew.find(THREAD)!.log.firstSeq).toBeGreaterThan(last);
    expect(Number.isSafeInteger(anew.lastSeq(THREAD) * 2)).toBe(true);
  });

  test("nothing is said behind the end of a run, whatever its graph still does", () => {
    const sessions = sessionsOf();
    const run = sessions.observe(record)!;
    run.started();
    run.step({ namespace: ["node:1"], status: "started", graphName: "node" }, '{"event":"started"}', 1);
    run.ended({ status: "interrupted", error: undefined, superseded: false });
    const { log } = sessions.find(THREAD)!;
    const seq = log.lastSeq;
    run.event(custom("1"));
    run.step({ namespace: ["node:1"], status: "completed", graphName: "node" }, '{"event":"completed"}', 1);
    ended(run);
    expect(log.lastSeq).toBe(seq);
    const said = [seq - 1, seq].map((at) => JSON.parse(log.at(at)!.json).params);
    expect(said).toMatchObject([
      { namespace: ["node:1"], data: { event: "interrupted", graph_name: "node" } },
      { namespace: [], data: { event: "interrupted", graph_name: "g" } },
    ]);
  });
});

describe("a WebSocket", () => {
  function connected(): {
    sessions: ProtocolSessions;
    run: RunObserver;
    sent: { type: string; seq?: number }[];
    closed: number[];
    socket: { buffered: number };
    connection: ProtocolConnection;
  } {
    const sessions = sessionsOf();
    const service = new ProtocolService({
      sessions,
      threads: { find: () => undefined },
      kit: () => Promise.reject(new Error("none")),
    } as never);
    const sent: { type: string; seq?: number }[] = [];
    const closed: number[] = [];
    const socket = { buffered: 0 };
    const connection = new ProtocolConnection(
      THREAD,
      service,
      { send: (text) => (sent.push(JSON.parse(text)), socket.buffered), close: (code) => void closed.push(code) },
      undefined,
    );
    const run = sessions.observe(record)!;
    run.started();
    return { sessions, run, sent, closed, socket, connection };
  }
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

  test("is sent no more than it takes, and goes on from there", async () => {
    const { run, sent, socket, connection } = connected();
    connection.receive('{"id":1,"method":"subscription.subscribe","params":{"channels":["custom"]}}');
    await turn();
    socket.buffered = 2 * 1024 * 1024;
    for (let i = 0; i < 5; i++) run.event(custom(String(i)));
    await turn();
    expect(sent.map(({ type }) => type)).toEqual(["success", "event"]);
    socket.buffered = 0;
    connection.drained();
    expect(sent.filter(({ type }) => type === "event")).toHaveLength(5);
    expect(sent.map(({ seq }) => seq).slice(1)).toEqual(
      sent
        .map(({ seq }) => seq!)
        .slice(1)
        .toSorted((a, b) => a - b),
    );
  });

  test("is closed when it does not keep up, and forgotten", async () => {
    const { sessions, run, closed, socket, connection } = connected();
    connection.receive('{"id":1,"method":"subscription.subscribe","params":{"channels":["custom"]}}');
    await turn();
    socket.buffered = 2 * 1024 * 1024;
    const data = JSON.stringify("x".repeat(1024 * 1024));
    run.event(custom(data));
    await turn();
    for (let i = 0; i < 40; i++) run.event(custom(data));
    expect(closed).toEqual([1013]);
    expect(sessions.find(THREAD)!.watched).toBe(false);
    connection.drained();
    await turn();
    expect(closed).toEqual([1013]);
  });

  test("is closed when it sends more commands than can be carried out", async () => {
    const { closed, connection } = connected();
    for (let i = 0; i < 2000; i++) connection.receive(`{"id":${i},"method":"agent.getTree"}`);
    await turn();
    expect(closed).toEqual([1008]);
  });
});

test("a LangGraph without event streams is named, with the version that has them", async () => {
  const service = new ProtocolService({
    sessions: sessionsOf(),
    threads: { find: () => undefined },
    kit: async () => ({ runtime: { langgraph: {}, version: "1.3.7" } }),
  } as never);
  const command = (method: string, params: object) => service.command(THREAD, { id: 3, method, params });
  for (const [method, params] of [
    ["run.start", { assistant_id: "a", input: {} }],
    ["input.respond", { interrupt_id: "x", response: 1 }],
    ["state.fork", { checkpoint_id: "x" }],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop -- few
    expect(await command(method, params)).toMatchObject({
      status: 200,
      response: {
        type: "error",
        id: 3,
        error: "not_supported",
        message: expect.stringMatching(/1\.4 or newer.*1\.3\.7/),
      },
    });
  }
  const body = { channels: ["values"], namespaces: undefined, depth: undefined, since: undefined };
  await expect(service.events(THREAD, body)).rejects.toThrow("1.3.7");
});
