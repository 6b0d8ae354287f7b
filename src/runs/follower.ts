// Those for whom the end of a run has consequences that must be stored with it: a webhook to deliver, a task to complete. A crash between the
// two would lose one, so what they write goes into the batch of the end.
import type { RunRecord } from "../resources/runs.ts";
import type { ThreadStatus } from "../resources/threads.ts";
import type { Write } from "../storage/database.ts";
import type { RunEnd } from "./active.ts";
import { attempt } from "./attempt.ts";

/** What a follower has to store when a run ends. */
export interface Consequence {
  readonly writes: readonly Write[];
  /** Called when they are stored. */
  readonly committed: () => void;
}

/** Told of every run that ends and whose record is stored or was; not of those that are rolled back or parked. */
export type RunFollower = (record: RunRecord, end: RunEnd, thread: ThreadStatus) => Consequence | undefined;

/** What others keep of a thread, which must go with it. */
export interface ThreadBelongings {
  /** What deletes it, for the batch that deletes the thread. */
  deletionOf(threadId: string): readonly Write[];
  /** The thread is gone. */
  threadDeleted(threadId: string): void;
}

/** The belongings of several as one. */
export const belongingsOf = (all: readonly ThreadBelongings[]): ThreadBelongings => ({
  deletionOf: (threadId) => all.flatMap((one) => one.deletionOf(threadId)),
  threadDeleted(threadId) {
    for (const one of all) one.threadDeleted(threadId);
  },
});

/** What all followers have to store. One that throws is reported, and the run ends without what it had to store. */
export function consequences(
  followers: readonly RunFollower[],
  record: RunRecord,
  end: RunEnd,
  thread: ThreadStatus,
  report: (error: unknown) => void,
): Consequence {
  const found = followers.flatMap((follow) => attempt(() => follow(record, end, thread), report) ?? []);
  return {
    writes: found.flatMap(({ writes }) => writes),
    committed: () => {
      for (const { committed } of found) attempt(committed, report);
    },
  };
}
