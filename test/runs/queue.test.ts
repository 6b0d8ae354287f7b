// Who may run when: order per thread, places over all threads, times that have not come, threads that are held.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import type { ActiveRun } from "../../src/runs/active.ts";
import { RunQueue } from "../../src/runs/queue.ts";

/** A queue with so many places on a clock, and the names of the runs that it started. */
function setup(jobs: number) {
  const clock = new TestClock(1000);
  const started: string[] = [];
  const queue = new RunQueue(jobs, (run) => started.push(run.id), clock);
  /** Adds a run, to start in so many ms. */
  const add = (threadId: string, id: string, delay?: number): ActiveRun => {
    const record = delay === undefined ? {} : { notBefore: clock.now() + delay };
    const run = { id, threadId, record, started: false } as unknown as ActiveRun;
    queue.add(run);
    return run;
  };
  return { clock, queue, started, add };
}

test("those that are due go before those that are not, in the order of receipt", async () => {
  const { clock, queue, started, add } = setup(10);
  add("t", "late", 5000);
  const a = add("t", "a");
  const b = add("t", "b");
  expect(started).toEqual(["a"]);
  queue.remove(a);
  await clock.advance(6000);
  expect(started).toEqual(["a", "b"]);
  queue.remove(b);
  expect(started).toEqual(["a", "b", "late"]);
});

test("of several that are not due the first that is starts at its time", async () => {
  const { clock, queue, started, add } = setup(10);
  add("t", "later", 9000);
  const early = add("t", "early", 1000);
  await clock.advance(999);
  expect(started).toEqual([]);
  await clock.advance(1);
  expect(started).toEqual(["early"]);
  queue.remove(early);
  await clock.advance(8000);
  expect(started).toEqual(["early", "later"]);
});

test("one that becomes due while another of its thread waits for a place does not keep the thread", async () => {
  const { clock, queue, started, add } = setup(1);
  const a = add("t", "a");
  const other = add("u", "other");
  const due = add("t", "due", 5000);
  const b = add("t", "b");
  queue.remove(a);
  // `b` waits for the place that `other` has; meanwhile the time of `due` comes.
  expect(started).toEqual(["a", "other"]);
  await clock.advance(6000);
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

test("a thread keeps its turn when the run is taken out that waited for a place", () => {
  const { queue, started, add } = setup(1);
  const first = add("blocker", "first");
  const a = add("t", "a");
  add("t", "a2");
  add("u", "b");
  queue.remove(a);
  queue.remove(first);
  expect(started).toEqual(["first", "a2"]);
});

test("a run that was taken out while it waited for a place is kept no longer", async () => {
  const { queue, add } = setup(1);
  add("blocker", "first");
  const gone = Array.from({ length: 10 }, (_, i) => {
    const run = add(`t${i}`, "gone");
    queue.remove(run);
    return new WeakRef(run);
  });
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  // What a WeakRef was made of lives to the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect(gone.filter((run) => run.deref() !== undefined)).toEqual([]);
});
