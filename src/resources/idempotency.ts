// Idempotency-Key: which run a key made, so that a request that comes again (because its answer was lost) makes no second one.
// A key is stored in the batch of its run, so neither is there without the other. None is in memory, so that none has to be forgotten
// before its time: what has expired is swept out of storage now and then.
import { createHash } from "node:crypto";
import type { Timers } from "../clock.ts";
import { ApiError } from "../errors.ts";
import { countOf, prefixRange, type Database, type Write } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import { slices } from "../storage/slices.ts";
import { isObject } from "./json.ts";
import type { RequestMark, RunJson, RunRecord, RunStatus } from "./runs.ts";

/** Milliseconds that a key is kept. */
const KEEP_MS = 24 * 60 * 60 * 1000;
/** Milliseconds between sweeps. */
const SWEEP_MS = 60 * 60 * 1000;
/** Keys kept at most, unless a test has fewer: a hundred megabytes or two of storage. Beyond them new ones are refused. */
const MAX_KEYS = 1_000_000;
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
  readonly #clock: Timers;
  readonly #maxKeys: number;
  /** Keys that are stored, expired ones included. */
  #count = 0;
  #callOff: (() => void) | undefined;
  #sweeping: Promise<void> | undefined;
  #stopped = false;

  constructor(db: Database, clock: Timers, maxKeys: number = MAX_KEYS) {
    this.#db = db;
    this.#clock = clock;
    this.#maxKeys = maxKeys;
  }

  /** Finds out how many keys are stored, and begins to sweep; at start. */
  load(): void {
    this.#count = countOf(this.#db, keys.idempotencyKeys);
    this.#arm(0);
  }

  /** Sweeps no more, because storage is about to be closed; resolves when a sweep that is under way has stopped. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#callOff?.();
    await this.#sweeping;
  }

  /**
   * The run that a request made when it came before; undefined when it comes for the first time.
   * @throws ApiError 409 when the key was used for something else; 429 when it is new and there are too many.
   */
  find(mark: RequestMark): KeyedRun | undefined {
    const entry = this.#read(mark.key);
    if (entry !== undefined && entry.expires > this.#clock.now()) {
      if (entry.asks === mark.asks) return entry;
      throw new ApiError(409, "This Idempotency-Key was used for another request");
    }
    if (entry !== undefined || this.#count < this.#maxKeys) return undefined;
    throw new ApiError(
      429,
      `${this.#maxKeys} Idempotency-Keys were used in the last 24 hours, and none of them is forgotten before; try again later, or without a key`,
    );
  }

  #read(key: string): Entry | undefined {
    const text = this.#db.get(keys.idempotencyKey(key));
    return text === undefined ? undefined : (JSON.parse(text) as Entry);
  }

  /** The changes that store the key of a new run. */
  writesOf({ run, once }: RunRecord): Write[] {
    if (once === undefined) return [];
    const expires = this.#clock.now() + KEEP_MS;
    const entry: Entry = { threadId: run.thread_id, runId: run.run_id, asks: once.asks, expires };
    this.#count++;
    this.#arm(SWEEP_MS);
    return [
      // The key may be one that had expired.
      { key: keys.idempotencyEnd(once.key), value: undefined },
      { key: keys.idempotencyKey(once.key), value: JSON.stringify(entry) },
    ];
  }

  /** Sweeps in so many milliseconds, if there is anything to sweep and no sweep is to come. */
  #arm(delay: number): void {
    if (this.#callOff !== undefined || this.#stopped || this.#count === 0) return;
    this.#callOff = this.#clock.at(this.#clock.now() + delay, () => {
      this.#sweeping = this.#sweep()
        // Storage that fails is reported where something is to be stored.
        .catch(() => undefined)
        .finally(() => {
          this.#callOff = undefined;
          this.#arm(SWEEP_MS);
        });
    });
  }

  /** Removes what has expired, slice by slice. */
  async #sweep(): Promise<void> {
    for await (const slice of slices(this.#db.range(prefixRange(keys.idempotencyKeys)))) {
      if (this.#stopped) return;
      const writes: Write[] = [];
      for (const [key] of slice) {
        const id = key.slice(keys.idempotencyKeys.length);
        // As it is now: it may have been used again meanwhile.
        const entry = this.#read(id);
        if (entry === undefined || entry.expires > this.#clock.now()) continue;
        writes.push({ key, value: undefined }, { key: keys.idempotencyEnd(id), value: undefined });
      }
      if (writes.length > 0) this.#db.write(writes);
    }
    if (!this.#stopped) this.#count = countOf(this.#db, keys.idempotencyKeys);
  }

  /** The change that keeps the end of a run whose records are deleted, for a request that comes again. */
  endOf({ once }: RunRecord, end: KeptEnd): Write[] {
    if (once === undefined || this.#read(once.key)?.runId !== end.run.run_id) return [];
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
