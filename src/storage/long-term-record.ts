// How one item of the long-term store lies in the database: its storage key, and a record of two lines. The first line is a small
// JSON head, so that the index is built at start without parsing values; the second is the value's JSON, kept as it was written.

import { createHash } from "node:crypto";
import { prefixRange } from "./database.ts";

/** Everything about an item but its value. Times are milliseconds since the epoch. */
export interface ItemHead {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Counts up with every put: "last update first" holds within one millisecond and when the clock is set back. */
  readonly sequence: number;
  /** Minutes to live after the last put or refreshing read; absent: for ever. */
  readonly ttl?: number;
  /** When `ttl` runs out. */
  readonly expiresAt?: number;
  /** The put's own `index`: paths of the fields to embed, or false for none. Absent: those of the config. */
  readonly index?: false | readonly string[];
}

/** The range of all items. */
export const ITEMS = prefixRange("s/");
/** The range of the vectors of items. */
export const VECTORS = prefixRange("v/");

/** The key of an item's vectors; `name` is its storage key. */
export const vectorKey = (name: string): string => VECTORS.start + name.slice(ITEMS.start.length);

/** LMDB refuses longer keys (bytes; storage keys are ASCII). */
const MAX_STORAGE_KEY = 1978;
/** Characters that an overlong storage key keeps before its hash. */
const KEPT_PREFIX = 1024;

/**
 * The storage key of an item: `s/users!u1!!prefs` for namespace `["users", "u1"]`, key `prefs`.
 * Distinct names have distinct keys, and keys sort like the tuples of their labels. Names whose key would be too long for LMDB
 * keep a prefix and end in `!!!` and the SHA-256 of the rest; no shorter key contains `!!!`, because labels are not empty.
 */
export function storageKey(namespace: readonly string[], key: string): string {
  const full = `s/${namespace.map(encodePart).join("!")}!!${encodePart(key)}`;
  if (full.length <= MAX_STORAGE_KEY) return full;
  return `${full.slice(0, KEPT_PREFIX)}!!!${createHash("sha256").update(full).digest("hex")}`;
}

/** Characters that our key syntax or unstorage (`:` `/` `\` `?` `$`) gives a meaning, each led by a neighbour in sort order. */
const PAIRS: Readonly<Record<string, string>> = {
  "#": "#0",
  $: "#1",
  ".": ".0",
  "/": ".1",
  ":": ";0",
  ";": ";1",
  ">": ">0",
  "?": ">1",
  "[": "[0",
  "\\": "[1",
};

/** ASCII without `!`, injective, in the order of code units; letters, digits, `-` and `_` stay readable. */
function encodePart(part: string): string {
  return part.replace(/[^%-\-0-9<=@-Z\]-}]/g, (unit) => {
    const pair = PAIRS[unit];
    if (pair !== undefined) return pair;
    const code = unit.charCodeAt(0);
    return code < 0x23 ? `"${code.toString(16).padStart(2, "0")}` : `~${code.toString(16).padStart(4, "0")}`;
  });
}

/** The record of an item; `value` is JSON text on one line, as JSON.stringify writes it. */
export function encodeRecord(head: ItemHead, value: string): string {
  const { namespace: n, key: k, createdAt: c, updatedAt: u, sequence: s, ttl: t, expiresAt: e, index: i } = head;
  return `${JSON.stringify({ n, k, c, u, s, t, e, i })}\n${value}`;
}

/** The head of a record. */
export function decodeHead(record: string): ItemHead {
  const raw = JSON.parse(record.slice(0, record.indexOf("\n"))) as {
    n: string[];
    k: string;
    c: number;
    u: number;
    s: number;
    t?: number;
    e?: number;
    i?: false | string[];
  };
  return {
    namespace: raw.n,
    key: raw.k,
    createdAt: raw.c,
    updatedAt: raw.u,
    sequence: raw.s,
    ...(raw.t === undefined || raw.e === undefined ? {} : { ttl: raw.t, expiresAt: raw.e }),
    ...(raw.i === undefined ? {} : { index: raw.i }),
  };
}

/** The JSON text of a record's value. */
export function valueText(record: string): string {
  return record.slice(record.indexOf("\n") + 1);
}
