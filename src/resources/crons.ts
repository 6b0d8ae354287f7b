// Crons: the records of periodic runs, an index of them in memory, and search. When they fire is decided in runs/cron-clock.ts; the moment
// is kept here, in the record, so that a restart changes nothing.
import { ApiError } from "../errors.ts";
import { prefixRange, type Database, type Write } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import { contains, page, type Json, type Page } from "./json.ts";

/** A cron as it is stored; clients see it by `publicCron`. Times are ISO 8601 with offset. */
export interface Cron {
  readonly cron_id: string;
  readonly assistant_id: string;
  /** The thread of all its runs; null: a new one for each. */
  readonly thread_id: string | null;
  /** What happens to the thread of a run when that has ended; null for crons on a thread. */
  readonly on_run_completed: "delete" | "keep" | null;
  readonly end_time: string | null;
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  readonly schedule: string;
  /** IANA name; null: UTC. */
  readonly timezone: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly user_id: string | null;
  /** The body of the runs. */
  readonly payload: Json;
  /** Null when it is disabled or over. */
  readonly next_run_date: string | null;
  readonly metadata: Json;
  readonly enabled: boolean;
  /** Settings for the graph alone that say whose runs they are; never shown. */
  readonly hidden?: Json;
}

/** A cron as clients see it. */
export function publicCron({ hidden: _hidden, ...cron }: Cron): Omit<Cron, "hidden"> {
  return cron;
}

export type CronSortField =
  | "cron_id"
  | "assistant_id"
  | "thread_id"
  | "next_run_date"
  | "end_time"
  | "created_at"
  | "updated_at";

export interface CronFilter {
  readonly assistant_id?: string | undefined;
  readonly thread_id?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly metadata?: Json | undefined;
  /** Which of them the caller sees, by their metadata. */
  readonly allows?: ((metadata: Json) => boolean) | undefined;
}

export interface CronQuery extends CronFilter {
  readonly limit: number;
  readonly offset: number;
  readonly sort_by?: CronSortField | undefined;
  readonly sort_order?: "asc" | "desc" | undefined;
}

/** The error for a cron that does not exist. */
export const cronNotFound = (id: string): ApiError => new ApiError(404, `Cron ${id} not found`);

export class Crons {
  readonly #db: Database;
  readonly #onDamaged: (key: string) => void;
  #byId: Map<string, Cron> | undefined;

  /** @param onDamaged told of a record that cannot be read; the others go on. */
  constructor(db: Database, onDamaged: (key: string) => void) {
    this.#db = db;
    this.#onDamaged = onDamaged;
  }

  get #crons(): Map<string, Cron> {
    if (this.#byId !== undefined) return this.#byId;
    const crons = new Map<string, Cron>();
    for (const [key, text] of this.#db.range(prefixRange(keys.crons))) {
      const cron = parsed(text);
      if (cron !== undefined && keys.cron(cron.cron_id) === key) crons.set(cron.cron_id, cron);
      else this.#onDamaged(key);
    }
    return (this.#byId = crons);
  }

  /** All of them. */
  all(): Iterable<Cron> {
    return this.#crons.values();
  }

  find(id: string): Cron | undefined {
    return this.#crons.get(id);
  }

  /** @throws ApiError 404 */
  get(id: string): Cron {
    const cron = this.find(id);
    if (cron === undefined) throw cronNotFound(id);
    return cron;
  }

  /** The change that stores a record; for batches. Call `committed` when it is stored. */
  writeOf(cron: Cron): Write {
    return { key: keys.cron(cron.cron_id), value: JSON.stringify(cron) };
  }

  /** Takes a stored record into the index. */
  committed(cron: Cron): void {
    this.#crons.set(cron.cron_id, cron);
  }

  /** Stores a record by itself. */
  put(cron: Cron): Cron {
    this.#db.write([this.writeOf(cron)]);
    this.committed(cron);
    return cron;
  }

  /** @throws ApiError 404 */
  delete(id: string): void {
    this.get(id);
    this.#db.write([{ key: keys.cron(id), value: undefined }]);
    this.#crons.delete(id);
  }

  count(filter: CronFilter): number {
    return this.#matches(filter).length;
  }

  /** Newest first unless asked otherwise; crons without a value in the sorted field come last. */
  search({ limit, offset, sort_by = "created_at", sort_order = "desc", ...filter }: CronQuery): Page<Cron> {
    const sign = sort_order === "asc" ? 1 : -1;
    const found = this.#matches(filter).toSorted((a, b) => {
      const [left, right] = [a[sort_by], b[sort_by]];
      if (left === null || right === null) return Number(left === null) - Number(right === null);
      return sign * (left < right ? -1 : left > right ? 1 : a.cron_id < b.cron_id ? -1 : 1);
    });
    return page(found, limit, offset);
  }

  #matches({ assistant_id, thread_id, enabled, metadata, allows }: CronFilter): Cron[] {
    return [...this.#crons.values()].filter(
      (cron) =>
        (assistant_id === undefined || cron.assistant_id === assistant_id) &&
        (thread_id === undefined || cron.thread_id === thread_id) &&
        (enabled === undefined || cron.enabled === enabled) &&
        (metadata === undefined || contains(cron.metadata, metadata)) &&
        (allows === undefined || allows(cron.metadata)),
    );
  }
}

function parsed(text: string): Cron | undefined {
  try {
    const cron = JSON.parse(text) as Partial<Cron> | null;
    const isDate = cron?.next_run_date === null || !Number.isNaN(Date.parse(cron?.next_run_date ?? ""));
    const whole = typeof cron?.cron_id === "string" && typeof cron.schedule === "string" && isDate;
    return whole ? (cron as Cron) : undefined;
  } catch {
    return undefined;
  }
}
