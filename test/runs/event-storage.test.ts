// Logs of resumable runs: stored before they are told, bounded in memory, numbered over restarts, and gone when their time is over.
import { expect, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import type { RunRecord } from "../../src/resources/runs.ts";
import type { LogReader } from "../../src/runs/log-reader.ts";
import { StoredLogs, eventTtl } from "../../src/runs/stored-logs.ts";
import { headOf } from "../../src/runs/thread-events.ts";
import { buffered } from "../../src/storage/buffered.ts";
import type { Database } from "../../src/storage/database.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";

const KEEP_MS = 10_000;
const ALL = { start: "", end: "\uffff" };
const record = (attempt = 1, name = "1"): RunRecord =>
  ({
    run: { run_id: `00000000-0000-7000-8000-00000000000${name}`, thread_id: "thread", status: "error" },
    attempt,
    error: { error: "Sad", message: "it is" },
  }) as unknown as RunRecord;
const runId = record().run.run_id;

const ids = (text: string): number[] => [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
/** Everything that the event loop has in hand is done. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const stored = (db: Database): string[] => Array.from(db.range(ALL), ([key]) => key);

/** All that a reader can read now, in pieces. */
function pieces(reader: LogReader): string[] {
  const found: string[] = [];
  while (!reader.caughtUp) found.push(reader.read());
  return found;
}

function setUp(inner: Database = memoryDatabase(), clock = new TestClock(1_000_000)) {
  const db = buffered(inner);
  const logs = new StoredLogs(db, KEEP_MS, clock);
  logs.load();
  return { inner, db, logs, clock };
}

test("memory is bounded, and a reader that lags gets everything in pieces", () => {
  const { logs } = setUp();
  const log = logs.open(record());
  const slow = log.reader("start");
  const fast = log.reader("start");
  const data = `"${"x".repeat(1000)}"`;
  const seen: number[] = [];
  let most = 0;
  for (let i = 0; i < 5000; i++) {
    log.push("values", data, "values");
    seen.push(...ids(fast.read()));
    most = Math.max(most, log.chars);
  }
  expect(most).toBeLessThan(300_000);
  expect(seen).toEqual(upTo(5000));
  expect([slow.lost, fast.lost]).toEqual([false, false]);
  const read = pieces(slow);
  expect(ids(read.join(""))).toEqual(upTo(5000));
  expect(Math.max(...read.map(({ length }) => length))).toBeLessThan(300_000);
  slow.close();
  fast.close();
  expect(log.chars).toBe(0);
});

test("one event that is larger than the bound is read", () => {
  const { logs } = setUp();
  const log = logs.open(record());
  const reader = log.reader("now");
  const large = `"${"x".repeat(3_000_000)}"`;
  log.push("values", large, "values");
  log.push("values", "1", "values");
  const text = pieces(reader).join("");
  expect([ids(text), text.includes(large)]).toEqual([[0, 1], true]);
});

test("nothing is kept in memory while nobody reads, and nothing is missing when somebody comes and goes", () => {
  const { logs } = setUp();
  const log = logs.open(record());
  log.push("values", "0", "values");
  const first = log.reader("start");
  log.push("values", "1", "values");
  expect(ids(pieces(first).join(""))).toEqual([0, 1]);
  first.close();
  log.push("values", "2", "values");
  expect(log.chars).toBe(0);
  const second = log.reader({ after: 0 });
  log.push("values", "3", "values");
  expect(ids(pieces(second).join(""))).toEqual([1, 2, 3]);
});

test("an event is stored before it is told", () => {
  const { inner, logs } = setUp();
  const log = logs.open(record());
  const reader = log.reader("start");
  log.push("values", "1", "values");
  expect(stored(inner)).toEqual([]);
  expect(ids(reader.read())).toEqual([0]);
  expect(stored(inner)).toHaveLength(2);
});

test("while storage fails nothing is told, and afterwards everything", () => {
  const inner = memoryDatabase();
  let broken = true;
  const { write } = inner;
  inner.write = (writes) => {
    if (broken) throw new Error("the disk is full");
    write(writes);
  };
  const { logs } = setUp(inner);
  const log = logs.open(record());
  const reader = log.reader("start");
  log.push("values", "1", "values");
  expect(() => reader.read()).toThrow("the disk is full");
  expect(() => reader.read()).toThrow("the disk is full");
  broken = false;
  expect(ids(reader.read())).toEqual([0]);
});

test("behind a crash the numbers go on, and what came before is there", () => {
  const { inner, logs } = setUp();
  const before = logs.open(record());
  before.begin(headOf(record()));
  before.push("values", "1", "values");
  before.reader("start").read();
  // Nobody has been told of this one, and it dies with the process.
  before.push("values", "2", "values");

  const { logs: next } = setUp(inner);
  const after = next.open(record(2));
  after.begin(headOf(record(2)));
  after.push("values", "3", "values");
  const text = pieces(after.reader("start")).join("");
  expect([...text.matchAll(/^data: (.*)$/gm)].map((match) => JSON.parse(match[1]!) as unknown)).toEqual([
    { run_id: runId, attempt: 1 },
    1,
    { run_id: runId, attempt: 2 },
    3,
  ]);
  expect(ids(text)).toEqual([0, 1, 2, 3]);
  expect(ids(pieces(after.reader({ after: 1 })).join(""))).toEqual([2, 3]);
});

test("a run that is given up says so", () => {
  const { inner, logs } = setUp();
  logs.open(record()).push("values", "1", "values");
  logs.commit();
  const { logs: next } = setUp(inner);
  next.givenUp(record(3));
  next.settle(() => false);
  const reader = next.find("thread", runId)!.reader({ after: 0 });
  expect(reader.read()).toBe('event: error\ndata: {"error":"Sad","message":"it is"}\nid: 1\n\n');
  expect(reader.ended).toBe(true);
});

test("modes filter, events of no mode always come, and only the thread is told of the end", () => {
  const { logs } = setUp();
  const log = logs.open(record());
  const live = log.reader("start");
  log.push("metadata", "{}");
  log.push("updates|sub:1", "1", "updates");
  log.push("values", "2", "values");
  log.done(() => "{}");
  log.close();
  const text = pieces(log.reader("start", new Set(["updates"]))).join("");
  expect([...text.matchAll(/^event: (.*)$/gm)].map((match) => match[1])).toEqual(["metadata", "updates|sub:1"]);
  const all = pieces(log.reader("start"));
  expect(ids(all.join(""))).toEqual([0, 1, 2]);
  expect(pieces(live)).toEqual(all);
  expect(live.ended).toBe(true);
});

test("events go when their time is over", async () => {
  const { inner, logs, clock } = setUp();
  const log = logs.open(record());
  for (let i = 0; i < 1200; i++) log.push("values", "1", "values");
  log.close();
  await clock.advance(KEEP_MS - 1);
  expect(pieces(logs.find("thread", runId)!.reader("start")).join("")).not.toBe("");
  expect(logs.threadOf(runId)).toBe("thread");
  await clock.advance(1);
  expect(logs.find("thread", runId)).toBeUndefined();
  for (let i = 0; stored(inner).length > 0 && i < 20; i++) await turn();
  expect(stored(inner)).toEqual([]);
});

test("a reader that gets on keeps them, one that stands still is cut off", async () => {
  const { inner, logs, clock } = setUp();
  const log = logs.open(record());
  for (let i = 0; i < 1200; i++) log.push("values", "1", "values");
  log.close();
  const reader = log.reader("start");
  reader.read();
  await clock.advance(KEEP_MS);
  expect(ids(reader.read())[0]).toBe(500);
  await clock.advance(KEEP_MS);
  expect([reader.lost, logs.threadOf(runId)]).toEqual([false, "thread"]);
  await clock.advance(KEEP_MS);
  expect([reader.lost, logs.threadOf(runId)]).toEqual([true, undefined]);
  for (let i = 0; stored(inner).length > 0 && i < 20; i++) await turn();
  expect(stored(inner)).toEqual([]);
});

test("what a stop left over goes at the next start", async () => {
  const clock = new TestClock(1_000_000);
  const { inner, db, logs } = setUp(memoryDatabase(), clock);
  const [over, deleted, cut] = ["1", "2", "3"].map((name) => logs.open(record(1, name)));
  for (const log of [over, deleted, cut]) for (let i = 0; i < 700; i++) log!.push("values", "1", "values");
  over!.close();
  db.write(logs.deletion(record(1, "2").run.run_id));
  logs.commit();
  logs.stop();
  await turn();
  await clock.advance(KEEP_MS);

  const { logs: next } = setUp(inner, clock);
  // The run of the third had ended when the process died, but its log could not say so.
  next.settle(() => false);
  for (let i = 0; stored(inner).length > 701 && i < 30; i++) await turn();
  expect(stored(inner)).toHaveLength(701);
  expect(next.threadOf(record(1, "3").run.run_id)).toBe("thread");
  await clock.advance(KEEP_MS);
  for (let i = 0; stored(inner).length > 0 && i < 20; i++) await turn();
  expect(stored(inner)).toEqual([]);
});

test("with the run, and with the thread, its events go at once, and readers end", async () => {
  const { inner, db, logs } = setUp();
  const [one, two] = ["1", "2"].map((name) => logs.open(record(1, name)));
  const other = logs.open({ ...record(1, "3"), run: { ...record(1, "3").run, thread_id: "other" } });
  for (const log of [one, two, other]) log!.push("values", "1", "values");
  const readers = [one, two].map((log) => log!.reader("start"));
  db.write(logs.deletion(record(1, "1").run.run_id));
  db.write(logs.deletionOf("thread"));
  // What the graph still does has nowhere to go.
  for (const log of [one, two]) log!.push("values", "2", "values");
  for (const log of [one, two]) log!.close();
  for (let i = 0; stored(inner).length > 2 && i < 20; i++) await turn();
  expect(stored(inner)).toHaveLength(2);
  expect(readers.map((reader) => [pieces(reader).join(""), reader.lost, reader.ended])).toEqual([
    ["", false, true],
    ["", false, true],
  ]);
  expect(pieces(other.reader("start")).join("")).toContain("id: 0");
});

test("RESUMABLE_STREAM_TTL_SECONDS", () => {
  expect(eventTtl(undefined)).toEqual({ ms: 120_000 });
  expect(eventTtl("")).toEqual({ ms: 120_000 });
  expect(eventTtl(" 0.5 ")).toEqual({ ms: 500 });
  expect(eventTtl("0")).toEqual({ ms: 0 });
  for (const text of ["-1", "two minutes", "Infinity"])
    expect(eventTtl(text)).toEqual({ ms: 120_000, warning: expect.stringContaining(`got "${text}"`) });
});
