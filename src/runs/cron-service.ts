// Makes and changes crons: what a body asks for is checked as that of a run would be, and the next date is computed at once, so that a
// schedule that never comes is refused and not found out later.
import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { timestampOf, uuid7, type Clock } from "../ids.ts";
import type { Assistants } from "../resources/assistants.ts";
import type { Cron, Crons } from "../resources/crons.ts";
import type { Json } from "../resources/json.ts";
import { merged } from "../resources/settings-size.ts";
import { threadNotFound, type Threads } from "../resources/threads.ts";
import type { createCronBody, patchCronBody } from "./cron-body.ts";
import type { CronClock } from "./cron-clock.ts";
import type { RunRights } from "./request.ts";

export interface CronServiceOptions {
  readonly crons: Crons;
  readonly clock: CronClock;
  readonly time: Clock;
  readonly assistants: Assistants;
  readonly threads: Threads;
  /** @throws ApiError 422 when a webhook may not be sent there. */
  readonly checkWebhook: (url: string | undefined) => Promise<void>;
}

/** Whose runs those of a cron are. */
export interface CronOwner {
  /** `user_id` of the cron. */
  readonly identity?: string | undefined;
  /** Settings for the graph alone that say so. */
  readonly settings?: Json | undefined;
  /** Metadata of the runs beyond that of the cron. */
  readonly runMetadata?: Json | undefined;
  /** What the owner may use. */
  readonly mayUse?: Pick<RunRights, "assistant" | "thread"> | undefined;
}

const NOBODY: CronOwner = {};

export class CronService {
  readonly #options: CronServiceOptions;

  constructor(options: CronServiceOptions) {
    this.#options = options;
  }

  /**
   * Creates a cron.
   * @param threadId thread of all its runs; undefined: a new one for each.
   * @param owner whose runs they are, and what that one may use; nobody's in particular by default.
   * @throws ApiError 404 unknown assistant or thread; 422 schedule, time zone or webhook.
   */
  async create(
    threadId: string | undefined,
    body: z.output<typeof createCronBody>,
    owner: CronOwner = NOBODY,
  ): Promise<Cron> {
    const { crons, clock, assistants, threads, time, checkWebhook } = this.#options;
    const { schedule, timezone, end_time, enabled = true, on_run_completed, metadata, ...run } = body;
    const assistant = assistants.forRun(body.assistant_id, owner.mayUse?.assistant);
    if (threadId !== undefined) {
      const thread = threads.get(threadId);
      if (owner.mayUse?.thread?.(thread.metadata) === false) throw threadNotFound(threadId);
    }
    await checkWebhook(body.webhook);
    const own: Own = { schedule, timezone: timezone ?? null, end_time: end_time ?? null, enabled };
    const now = timestampOf(time.now());
    const cron = crons.put({
      cron_id: uuid7(),
      assistant_id: assistant.assistant_id,
      thread_id: threadId ?? null,
      on_run_completed: threadId === undefined ? (on_run_completed ?? "delete") : null,
      ...own,
      created_at: now,
      updated_at: now,
      user_id: owner.identity ?? null,
      payload: payloadOf({ ...run, metadata: owner.runMetadata, assistant_id: assistant.assistant_id }, own),
      next_run_date: await clock.next(own),
      metadata: metadata ?? {},
      ...(owner.settings === undefined ? {} : { hidden: owner.settings }),
    });
    clock.changed();
    return cron;
  }

  /** Changes what the body has; it stays whose it was. @throws ApiError as `create` does. */
  async patch(id: string, body: z.output<typeof patchCronBody>, mayUse?: CronOwner["mayUse"]): Promise<Cron> {
    const { crons, clock, assistants, time, checkWebhook } = this.#options;
    crons.get(id);
    const { schedule, timezone, end_time, enabled, on_run_completed, metadata, ...run } = body;
    const assistant =
      body.assistant_id === undefined ? undefined : assistants.forRun(body.assistant_id, mayUse?.assistant);
    await checkWebhook(body.webhook ?? undefined);
    const changes = withoutUndefined({ schedule, timezone, end_time, enabled }) as Partial<Own>;
    const next = await clock.next({ ...crons.get(id), ...changes });
    // Read again: it may have fired while the dates were computed.
    const cron = crons.get(id);
    const own = { ...pickOwn(cron), ...changes };
    // Another schedule counts from now; otherwise what is due stays due.
    const next_run_date = isDeepStrictEqual(own, pickOwn(cron)) ? cron.next_run_date : next;
    const before = cron.payload;
    const after = crons.put({
      ...cron,
      ...own,
      ...(assistant === undefined ? {} : { assistant_id: assistant.assistant_id }),
      ...(on_run_completed === undefined || cron.thread_id !== null ? {} : { on_run_completed }),
      metadata: merged(cron.metadata, metadata),
      payload: payloadOf(
        {
          ...before,
          ...withoutUndefined(run),
          ...(run.webhook === null ? { webhook: undefined } : {}),
          ...(assistant === undefined ? {} : { assistant_id: assistant.assistant_id }),
        },
        own,
      ),
      next_run_date,
      updated_at: timestampOf(time.now()),
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
