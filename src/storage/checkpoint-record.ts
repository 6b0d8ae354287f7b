// The stored form of a checkpoint. There are three of these per turn of a conversation, so its fields have short names, and what can
// be told from the rest is left out.
import { isUuid } from "../ids.ts";
import { longId, shortId } from "./short-id.ts";
import type { ValueRef } from "./value-log.ts";

/** A checkpoint as it is stored. Short names: there are three of these per turn. */
export interface CheckpointRecord {
  /** LangGraph's own format version of the checkpoint. */
  readonly v: number;
  /** ISO time of its making. */
  readonly ts: string;
  /** channel → version. */
  readonly cv: Record<string, number | string>;
  /** node → channel → version. */
  readonly vs: Record<string, Record<string, number | string>>;
  /** LangGraph's metadata: source, step, parents. */
  readonly m: Record<string, unknown>;
  /** Id of the parent checkpoint in the same namespace. */
  readonly p?: string;
  /** channel → where its value is. */
  readonly r: Record<string, ValueRef>;
  /** Id of the run that wrote it; absent for updates from outside. */
  readonly d?: string;
  /** The run's attempt, when it was not the first. */
  readonly a?: number;
  /** Id of its context. */
  readonly x?: string;
}

/** From the beginning of UUID version 6 time to 1970. */
const GREGORIAN_TICKS = 122_192_928_000_000_000n;

/** The text of a record, without what can be told from the rest: most checkpoints are of one format and were named when they were made. */
export function packCheckpoint(id: string, { v, ts, m, p, d, ...rest }: CheckpointRecord): string {
  const { parents, ...meta } = m;
  const plainParents = typeof parents === "object" && parents !== null && Object.keys(parents).length === 0;
  return JSON.stringify({
    ...(v === 4 ? {} : { v }),
    ...(ts === timeOfId(id) ? {} : { ts }),
    ...(p === undefined ? {} : { p: shortId(p) }),
    ...(d === undefined ? {} : { d: shortId(d) }),
    ...rest,
    m: plainParents ? meta : m,
    ...(plainParents ? {} : { n: 1 }),
  });
}

/** The record of such a text. */
export function unpackCheckpoint(id: string, text: string): CheckpointRecord {
  const { v = 4, ts, m, n, p, d, ...rest } = JSON.parse(text) as CheckpointRecord & { n?: 1 };
  return {
    ...rest,
    v,
    ts: ts ?? timeOfId(id),
    m: n === 1 ? m : { ...m, parents: {} },
    ...(p === undefined ? {} : { p: longId(p) }),
    ...(d === undefined ? {} : { d: longId(d) }),
  };
}

/** The ISO time in a UUID version 6, in whose first 60 bits are tenths of microseconds since 15 October 1582. */
function timeOfId(id: string): string {
  if (!isUuid(id)) return "";
  const ticks = BigInt(`0x${id.slice(0, 8)}${id.slice(9, 13)}${id.slice(15, 18)}`);
  const ms = Number((ticks - GREGORIAN_TICKS) / 10_000n);
  return ms >= 0 && ms < 8.64e15 ? new Date(ms).toISOString() : "";
}
