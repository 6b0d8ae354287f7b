// What is kept out of records.
import { expect, test } from "vitest";
import { redact } from "../../src/webhooks/redact.ts";

test("secrets are taken out, as they are and as they stand in JSON", () => {
  const secret = 's3"cret\\';
  expect(redact(`got ${secret}, ${JSON.stringify({ secret })}`, [secret])).toBe('got ***, {"secret":"***"}');
});

test("a text with a short one is not shown at all", () => {
  expect(redact("the code is 42", ["42"])).toBe("(not shown: it holds a header value)");
  expect(redact("nothing here", ["42", ""])).toBe("nothing here");
});
