// Parsed values of the long-term store, so that a filter over many items does not parse them again at every search.
// Bounded by the length of their JSON; evicts by second chance, because a true LRU would pay for every item that a scan touches.

import { withOffset } from "../ids.ts";
import type { Entry } from "./long-term-index.ts";

/** A JSON object; `__proto__` may be an own key of it. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** An item as HTTP callers get it; times are ISO 8601 with milliseconds and `+00:00`. Shared with the cache: never change it. */
export interface WireItem {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: JsonObject;
  readonly created_at: string;
  readonly updated_at: string;
}

/** An item of a search result. `score` is null because there is no semantic index. */
export interface WireSearchItem extends WireItem {
  readonly score: number | null;
}

/** Default bound: characters of JSON; parsed objects take about three times as many bytes. */
const MAX_CHARS = 32 * 1024 * 1024;

interface Slot {
  readonly item: WireSearchItem;
  readonly chars: number;
  used: boolean;
}

export class ItemCache {
  readonly #slots = new Map<Entry, Slot>();
  readonly #max: number;
  #chars = 0;

  /** @param max Characters of JSON to keep at most; default 32 Mi. One larger item is kept alone. */
  constructor(max: number = MAX_CHARS) {
    this.#max = max;
  }

  /** Characters of JSON whose parsed form is held. */
  get chars(): number {
    return this.#chars;
  }

  /** The wire form of an entry; `load` gives its value's JSON when it is not at hand. */
  read(entry: Entry, load: (entry: Entry) => string): WireSearchItem {
    const slot = this.#slots.get(entry);
    if (slot !== undefined) {
      slot.used = true;
      return slot.item;
    }
    const text = load(entry);
    const { namespace, key, createdAt, updatedAt } = entry.head;
    const item: WireSearchItem = {
      namespace,
      key,
      value: JSON.parse(text) as JsonObject,
      created_at: iso(createdAt),
      updated_at: iso(updatedAt),
      score: null,
    };
    this.#slots.set(entry, { item, chars: text.length, used: false });
    this.#chars += text.length;
    this.#evict(entry);
    return item;
  }

  drop(entry: Entry): void {
    const slot = this.#slots.get(entry);
    if (slot === undefined) return;
    this.#slots.delete(entry);
    this.#chars -= slot.chars;
  }

  #evict(newest: Entry): void {
    // A Map's iteration comes to what is appended meanwhile, so this goes round until enough is gone.
    for (const [entry, slot] of this.#slots) {
      if (this.#chars <= this.#max || this.#slots.size === 1) return;
      if (slot.used || entry === newest) {
        slot.used = false;
        this.#slots.delete(entry);
        this.#slots.set(entry, slot);
      } else this.drop(entry);
    }
  }
}

function iso(ms: number): string {
  return withOffset(new Date(ms).toISOString());
}
