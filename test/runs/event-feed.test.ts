// Feeds of threads: nothing while nobody follows, everything once and in order when somebody does, bounds, and numbers that only grow.
import { expect, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import type { RunRecord } from "../../src/resources/runs.ts";
import type { ActiveRun } from "../../src/runs/active.ts";
import { EventLog } from "../../src/runs/events.ts";
import type { LogReader } from "../../src/runs/log-reader.ts";
import { StoredLogs } from "../../src/runs/stored-logs.ts";
import { headOf, runDoneJson } from "../../src/runs/thread-events.ts";
import { ThreadFeeds } from "../../src/runs/thread-feeds.ts";
import { buffered } from "../../src/storage/buffered.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";

const KEEP_MS = 120_000;

/** Feeds with one thread; `run` begins a run on it. */
function setUp(db = buffered(memoryDatabase())) {
  const clock = new TestClock(Date.now());
  const logs = new StoredLogs(db, KEEP_MS, clock);
  logs.load();
  const lane: ActiveRun[] = [];
  let state = Promise.resolve('{"values":1}');
  const feeds = new ThreadFeeds({
    logs,
    clock,
    stateOf: () => state,
    lane: (threadId) => lane.filter((run) => run.threadId === threadId),
  });
  let count = 0;
  /** A run that is queued on a thread as the engine would do it. */
  const run = (resumable = false, attempt = 1, number = ++count) => {
    const run_id = `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;
    const record = { run: { run_id, thread_id: "thread", status: "success" }, attempt } as unknown as RunRecord;
    const log: EventLog = resumable ? logs.open(record) : new EventLog();
    log.tap = feeds.find("thread");
    lane.push({ record, threadId: "thread", log } as unknown as ActiveRun);
    const end = (): void => {
      log.done(() => runDoneJson(record, "success", false));
      log.close();
      log.tap?.changed();
      lane.splice(0, 1);
    };
    return { log, begin: () => log.begin(headOf(record)), end, name: number };
  };
  /** A whole run with one event. */
  const whole = (resumable: boolean, data: string): void => {
    const { log, begin, end } = run(resumable);
    begin();
    log.push("values", data, "values");
    end();
  };
  const setState = (next: Promise<string>): void => void (state = next);
  return { db, clock, logs, feeds, lane, run, whole, setState };
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

interface Told {
  readonly id: number;
  readonly event: string;
  readonly data: unknown;
}

/** All that a reader can read now. */
function told(reader: LogReader): Told[] {
  let text = "";
  while (!reader.caughtUp) text += reader.read();
  return text
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => {
      const [, event, data, id] = /^event: (.*)\ndata: (.*)\nid: (\d+)$/.exec(block)!;
      return { id: Number(id), event: event!, data: JSON.parse(data!) as unknown };
    });
}

/** Events with what tells them apart. */
const story = (events: readonly Told[]): string[] =>
  events.map(({ event, data }) => {
    const { run_id, attempt } = (data ?? {}) as { run_id?: string; attempt?: number };
    return `${event} ${run_id === undefined ? JSON.stringify(data) : `${Number(run_id.slice(-4))}.${attempt}`}`;
  });

function expectGrowing(events: readonly Told[]): void {
  const ids = events.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
}

test("a thread that nobody follows has no feed, and its runs know of none", () => {
  const { feeds, run } = setUp();
  const { log, begin } = run();
  begin();
  expect([feeds.find("thread"), log.tap, log.wanted]).toEqual([undefined, undefined, false]);
});

test("modes have their events, and only run_modes makes events be serialised", async () => {
  const { feeds, run } = setUp();
  const lifecycle = feeds.follow("thread", "now", ["lifecycle"]).reader;
  const state = feeds.follow("thread", "now", ["state_update"]).reader;
  const first = run();
  first.begin();
  expect(first.log.wanted).toBe(false);
  first.end();
  await turn();
  const events = feeds.follow("thread", "now", ["run_modes"]).reader;
  const all = feeds.follow("thread", "now", ["run_modes", "lifecycle", "state_update"]).reader;
  const second = run();
  second.begin();
  expect(second.log.wanted).toBe(true);
  second.log.push("values", "2", "values");
  second.end();
  await turn();
  expect(story(told(lifecycle))).toEqual(["run_start 1.1", "run_done 1.1", "run_start 2.1", "run_done 2.1"]);
  expect(story(told(state))).toEqual(['state_update {"values":1}', 'state_update {"values":1}']);
  expect(story(told(events))).toEqual(["metadata 2.1", "values 2", "run_done 2.1"]);
  expect(story(told(all))).toEqual([
    "run_start 2.1",
    "metadata 2.1",
    "values 2",
    "run_done 2.1",
    'state_update {"values":1}',
  ]);
});

test("states come in the order of their runs, and one that cannot be told says why", async () => {
  const { feeds, whole, setState } = setUp();
  const { reader } = feeds.follow("thread", "now", ["state_update"]);
  let tell!: (json: string) => void;
  setState(new Promise((resolve) => (tell = resolve)));
  whole(false, "1");
  setState(Promise.resolve('"second"'));
  whole(false, "2");
  setState(Promise.reject(new TypeError("no such channel")));
  whole(false, "3");
  await turn();
  expect(told(reader)).toEqual([]);
  tell('"first"');
  await turn();
  expect(told(reader).map(({ data }) => data)).toEqual([
    "first",
    "second",
    { __error__: { error: "TypeError", message: "no such channel" } },
  ]);
});

test("a reader that comes back gets what it missed, from memory and from the logs of resumable runs", () => {
  const { feeds, whole, run } = setUp();
  // Before anybody followed: only the resumable one is kept.
  whole(false, '"lost"');
  whole(true, '"kept"');
  const first = feeds.follow("thread", "now", ["run_modes", "lifecycle"]).reader;
  whole(false, '"while read"');
  const seen = told(first);
  first.close();
  whole(true, '"both"');
  const open = run(true);
  open.begin();
  open.log.push("values", '"under way"', "values");
  const behind = feeds.follow("thread", { after: seen.at(-1)!.id }, ["run_modes", "lifecycle"]).reader;
  const missed = told(behind);
  expect(story(missed)).toEqual([
    "run_start 4.1",
    "metadata 4.1",
    'values "both"',
    "run_done 4.1",
    "run_start 5.1",
    "metadata 5.1",
    'values "under way"',
  ]);
  const everything = told(feeds.follow("thread", "start", ["run_modes", "lifecycle"]).reader);
  expect(everything.slice(4)).toEqual([...seen, ...missed]);
  expect(story(everything.slice(0, 4))).toEqual(["run_start 2.1", "metadata 2.1", 'values "kept"', "run_done 2.1"]);
  expectGrowing(everything);
  // From anywhere in it, the rest.
  for (const [i, { id }] of everything.entries()) {
    const rest = feeds.follow("thread", { after: id }, ["run_modes", "lifecycle"]).reader;
    expect(told(rest)).toEqual(everything.slice(i + 1));
  }
  const ends = feeds.follow("thread", "start", ["lifecycle"]).reader;
  expect(told(ends)).toEqual(everything.filter(({ event }) => event === "run_start" || event === "run_done"));
});

test("behind a restart the numbers go on, and runs that took turns are told in the order of their events", () => {
  const { db, feeds, run, logs } = setUp();
  const { reader } = feeds.follow("thread", "now", ["run_modes", "lifecycle"]);
  const cut = run(true);
  cut.begin();
  cut.log.push("values", '"before"', "values");
  const before = told(reader);
  logs.commit();

  const next = setUp(db);
  // Both are recovered; the run that was cut off goes on behind another one.
  const again = next.run(true, 2, cut.name);
  const other = next.run(true, 1, 2);
  other.begin();
  other.log.push("values", '"between"', "values");
  other.end();
  again.begin();
  again.log.push("values", '"after"', "values");
  again.end();
  const { reader: back } = next.feeds.follow("thread", { after: before.at(-1)!.id }, ["run_modes", "lifecycle"]);
  const after = told(back);
  expect(story(after)).toEqual([
    "run_start 2.1",
    "metadata 2.1",
    'values "between"',
    "run_done 2.1",
    "run_start 1.2",
    "metadata 1.2",
    'values "after"',
    "run_done 1.2",
  ]);
  const all = told(next.feeds.follow("thread", "start", ["run_modes", "lifecycle"]).reader);
  expect(all).toEqual([...before, ...after]);
  expectGrowing(all);
});

test("a long log is told in pieces", () => {
  const { feeds, run } = setUp();
  const { log, begin, end } = run(true);
  begin();
  for (let i = 0; i < 3000; i++) log.push("values", `${i}`, "values");
  end();
  const { reader } = feeds.follow("thread", "start", ["run_modes"]);
  const events = told(reader);
  expect(events.map(({ data }) => data).slice(1, -1)).toEqual(Array.from({ length: 3000 }, (_, i) => i));
  expectGrowing(events);
});

test("a reader that comes in the middle of a run is told which one", () => {
  const { feeds, run } = setUp();
  const waiting = run();
  expect(feeds.follow("thread", "now", ["run_modes"]).metadata).toBeUndefined();
  waiting.begin();
  expect(JSON.parse(feeds.follow("thread", "now", ["run_modes"]).metadata!)).toMatchObject({ attempt: 1 });
  expect(feeds.follow("thread", "now", ["lifecycle"]).metadata).toBeUndefined();
  expect(feeds.follow("thread", "start", ["run_modes"]).metadata).toBeUndefined();
});

test("a slow reader is cut off at the bound, and the others are not", () => {
  const { feeds, run } = setUp();
  const [slow, fast] = [1, 2].map(() => feeds.follow("thread", "now", ["run_modes"]).reader);
  const { log, begin } = run();
  begin();
  const large = `"${"x".repeat(1024 * 1024)}"`;
  for (let i = 0; i < 40; i++) {
    log.push("values", large, "values");
    fast!.read();
  }
  expect([slow!.lost, fast!.lost]).toEqual([true, false]);
  expect(feeds.find("thread")!.chars).toBeLessThan(20 * 1024 * 1024);
});

test("some large events wait for a reader, however large they are", () => {
  const { feeds, run } = setUp();
  const { reader } = feeds.follow("thread", "now", ["run_modes"]);
  const { log, begin } = run();
  begin();
  const large = `"${"x".repeat(10 * 1024 * 1024)}"`;
  for (let i = 0; i < 7; i++) log.push("values", large, "values");
  expect(reader.lost).toBe(false);
  for (let i = 0; i < 3; i++) log.push("values", large, "values");
  expect(reader.lost).toBe(true);
});

test("a feed outlives its last reader by two minutes", async () => {
  const { feeds, run, clock, whole } = setUp();
  const first = feeds.follow("thread", "now", ["run_modes"]).reader;
  whole(false, "1");
  const seen = told(first);
  first.close();
  await clock.advance(KEEP_MS - 1);
  const second = feeds.follow("thread", { after: seen[0]!.id }, ["run_modes"]).reader;
  expect(told(second)).toEqual(seen.slice(1));
  await clock.advance(KEEP_MS);
  const open = run();
  open.begin();
  expect(open.log.tap).toBeDefined();
  second.close();
  await clock.advance(KEEP_MS);
  expect([feeds.find("thread"), open.log.tap, open.log.wanted]).toEqual([undefined, undefined, false]);
  // What is numbered later has greater numbers.
  const third = feeds.follow("thread", "now", ["run_modes"]).reader;
  open.log.push("values", "2", "values");
  const later = told(third);
  expect(story(later)).toEqual(["values 2"]);
  expect(later[0]!.id).toBeGreaterThan(seen.at(-1)!.id);
});

test("there are not more than so many feeds without a reader", () => {
  const { feeds } = setUp();
  for (let i = 0; i < 150; i++) feeds.follow(`thread ${i}`, "now", ["run_modes"]).reader.close();
  const left = Array.from({ length: 150 }, (_, i) => feeds.find(`thread ${i}`) !== undefined);
  expect(left.indexOf(true)).toBe(50);
  expect(left.lastIndexOf(false)).toBe(49);
});

test("feeds without a reader do not keep more than so much together, however long they are written into", () => {
  const { feeds } = setUp();
  const threads = Array.from({ length: 60 }, (_, i) => `t${i}`);
  for (const threadId of threads) feeds.follow(threadId, "now", ["run_modes"]).reader.close();
  const data = JSON.stringify("x".repeat(100_000));
  for (let i = 0; i < 40; i++) for (const threadId of threads) feeds.find(threadId)?.put("values", data, "event");
  const left = threads.filter((threadId) => feeds.find(threadId) !== undefined);
  const chars = left.reduce((sum, threadId) => sum + feeds.find(threadId)!.chars, 0);
  expect(chars).toBeLessThan(70 * 1024 * 1024);
  // Those whose readers left last are there.
  expect(left).toEqual(threads.slice(-left.length));
  expect(left.length).toBeGreaterThan(10);
});

test("when the thread or the server goes, its readers end", () => {
  const { feeds, whole } = setUp();
  const one = feeds.follow("thread", "now", ["run_modes"]).reader;
  const other = feeds.follow("other", "now", ["run_modes"]).reader;
  whole(false, "1");
  feeds.end("thread");
  expect([told(one).length, one.ended, one.lost, other.ended]).toEqual([3, true, false, false]);
  feeds.stop();
  expect(other.ended).toBe(true);
  expect(feeds.follow("late", "now", ["run_modes"]).reader.ended).toBe(true);
  expect(feeds.find("late")).toBeUndefined();
});
