// What `webhooks ls`, `webhooks show` and `webhooks replay` print.
import { Client } from "../client.ts";
import type { DeliveriesFlags, DeliveryFlags } from "../commands/webhooks.ts";
import { shownUrl } from "../../webhooks/policy.ts";
import { findServer, type TargetFlags } from "../discover.ts";
import { commandLine } from "../flags.ts";
import type { Cli } from "../program.ts";
import { ago, count, oneLine, table, toJson } from "../text.ts";

interface Attempt {
  readonly at: string;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly answer: string;
}

interface Delivery {
  readonly delivery_id: string;
  readonly run_id: string;
  readonly run_status: string;
  readonly url: string;
  readonly status: string;
  readonly created_at: string;
  readonly next_attempt_at: string | null;
  readonly attempts: readonly Attempt[];
  readonly attempt_count: number;
  readonly body?: unknown;
}

/** `webhooks ls`. */
export async function listDeliveries(cli: Cli, flags: DeliveriesFlags): Promise<void> {
  const output = await cli.output(flags);
  const client = await connect(cli, flags);
  const query = { limit: flags.limit, status: flags.status, run_id: flags.run };
  const found = await client.get<Delivery[]>("/internal/webhooks", { query });
  if (output.json) return output.document(found);
  if (found.length === 0) return output.note("No webhooks.");
  const now = cli.io.now();
  const rows = found.map((delivery) => [
    oneLine(delivery.delivery_id),
    oneLine(delivery.status),
    String(delivery.attempt_count),
    last(delivery),
    ago(delivery.created_at, now),
    oneLine(shownUrl(delivery.url), 60),
  ]);
  const [heading = "", ...lines] = table(["DELIVERY", "STATUS", "TRIES", "LAST ANSWER", "MADE", "URL"], rows);
  output.line(output.out.bold(heading));
  for (const line of lines) output.line(line);
  if (found.length === flags.limit) output.note(output.err.dim(`the first ${flags.limit}; more with --limit`));
}

/** `webhooks show`. */
export async function showDelivery(cli: Cli, id: string, flags: DeliveryFlags): Promise<void> {
  const output = await cli.output(flags);
  const delivery = await (await connect(cli, flags)).get<Delivery>(`/internal/webhooks/${encodeURIComponent(id)}`);
  if (output.json) return output.document(delivery);
  const field = (name: string, value: string): void =>
    output.line(`${output.out.dim(name.padEnd(10))}  ${oneLine(value)}`);
  field("delivery", delivery.delivery_id);
  field("status", `${delivery.status}, ${count(delivery.attempt_count, "attempt")}`);
  field("run", `${delivery.run_id} (${delivery.run_status})`);
  field("url", delivery.url);
  if (delivery.next_attempt_at !== null) field("next", delivery.next_attempt_at);
  for (const { at, duration_ms, status, error, answer } of delivery.attempts) {
    const result = error === null ? output.out.green(String(status)) : output.out.red(oneLine(error, 200));
    output.line(
      `${output.out.dim(oneLine(at))}  ${result}  ${duration_ms} ms  ${output.out.dim(oneLine(answer, 120))}`.trimEnd(),
    );
  }
  output.line();
  output.line(toJson(delivery.body, 2));
}

/** `webhooks replay`. */
export async function replayDelivery(cli: Cli, id: string, flags: DeliveryFlags): Promise<void> {
  const output = await cli.output(flags);
  const client = await connect(cli, flags);
  const delivery = await client.post<Delivery>(`/internal/webhooks/${encodeURIComponent(id)}/replay`);
  if (output.json) return output.document(delivery);
  output.line(oneLine(delivery.delivery_id));
  output.note(
    output.err.dim(`see what came of it: ${commandLine(cli.io, flags, ["webhooks", "show", delivery.delivery_id])}`),
  );
}

function last({ attempts, status }: Delivery): string {
  const attempt = attempts.at(-1);
  if (attempt === undefined) return status === "pending" ? "none yet" : "";
  return attempt.status === null ? oneLine(attempt.error ?? "", 30) : String(attempt.status);
}

async function connect(cli: Cli, flags: TargetFlags): Promise<Client> {
  return new Client(await findServer(flags, cli.io), cli.io.env);
}
