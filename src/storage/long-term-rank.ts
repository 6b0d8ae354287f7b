// Semantic search: scores all items under a prefix and gives the best. Brute force, in slices, so that a search over very many items
// holds up nobody else.
import { setImmediate as turn } from "node:timers/promises";
import { compileFilter } from "./long-term-filter.ts";
import type { Entry } from "./long-term-index.ts";
import type { LongTermItems } from "./long-term-items.ts";
import type { Reindexer } from "./long-term-reindex.ts";
import type { SemanticIndex } from "./long-term-semantic.ts";
import type { SearchItems } from "./long-term-settings.ts";

/** Milliseconds of work between two turns of the event loop. */
const SLICE_MS = 5;
/** Items between two looks at the clock. */
const CLOCK_EVERY = 32;
/** Of so many items it takes milliseconds to find the best. */
const MANY = 10_000;
/** Lower than every cosine: the score of an item without vectors. */
const UNSCORED = -2;
/** The score of what is not in the result at all. */
const ABSENT = -3;

/** An item of a result; `score` is null for one without vectors. */
export interface Ranked {
  readonly entry: Entry;
  readonly score: number | null;
}

/** What a semantic search works on. */
export interface Ranking {
  readonly items: LongTermItems;
  readonly semantic: SemanticIndex;
  readonly reindexer: Reindexer;
}

/**
 * The items under the prefix that pass the filter, the nearest to `query` first; behind them those without vectors, last put first,
 * as LangGraph's in-memory store has them. Items that have no vectors of these settings yet are embedded first if they are few; see
 * Reindexer.
 * @throws ApiError 422 for a bad filter; what embedding throws; 503 when the store was stopped meanwhile.
 */
export async function rank(
  { items, semantic, reindexer }: Ranking,
  search: SearchItems,
  query: string,
): Promise<Ranked[]> {
  const { namespacePrefix = [], limit = 10, offset = 0, refreshTtl, sees } = search;
  const matches = compileFilter(search.filter);
  const vector = await semantic.query(query);
  items.checkOpen();
  const { index } = items;
  const entries = [...index.newestFirst(namespacePrefix)];
  const scores = new Float64Array(entries.length).fill(ABSENT);
  const { changes } = index;
  const now = items.now();
  const expired = new Set<Entry>();

  /** The item at this place as it is now: it may have been deleted or put again between two slices. */
  const current = (i: number): Entry | undefined => {
    let entry = entries[i]!;
    if (index.changes !== changes && !index.has(entry)) {
      const later = index.find(entry.head.namespace, entry.head.key);
      if (later === undefined) return undefined;
      entries[i] = entry = later;
    }
    if (entry.expiresAt <= now) return void expired.add(entry);
    const isWanted = matches === undefined || matches(items.read(entry).value);
    return isWanted && (sees === undefined || sees(items.read(entry))) ? entry : undefined;
  };
  /** @returns whether the item has no vectors yet but should. */
  const score = (i: number): boolean => {
    const entry = current(i);
    const value = entry === undefined ? ABSENT : semantic.score(vector, entry, () => items.vectors(entry));
    scores[i] = value ?? UNSCORED;
    return value === undefined;
  };

  const missing: number[] = [];
  let sliceEnd = performance.now() + SLICE_MS;
  for (let i = 0; i < entries.length; i++) {
    if (i % CLOCK_EVERY === 0 && performance.now() > sliceEnd) {
      // oxlint-disable-next-line no-await-in-loop -- that is the point
      await turn();
      items.checkOpen();
      sliceEnd = performance.now() + SLICE_MS;
    }
    if (score(i)) missing.push(i);
  }
  if (missing.length > 0) {
    await reindexer.index(missing.map((i) => entries[i]!));
    items.checkOpen();
    for (const i of missing) score(i);
  }

  // What follows is one piece of work: some 10 ms for 100 000 items.
  if (entries.length > MANY) await turn();
  items.checkOpen();
  const ranked: Ranked[] = [];
  for (const i of best(scores, offset + limit).slice(offset)) {
    const entry = current(i);
    if (entry !== undefined) ranked.push({ entry, score: scores[i] === UNSCORED ? null : scores[i]! });
  }
  items.drop([...expired]);
  const found = ranked.map(({ entry }) => entry);
  items.refresh(found, now, refreshTtl);
  return ranked;
}

/** The places of the `count` highest scores, highest first, the earlier one of two equal ones first. */
function best(scores: Float64Array, count: number): number[] {
  if (count <= 0) return [];
  // Sorting bare numbers is many times as fast as sorting with a comparison; so they tell first which ones are worth it.
  const least = scores.length > count ? Math.max(UNSCORED, scores.toSorted()[scores.length - count]!) : UNSCORED;
  const places: number[] = [];
  for (let i = 0; i < scores.length; i++) if (scores[i]! >= least) places.push(i);
  return places.toSorted((a, b) => scores[b]! - scores[a]! || a - b).slice(0, count);
}
