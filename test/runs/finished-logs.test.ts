// How long something is kept of runs that have ended, by the clock of the server.
import { expect, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import { EventLog } from "../../src/runs/events.ts";
import { FinishedLogs } from "../../src/runs/finished-logs.ts";

const THREAD = "11111111-1111-4111-8111-111111111111";
const end = { status: "success", json: "{}" } as const;
const finished = (log = new EventLog()) => ({ threadId: THREAD, metadata: {}, log, end: undefined });

test("a result is kept for two minutes", async () => {
  const clock = new TestClock(1000);
  const logs = new FinishedLogs(clock);
  logs.keep("result", { ...finished(), end });
  await clock.advance(119_999);
  expect([logs.find(THREAD, "result")?.end, logs.threadOf("result")]).toEqual([end, THREAD]);
  await clock.advance(1);
  expect([logs.find(THREAD, "result"), logs.threadOf("result"), logs.metadataOf("result")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("events that were read to the end are kept for ten seconds", async () => {
  const clock = new TestClock(1000);
  const logs = new FinishedLogs(clock);
  const log = new EventLog();
  log.reader("start");
  log.push("values", "{}", "values");
  log.close();
  logs.keep("read", finished(log));
  await clock.advance(9999);
  expect(logs.find(THREAD, "read")?.log).toBe(log);
  await clock.advance(1);
  expect(logs.find(THREAD, "read")).toBeUndefined();
});
