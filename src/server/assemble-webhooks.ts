// Everything about webhooks behind the routes: the outbox, who sends from it, which destinations are accepted, and the follower that puts the
// end of a run into it.
import type { Timers } from "../clock.ts";
import type { ProjectConfig, WebhookConfig } from "../config/types.ts";
import { ApiError } from "../errors.ts";
import { Deliveries } from "../resources/deliveries.ts";
import type { RunFollower } from "../runs/follower.ts";
import { runJsonForWebhook } from "../runs/webhook-body.ts";
import type { ThreadValues } from "../runs/values.ts";
import type { BufferedDatabase } from "../storage/buffered.ts";
import { checkDestination, shownUrl } from "../webhooks/policy.ts";
import { WebhookSender } from "../webhooks/sender.ts";
import type { ServerEvent } from "./types.ts";

/** What the routes and the start of the server need of webhooks. */
export interface Webhooks {
  readonly deliveries: Deliveries;
  readonly sender: WebhookSender;
  readonly follower: RunFollower;
  /** False when `http.disable_webhooks` is set. */
  readonly enabled: boolean;
  /** @throws ApiError 422 when a webhook must not be sent there. Says once when webhooks are switched off. */
  check(url: string | undefined): Promise<void>;
  /** Takes over a changed config. */
  reconfigure(project: ProjectConfig): void;
}

const NO_RULES: WebhookConfig = {
  headers: {},
  secrets: [],
  timeoutSeconds: 10,
  maxAttempts: 8,
  policy: { requireHttps: false, disableLoopback: false },
};

export function assembleWebhooks(parts: {
  readonly project: ProjectConfig;
  readonly database: BufferedDatabase;
  readonly values: ThreadValues;
  readonly clock: Timers;
  /** Answers requests to this server itself. */
  readonly self: (request: Request) => Response | Promise<Response>;
  readonly onEvent: (event: ServerEvent) => void;
}): Webhooks {
  const { database, values, clock, self, onEvent } = parts;
  let config = parts.project.webhooks ?? NO_RULES;
  let disabled = parts.project.http.disable_webhooks;
  let told = false;
  const deliveries = new Deliveries(database, clock);
  const sender = new WebhookSender({
    deliveries,
    config,
    enabled: !disabled,
    clock,
    self,
    onError: (message) => onEvent({ type: "log", level: "error", message }),
    onFailed({ delivery_id, run_id, url, attempt_count }, reason) {
      const message = `The webhook of run ${run_id} to ${shownUrl(url)} was given up after ${attempt_count} attempts: ${reason} (delivery ${delivery_id})`;
      onEvent({ type: "log", level: "warn", message });
    },
  });
  return {
    deliveries,
    sender,
    get enabled() {
      return !disabled;
    },
    follower(record, end) {
      const { webhook: url } = record.run.kwargs;
      if (url === undefined || disabled) return undefined;
      const { run_id, thread_id, assistant_id, status } = record.run;
      const about = { run_id, thread_id, assistant_id, run_status: status, url };
      const body = runJsonForWebhook(record, end, values.json(thread_id), clock.now());
      const { delivery, writes } = deliveries.draft(about, body);
      return { writes, committed: () => deliveries.committed(delivery) };
    },
    async check(url) {
      if (url === undefined) return;
      if (disabled) {
        if (!told)
          onEvent({
            type: "log",
            level: "warn",
            message: "A run asks for a webhook; http.disable_webhooks is set, so none are sent.",
          });
        told = true;
        return;
      }
      const reason = await checkDestination(url, config.policy);
      if (reason !== undefined) throw new ApiError(422, reason);
    },
    reconfigure(project) {
      config = project.webhooks ?? NO_RULES;
      disabled = project.http.disable_webhooks;
      sender.reconfigure(config, !disabled);
    },
  };
}
