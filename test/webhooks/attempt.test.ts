// One attempt by itself: its time limit survives the garbage collection, and a name that leads to this machine is refused when it connects.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { attempt, type Sending } from "../../src/webhooks/attempt.ts";
import { startReceiver, type Receiver } from "../e2e/support/receiver.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

const sending = (more: Partial<Sending>): Sending => ({
  url: receiver.url,
  body: "{}",
  headers: { "content-type": "application/json" },
  ownHeaders: {},
  policy: { requireHttps: false, disableLoopback: false },
  timeoutMs: 10_000,
  maxAnswerBytes: 100,
  signal: new AbortController().signal,
  self: () => new Response(),
  ...more,
});

test("ends in time although garbage is collected meanwhile", async () => {
  receiver.react = () => new Promise(() => undefined);
  const attempting = attempt(sending({ timeoutMs: 300 }));
  await receiver.received(1);
  const collecting = setInterval(collectGarbage, 10);
  try {
    expect(await attempting).toEqual({ error: "no answer within 0.3 s", forbidden: false });
  } finally {
    clearInterval(collecting);
  }
});

test("a name that leads to this machine is refused when the connection is made", async () => {
  const url = receiver.url.replace("127.0.0.1", "localhost");
  const policy = { requireHttps: false, disableLoopback: true };
  expect(await attempt(sending({ url, policy }))).toMatchObject({ forbidden: true });
  expect(receiver.hooks).toEqual([]);
});

test("reads the beginning of a long answer only, and the operator may say who sends", async () => {
  receiver.react = () => ({ status: 200, body: "x".repeat(1_000_000) });
  const outcome = await attempt(sending({ ownHeaders: { "User-Agent": "acme" } }));
  expect(outcome).toMatchObject({ status: 200, answer: "x".repeat(100) });
  expect(receiver.hooks[0]!.headers["user-agent"]).toBe("acme");
});

test("a call to this server itself ends in time, and is told to stop", async () => {
  let stopped = false;
  const self = (request: Request): Promise<Response> => {
    request.signal.addEventListener("abort", () => (stopped = true));
    return new Promise(() => undefined);
  };
  expect(await attempt(sending({ url: "/runs/wait", self, timeoutMs: 50 }))).toMatchObject({
    error: "no answer within 0.05 s",
  });
  expect(stopped).toBe(true);
});
