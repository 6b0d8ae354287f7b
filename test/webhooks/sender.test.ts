// When the sender looks at what is to be sent: at its time and when there is room, and not in between.
import { expect, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import { Deliveries } from "../../src/resources/deliveries.ts";
import { buffered } from "../../src/storage/buffered.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";
import { WebhookSender } from "../../src/webhooks/sender.ts";

/** A clock that tells when it is to wake somebody. */
class WatchedClock extends TestClock {
  readonly armed = new Set<number>();

  override at(time: number, wake: () => void): () => void {
    this.armed.add(time);
    const cancel = super.at(time, wake);
    return () => {
      this.armed.delete(time);
      cancel();
    };
  }
}
/** What was to happen in this turn of the event loop and in the next one has happened. */
const turns = async (): Promise<void> => {
  for (let i = 0; i < 2; i++) await new Promise((resolve) => void setImmediate(resolve));
};

test("a due delivery that waits for room arms no timer, and goes when there is room", async () => {
  const START = 1_000_000;
  const clock = new WatchedClock(START);
  const db = buffered(memoryDatabase());
  const deliveries = new Deliveries(db, clock);
  /** Answers the requests that have come, in their order. */
  const answers: ((status: number) => void)[] = [];
  const sender = new WebhookSender({
    deliveries,
    config: {
      headers: {},
      secrets: [],
      timeoutSeconds: 600,
      maxAttempts: 8,
      policy: { requireHttps: false, disableLoopback: false },
    },
    enabled: true,
    clock,
    self: () => new Promise((resolve) => void answers.push((status) => resolve(new Response(null, { status })))),
    onFailed: () => expect.unreachable("given up"),
    onError: (message) => expect.unreachable(message),
    random: () => 1,
  });
  const about = { run_id: "r", thread_id: "t", assistant_id: "a", run_status: "success", url: "/hook" };
  for (let i = 0; i < 3; i++) {
    const { delivery, writes } = deliveries.draft(about, "{}");
    db.write(writes);
    deliveries.committed(delivery);
    await turns();
  }

  // One that was never asked gets two at a time.
  expect([answers.length, [...clock.armed]]).toEqual([2, []]);
  await clock.advance(500);
  expect([answers.length, [...clock.armed]]).toEqual([2, []]);

  answers[0]!(500);
  await expect.poll(() => answers.length).toBe(3);
  await turns();
  // Now only the repetition of the first one is waited for.
  expect([...clock.armed]).toEqual([START + 1500]);
  await clock.advance(1000);
  await turns();
  expect([answers.length, [...clock.armed]]).toEqual([4, []]);
  for (const answer of answers.slice(1)) answer(200);
  await expect.poll(() => deliveries.list({ limit: 10, offset: 0, status: "delivered" }).length).toBe(3);
  await sender.stop();
});
