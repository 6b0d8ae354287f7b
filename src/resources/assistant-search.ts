// Which assistants a search finds, and in which order. Linear: there are few, and all of them are in memory.
import type { Assistant } from "./assistant.ts";
import { contains, page, type Json, type Page } from "./json.ts";

export type AssistantSortField = "assistant_id" | "created_at" | "updated_at" | "name" | "graph_id";

/** What a search asks for; absent fields match everything. */
export interface AssistantFilter {
  /** JSON containment. */
  readonly metadata?: Json | undefined;
  readonly graph_id?: string | undefined;
  /** Case-insensitive part of the name. */
  readonly name?: string | undefined;
  /** Which of them the caller sees, by their metadata. */
  readonly allows?: ((metadata: Json) => boolean) | undefined;
}

export interface AssistantQuery extends AssistantFilter {
  readonly limit: number;
  readonly offset: number;
  /** Default: `created_at`. */
  readonly sort_by?: AssistantSortField | undefined;
  /** Default: `desc`. */
  readonly sort_order?: "asc" | "desc" | undefined;
}

/** Those that match, in the order of `all`. */
export function matching(all: readonly Assistant[], filter: AssistantFilter): Assistant[] {
  const name = filter.name?.toLowerCase();
  return all.filter(
    (assistant) =>
      (filter.graph_id === undefined || assistant.graph_id === filter.graph_id) &&
      (name === undefined || assistant.name.toLowerCase().includes(name)) &&
      (filter.metadata === undefined || contains(assistant.metadata, filter.metadata)) &&
      (filter.allows === undefined || filter.allows(assistant.metadata)),
  );
}

/** One page of those that match. What is equal in the field to sort by comes newest first, so that pages never overlap. */
export function searchAssistants(all: readonly Assistant[], query: AssistantQuery): Page<Assistant> {
  const field = query.sort_by ?? "created_at";
  const sign = query.sort_order === "asc" ? 1 : -1;
  const found = matching(all, query).toSorted(
    (a, b) =>
      sign * compare(a[field], b[field]) ||
      compare(b.created_at, a.created_at) ||
      compare(a.assistant_id, b.assistant_id),
  );
  return page(found, query.limit, query.offset);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
