// The stored events of a thread's runs as the stream of the thread tells them: one log after the other in the order in which things
// happened, under the numbers that they had there.
import { frame } from "./events.ts";
import { type Chunk, CHUNK_CHARS } from "./log-reader.ts";
import { isHidden, type StoredEvent, type StoredLog } from "./stored-log.ts";
import { type RunHead, RUN_START, runStartJson } from "./thread-events.ts";

const METADATA = "event: metadata\ndata: ";

const isFirst = ({ body }: StoredEvent): boolean => body.startsWith(METADATA);
/** Number of the first thing that an event tells: `run_start` comes before `metadata`. */
const placeOf = (event: StoredEvent): number => (isFirst(event) ? event.stamp - 1 : event.stamp);

/**
 * A piece of what happened from one number on and before another.
 * @param kinds what the reader wants of it, see thread-events.ts.
 */
export function replay(
  threadId: string,
  logs: readonly StoredLog[],
  from: number,
  to: number,
  kinds: ReadonlySet<string> | undefined,
): Chunk {
  const found = logs.flatMap((log) => {
    const id = seek(log, from);
    const event = log.at(id);
    return event === undefined || placeOf(event) >= to ? [] : [{ log, id, place: placeOf(event) }];
  });
  const [first, second] = found.toSorted((a, b) => a.place - b.place);
  if (first === undefined) return { text: "", next: to };
  // Up to where another run goes on.
  const limit = second?.place ?? to;
  const wants = (kind: string): boolean => kinds === undefined || kinds.has(kind);
  let text = "";
  let last: number | undefined;
  let all = true;
  for (const [id, event] of first.log.stored(first.id)) {
    last = id;
    const place = placeOf(event);
    if (place >= limit) return { text, next: limit };
    if (place < event.stamp && place >= from && wants("start"))
      text += frame(RUN_START, startOf(threadId, event), place);
    if (event.stamp >= limit) return { text, next: limit };
    if (event.stamp >= from && wants(isHidden(event) ? "done" : "event")) text += `${event.body}id: ${event.stamp}\n\n`;
    from = event.stamp + 1;
    all = text.length < CHUNK_CHARS;
    if (!all) break;
  }
  return { text, next: all && last === first.log.end - 1 ? limit : from };
}

function startOf(threadId: string, { body }: StoredEvent): string {
  const { run_id, attempt } = JSON.parse(body.slice(METADATA.length)) as Pick<RunHead, "run_id" | "attempt">;
  return runStartJson({ run_id, thread_id: threadId, attempt });
}

/** Id of the first event of a log that has this number or a greater one. */
function seek(log: StoredLog, stamp: number): number {
  let low = 0;
  let high = log.end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const event = log.at(middle);
    // Gone meanwhile.
    if (event === undefined) return log.end;
    if (event.stamp < stamp) low = middle + 1;
    else high = middle;
  }
  return low;
}
