import { expect, test } from "vitest";
import { prefers } from "../../src/server/prefer.ts";

test.for([
  ["return=minimal", true],
  ["Return=Minimal", true],
  ["RETURN = MINIMAL", true],
  ['return="minimal"', true],
  ["respond-async, return=minimal", true],
  ["return=minimal,wait=10", true],
  ["respond-async;x=1,return=minimal; foo=bar", true],
  ["return=minimal, return=representation", true],
  ["return=representation, return=minimal", false],
  ["return=representation", false],
  ["return=minimalist", false],
  ["noreturn=minimal", false],
  ["foo; return=minimal", false],
  ["return", false],
  ["minimal", false],
  ["", false],
  [null, false],
] as const)("%s", ([header, wanted]) => {
  expect(prefers(header, "return", "minimal")).toBe(wanted);
});
