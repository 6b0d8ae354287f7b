// Sends what is in the outbox: at once when something is put there, again later when it did not arrive. It looks at nothing that a run needs:
// few deliveries per receiver are under way at a time, so that a dead one holds up neither runs nor other receivers.
import type { WebhookConfig } from "../config/types.ts";
import type { Timers } from "../clock.ts";
import { timestampOf } from "../ids.ts";
import type { Deliveries, Delivery } from "../resources/deliveries.ts";
import { attempt, type Outcome } from "./attempt.ts";
import { delayAfter, verdict } from "./backoff.ts";
import { isRelative } from "./policy.ts";
import { deliveryHeaders } from "./signature.ts";

/** Deliveries under way per receiver, and in all. */
const PER_ORIGIN = 8;
const AT_ONCE = 128;

export interface SenderOptions {
  readonly deliveries: Deliveries;
  readonly config: WebhookConfig;
  readonly clock: Timers;
  /** Answers relative URLs. */
  readonly self: (request: Request) => Response | Promise<Response>;
  /** A delivery was given up. */
  readonly onFailed: (delivery: Delivery, reason: string) => void;
  readonly random?: () => number;
}

interface Waiting {
  readonly id: string;
  readonly origin: string;
  /** Not before this time, in milliseconds. */
  due: number;
}

export class WebhookSender {
  readonly #options: SenderOptions;
  readonly #stopped = new AbortController();
  /** By id, in the order in which they are to be looked at. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #underWay = new Map<string, number>();
  readonly #sending = new Set<Promise<void>>();
  #config: WebhookConfig;
  #scheduled = false;
  #cancelTimer: () => void = () => undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#config = options.config;
    options.deliveries.onNew((delivery) => this.#add(delivery));
  }

  /** Takes up what was not delivered when the server stopped. */
  start(): void {
    for (const delivery of this.#options.deliveries.pending()) this.#add(delivery);
  }

  /** Uses other headers and rules from the next attempt on. */
  reconfigure(config: WebhookConfig): void {
    this.#config = config;
  }

  /** Sends nothing more; what is under way is broken off and sent again at the next start. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#cancelTimer();
    await Promise.all(this.#sending);
  }

  #add({ delivery_id: id, url, next_attempt_at: next }: Delivery): void {
    const origin = isRelative(url) ? "" : URL.canParse(url) ? new URL(url).origin : url;
    this.#waiting.set(id, { id, origin, due: next === null ? 0 : Date.parse(next) });
    this.#wake();
  }

  /** Looks at what waits, once per turn of the event loop: a burst of runs ends in one look. */
  #wake(): void {
    if (this.#scheduled || this.#stopped.signal.aborted) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#fill();
    });
  }

  #fill(): void {
    if (this.#stopped.signal.aborted) return;
    this.#cancelTimer();
    const now = this.#options.clock.now();
    let earliest = Infinity;
    for (const waiting of this.#waiting.values()) {
      if (this.#sending.size >= AT_ONCE) return;
      if (waiting.due > now) earliest = Math.min(earliest, waiting.due);
      else if ((this.#underWay.get(waiting.origin) ?? 0) < PER_ORIGIN) this.#begin(waiting);
    }
    if (earliest < Infinity) this.#cancelTimer = this.#options.clock.at(earliest, () => this.#wake());
  }

  #begin(waiting: Waiting): void {
    const { id, origin } = waiting;
    this.#waiting.delete(id);
    this.#underWay.set(origin, (this.#underWay.get(origin) ?? 0) + 1);
    const sending = this.#send(waiting).finally(() => {
      this.#sending.delete(sending);
      const left = this.#underWay.get(origin)! - 1;
      if (left === 0) this.#underWay.delete(origin);
      else this.#underWay.set(origin, left);
      this.#wake();
    });
    this.#sending.add(sending);
  }

  async #send(waiting: Waiting): Promise<void> {
    const { deliveries, clock, self, onFailed, random = Math.random } = this.#options;
    const { headers: ownHeaders, secret, policy, timeoutSeconds, maxAttempts } = this.#config;
    const delivery = deliveries.get(waiting.id);
    const began = clock.now();
    const at = timestampOf(began);
    const push = deliveries.headers(delivery);
    const stored = deliveries.body(waiting.id);
    const body = push === undefined ? withSentAt(stored, at) : stored;
    const outcome = await attempt({
      url: delivery.url,
      body,
      headers: deliveryHeaders(waiting.id, body, secret, began),
      ownHeaders: { ...ownHeaders, ...push },
      policy,
      timeoutMs: timeoutSeconds * 1000,
      signal: this.#stopped.signal,
      self,
    });
    if (this.#stopped.signal.aborted) return;
    const now = clock.now();
    const result = verdict(outcome);
    const error = result === "delivered" ? null : reasonOf(outcome);
    const lastTry = result === "again" && delivery.attempt_count + 1 >= maxAttempts;
    const status = result === "delivered" ? "delivered" : result === "failed" || lastTry ? "failed" : "pending";
    const due = now + delayAfter(delivery.attempt_count + 1, outcome, now, random);
    const after = deliveries.attempted(
      delivery,
      {
        at,
        duration_ms: Math.round(now - began),
        status: "status" in outcome ? outcome.status : null,
        error,
        answer: "answer" in outcome ? this.#redact(outcome.answer, Object.values(push ?? {})) : "",
      },
      status,
      status === "pending" ? timestampOf(due) : null,
    );
    if (status === "pending") this.#waiting.set(waiting.id, { ...waiting, due });
    else if (status === "failed") onFailed(after, error ?? "");
  }

  /** A receiver may send back what it was sent; header values never get into a record. */
  #redact(answer: string, own: readonly string[]): string {
    let text = answer;
    for (const secret of [...this.#config.secrets, ...own]) if (secret.length > 3) text = text.replaceAll(secret, "***");
    return text;
  }
}

/** The body says when this attempt was made. */
const withSentAt = (body: string, at: string): string =>
  `${body.slice(0, -1)},"webhook_sent_at":${JSON.stringify(at)}}`;

const reasonOf = (outcome: Outcome): string => ("error" in outcome ? outcome.error : `answered ${outcome.status}`);
