// What taking a run back reads and removes: with a journal only what the run wrote, however long its thread is; without one the same, from
// what stands in storage.
import { expect, test } from "vitest";
import { rollbackWrites } from "../../src/runs/rollback.ts";
import { type BufferedDatabase, buffered } from "../../src/storage/buffered.ts";
import { CheckpointStore } from "../../src/storage/checkpoints.ts";
import { RunJournal } from "../../src/storage/journal.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";

const THREAD = "11111111-1111-4111-8111-111111111111";
const idOf = (number: number): string => `1f0c0000-0000-6000-8000-${String(number).padStart(12, "0")}`;
const runOf = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;

/** A store that counts the entries that are read, and how to put a checkpoint with a growing list and a long text into it. */
function setUp() {
  const inner = buffered(memoryDatabase());
  let read = 0;
  const db: BufferedDatabase = {
    ...inner,
    *range(range) {
      for (const entry of inner.range(range)) {
        read++;
        yield entry;
      }
    },
  };
  const store = new CheckpointStore(db);
  const list: string[] = [];
  let parent: string | undefined;
  /** @param number ids have its order. @param ns others than the root have no parents here. */
  const put = (number: number, run: string, journal: RunJournal | undefined, ns = ""): string => {
    const id = idOf(number);
    list.push(JSON.stringify(`message ${number}`.padEnd(300, ".")));
    const context = { metadata: { of: run }, visible: null };
    const changed = new Map([
      ["messages", { parts: [...list], live: [] }],
      ["text", { stored: JSON.stringify(`text ${number}`.padEnd(300, ".")) }],
    ]);
    const x = store.contexts.idOf(THREAD, context, journal);
    const p = ns === "" ? parent : undefined;
    const record = { v: 4, ts: "", cv: {}, vs: {}, m: { step: number }, d: run, x, ...(p === undefined ? {} : { p }) };
    store.put(THREAD, ns, id, { ...record, changed, kept: {} }, journal);
    const place = { threadId: THREAD, ns, id, taskId: idOf(number + 500) };
    store.pending.put(place, [{ taskId: "", index: 0, channel: "a", stored: "1" }], run, journal);
    if (ns === "") parent = id;
    return id;
  };
  const everything = (): (readonly [string, string])[] => [...inner.range({ start: "", end: "\uffff" })];
  const reads = (work: () => void): number => {
    const before = read;
    work();
    return read - before;
  };
  return { db, store, put, everything, reads };
}

test.each([true, false])("nothing is left of a run, and nothing else goes (with a journal: %s)", (withJournal) => {
  const { db, store, put, everything } = setUp();
  for (let i = 1; i <= 5; i++) put(i, runOf(1), undefined);
  put(6, runOf(1), undefined, "sub");
  const before = everything();
  const journal = new RunJournal(THREAD);
  // One of its ids is smaller than one that was there, as after a clock that was set back.
  for (const number of [7, 8, 0]) put(number, runOf(2), journal);
  put(9, runOf(2), journal, "sub");
  put(10, runOf(2), journal, "other");
  // At a checkpoint of the earlier run, too.
  const place = { threadId: THREAD, ns: "", id: idOf(5), taskId: idOf(900) };
  store.pending.put(place, [{ taskId: "", index: -4, channel: "b", stored: "2" }], runOf(2), journal);
  db.write(rollbackWrites(store, THREAD, runOf(2), withJournal ? journal : undefined));
  expect(everything()).toEqual(before);
});

test("a run that wrote more than a journal holds is taken back all the same", () => {
  const { db, store, put, everything } = setUp();
  put(1, runOf(1), undefined);
  const before = everything();
  const journal = new RunJournal(THREAD);
  for (let i = 0; i < 30_000; i++) journal.wrote("", idOf(2));
  put(3, runOf(2), journal);
  expect(journal.checkpoints.length).toBeLessThan(30_000);
  db.write(rollbackWrites(store, THREAD, runOf(2), journal));
  expect(everything()).toEqual(before);
});

test("the thread of a run with a journal is not read", () => {
  const { db, store, put, reads } = setUp();
  for (let i = 1; i <= 1000; i++) put(i, runOf(1), undefined);
  const never = new RunJournal(THREAD);
  expect(reads(() => expect(rollbackWrites(store, THREAD, runOf(3), never)).toEqual([]))).toBe(0);
  const journal = new RunJournal(THREAD);
  for (const number of [1001, 1002]) put(number, runOf(2), journal);
  db.flush();
  const found = reads(() => void rollbackWrites(store, THREAD, runOf(2), journal));
  expect(found).toBeLessThan(20);
});
