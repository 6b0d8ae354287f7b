// Who may run when: order per thread, places over all threads, times that have not come, threads that are held.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ActiveRun } from "../../src/runs/active.ts";
import { RunQueue } from "../../src/runs/queue.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A queue with so many places, and the names of the runs that it started. */
function setup(jobs: number) {
  const started: string[] = [];
  const queue = new RunQueue(jobs, (run) => started.push(run.id));
  /** Adds a run, to start in so many ms. */
  const add = (threadId: string, id: string, delay?: number): ActiveRun => {
    const record = delay === undefined ? {} : { notBefore: Date.now() + delay };
    const run = { id, threadId, record, started: false, timer: undefined } as unknown as ActiveRun;
    queue.add(run);
    return run;
  };
  return { queue, started, add };
}

test("those that are due go before those that are not, in the order of receipt", () => {
  const { queue, started, add } = setup(10);
  add("t", "late", 5000);
  const a = add("t", "a");
  const b = add("t", "b");
  expect(started).toEqual(["a"]);
  queue.remove(a);
  vi.advanceTimersByTime(6000);
  expect(started).toEqual(["a", "b"]);
  queue.remove(b);
  expect(started).toEqual(["a", "b", "late"]);
});

test("of several that are not due the first that is starts at its time", () => {
  const { queue, started, add } = setup(10);
  add("t", "later", 9000);
  const early = add("t", "early", 1000);
  vi.advanceTimersByTime(999);
  expect(started).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(started).toEqual(["early"]);
  queue.remove(early);
  vi.advanceTimersByTime(8000);
  expect(started).toEqual(["early", "later"]);
});

test("one that becomes due while another of its thread waits for a place does not keep the thread", () => {
  const { queue, started, add } = setup(1);
  const a = add("t", "a");
  const other = add("u", "other");
  const due = add("t", "due", 5000);
  const b = add("t", "b");
  queue.remove(a);
  // `b` waits for the place that `other` has; meanwhile the time of `due` comes.
  expect(started).toEqual(["a", "other"]);
  vi.advanceTimersByTime(6000);
  queue.remove(other);
  for (const run of [due, b, due]) if (run.started) queue.remove(run);
  expect(started.toSorted()).toEqual(["a", "b", "due", "other"]);
});

test("nothing starts on a thread that is held, and all goes on when it is let go", () => {
  const { queue, started, add } = setup(1);
  const release = queue.hold("t");
  expect([queue.isFree("t"), queue.isFree("u")]).toEqual([false, true]);
  const a = add("t", "a");
  const other = add("u", "other");
  expect(started).toEqual(["other"]);
  queue.remove(other);
  expect(started).toEqual(["other"]);
  release();
  expect(started).toEqual(["other", "a"]);
  expect(a.started).toBe(true);
});
