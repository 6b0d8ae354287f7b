// What goes wrong beside a run keeps it from nothing: who waits gets the end, it is stored, and the next run of the thread starts.
import { expect, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import { Assistants } from "../../src/resources/assistants.ts";
import { Idempotency } from "../../src/resources/idempotency.ts";
import { Runs } from "../../src/resources/runs.ts";
import { Threads } from "../../src/resources/threads.ts";
import { RunEngine } from "../../src/runs/engine.ts";
import type { EngineOptions } from "../../src/runs/engine-options.ts";
import { runBody, runRequest } from "../../src/runs/run-body.ts";
import { ThreadValues } from "../../src/runs/values.ts";
import { buffered } from "../../src/storage/buffered.ts";
import { CheckpointStore } from "../../src/storage/checkpoints.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";

/** An engine whose graphs cannot be loaded, so that every run fails; and what it reported. */
function setUp(options: Partial<EngineOptions>) {
  const db = buffered(memoryDatabase());
  const clock = new TestClock(Date.now());
  const checkpoints = new CheckpointStore(db);
  const parts = { threads: new Threads(db, clock), runs: new Runs(db), assistants: new Assistants(db) };
  parts.assistants.sync([{ id: "agent", description: null }]);
  const reported: unknown[] = [];
  const engine = new RunEngine({
    ...parts,
    db,
    checkpoints,
    values: new ThreadValues(checkpoints),
    idempotency: new Idempotency(db, clock),
    store: null,
    graph: () => Promise.reject(new Error("no such file")),
    kit: () => new Promise(() => undefined),
    jobs: 1,
    timeoutMs: 1000,
    keepEventsMs: 1000,
    stateOf: async () => "{}",
    clock,
    apiUrl: () => "",
    onFailure: () => undefined,
    onError: (error) => reported.push((error as Error).message),
    ...options,
  });
  const threadId = parts.threads.create({ ifExists: "raise" }).thread_id;
  const start = () => engine.create(threadId, runRequest(runBody.parse({ assistant_id: "agent" })), "background");
  return { ...parts, checkpoints, engine, threadId, start, reported };
}

const broken = (what: string) => (): never => {
  throw new Error(`${what} broke`);
};
const observer = { native: false, started() {}, event() {}, step() {}, paused() {}, ended: broken("observer") };

test.each<[string, Partial<EngineOptions>, string[]]>([
  ["a follower", { followers: [broken("follower")] }, ["follower broke"]],
  [
    "a follower that is told of the commit",
    { followers: [() => ({ writes: [], committed: broken("commit") })] },
    ["commit broke"],
  ],
  ["who is told of failures", { onFailure: broken("listener") }, ["listener broke"]],
  ["an observer", { observers: { observe: () => observer, threadDeleted: () => undefined } }, ["observer broke"]],
])("%s that throws", async (_what, options, troubles) => {
  const { engine, threads, runs, threadId, start, reported } = setUp(options);
  const [first, second] = [start(), start()];
  const json = JSON.stringify({ __error__: { error: "Error", message: "no such file" } });
  for (const { ended } of [first, second]) expect(await ended).toMatchObject({ status: "error", json });
  expect(reported).toEqual([...troubles, ...troubles]);
  expect(runs.list(threadId, { limit: 10, offset: 0 }).map(({ run }) => run.status)).toEqual(["error", "error"]);
  expect([threads.get(threadId).status, engine.isBusy(threadId), engine.load.running]).toEqual(["error", false, 0]);
});

test("what one follower has to store is stored beside another that throws", async () => {
  const db = buffered(memoryDatabase());
  const write = { writes: [{ key: "x/kept", value: "yes" }], committed: () => undefined };
  const { start } = setUp({ db, followers: [broken("follower"), () => write] });
  await start().ended;
  expect(db.get("x/kept")).toBe("yes");
});

test("a commit that fails is reported, and who waits learns it", async () => {
  const inner = memoryDatabase();
  const db = buffered(inner);
  const { start, engine, threadId, reported } = setUp({ db });
  const run = start();
  inner.write = broken("disk");
  expect(await run.ended).toMatchObject({ status: "error" });
  expect(reported).toContain("disk broke");
  expect(engine.isBusy(threadId)).toBe(false);
});

test.each(["a new run", "a caller"])(
  "who waits for runs that %s takes back gets what is there without any of them",
  async (who) => {
    const { engine, threadId, start, checkpoints } = setUp({ graph: () => new Promise(() => undefined) });
    const [running, waiting] = [start(), start()];
    const { journal } = running;
    for (const [id, d, text] of [
      ["1f0c0000-0000-6000-8000-000000000001", undefined, "kept"],
      ["1f0c0000-0000-6000-8000-000000000002", running.id, "not committed"],
    ] as const) {
      const changed = new Map([["text", { stored: `j${JSON.stringify(text)}` }]]);
      const record = { v: 4, ts: "", cv: {}, vs: {}, m: {}, ...(d === undefined ? {} : { d }) };
      checkpoints.put(threadId, "", id, { ...record, changed, kept: {} }, d === undefined ? undefined : journal);
    }
    expect(checkpoints.newestValuesJson(threadId)).toContain("not committed");
    if (who === "a caller") await engine.cancelWhere(() => true, "rollback");
    else {
      const body = runBody.parse({ assistant_id: "agent", multitask_strategy: "rollback" });
      engine.create(threadId, runRequest(body), "background");
    }
    for (const { ended } of [running, waiting]) expect((await ended).json).toBe('{"text":"kept"}');
  },
);
