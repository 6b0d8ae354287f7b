// The order in which deliveries are sent.
import { expect, test } from "vitest";
import { DeliveryLanes } from "../../src/webhooks/lanes.ts";

/** Everything that may be sent at a time. */
function takeAll(lanes: DeliveryLanes, now: number): string[] {
  const ids: string[] = [];
  for (let turn = lanes.take(now); turn !== undefined; turn = lanes.take(now)) ids.push(turn.id);
  return ids;
}

test("receivers take turns; one that answers may have eight under way", () => {
  const lanes = new DeliveryLanes();
  for (let i = 0; i < 20; i++) lanes.add("a", `a${i}`, 0);
  lanes.add("b", "b0", 0);
  expect(takeAll(lanes, 0)).toEqual(["a0", "b0", "a1"]);
  lanes.done("a", true);
  expect(takeAll(lanes, 0)).toEqual(["a2", "a3", "a4", "a5", "a6", "a7", "a8"]);
});

test("one that did not answer has a single delivery under way until it answers", () => {
  const lanes = new DeliveryLanes();
  for (let i = 0; i < 20; i++) lanes.add("a", `a${i}`, 0);
  expect(takeAll(lanes, 0)).toHaveLength(2);
  lanes.done("a", false);
  lanes.done("a", false);
  expect(takeAll(lanes, 0)).toEqual(["a2"]);
  lanes.done("a", true);
  expect(takeAll(lanes, 0)).toHaveLength(8);
});

test("dead receivers cannot take all places", () => {
  const lanes = new DeliveryLanes();
  for (let r = 0; r < 100; r++) for (let i = 0; i < 5; i++) lanes.add(`dead${r}`, `${r}.${i}`, 0);
  const first = takeAll(lanes, 0);
  expect(first).toHaveLength(128);
  for (const id of first) lanes.done(`dead${id.split(".")[0]}`, false);
  expect(takeAll(lanes, 0)).toHaveLength(100);
  lanes.add("healthy", "h", 0);
  expect(takeAll(lanes, 0)).toEqual(["h"]);
});

test("nothing is sent before it is due, and what is due first is sent first", () => {
  const lanes = new DeliveryLanes();
  lanes.add("a", "late", 30);
  lanes.add("a", "soon", 10);
  lanes.add("b", "middle", 20);
  expect(lanes.earliest).toBe(10);
  expect(takeAll(lanes, 9)).toEqual([]);
  expect(takeAll(lanes, 10)).toEqual(["soon"]);
  expect(lanes.earliest).toBe(20);
  expect(takeAll(lanes, 30)).toEqual(["middle", "late"]);
  expect(lanes.earliest).toBe(Infinity);
});
