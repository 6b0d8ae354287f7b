// The dates of a cron expression. The library knows the calendar, the time zones and what happens when clocks change; the rules of the
// platform on top of it are five fields and UTC (wire-api §1.5).
import { ApiError } from "../errors.ts";

/** Gives the first moment after `after` (both in milliseconds). @throws ApiError 422 for what is no schedule. */
export type NextDate = (schedule: string, timezone: string | null, after: number) => number;

const MAX_LENGTH = 200;

let loaded: Promise<NextDate> | undefined;

/** The library takes 15 ms to load, so it is loaded when there is a cron. */
export const loadSchedules = (): Promise<NextDate> => (loaded ??= load());

async function load(): Promise<NextDate> {
  const { CronTime } = await import("cron");
  return (schedule, timezone, after) => {
    const fields = schedule.trim().split(/\s+/);
    if (schedule.length > MAX_LENGTH || fields.length !== 5) {
      const found = fields.length === 6 ? "6: there is no field for seconds" : String(fields.length);
      throw new ApiError(
        422,
        `schedule must have five fields (minute, hour, day of the month, month, day of the week), not ${found}`,
      );
    }
    const zone = timezone ?? "UTC";
    try {
      Intl.DateTimeFormat("en", { timeZone: zone });
    } catch {
      throw new ApiError(422, `timezone must be an IANA name such as Europe/Zurich, not "${zone.slice(0, 60)}"`);
    }
    try {
      return new CronTime(fields.join(" "), zone).getNextDateFrom(new Date(after), zone).toMillis();
    } catch (error) {
      const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
      throw new ApiError(422, `schedule "${schedule}" has no next date: ${reason}`);
    }
  };
}
