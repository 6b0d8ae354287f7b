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

/** What a search asks for. */
export interface ThreadQuery extends ThreadFilter {
  readonly limit: number;
  readonly offset: number;
  readonly sort_by?: ThreadSortField | undefined;
  readonly sort_order?: "asc" | "desc" | undefined;
}

/** The values of a thread, as data. */
export type ValuesOf = (threadId: string) => unknown;

/** Whether a filter lets every thread through. */
export function isPlain({ ids, metadata, values, status, allows }: ThreadFilter): boolean {
  return [ids, metadata, values, status, allows].every((condition) => condition === undefined);
}

/** The threads that a filter lets through, in their order. `valuesOf` is called only for filters on values. */
export function matching(records: Iterable<ThreadRecord>, filter: ThreadFilter, valuesOf: ValuesOf): ThreadRecord[] {
  const ids = filter.ids === undefined ? undefined : new Set(filter.ids);
  const found: ThreadRecord[] = [];
  for (const record of records) {
    if (ids !== undefined && !ids.has(record.thread_id)) continue;
    if (filter.status !== undefined && record.status !== filter.status) continue;
    if (filter.allows !== undefined && !filter.allows(record.metadata)) continue;
    if (filter.metadata !== undefined && !contains(record.metadata, filter.metadata)) continue;
    if (filter.values !== undefined && !contains(valuesOf(record.thread_id), filter.values)) continue;
    found.push(record);
  }
  return found;
}

/** Whether a query asks for the order that the index has. */
export const isByUpdate = ({ sort_by, sort_order }: ThreadQuery): boolean =>
  (sort_by ?? "updated_at") === "updated_at" && sort_order !== "asc";

/**
 * Sorts threads as a query asks for. Among equals the one that was made last comes first, whatever the direction: neither that nor
 * their ids ever change, so that pages do not overlap.
 */
export function sorted(
  records: ThreadRecord[],
  { sort_by: field = "updated_at", sort_order }: ThreadQuery,
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
