// Idempotency-Key: which run a key made, so that a request that comes again (because its answer was lost) makes no second one.
// A key is stored in the batch of its run, so neither is there without the other.
import { createHash } from "node:crypto";
import { ApiError } from "../errors.ts";
import { prefixRange, type Database, type Write } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import { isObject } from "./json.ts";
import type { RequestMark, RunJson, RunRecord, RunStatus } from "./runs.ts";

/** Milliseconds that a key is kept. */
const KEEP_MS = 24 * 60 * 60 * 1000;
/** Keys kept at most; beyond them the oldest are forgotten. */
const MAX_KEYS = 10_000;
/** Characters of a key. */
const MAX_KEY_CHARS = 255;
/** Characters of the record and result that are kept of a run that is deleted at its end. */
const MAX_RESULT_CHARS = 256 * 1024;

/** What a key made. */
export interface KeyedRun {
  readonly threadId: string;
  readonly runId: string;
}

/** The end of a run whose own records are gone. */
export interface KeptEnd {
  readonly run: RunJson;
  readonly attempt: number;
  readonly status: RunStatus;
  /** The body that `wait` answered with. */
  readonly json: string;
}

interface Entry extends KeyedRun {
  readonly asks: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 32);

/**
 * The mark of a request.
 * @param asks everything that the request asks for, as JSON data; the order of its fields does not matter.
 * @param identity who asks, if callers are told from each other: one's keys mean nothing in the mouth of another.
 * @throws ApiError 422 when the key is empty or too long.
 */
export function requestMark(key: string, asks: unknown, identity?: string): RequestMark {
  if (key === "" || key.length > MAX_KEY_CHARS) {
    throw new ApiError(422, `Idempotency-Key must have 1 to ${MAX_KEY_CHARS} characters`);
  }
  const own = identity === undefined ? key : JSON.stringify([identity, key]);
  return { key: digest(own), asks: digest(JSON.stringify(asks, sorted)) };
}

function sorted(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  // Pairs, because an object would put names that look like numbers first.
  return { pairs: names.toSorted().map((name) => [name, value[name]]) };
}

export class Idempotency {
  readonly #db: Database;
  /** All keys, the oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** Reads what is stored and removes what has expired; at start. */
  load(now: number = Date.now()): void {
    const found = Array.from(
      this.#db.range(prefixRange(keys.idempotencyKeys)),
      ([key, text]) => [key.slice(keys.idempotencyKeys.length), JSON.parse(text) as Entry] as const,
    );
    found.sort(([, a], [, b]) => a.expires - b.expires);
    for (const [key, entry] of found) this.#entries.set(key, entry);
    const writes = this.#expired(now);
    if (writes.length > 0) this.#db.write(writes);
    for (const { key } of writes) this.#entries.delete(key.slice(keys.idempotencyKeys.length));
  }

  /**
   * The run that a request made when it came before; undefined when it comes for the first time.
   * @throws ApiError 409 when the key was used for something else.
   */
  find(mark: RequestMark, now: number = Date.now()): KeyedRun | undefined {
    const entry = this.#entries.get(mark.key);
    if (entry === undefined || entry.expires <= now) return undefined;
    if (entry.asks === mark.asks) return entry;
    throw new ApiError(409, "This Idempotency-Key was used for another request");
  }

  /** The changes that store the key of a new run, and forget old ones; hand it to `committed` when they are stored. */
  writesOf({ run, once }: RunRecord, now: number = Date.now()): Write[] {
    if (once === undefined) return [];
    const entry: Entry = { threadId: run.thread_id, runId: run.run_id, asks: once.asks, expires: now + KEEP_MS };
    return [
      ...this.#expired(now, 1),
      // The key may be one that had expired.
      { key: keys.idempotencyEnd(once.key), value: undefined },
      { key: keys.idempotencyKey(once.key), value: JSON.stringify(entry) },
    ];
  }

  /** Takes stored keys into memory. */
  committed(writes: readonly Write[]): void {
    for (const { key, value } of writes) {
      if (!key.startsWith(keys.idempotencyKeys)) continue;
      const id = key.slice(keys.idempotencyKeys.length);
      this.#entries.delete(id);
      if (value !== undefined) this.#entries.set(id, JSON.parse(value) as Entry);
    }
  }

  /** The changes that remove what has expired, and so much of the oldest that `room` more have their place. */
  #expired(now: number, room = 0): Write[] {
    const writes: Write[] = [];
    let left = this.#entries.size + room;
    for (const [id, { expires }] of this.#entries) {
      if (expires > now && left <= MAX_KEYS) break;
      left--;
      writes.push({ key: keys.idempotencyKey(id), value: undefined });
      writes.push({ key: keys.idempotencyEnd(id), value: undefined });
    }
    return writes;
  }

  /** The change that keeps the end of a run whose records are deleted, for a request that comes again. */
  endOf({ once }: RunRecord, end: KeptEnd): Write[] {
    if (once === undefined || this.#entries.get(once.key)?.runId !== end.run.run_id) return [];
    const text = JSON.stringify(end);
    return [{ key: keys.idempotencyEnd(once.key), value: text.length > MAX_RESULT_CHARS ? "" : text }];
  }

  /**
   * The kept end of a run that was deleted at its end; undefined when there is none.
   * @throws ApiError 409 when it was too large to be kept.
   */
  end(mark: RequestMark): KeptEnd | undefined {
    const text = this.#db.get(keys.idempotencyEnd(mark.key));
    if (text === "") {
      throw new ApiError(
        409,
        `The result of this request had more than ${MAX_RESULT_CHARS} characters and was not kept`,
      );
    }
    return text === undefined ? undefined : (JSON.parse(text) as KeptEnd);
  }
}
