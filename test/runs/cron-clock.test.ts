// Crons by a test clock: a year of firings in milliseconds, changes of clocks, what was missed, and one bad record among good ones.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import { ApiError } from "../../src/errors.ts";
import { Crons, type Cron } from "../../src/resources/crons.ts";
import { CronClock } from "../../src/runs/cron-clock.ts";
import { loadSchedules } from "../../src/runs/cron-schedule.ts";
import { buffered } from "../../src/storage/buffered.ts";
import type { BufferedDatabase } from "../../src/storage/buffered.ts";
import { keys } from "../../src/storage/keys.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let database: BufferedDatabase;
let fired: { id: string; at: string }[];
let warnings: string[];
let refuse: (cron: Cron) => void;
let clocks: CronClock[];

beforeEach(() => {
  database = buffered(memoryDatabase());
  fired = [];
  warnings = [];
  refuse = () => undefined;
  clocks = [];
});
afterEach(() => {
  for (const clock of clocks) clock.stop();
});

function cron(id: string, schedule: string, next: string, more: Partial<Cron> = {}): Cron {
  return {
    cron_id: id,
    assistant_id: "assistant",
    thread_id: null,
    on_run_completed: "delete",
    end_time: null,
    schedule,
    timezone: null,
    created_at: "2026-01-01T00:00:00.000000+00:00",
    updated_at: "2026-01-01T00:00:00.000000+00:00",
    user_id: null,
    payload: {},
    next_run_date: next,
    metadata: {},
    enabled: true,
    ...more,
  };
}

/** A server that starts at a time, over what is stored. */
async function start(
  clock: TestClock,
  catchUp: "skip" | "once" = "skip",
): Promise<{ crons: Crons; cronClock: CronClock }> {
  const crons = new Crons(database, (key) => warnings.push(`damaged ${key}`));
  const cronClock = new CronClock({
    crons,
    clock,
    schedules: loadSchedules,
    catchUp,
    fire(one, write) {
      refuse(one);
      database.write([write]);
      fired.push({ id: one.cron_id, at: new Date(clock.now()).toISOString() });
    },
    hasThread: (threadId) => threadId !== "gone",
    onWarning: (message) => warnings.push(message),
  });
  clocks.push(cronClock);
  await cronClock.start();
  return { crons, cronClock };
}

const store = (...crons: Cron[]): void =>
  database.write(crons.map((one) => ({ key: keys.cron(one.cron_id), value: JSON.stringify(one) })));

test("a year of firings: every six hours, none drifts, none is missed", async () => {
  const clock = new TestClock("2026-01-01T00:00:00Z");
  store(cron("often", "0 */6 * * *", "2026-01-01T06:00:00+00:00"));
  const { crons } = await start(clock);
  await clock.advance(365 * DAY);
  expect(fired).toHaveLength(365 * 4);
  expect(new Set(fired.map(({ at }) => at)).size).toBe(fired.length);
  expect(fired.every(({ at }) => /T(?:00|06|12|18):00:00\.000Z$/.test(at))).toBe(true);
  expect(crons.get("often").next_run_date).toBe("2027-01-01T06:00:00.000000+00:00");
  expect(warnings).toEqual([]);
});

describe("when clocks change", () => {
  test("in spring, 02:30 does not exist: it fires once, after the gap", async () => {
    const clock = new TestClock("2026-03-28T12:00:00Z");
    store(cron("night", "30 2 * * *", "2026-03-29T01:00:00+00:00", { timezone: "Europe/Zurich" }));
    await start(clock);
    await clock.advance(3 * DAY);
    expect(fired.map(({ at }) => at)).toEqual([
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T00:30:00.000Z",
      "2026-03-31T00:30:00.000Z",
    ]);
  });

  test("in autumn, 02:30 comes twice: it fires once", async () => {
    const clock = new TestClock("2026-10-24T12:00:00Z");
    const next = (await loadSchedules())("30 2 * * *", "Europe/Zurich", clock.now());
    store(cron("night", "30 2 * * *", new Date(next).toISOString(), { timezone: "Europe/Zurich" }));
    await start(clock);
    await clock.advance(3 * DAY);
    expect(fired).toHaveLength(3);
    expect(fired.filter(({ at }) => at.startsWith("2026-10-25"))).toHaveLength(1);
  });
});

describe("what was missed", () => {
  beforeEach(() => store(cron("daily", "0 9 * * *", "2026-05-01T09:00:00+00:00")));

  test("is left out and said so, and the schedule goes on", async () => {
    const clock = new TestClock("2026-05-04T12:00:00Z");
    const { crons } = await start(clock, "skip");
    expect(fired).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining("was to run at 2026-05-01T09:00:00+00:00; it was left out")]);
    expect(crons.get("daily").next_run_date).toBe("2026-05-05T09:00:00.000000+00:00");
    await clock.advance(DAY);
    expect(fired.map(({ at }) => at)).toEqual(["2026-05-05T09:00:00.000Z"]);
  });

  test("is made once at start if the config says so, however often it was missed", async () => {
    const clock = new TestClock("2026-05-04T12:00:00Z");
    await start(clock, "once");
    expect(fired.map(({ at }) => at)).toEqual(["2026-05-04T12:00:00.000Z"]);
    await clock.advance(DAY);
    expect(fired).toHaveLength(2);
  });

  test("a restart within the minute misses nothing", async () => {
    const clock = new TestClock("2026-05-01T09:00:20Z");
    await start(clock, "skip");
    expect(fired).toHaveLength(1);
  });

  test("a restart repeats nothing: the next date is stored with the run", async () => {
    const clock = new TestClock("2026-05-01T08:59:00Z");
    await start(clock);
    await clock.advance(2 * MINUTE);
    clocks[0]!.stop();
    await start(clock);
    await clock.advance(MINUTE);
    expect(fired).toHaveLength(1);
  });
});

describe("one that is wrong stops no other", () => {
  const good = cron("good", "* * * * *", "2026-01-01T00:01:00+00:00");

  test.each([
    "{not json",
    "{}",
    "null",
    "[]",
    JSON.stringify({ ...good, cron_id: "bad", next_run_date: "soon" }),
    JSON.stringify(good),
  ])("a damaged record: %s", async (value) => {
    store(good);
    database.write([{ key: keys.cron("bad"), value }]);
    const clock = new TestClock("2026-01-01T00:00:30Z");
    await start(clock);
    await clock.advance(3 * MINUTE);
    expect(fired).toHaveLength(3);
    expect(warnings).toEqual(["damaged c/bad"]);
  });

  test("a schedule that cannot be read any more", async () => {
    store(cron("bad", "nonsense", "2026-01-01T00:01:00+00:00"), good);
    const clock = new TestClock("2026-01-01T00:00:30Z");
    const { crons } = await start(clock);
    await clock.advance(3 * MINUTE);
    expect(fired.map(({ id }) => id)).toEqual(["good", "good", "good"]);
    expect(crons.get("bad")).toMatchObject({ enabled: false, next_run_date: null });
    expect(warnings).toEqual([expect.stringContaining("Cron bad was disabled")]);
  });

  test("an end time that passes", async () => {
    store(cron("ending", "* * * * *", "2026-01-01T00:01:00+00:00", { end_time: "2026-01-01T00:02:30+00:00" }), good);
    const clock = new TestClock("2026-01-01T00:00:30Z");
    const { crons } = await start(clock);
    await clock.advance(5 * MINUTE);
    expect(fired.filter(({ id }) => id === "ending")).toHaveLength(2);
    expect(fired.filter(({ id }) => id === "good")).toHaveLength(5);
    expect(crons.get("ending").next_run_date).toBeNull();
    expect(warnings).toEqual([]);
  });

  test("a thread that was deleted ends its cron, an assistant that is gone does not", async () => {
    store(
      cron("thread", "* * * * *", "2026-01-01T00:01:00+00:00", { thread_id: "gone" }),
      cron("assistant", "* * * * *", "2026-01-01T00:01:00+00:00"),
      good,
    );
    refuse = ({ cron_id }) => {
      if (cron_id === "thread") throw new ApiError(404, "Thread with ID t not found");
      if (cron_id === "assistant") throw new ApiError(404, 'No assistant found for "x"');
    };
    const clock = new TestClock("2026-01-01T00:00:30Z");
    const { crons } = await start(clock);
    await clock.advance(2 * MINUTE);
    expect(fired.map(({ id }) => id)).toEqual(["good", "good"]);
    expect(crons.get("thread").enabled).toBe(false);
    expect(crons.get("assistant").enabled).toBe(true);
    expect(warnings.filter((text) => text.includes("could not run"))).toHaveLength(2);
  });
});

test("a run that cannot be stored once disables nothing: the cron is tried again, and others run", async () => {
  store(
    cron("one", "*/5 * * * *", "2026-01-01T00:05:00+00:00"),
    cron("two", "*/5 * * * *", "2026-01-01T00:05:00+00:00"),
  );
  let failures = 1;
  refuse = ({ cron_id }) => {
    if (cron_id === "one" && failures-- > 0) throw new Error("ENOSPC");
  };
  const clock = new TestClock("2026-01-01T00:00:30Z");
  const { crons } = await start(clock);
  await clock.advance(6 * MINUTE);
  expect(fired.map(({ id, at }) => [id, at])).toEqual([
    ["two", "2026-01-01T00:05:00.000Z"],
    ["one", "2026-01-01T00:06:00.000Z"],
  ]);
  expect(crons.get("one")).toMatchObject({ enabled: true, next_run_date: "2026-01-01T00:10:00.000000+00:00" });
  expect(warnings).toEqual(["Crons are tried again in a minute: ENOSPC"]);
});

test("a storage that fails at start ends no cron for good", async () => {
  store(cron("one", "* * * * *", "2026-01-01T00:00:00+00:00"));
  let failures = 1;
  refuse = () => {
    if (failures-- > 0) throw new Error("ENOSPC");
  };
  const clock = new TestClock("2026-01-01T00:00:30Z");
  await start(clock);
  await clock.advance(3 * MINUTE);
  expect(fired.length).toBeGreaterThan(1);
});

test("what was missed does not run behind the end of its cron", async () => {
  store(cron("over", "0 9 * * *", "2026-05-01T09:00:00+00:00", { end_time: "2026-05-02T00:00:00+00:00" }));
  const clock = new TestClock("2026-05-04T12:00:00Z");
  const { crons } = await start(clock, "once");
  expect(fired).toEqual([]);
  expect(crons.get("over").next_run_date).toBeNull();
});

test("a storage that fails for a while ends no cron for good", async () => {
  store(cron("one", "* * * * *", "2026-01-01T00:01:00+00:00"));
  let broken = true;
  const write = database.write.bind(database);
  database.write = (writes) => {
    if (broken && writes.some(({ key }) => key.startsWith(keys.crons))) throw new Error("disk full");
    write(writes);
  };
  const clock = new TestClock("2026-01-01T00:00:30Z");
  await start(clock);
  await clock.advance(MINUTE);
  expect(fired).toEqual([]);
  broken = false;
  await clock.advance(3 * MINUTE);
  expect(fired.length).toBeGreaterThan(0);
});

describe("schedules", () => {
  test.each([
    ["* * * * * *", null, "there is no field for seconds"],
    ["* * * *", null, "five fields"],
    ["", null, "five fields"],
    ["@daily", null, "five fields"],
    ["61 * * * *", null, "has no next date"],
    ["0 0 31 2 *", null, "has no next date"],
    ["* * * * *", "Mars/Olympus", "IANA name"],
    [`${"1,".repeat(300)}1 * * * *`, null, "five fields"],
  ])("%s in %s is refused", async (schedule, timezone, reason) => {
    const next = await loadSchedules();
    expect(() => next(schedule, timezone, 0)).toThrow(
      expect.objectContaining({ status: 422, detail: expect.stringContaining(reason) }),
    );
  });

  test("are UTC unless a time zone is given, whatever the machine's is", async () => {
    const next = await loadSchedules();
    const from = Date.parse("2026-07-01T00:00:00Z");
    expect(new Date(next("0 9 * * *", null, from)).toISOString()).toBe("2026-07-01T09:00:00.000Z");
    expect(new Date(next("0 9 * * *", "Asia/Tokyo", from)).toISOString()).toBe("2026-07-02T00:00:00.000Z");
    expect(new Date(next(" 0  9 * * MON ", "America/New_York", from)).toISOString()).toBe("2026-07-06T13:00:00.000Z");
  });
});
