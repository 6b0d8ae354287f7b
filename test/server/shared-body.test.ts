// A body that two may read: everything arrives at both, nothing is read before it is asked for, and nothing stays that all have read.
import { expect, test } from "vitest";
import { SharedBody } from "../../src/server/shared-body.ts";

/** A body of these pieces, and how many were asked for. */
function source(pieces: readonly string[]): { body: SharedBody; asked: () => number } {
  let asked = 0;
  const stream = (): ReadableStream<Uint8Array> =>
    new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const piece = pieces[asked++];
          if (piece === undefined) controller.close();
          else controller.enqueue(new TextEncoder().encode(piece));
        },
      },
      { highWaterMark: 0 },
    );
  return { body: new SharedBody(stream), asked: () => asked };
}
/** What is left of a stream. */
async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const piece of stream) text += new TextDecoder().decode(piece);
  return text;
}

test("both get everything, one after the other or at once", async () => {
  const { body } = source(["one ", "two ", "three"]);
  expect(await textOf(body.stream())).toBe("one two three");
  expect(await textOf(body.stream())).toBe("one two three");
  const other = source(["one ", "two ", "three"]).body;
  expect(await Promise.all([textOf(other.stream()), textOf(other.stream())])).toEqual([
    "one two three",
    "one two three",
  ]);
});

test("nothing is read before it is asked for", async () => {
  const { body, asked } = source(["one", "two"]);
  const reader = body.stream().getReader();
  expect(asked()).toBe(0);
  await reader.read();
  expect(asked()).toBe(1);
});

test("who is behind still gets everything after a release, and who comes along reads on", async () => {
  const { body } = source(["one ", "two ", "three"]);
  const [slow, fast] = [body.stream(), body.stream()];
  const reader = slow.getReader();
  await reader.read();
  body.release();
  expect(await textOf(fast)).toBe("one two three");
  reader.releaseLock();
  expect(await textOf(slow)).toBe("two three");
});

test("one who leaves holds nobody up", async () => {
  const { body } = source(["one ", "two"]);
  const left = body.stream();
  const rest = body.stream();
  body.release();
  await left.cancel();
  expect(await textOf(rest)).toBe("one two");
});

test("an error of the body reaches both", async () => {
  const failing = new SharedBody(
    () =>
      new ReadableStream({
        pull() {
          throw new Error("cut");
        },
      }),
  );
  await expect(textOf(failing.stream())).rejects.toThrow("cut");
  await expect(textOf(failing.stream())).rejects.toThrow("cut");
});
