// Sends what is in the outbox: at once when something is put there, again later when it did not arrive. It looks at nothing that a run needs:
// few deliveries per receiver are under way at a time, so that a dead one holds up neither runs nor other receivers.
import { setMaxListeners } from "node:events";
import type { WebhookConfig } from "../config/types.ts";
import type { Timers } from "../clock.ts";
import { timestampOf } from "../ids.ts";
import type { Deliveries, Delivery } from "../resources/deliveries.ts";
import { attempt, type Outcome } from "./attempt.ts";
import { delayAfter, verdict } from "./backoff.ts";
import { DeliveryLanes, type Turn } from "./lanes.ts";
import { isRelative } from "./policy.ts";
import { redact } from "./redact.ts";
import { deliveryHeaders } from "./signature.ts";

/** Characters of an answer that are kept. */
const ANSWER_CHARS = 2048;
/** Milliseconds until a delivery is looked at again that could not even be read. */
const BROKEN_MS = 60_000;

export interface SenderOptions {
  readonly deliveries: Deliveries;
  readonly config: WebhookConfig;
  /** False when `http.disable_webhooks` is set. */
  readonly enabled: boolean;
  readonly clock: Timers;
  /** Answers relative URLs. */
  readonly self: (request: Request) => Response | Promise<Response>;
  /** A delivery was given up. */
  readonly onFailed: (delivery: Delivery, reason: string) => void;
  /** Something of our own is wrong: a damaged record, a storage that fails. */
  readonly onError: (message: string) => void;
  readonly random?: () => number;
}

/** Delivers webhooks, at least once each, until `stop`. */
export class WebhookSender {
  readonly #options: SenderOptions;
  readonly #stopped = new AbortController();
  readonly #lanes = new DeliveryLanes();
  readonly #sending = new Set<Promise<void>>();
  #config: WebhookConfig;
  #enabled: boolean;
  #scheduled = false;
  #cancelTimer: () => void = () => undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#enabled = options.enabled;
    // Each delivery under way listens.
    setMaxListeners(0, this.#stopped.signal);
    options.deliveries.onNew(({ delivery_id, url }) => this.#add(delivery_id, url, 0));
  }

  /** Takes up what was not delivered when the server stopped. */
  start(): void {
    const { deliveries, onError } = this.#options;
    for (const { delivery_id, url, next_attempt_at: next } of deliveries.pending(onError)) {
      this.#add(delivery_id, url, next === null ? 0 : Date.parse(next) || 0);
    }
  }

  /** Uses other headers and rules from the next attempt on. While it is switched off, what is to be sent waits. */
  reconfigure(config: WebhookConfig, enabled: boolean): void {
    this.#config = config;
    this.#enabled = enabled;
    this.#wake();
  }

  /** Sends nothing more; what is under way is broken off and sent again at the next start. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#cancelTimer();
    await Promise.all(this.#sending);
  }

  #add(id: string, url: string, due: number): void {
    this.#lanes.add(receiverOf(url), id, due);
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
    this.#cancelTimer();
    if (this.#stopped.signal.aborted || !this.#enabled) return;
    const now = this.#options.clock.now();
    for (let turn = this.#lanes.take(now); turn !== undefined; turn = this.#lanes.take(now)) this.#begin(turn);
    const { earliest } = this.#lanes;
    if (earliest < Infinity) this.#cancelTimer = this.#options.clock.at(earliest, () => this.#wake());
  }

  #begin(turn: Turn): void {
    const { clock, onError } = this.#options;
    const { id, receiver } = turn;
    let reached = true;
    const send = async (): Promise<void> => {
      try {
        const { due, answered } = await this.#send(turn);
        reached = answered;
        if (due !== undefined) this.#lanes.add(receiver, id, due);
      } catch (error) {
        onError(
          `Webhook delivery ${id} is tried again in a minute: ${error instanceof Error ? error.message : String(error)}`,
        );
        this.#lanes.add(receiver, id, clock.now() + BROKEN_MS);
      }
      this.#sending.delete(sending);
      this.#lanes.done(turn, reached);
      this.#wake();
    };
    const sending = send();
    this.#sending.add(sending);
  }

  /** Makes one attempt. @returns when the next one is due, if there is one, and whether the receiver answered. */
  async #send(turn: Turn): Promise<{ due: number | undefined; answered: boolean }> {
    const { deliveries, clock, self, onFailed, random = Math.random } = this.#options;
    const { headers: ownHeaders, secret, secrets, policy, timeoutSeconds, maxAttempts } = this.#config;
    const { id } = turn;
    const delivery = deliveries.get(id);
    const began = clock.now();
    const at = timestampOf(began);
    const push = deliveries.headers(delivery);
    const stored = deliveries.body(id);
    const body = push === undefined ? withSentAt(stored, at) : stored;
    this.#lanes.weigh(turn, body.length);
    const hide = [...secretsIn(push ?? {}), ...secrets];
    const outcome = await attempt({
      url: delivery.url,
      body,
      headers: deliveryHeaders(id, body, secret, began),
      // The address of a push notification is the choice of whoever called: the operator's secrets are not for it.
      ownHeaders: push ?? ownHeaders,
      policy,
      timeoutMs: timeoutSeconds * 1000,
      // Enough to recognise a secret that the cut would go through.
      maxAnswerBytes: 4 * (ANSWER_CHARS + Math.max(0, ...hide.map(({ length }) => 2 * length))),
      signal: this.#stopped.signal,
      self,
    });
    const answered = "status" in outcome;
    // What was broken off by the stop is no attempt; what has arrived is.
    if (this.#stopped.signal.aborted && !answered) return { due: undefined, answered };
    const now = clock.now();
    const result = verdict(outcome);
    const error = result === "delivered" ? null : redact(reasonOf(outcome), hide);
    const lastTry = result === "again" && delivery.attempt_count + 1 >= maxAttempts;
    const status = result === "delivered" ? "delivered" : result === "failed" || lastTry ? "failed" : "pending";
    const due = now + delayAfter(delivery.attempt_count + 1, outcome, now, random);
    const after = deliveries.attempted(
      delivery,
      {
        at,
        duration_ms: Math.round(now - began),
        status: answered ? outcome.status : null,
        error,
        answer: answered ? redact(outcome.answer, hide).slice(0, ANSWER_CHARS) : "",
      },
      status,
      status === "pending" ? timestampOf(due) : null,
    );
    if (status === "failed") onFailed(after, error ?? "");
    return { due: status === "pending" ? due : undefined, answered };
  }
}

/** Whose turn a delivery takes: the origin of its URL; this server itself for a path. */
function receiverOf(url: string): string {
  if (isRelative(url)) return "";
  return URL.canParse(url) ? new URL(url).origin : url;
}

/** What must not be shown of the headers of a push notification: their values, and the credentials behind a scheme. */
const secretsIn = (headers: Readonly<Record<string, string>>): string[] =>
  Object.values(headers).flatMap((value) => [value, value.slice(value.indexOf(" ") + 1)]);

/** The body says when this attempt was made. */
const withSentAt = (body: string, at: string): string =>
  `${body.slice(0, -1)},"webhook_sent_at":${JSON.stringify(at)}}`;

const reasonOf = (outcome: Outcome): string => ("error" in outcome ? outcome.error : `answered ${outcome.status}`);
