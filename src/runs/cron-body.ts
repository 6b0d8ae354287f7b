// Bodies of the requests about crons (wire-api §1.5): those of runs, with a schedule.
import { z } from "zod";
import { containedFilter, limit, offset, optional, selection, sortOrder, uuid } from "../resources/schema.ts";
import { runBody } from "./run-body.ts";

/** Characters of a time, a schedule, the name of a time zone. */
const MAX_MOMENT = 64;
const MAX_SCHEDULE = 200;
const MAX_TIMEZONE = 100;

/** A moment, in the server's spelling. Without an offset it is UTC. */
const moment = z
  .string()
  .max(MAX_MOMENT)
  .transform((text) =>
    /T.*(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text.includes("T") ? text : `${text}T00:00`}Z`,
  )
  .refine((text) => !Number.isNaN(Date.parse(text)), "must be an ISO 8601 time")
  .transform((text) => new Date(text).toISOString().replace("Z", "+00:00"))
  .meta({ format: "date-time" });

const schedule = z.string().max(MAX_SCHEDULE).meta({
  description: "Five fields: minute, hour, day of the month, month, day of the week.",
  example: "0 9 * * 1-5",
});
const timezone = z
  .string()
  .max(MAX_TIMEZONE)
  .nullish()
  .meta({ description: "IANA name; null: UTC.", example: "Europe/Zurich" });

/** What the runs of a cron are made of; the rest is the cron's own. */
const runFields = runBody.omit({ if_not_exists: true, after_seconds: true, on_completion: true, on_disconnect: true });

export const createCronBody = runFields.extend({
  schedule,
  timezone,
  end_time: moment.nullish().meta({ description: "It does not fire after this time." }),
  enabled: optional(z.boolean()),
  on_run_completed: optional(z.enum(["delete", "keep"])),
});

/** Absent fields stay; null clears `end_time`, `timezone` and `webhook`. */
export const patchCronBody = createCronBody.partial().extend({ webhook: z.string().min(1).max(65_536).nullish() });

const filter = {
  assistant_id: optional(z.string()),
  thread_id: optional(uuid),
  enabled: optional(z.boolean()),
  metadata: optional(containedFilter),
};

const CRON_FIELDS = [
  "cron_id",
  "assistant_id",
  "thread_id",
  "on_run_completed",
  "end_time",
  "schedule",
  "timezone",
  "created_at",
  "updated_at",
  "user_id",
  "payload",
  "next_run_date",
  "metadata",
  "enabled",
] as const;

export const searchCronsBody = z.object({
  ...filter,
  limit: limit(),
  offset,
  sort_by: optional(
    z.enum(["cron_id", "assistant_id", "thread_id", "next_run_date", "end_time", "created_at", "updated_at"]),
  ),
  sort_order: sortOrder,
  select: selection(CRON_FIELDS),
});

export const countCronsBody = z.object(filter);
