// Short ids: every text comes back, and UUIDs keep their order.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { longId, shortId } from "../../src/storage/short-id.ts";

test("every id comes back as it was", () => {
  const ids = Array.from({ length: 500 }, () => randomUUID() as string);
  const others = [
    "",
    "thread-1",
    "~",
    "~~x",
    `~${ids[0]}`,
    ids[0]!.toUpperCase(),
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
  ];
  for (const id of [...ids, ...others]) expect(longId(shortId(id))).toBe(id);
});

test("a UUID takes 23 characters and sorts as before", () => {
  const ids = Array.from({ length: 500 }, () => randomUUID() as string).toSorted();
  const short = ids.map(shortId);
  expect(new Set(short.map((id) => id.length))).toEqual(new Set([23]));
  expect(short.toSorted()).toEqual(short);
});
