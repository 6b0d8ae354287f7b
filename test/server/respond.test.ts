// Answers that cannot be made.
import { expect, test } from "vitest";
import { Reply } from "../../src/server/respond.ts";

test("an answer longer than any text is refused with what to do about it, and is no error of ours", async () => {
  const reply = new Reply({}, { openStreams: 0 }, "id", false);
  const reported: unknown[] = [];
  // Half a gigabyte: V8 makes no longer text.
  const huge = { toJSON: () => "x".repeat(2 ** 30) };
  const answer = (): Response => {
    try {
      return reply.json(huge);
    } catch (error) {
      return reply.error(error, (problem) => reported.push(problem));
    }
  };
  const response = answer();
  expect([response.status, await response.json()]).toEqual([
    422,
    { detail: "The answer would have more than 512 MiB; ask for fewer things (limit) or for less of each (select)" },
  ]);
  expect(reported).toEqual([]);
});
