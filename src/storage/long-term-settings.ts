// What can be chosen about the long-term store, and what can be asked of it.
import type { Timers } from "../clock.ts";
import type { WireItem } from "./long-term-cache.ts";
import type { Entry } from "./long-term-index.ts";
import type { Notice } from "./long-term-reindex.ts";
import type { StoreIndex } from "./long-term-semantic.ts";

/** How long items live; all of it may change while the store is open. */
export interface TtlSettings {
  /** Minutes to live of items put without a ttl; default: for ever. */
  readonly defaultTtl?: number | undefined;
  /** Whether get and search start an item's ttl again; default true. */
  readonly refreshOnRead?: boolean | undefined;
  /** Minutes between two sweeps by the clock; default: expired items are deleted when they are met, or at a later write. */
  readonly sweepMinutes?: number | undefined;
}

/** What LongTermItems needs. */
export interface ItemsOptions {
  readonly clock?: Timers;
  /** Characters of JSON whose parsed form is kept in memory; default 32 Mi. */
  readonly cacheChars?: number;
  /** Told of every entry that is deleted or replaced. */
  readonly onForget: (entry: Entry) => void;
  /** Told when a sweep by the clock fails (a full disk); the next one tries again. */
  readonly onSweepError: (error: unknown) => void;
}

/** What to search. */
export interface SearchItems {
  /** Labels that the namespaces begin with; default none: all items. */
  readonly namespacePrefix?: readonly string[] | undefined;
  /** See compileFilter. */
  readonly filter?: Readonly<Record<string, unknown>> | undefined;
  /** Default 10. */
  readonly limit?: number | undefined;
  /** Default 0. */
  readonly offset?: number | undefined;
  /** What to look for by meaning. Ignored without a semantic index, as by LangGraph's in-memory store. */
  readonly query?: string | undefined;
  /** Default: the store's `refreshOnRead`. */
  readonly refreshTtl?: boolean | undefined;
  /** Which items the caller sees; default: all. */
  readonly sees?: ((item: WireItem) => boolean) | undefined;
}

/** What may change while a store is open. */
export interface StoreSettings extends TtlSettings {
  /** Semantic search; default: none, and `query` is ignored. */
  readonly index?: StoreIndex | undefined;
}

/** Settings of a LongTermStore. */
export interface LongTermStoreOptions extends StoreSettings {
  readonly clock?: Timers;
  /** Characters of JSON whose parsed form is kept in memory; default 32 Mi. */
  readonly cacheChars?: number;
  /** Told what the person at the terminal should know; default: nobody. */
  readonly onNotice?: Notice;
}

/** Which namespaces to list; `*` stands for any one label. */
export interface ListNamespaces {
  readonly prefix?: readonly string[] | undefined;
  readonly suffix?: readonly string[] | undefined;
  /** Longer namespaces are cut to so many labels. */
  readonly maxDepth?: number | undefined;
  /** Default 100. */
  readonly limit?: number | undefined;
  /** Default 0. */
  readonly offset?: number | undefined;
  /** Which items the caller sees: only namespaces with one of them are listed; default: all. */
  readonly sees?: ((item: WireItem) => boolean) | undefined;
}
