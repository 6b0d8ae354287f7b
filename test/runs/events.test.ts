// The event log of a run: cursors, bounds, and what a late reader gets.
import { expect, test } from "vitest";
import { EventLog } from "../../src/runs/events.ts";

const ids = (text: string): number[] => [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));

test("every reader gets every event from where it joined", () => {
  const log = new EventLog(false);
  const one = log.reader("start");
  log.push("values", "1");
  const two = log.reader("now");
  log.push("values", "2");
  expect(ids(one.read())).toEqual([0, 1]);
  expect(ids(two.read())).toEqual([1]);
  expect(one.read()).toBe("");
  log.push("values", "3");
  log.close();
  expect([ids(one.read()), ids(two.read())]).toEqual([[2], [2]]);
  expect([one.ended, two.ended]).toEqual([true, true]);
});

test("nothing is kept while nobody reads, but ids go on", () => {
  const log = new EventLog(false);
  expect(log.wanted).toBe(false);
  log.push("values", "1");
  log.skip();
  const reader = log.reader("start");
  expect(log.wanted).toBe(true);
  log.push("values", "3");
  expect(ids(reader.read())).toEqual([2]);
});

test("a reader that comes back after an id gets what it missed", () => {
  const log = new EventLog(false);
  const first = log.reader("start");
  for (let i = 0; i < 5; i++) log.push("values", String(i));
  first.read();
  first.close();
  log.push("values", "5");
  expect(ids(log.reader({ after: 2 }).read())).toEqual([3, 4, 5]);
  expect(ids(log.reader({ after: 99 }).read())).toEqual([]);
});

test("a resumable log keeps everything, for readers after the end too", () => {
  const log = new EventLog(true);
  for (let i = 0; i < 5000; i++) log.push("values", String(i));
  log.close();
  expect(ids(log.reader("start").read())).toHaveLength(5000);
});

test("modes filter, events of no mode always come", () => {
  const log = new EventLog(true);
  log.push("metadata", "{}");
  log.push("updates|sub:1", "1", "updates");
  log.push("values", "2", "values");
  const text = log.reader("start", new Set(["updates"])).read();
  expect(text).toContain("event: metadata");
  expect(text).toContain("event: updates|sub:1");
  expect(text).not.toContain("event: values");
});

test("a slow reader loses nothing within the bound and is cut off beyond it", () => {
  const log = new EventLog(false);
  const slow = log.reader("start");
  const fast = log.reader("start");
  for (let i = 0; i < 4000; i++) {
    log.push("values", String(i));
    fast.read();
  }
  expect(ids(slow.read())).toHaveLength(4000);
  const huge = "x".repeat(1024 * 1024);
  for (let i = 0; i < 80; i++) {
    log.push("values", `"${huge}"`);
    fast.read();
  }
  expect([slow.lost, fast.lost]).toEqual([true, false]);
  expect(ids(slow.read()).length).toBeGreaterThan(0);
});
