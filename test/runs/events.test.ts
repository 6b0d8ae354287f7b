// The event log of a run: cursors, bounds, and what a late reader gets.
import { expect, test } from "vitest";
import { EventLog } from "../../src/runs/events.ts";
import type { LogReader } from "../../src/runs/log-reader.ts";

const ids = (text: string): number[] => [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));

/** Ids of all that a reader can read now. */
function all(reader: LogReader): number[] {
  const found: number[] = [];
  while (!reader.caughtUp) found.push(...ids(reader.read()));
  return found;
}

test("every reader gets every event from where it joined", () => {
  const log = new EventLog();
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
  const log = new EventLog();
  expect(log.wanted).toBe(false);
  log.push("values", "1");
  log.skip();
  const reader = log.reader("start");
  expect(log.wanted).toBe(true);
  log.push("values", "3");
  expect(ids(reader.read())).toEqual([2]);
});

test("a reader that comes back after an id gets what it missed", () => {
  const log = new EventLog();
  const first = log.reader("start");
  for (let i = 0; i < 5; i++) log.push("values", String(i));
  first.read();
  first.close();
  log.push("values", "5");
  expect(ids(log.reader({ after: 2 }).read())).toEqual([3, 4, 5]);
  expect(ids(log.reader({ after: 99 }).read())).toEqual([]);
});

test("modes filter, events of no mode always come", () => {
  const log = new EventLog();
  log.expectReader();
  log.push("metadata", "{}");
  log.push("updates|sub:1", "1", "updates");
  log.push("values", "2", "values");
  const text = log.reader("start", new Set(["updates"])).read();
  expect(text).toContain("event: metadata");
  expect(text).toContain("event: updates|sub:1");
  expect(text).not.toContain("event: values");
});

test("a slow reader loses nothing within the bound and is cut off beyond it", () => {
  const log = new EventLog();
  const slow = log.reader("start");
  const fast = log.reader("start");
  for (let i = 0; i < 4000; i++) {
    log.push("values", String(i));
    fast.read();
  }
  expect(all(slow)).toHaveLength(4000);
  const huge = "x".repeat(1024 * 1024);
  for (let i = 0; i < 80; i++) {
    log.push("values", `"${huge}"`);
    fast.read();
  }
  expect([slow.lost, fast.lost]).toEqual([true, false]);
  expect(ids(slow.read()).length).toBeGreaterThan(0);
});

test("a reader gets what waits for it in pieces, however much it is", () => {
  const log = new EventLog();
  const reader = log.reader("start");
  const large = `"${"x".repeat(100_000)}"`;
  for (let i = 0; i < 100; i++) log.push("values", large);
  const sizes: number[] = [];
  const seen: number[] = [];
  while (!reader.caughtUp) {
    const text = reader.read();
    sizes.push(text.length);
    seen.push(...ids(text));
  }
  expect(seen).toEqual(Array.from({ length: 100 }, (_, i) => i));
  expect(Math.max(...sizes)).toBeLessThan(400_000);
});

test("a log whose reader left before the end is abandoned, whoever else reads", () => {
  const log = new EventLog();
  const [stays, leaves] = [log.reader("start"), log.reader("start")];
  expect([log.abandoned, log.watched]).toEqual([false, true]);
  leaves.close();
  expect([log.abandoned, log.watched]).toEqual([true, true]);
  stays.close();
  const other = new EventLog();
  const reader = other.reader("start");
  other.push("values", "1");
  other.close();
  reader.read();
  expect([other.abandoned, other.watched]).toEqual([false, true]);
});
