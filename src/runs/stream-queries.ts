// Queries of the requests that join a run or follow a thread (wire-api §1.2, §1.3), and what their Last-Event-ID means.
import { z } from "zod";
import { ApiError } from "../errors.ts";
import { queryFlag, queryList } from "../resources/schema.ts";
import { STREAM_MODES } from "./chunks.ts";
import type { Seen } from "./streams.ts";
import { THREAD_STREAM_MODES, type ThreadStreamMode } from "./thread-events.ts";

/** Modes: one, repeated, or with commas between them; undefined for none. */
const modeList = <const Mode extends string>(modes: readonly Mode[]) =>
  queryList
    .transform((values) => values?.flatMap((value) => value.split(",")).filter((value) => value.trim() !== ""))
    .transform((values) => (values?.length === 0 ? undefined : values?.map((value) => value.trim())))
    .pipe(z.array(z.enum(modes)).optional())
    .meta({ description: `Some of: ${modes.join(", ")}.` });

/** The place of a client that lost its connection before it had got an event; `Location` names it. */
const after = z.coerce
  .number()
  .int()
  .min(-1)
  .max(Number.MAX_SAFE_INTEGER)
  .optional()
  .meta({ description: "Goes on behind this event, unless there is a Last-Event-ID." });

export const joinStreamQuery = z.object({
  cancel_on_disconnect: queryFlag(false),
  stream_mode: modeList(STREAM_MODES),
  after,
});

/** Clients send `stream_mode`, the documents say `stream_modes`. */
export const threadStreamQuery = z.object({
  stream_mode: modeList(THREAD_STREAM_MODES),
  stream_modes: modeList(THREAD_STREAM_MODES),
  after,
});

/** The modes that a client asks a thread for. */
export function threadModes({
  stream_mode = [],
  stream_modes = [],
}: z.output<typeof threadStreamQuery>): readonly ThreadStreamMode[] {
  const modes = [...stream_mode, ...stream_modes];
  return modes.length === 0 ? ["run_modes"] : modes;
}

/**
 * What a client has seen, by the header Last-Event-ID and the query parameter `after`, which counts without the header.
 * `-1` and `-` in the header ask for everything that is kept.
 * @throws ApiError 422
 */
export function seenBy(header: string | null, behind: number | undefined): Seen {
  if (header === null || header === "") return behind;
  if (header === "-1" || header === "-") return "kept";
  const id = /^\d{1,16}$/.test(header) ? Number(header) : Number.NaN;
  if (Number.isSafeInteger(id)) return id;
  throw new ApiError(422, `Last-Event-ID must be an event id, -1 or -, got "${header.slice(0, 40)}"`);
}
