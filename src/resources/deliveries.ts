// The outbox of webhooks: what is to be sent, what was sent, and what came of it. A delivery is stored in the batch that stores the end
// of its run, so no crash separates the two; who sends them is in webhooks/sender.ts.
import { ApiError } from "../errors.ts";
import { systemClock, timestampOf, uuid7, type Clock } from "../ids.ts";
import type { BufferedDatabase } from "../storage/buffered.ts";
import { prefixRange, type Write } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";

export type DeliveryStatus = "pending" | "delivered" | "failed";

/** One try to deliver. */
export interface DeliveryAttempt {
  /** When it began. */
  readonly at: string;
  readonly duration_ms: number;
  /** HTTP status of the answer; null when there was none. */
  readonly status: number | null;
  /** Why it did not succeed; null when it did. */
  readonly error: string | null;
  /** The beginning of the answer's body. */
  readonly answer: string;
}

/** A delivery as it is stored and shown. Times are ISO 8601 with offset. */
export interface Delivery {
  readonly delivery_id: string;
  readonly run_id: string;
  readonly thread_id: string;
  readonly assistant_id: string;
  /** How the run ended. */
  readonly run_status: string;
  /** As the caller gave it. */
  readonly url: string;
  readonly status: DeliveryStatus;
  readonly created_at: string;
  readonly updated_at: string;
  /** Null when there will be none. */
  readonly next_attempt_at: string | null;
  /** The newest ones, oldest first. */
  readonly attempts: readonly DeliveryAttempt[];
  /** Number of all attempts. */
  readonly attempt_count: number;
  /** The delivery that this one repeats. */
  readonly replay_of?: string;
  /** It tells of an A2A task: its body is sent as it is, with headers that its receiver asked for. */
  readonly push?: true;
}

/** Finished deliveries that are kept, for a look at what happened. */
const MAX_FINISHED = 1000;
/** Finished ones are thrown away so many at once. */
const THROW_AWAY = 100;
/** Attempts that a record lists. */
const MAX_ATTEMPTS_LISTED = 20;

/** The error for a delivery that does not exist. */
export const deliveryNotFound = (id: string): ApiError => new ApiError(404, `Webhook delivery ${id} not found`);

export class Deliveries {
  readonly #db: BufferedDatabase;
  readonly #clock: Clock;
  /** Finished deliveries and the thread of each, the oldest first; read when first needed. */
  #finished: Map<string, string> | undefined;
  #listener: (delivery: Delivery) => void = () => undefined;

  constructor(db: BufferedDatabase, clock: Clock = systemClock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Calls `listener` with each new delivery once it is committed. */
  onNew(listener: (delivery: Delivery) => void): void {
    this.#listener = listener;
  }

  /**
   * A new delivery, not stored yet. `writes` go into a batch; call `committed` when that is stored.
   * @param push given for push notifications: headers of this delivery alone. They are secrets and are not shown.
   */
  draft(
    about: Pick<Delivery, "run_id" | "thread_id" | "assistant_id" | "run_status" | "url"> & { replay_of?: string },
    body: string,
    push?: Readonly<Record<string, string>>,
  ): { delivery: Delivery; writes: Write[] } {
    const now = timestampOf(this.#clock.now());
    const delivery: Delivery = {
      delivery_id: uuid7(),
      ...about,
      status: "pending",
      created_at: now,
      updated_at: now,
      next_attempt_at: now,
      attempts: [],
      attempt_count: 0,
      ...(push === undefined ? {} : { push: true }),
    };
    const { delivery_id: id } = delivery;
    const writes: Write[] = [
      { key: keys.pendingDelivery(id), value: JSON.stringify(delivery) },
      { key: keys.deliveryBody(id), value: body },
    ];
    if (push !== undefined) writes.push({ key: keys.deliveryHeaders(id), value: JSON.stringify(push) });
    return { delivery, writes };
  }

  /** Says that a delivery is stored. */
  committed(delivery: Delivery): void {
    this.#listener(delivery);
  }

  /** Deliveries that are still to be made, in the order of their making. Damaged ones are reported and left out. */
  *pending(onDamaged: (message: string) => void): Iterable<Delivery> {
    for (const [key, text] of this.#db.range(prefixRange(keys.pendingDeliveries))) {
      const delivery = parsed(text);
      if (delivery === undefined) onDamaged(`The record ${key} of a webhook is damaged; it is left out.`);
      else yield delivery;
    }
  }

  /** Newest first. */
  list(query: {
    limit: number;
    offset: number;
    status?: DeliveryStatus | undefined;
    run_id?: string | undefined;
    /** Which of them the caller sees. */
    allows?: ((delivery: Delivery) => boolean) | undefined;
  }): Delivery[] {
    const prefixes =
      query.status === undefined
        ? [keys.pendingDeliveries, keys.finishedDeliveries]
        : [query.status === "pending" ? keys.pendingDeliveries : keys.finishedDeliveries];
    const wanted = query.offset + query.limit;
    const found: Delivery[] = [];
    for (const prefix of prefixes) {
      let taken = 0;
      for (const [, text] of this.#db.range({ ...prefixRange(prefix), reverse: true })) {
        if (taken >= wanted) break;
        const delivery = parsed(text);
        if (delivery === undefined) continue;
        if (query.status !== undefined && delivery.status !== query.status) continue;
        if (query.run_id !== undefined && delivery.run_id !== query.run_id) continue;
        if (query.allows !== undefined && !query.allows(delivery)) continue;
        found.push(delivery);
        taken++;
      }
    }
    found.sort((a, b) => (a.delivery_id < b.delivery_id ? 1 : -1));
    return found.slice(query.offset, wanted);
  }

  /** @throws ApiError 404 */
  get(id: string): Delivery {
    const text = this.#db.get(keys.pendingDelivery(id)) ?? this.#db.get(keys.finishedDelivery(id));
    const delivery = text === undefined ? undefined : parsed(text);
    if (delivery === undefined) throw deliveryNotFound(id);
    return delivery;
  }

  /** What is sent: the JSON of the run as it ended. @throws ApiError 404 */
  body(id: string): string {
    const body = this.#db.get(keys.deliveryBody(id));
    if (body === undefined) throw deliveryNotFound(id);
    return body;
  }

  /** The headers of a push notification; undefined for other deliveries. */
  headers({ delivery_id: id, push }: Delivery): Readonly<Record<string, string>> | undefined {
    return push === undefined
      ? undefined
      : (JSON.parse(this.#db.get(keys.deliveryHeaders(id)) ?? "{}") as Record<string, string>);
  }

  /**
   * Stores what came of an attempt, with the next commit: a crash before it repeats the attempt, which receivers must be ready for.
   * @param next when to try again; null when it was the last attempt.
   */
  attempted(delivery: Delivery, attempt: DeliveryAttempt, status: DeliveryStatus, next: string | null): Delivery {
    const id = delivery.delivery_id;
    const after: Delivery = {
      ...delivery,
      status,
      updated_at: timestampOf(this.#clock.now()),
      next_attempt_at: next,
      attempts: [...delivery.attempts, attempt].slice(-MAX_ATTEMPTS_LISTED),
      attempt_count: delivery.attempt_count + 1,
    };
    if (status === "pending") {
      this.#db.writeSoon([{ key: keys.pendingDelivery(id), value: JSON.stringify(after) }]);
      return after;
    }
    this.#db.writeSoon([
      { key: keys.pendingDelivery(id), value: undefined },
      { key: keys.finishedDelivery(id), value: JSON.stringify(after) },
    ]);
    this.#finishedOnes().set(id, after.thread_id);
    this.#throwAway();
    return after;
  }

  /** Sends what was sent before once more, under a new id. @throws ApiError 404; 409 while it is still to be sent. */
  replay(id: string): Delivery {
    const before = this.get(id);
    if (before.status === "pending") throw new ApiError(409, `Webhook delivery ${id} is still to be sent`);
    const { run_id, thread_id, assistant_id, run_status, url } = before;
    const about = { run_id, thread_id, assistant_id, run_status, url, replay_of: id };
    const { delivery, writes } = this.draft(about, this.body(id), this.headers(before));
    this.#db.write(writes);
    this.committed(delivery);
    return delivery;
  }

  /** The changes that delete what was sent about a thread. What is still to be sent stays. */
  deletionOf(threadId: string): Write[] {
    const gone = [...this.#finishedOnes()].filter(([, thread]) => thread === threadId);
    return gone.flatMap(([id]) => deletion(id));
  }

  /** Says that `deletionOf` of a thread is stored. */
  threadDeleted(threadId: string): void {
    const finished = this.#finishedOnes();
    for (const [id, thread] of finished) if (thread === threadId) finished.delete(id);
  }

  #finishedOnes(): Map<string, string> {
    if (this.#finished !== undefined) return this.#finished;
    const finished = new Map<string, string>();
    for (const [key, text] of this.#db.range(prefixRange(keys.finishedDeliveries))) {
      finished.set(key.slice(keys.finishedDeliveries.length), parsed(text)?.thread_id ?? "");
    }
    return (this.#finished = finished);
  }

  #throwAway(): void {
    const finished = this.#finishedOnes();
    if (finished.size < MAX_FINISHED + THROW_AWAY) return;
    const oldest = [...finished.keys()].slice(0, THROW_AWAY);
    this.#db.writeSoon(oldest.flatMap(deletion));
    for (const id of oldest) finished.delete(id);
  }
}

/** The changes that delete a finished delivery. */
const deletion = (id: string): Write[] =>
  [keys.finishedDelivery(id), keys.deliveryBody(id), keys.deliveryHeaders(id)].map((key) => ({
    key,
    value: undefined,
  }));

function parsed(text: string): Delivery | undefined {
  try {
    const delivery = JSON.parse(text) as Partial<Delivery> | null;
    const whole =
      typeof delivery?.delivery_id === "string" && typeof delivery.url === "string" && Array.isArray(delivery.attempts);
    return whole ? (delivery as Delivery) : undefined;
  } catch {
    return undefined;
  }
}
