// The order in which deliveries are sent.
import { describe, expect, test } from "vitest";
import { DeliveryLanes, type Turn } from "../../src/webhooks/lanes.ts";

/** Everything that may be sent at a time. */
function takeAll(lanes: DeliveryLanes, now: number): Turn[] {
  const turns: Turn[] = [];
  for (let turn = lanes.take(now); turn !== undefined; turn = lanes.take(now)) turns.push(turn);
  return turns;
}
const idsOf = (turns: readonly Turn[]): string[] => turns.map(({ id }) => id);

test("receivers take turns; one that answers may have eight under way", () => {
  const lanes = new DeliveryLanes();
  for (let i = 0; i < 20; i++) lanes.add("a", `a${i}`, 0);
  lanes.add("b", "b0", 0);
  const first = takeAll(lanes, 0);
  expect(idsOf(first)).toEqual(["a0", "b0", "a1"]);
  lanes.done(first[0]!, true);
  expect(idsOf(takeAll(lanes, 0))).toEqual(["a2", "a3", "a4", "a5", "a6", "a7", "a8"]);
});

test("one that did not answer has a single delivery under way until it answers", () => {
  const lanes = new DeliveryLanes();
  for (let i = 0; i < 20; i++) lanes.add("a", `a${i}`, 0);
  const first = takeAll(lanes, 0);
  expect(first).toHaveLength(2);
  for (const turn of first) lanes.done(turn, false);
  const [second, ...others] = takeAll(lanes, 0);
  expect([second!.id, others]).toEqual(["a2", []]);
  lanes.done(second!, true);
  expect(takeAll(lanes, 0)).toHaveLength(8);
});

describe("receivers that do not answer", () => {
  /** Many receivers with deliveries. */
  const silent = (lanes: DeliveryLanes, receivers: number, each: number): void => {
    for (let r = 0; r < receivers; r++) for (let i = 0; i < each; i++) lanes.add(`silent${r}`, `${r}.${i}`, 0);
  };

  test("leave places for one that is new", () => {
    const lanes = new DeliveryLanes();
    silent(lanes, 700, 1);
    expect(takeAll(lanes, 0)).toHaveLength(700);
    lanes.add("healthy", "h", 0);
    expect(idsOf(takeAll(lanes, 0))).toEqual(["h"]);
  });

  test("leave more places for it when they were asked before", () => {
    const lanes = new DeliveryLanes();
    silent(lanes, 2000, 5);
    for (let round = 0; round < 3; round++) for (const turn of takeAll(lanes, 0)) lanes.done(turn, false);
    silent(lanes, 2000, 5);
    expect(takeAll(lanes, 0).filter(({ standing }) => standing === "troubled")).toHaveLength(512);
    expect(takeAll(lanes, 0)).toEqual([]);
  });

  test("leave places for one that has answered, even if they are new and very many, and it had nothing to get for a while", () => {
    const lanes = new DeliveryLanes();
    lanes.add("healthy", "h0", 0);
    for (const turn of takeAll(lanes, 0)) lanes.done(turn, true);
    silent(lanes, 5000, 5);
    expect(takeAll(lanes, 0)).toHaveLength(896);
    for (let i = 1; i <= 9; i++) lanes.add("healthy", `h${i}`, 0);
    expect(idsOf(takeAll(lanes, 0))).toEqual(["h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8"]);
  });

  test("hold no more text in memory than is left over by the others", () => {
    const lanes = new DeliveryLanes();
    silent(lanes, 700, 1);
    const taken: Turn[] = [];
    for (let turn = lanes.take(0); turn !== undefined; turn = lanes.take(0)) {
      lanes.weigh(turn, 64 * 1024 * 1024);
      taken.push(turn);
    }
    expect(taken).toHaveLength(4);
    lanes.done(taken[0]!, true);
    expect(lanes.take(0)).toBeDefined();
  });
});

test("nothing is sent before it is due, and what is due first is sent first", () => {
  const lanes = new DeliveryLanes();
  lanes.add("a", "late", 30);
  lanes.add("a", "soon", 10);
  lanes.add("b", "middle", 20);
  expect(lanes.earliest).toBe(10);
  expect(takeAll(lanes, 9)).toEqual([]);
  expect(idsOf(takeAll(lanes, 10))).toEqual(["soon"]);
  expect(lanes.earliest).toBe(20);
  expect(idsOf(takeAll(lanes, 30))).toEqual(["middle", "late"]);
  expect(lanes.earliest).toBe(Infinity);
});

test("what is due and waits for room is not waited for by the clock", () => {
  const lanes = new DeliveryLanes();
  for (let i = 0; i < 2; i++) lanes.add("a", `a${i}`, 0);
  const [first] = takeAll(lanes, 10);
  lanes.add("a", "due", 5);
  lanes.add("a", "later", 20);
  expect(takeAll(lanes, 10)).toEqual([]);
  expect(lanes.earliest).toBe(20);
  lanes.done(first!, true);
  expect(idsOf(takeAll(lanes, 10))).toEqual(["due"]);
});

test("very many go in the order of their times, and of the same time in the order in which they came", () => {
  const lanes = new DeliveryLanes();
  const dues = Array.from({ length: 500 }, (_, i) => (i * 7919) % 50);
  for (const [i, due] of dues.entries()) lanes.add("a", `${i}`, due);
  const wanted = dues.map((due, i) => ({ due, i })).toSorted((a, b) => a.due - b.due || a.i - b.i);
  const sent: string[] = [];
  for (let now = 0; now < 50; now++) {
    expect(lanes.earliest).toBe(now);
    for (let turn = lanes.take(now); turn !== undefined; turn = lanes.take(now)) {
      sent.push(turn.id);
      lanes.done(turn, true);
    }
  }
  expect(sent).toEqual(wanted.map(({ i }) => `${i}`));
});
