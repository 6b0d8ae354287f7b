import { expect, test } from "vitest";
import { runTimeout } from "../../src/runs/timeout.ts";

const HOUR = 3_600_000;

test.each([
  [undefined, HOUR],
  ["", HOUR],
  ["  ", HOUR],
  ["1", 1000],
  [" 90 ", 90_000],
  ["0.25", 250],
  ["2147483", 2_147_483_000],
])("BG_JOB_TIMEOUT_SECS=%j", (text, ms) => {
  expect(runTimeout(text)).toEqual({ ms });
});

test.each(["0", "-1", "NaN", "Infinity", "1h", "2147484", "1,5"])("BG_JOB_TIMEOUT_SECS=%s is refused", (text) => {
  expect(runTimeout(text)).toEqual({ ms: HOUR, warning: expect.stringContaining(`"${text}"`) });
});
