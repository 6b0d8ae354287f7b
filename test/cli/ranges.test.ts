import { expect, test } from "vitest";
import { satisfies } from "../../src/cli/doctor/ranges.ts";

test.each<[range: string, yes: readonly string[], no: readonly string[]]>([
  [">=20.19", ["20.19.0", "20.20.2", "22.0.0", "v24.1.0"], ["20.18.9", "18.20.0"]],
  ["^20.19.0 || >=22.12.0", ["20.19.0", "20.99.1", "22.12.0", "24.0.0"], ["20.18.0", "21.7.0", "22.11.0"]],
  [">= 14.6", ["14.6.0", "20.0.0"], ["14.5.9"]],
  [">=18 <23", ["18.0.0", "22.9.9"], ["17.9.9", "23.0.0"]],
  ["> 1.2", ["1.3.0", "2.0.0"], ["1.2.0", "1.2.9"]],
  ["<= 1.2", ["1.2.9", "1.0.0"], ["1.3.0"]],
  ["1.2 - 2.3", ["1.2.0", "2.3.9"], ["1.1.9", "2.4.0"]],
  ["^1.1.48", ["1.1.48", "1.9.0"], ["1.1.47", "2.0.0", "0.3.0"]],
  ["^0.2.3", ["0.2.3", "0.2.9"], ["0.3.0", "0.2.2"]],
  ["^0.0.19", ["0.0.19"], ["0.0.20"]],
  ["^0", ["0.9.0"], ["1.0.0"]],
  ["~1.12.0", ["1.12.0", "1.12.9"], ["1.13.0"]],
  ["~1", ["1.9.0"], ["2.0.0"]],
  ["1.2.3", ["1.2.3"], ["1.2.4"]],
  ["=1.2.3", ["1.2.3"], ["1.2.4"]],
  ["1.2.x", ["1.2.0", "1.2.9"], ["1.3.0"]],
  ["20 || 22", ["20.1.0", "22.1.0"], ["21.0.0"]],
  ["*", ["0.0.1", "9.9.9"], []],
  ["", ["1.0.0"], []],
])("%j", (range, yes, no) => {
  for (const version of yes) expect(satisfies(version, range), version).toBe(true);
  for (const version of no) expect(satisfies(version, range), version).toBe(false);
});

test("what is not understood is no answer", () => {
  expect(satisfies("1.0.0", "workspace:*")).toBeUndefined();
  expect(satisfies("1.0.0", "https://example.com/x.tgz")).toBeUndefined();
  expect(satisfies("unknown", ">=1")).toBeUndefined();
  // One alternative that is understood and holds is enough, and so is one part that does not.
  expect(satisfies("1.0.0", "npm:x || ^1")).toBe(true);
  expect(satisfies("1.0.0", ">2 foo")).toBe(false);
});
