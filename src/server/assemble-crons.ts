// Everything about crons behind the routes: records, the clock that fires them, and what a firing is.
import type { Timers } from "../clock.ts";
import type { ProjectConfig } from "../config/types.ts";
import type { Assistants } from "../resources/assistants.ts";
import { Crons, type Cron } from "../resources/crons.ts";
import type { Threads } from "../resources/threads.ts";
import type { ActiveRun } from "../runs/active.ts";
import { CronClock } from "../runs/cron-clock.ts";
import { loadSchedules } from "../runs/cron-schedule.ts";
import { CronService } from "../runs/cron-service.ts";
import type { RunEngine } from "../runs/engine.ts";
import { runBody, runRequest } from "../runs/run-body.ts";
import type { BufferedDatabase } from "../storage/buffered.ts";
import type { Write } from "../storage/database.ts";
import type { ServerEvent } from "./types.ts";

/** What the routes and the start of the server need of crons. */
export interface CronParts {
  readonly crons: Crons;
  readonly cronClock: CronClock;
  readonly cronService: CronService;
  /** Runs a cron now, beside its schedule. @throws ApiError */
  readonly fireCron: (cron: Cron) => ActiveRun;
}

export function assembleCrons(parts: {
  readonly project: ProjectConfig;
  readonly database: BufferedDatabase;
  readonly engine: RunEngine;
  readonly assistants: Assistants;
  readonly threads: Threads;
  readonly clock: Timers;
  readonly checkWebhook: (url: string | undefined) => Promise<void>;
  readonly onEvent: (event: ServerEvent) => void;
}): CronParts {
  const { engine, assistants, threads, clock, onEvent } = parts;
  const warn = (message: string): void => onEvent({ type: "log", level: "warn", message });
  const crons = new Crons(parts.database, (key) => warn(`The record ${key} of a cron is damaged; it is left out.`));
  const fire = (cron: Cron, writes: readonly Write[]): ActiveRun => {
    const body = runBody.parse({
      ...cron.payload,
      ...(cron.thread_id === null ? { on_completion: cron.on_run_completed } : {}),
    });
    // Behind the limits, within which each of the two was when the cron was created.
    const metadata = { ...cron.metadata, ...body.metadata, cron_id: cron.cron_id };
    const request = { ...runRequest({ ...body, metadata }), hidden: cron.hidden, alongside: () => writes };
    return engine.create(cron.thread_id ?? undefined, request, "background");
  };
  const cronClock = new CronClock({
    crons,
    clock,
    schedules: loadSchedules,
    catchUp: parts.project.cronCatchUp ?? "skip",
    fire: (cron, write) => void fire(cron, [write]),
    hasThread: (threadId) => threads.find(threadId) !== undefined,
    onWarning: warn,
  });
  const cronService = new CronService({
    crons,
    clock: cronClock,
    time: clock,
    assistants,
    threads,
    checkWebhook: parts.checkWebhook,
  });
  return { crons, cronClock, cronService, fireCron: (cron) => fire(cron, []) };
}
