// Makes and changes crons: what a body asks for is checked as that of a run would be, and the next date is computed at once, so that a
// schedule that never comes is refused and not found out later.
import type { z } from "zod";
import { timestamp, uuid4 } from "../ids.ts";
import type { Assistants } from "../resources/assistants.ts";
import type { Cron, Crons } from "../resources/crons.ts";
import type { Json } from "../resources/json.ts";
import type { Threads } from "../resources/threads.ts";
import type { createCronBody, patchCronBody } from "./cron-body.ts";
import type { CronClock } from "./cron-clock.ts";

export interface CronServiceOptions {
  readonly crons: Crons;
  readonly clock: CronClock;
  readonly assistants: Assistants;
  readonly threads: Threads;
  /** @throws ApiError 422 when a webhook may not be sent there. */
  readonly checkWebhook: (url: string | undefined) => Promise<void>;
}

export class CronService {
  readonly #options: CronServiceOptions;

  constructor(options: CronServiceOptions) {
    this.#options = options;
  }

  /**
   * Creates a cron.
   * @param threadId thread of all its runs; undefined: a new one for each.
   * @throws ApiError 404 unknown assistant or thread; 422 schedule, time zone or webhook.
   */
  async create(threadId: string | undefined, body: z.output<typeof createCronBody>): Promise<Cron> {
    const { crons, clock, assistants, threads, checkWebhook } = this.#options;
    const { schedule, timezone, end_time, enabled = true, on_run_completed, metadata, ...run } = body;
    const assistant = assistants.forRun(body.assistant_id);
    if (threadId !== undefined) threads.get(threadId);
    await checkWebhook(body.webhook);
    const own: Own = { schedule, timezone: timezone ?? null, end_time: end_time ?? null, enabled };
    const now = timestamp();
    const cron = crons.put({
      cron_id: uuid4(),
      assistant_id: assistant.assistant_id,
      thread_id: threadId ?? null,
      on_run_completed: threadId === undefined ? (on_run_completed ?? "delete") : null,
      ...own,
      created_at: now,
      updated_at: now,
      user_id: null,
      payload: payloadOf({ ...run, assistant_id: assistant.assistant_id }, own),
      next_run_date: await clock.next(own),
      metadata: metadata ?? {},
    });
    clock.changed();
    return cron;
  }

  /** Changes what the body has. @throws ApiError as `create` does. */
  async patch(id: string, body: z.output<typeof patchCronBody>): Promise<Cron> {
    const { crons, clock, assistants, checkWebhook } = this.#options;
    crons.get(id);
    const { schedule, timezone, end_time, enabled, on_run_completed, metadata, ...run } = body;
    const assistant = body.assistant_id === undefined ? undefined : assistants.forRun(body.assistant_id);
    await checkWebhook(body.webhook);
    const changes = withoutUndefined({ schedule, timezone, end_time, enabled }) as Partial<Own>;
    const next = await clock.next({ ...crons.get(id), ...changes });
    // Read again: it may have fired while the dates were computed.
    const cron = crons.get(id);
    const own = { ...pickOwn(cron), ...changes };
    const before = cron.payload;
    const after = crons.put({
      ...cron,
      ...own,
      ...(assistant === undefined ? {} : { assistant_id: assistant.assistant_id }),
      ...(on_run_completed === undefined || cron.thread_id !== null ? {} : { on_run_completed }),
      metadata: { ...cron.metadata, ...metadata },
      payload: payloadOf(
        {
          ...before,
          ...withoutUndefined(run),
          ...(assistant === undefined ? {} : { assistant_id: assistant.assistant_id }),
        },
        own,
      ),
      next_run_date: next,
      updated_at: timestamp(),
    });
    clock.changed();
    return after;
  }

  /** @throws ApiError 404 */
  delete(id: string): void {
    this.#options.crons.delete(id);
    this.#options.clock.changed();
  }
}

type Own = Pick<Cron, "schedule" | "timezone" | "end_time" | "enabled">;

const pickOwn = ({ schedule, timezone, end_time, enabled }: Cron): Own => ({ schedule, timezone, end_time, enabled });

/** The body of the runs, with the schedule beside it as on the hosted server. */
function payloadOf(run: Json, { schedule, timezone, end_time }: Own): Json {
  const { timezone: _zone, end_time: _end, ...rest } = run;
  return withoutUndefined({
    ...rest,
    schedule,
    ...(timezone === null ? {} : { timezone }),
    ...(end_time === null ? {} : { end_time }),
  });
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
}
