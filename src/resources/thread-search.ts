// Which threads a search finds, and in which order.
import { contains, type Json, type Page } from "./json.ts";
import type { ThreadIndex } from "./thread-index.ts";
import type { ThreadRecord, ThreadStatus } from "./thread-record.ts";

export type ThreadSortField = "thread_id" | "status" | "created_at" | "updated_at" | "state_updated_at";

/** What threads are to have; absent conditions hold for all. */
export interface ThreadFilter {
  readonly ids?: readonly string[] | undefined;
  /** What the metadata contains. */
  readonly metadata?: Json | undefined;
  /** What the values contain; a thread without values has nothing that could be contained. */
  readonly values?: Json | undefined;
  readonly status?: ThreadStatus | undefined;
  /** Which of them the caller sees, by their metadata. */
  readonly allows?: ((metadata: Json) => boolean) | undefined;
}

/** In which order threads are to come. */
interface Sorting {
  readonly sort_by?: ThreadSortField | undefined;
  readonly sort_order?: "asc" | "desc" | undefined;
}

/** What a search asks for. */
export interface ThreadQuery extends ThreadFilter, Sorting {
  readonly limit: number;
  readonly offset: number;
}

/** What threads are to have besides their values. */
export type HeadFilter = Omit<ThreadFilter, "values">;

/** The JSON of a thread's values; `null` when it has none. */
export type ValuesOf = (threadId: string) => string;

/** Characters of values that are looked at in one go before others get their turn. */
const SLICE_CHARS = 1024 * 1024;

/** Whether a filter lets every thread through. */
export function isPlain({ ids, metadata, status, allows }: HeadFilter): boolean {
  return [ids, metadata, status, allows].every((condition) => condition === undefined);
}

/** The threads that a filter lets through, in their order. */
export function matching(records: Iterable<ThreadRecord>, filter: HeadFilter): ThreadRecord[] {
  const ids = filter.ids === undefined ? undefined : new Set(filter.ids);
  const found: ThreadRecord[] = [];
  for (const record of records) {
    if (ids !== undefined && !ids.has(record.thread_id)) continue;
    if (filter.status !== undefined && record.status !== filter.status) continue;
    if (filter.allows !== undefined && !filter.allows(record.metadata)) continue;
    if (filter.metadata !== undefined && !contains(record.metadata, filter.metadata)) continue;
    found.push(record);
  }
  return found;
}

/** Those of some threads whose values contain `part`, in their order. Values may be large and many, so it takes its time. */
export async function withValues(
  records: readonly ThreadRecord[],
  part: Json,
  valuesOf: ValuesOf,
): Promise<ThreadRecord[]> {
  const found: ThreadRecord[] = [];
  let chars = 0;
  for (const record of records) {
    const json = valuesOf(record.thread_id);
    if (contains(JSON.parse(json), part)) found.push(record);
    chars += json.length;
    if (chars < SLICE_CHARS) continue;
    chars = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return found;
}

/** Whether a query asks for the order that the index has. */
export const isByUpdate = ({ sort_by, sort_order }: Sorting): boolean =>
  (sort_by ?? "updated_at") === "updated_at" && sort_order !== "asc";

/**
 * Sorts threads as a query asks for. Among equals the one that was made last comes first, whatever the direction: neither that nor
 * their ids ever change, so that pages do not overlap.
 */
export function sorted(
  records: ThreadRecord[],
  { sort_by: field = "updated_at", sort_order }: Sorting,
): ThreadRecord[] {
  const sign = sort_order === "asc" ? 1 : -1;
  return records.toSorted(
    (a, b) =>
      sign * compare(a[field], b[field]) || compare(b.created_at, a.created_at) || compare(a.thread_id, b.thread_id),
  );
}

/** A page of all threads in the order of the index, without looking at more of them than it has. */
export function newestPage(index: ThreadIndex<ThreadRecord>, limit: number, offset: number): Page<ThreadRecord> {
  const items: ThreadRecord[] = [];
  let entry = index.newest;
  for (let i = 0; entry !== undefined && i < offset + limit; i++, entry = entry.older) {
    if (i >= offset) items.push(entry.record);
  }
  return { items, total: index.size, next: entry === undefined ? undefined : offset + limit };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
