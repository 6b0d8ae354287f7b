// What the `crons` commands do and print.
import { Client } from "../client.ts";
import type { CreateCronFlags, CronFlags, ListCronsFlags } from "../commands/crons.ts";
import { findServer, type TargetFlags } from "../discover.ts";
import { commandLine } from "../flags.ts";
import { chooseAssistant } from "../invoke/choose.ts";
import { parseConfigurable, readPayload } from "../invoke/payload.ts";
import type { Output } from "../output.ts";
import type { Cli } from "../program.ts";
import { oneLine, shellQuote, table } from "../text.ts";

interface Cron {
  readonly cron_id: string;
  readonly assistant_id: string;
  readonly thread_id: string | null;
  readonly schedule: string;
  readonly timezone: string | null;
  readonly next_run_date: string | null;
  readonly enabled: boolean;
}

/** `crons ls`. */
export async function listCrons(cli: Cli, flags: ListCronsFlags): Promise<void> {
  const output = await cli.output(flags);
  const client = await connect(cli, flags);
  const body = { limit: flags.limit, sort_by: "next_run_date", sort_order: "asc" };
  const found = await client.post<Cron[]>("/runs/crons/search", { body });
  if (output.json) return output.document(found);
  if (found.length === 0) return output.note("No crons.");
  const rows = found.map((cron) => [
    oneLine(cron.cron_id),
    oneLine(cron.schedule),
    oneLine(cron.timezone ?? "UTC"),
    next(cron),
    oneLine(cron.thread_id ?? "a new one"),
  ]);
  const [heading = "", ...lines] = table(["CRON", "SCHEDULE", "ZONE", "NEXT", "THREAD"], rows);
  output.line(output.out.bold(heading));
  for (const line of lines) output.line(line);
  if (found.length === flags.limit) output.note(output.err.dim(`the first ${flags.limit}; more with --limit`));
}

/** `crons create`. */
export async function createCron(
  cli: Cli,
  schedule: string,
  message: string | undefined,
  flags: CreateCronFlags,
): Promise<void> {
  const output = await cli.output(flags);
  const payload = await readPayload(message, flags, cli.io, `agent-server crons create ${shellQuote(schedule)}`);
  const client = await connect(cli, flags);
  const configurable = parseConfigurable(flags.configurable);
  const cron = await client.post<Cron>(
    flags.thread === undefined ? "/runs/crons" : `/threads/${encodeURIComponent(flags.thread)}/runs/crons`,
    {
      body: {
        assistant_id: flags.assistant ?? (await chooseAssistant(client, flags.thread, output)),
        schedule,
        ...payload,
        ...(flags.timezone === undefined ? {} : { timezone: flags.timezone }),
        ...(flags.endTime === undefined ? {} : { end_time: flags.endTime }),
        ...(flags.keep === true ? { on_run_completed: "keep" } : {}),
        ...(flags.webhook === undefined ? {} : { webhook: flags.webhook }),
        ...(flags.configurable.length === 0 ? {} : { config: { configurable } }),
      },
    },
  );
  if (output.json) return output.document(cron);
  output.line(oneLine(cron.cron_id));
  output.note(
    output.err.dim(`next: ${next(cron)}; try it: ${commandLine(cli.io, flags, ["crons", "run-now", cron.cron_id])}`),
  );
}

/** `crons run-now`. */
export async function runNow(cli: Cli, id: string, flags: CronFlags): Promise<void> {
  const output = await cli.output(flags);
  const client = await connect(cli, flags);
  const run = await client.post<{ run_id: string; thread_id: string }>(`/internal/crons/${encodeURIComponent(id)}/run`);
  if (output.json) return output.document(run);
  output.line(oneLine(run.run_id));
  const follow = commandLine(cli.io, flags, ["stream", run.thread_id, run.run_id]);
  output.note(output.err.dim(`follow it: ${follow}`));
}

/** `crons pause`. */
export const pause = (cli: Cli, id: string, flags: CronFlags): Promise<void> => enable(cli, id, flags, false);

/** `crons resume`. */
export const resume = (cli: Cli, id: string, flags: CronFlags): Promise<void> => enable(cli, id, flags, true);

async function enable(cli: Cli, id: string, flags: CronFlags, enabled: boolean): Promise<void> {
  const output = await cli.output(flags);
  const client = await connect(cli, flags);
  const cron = await client.patch<Cron>(`/runs/crons/${encodeURIComponent(id)}`, { body: { enabled } });
  if (output.json) return output.document(cron);
  output.note(enabled ? `Next: ${next(cron)}` : "Paused.");
}

/** `crons rm`. */
export async function remove(cli: Cli, id: string, flags: CronFlags): Promise<void> {
  const output: Output = await cli.output(flags);
  await (await connect(cli, flags)).delete(`/runs/crons/${encodeURIComponent(id)}`);
  if (output.json) return output.document({ deleted: id });
  output.note("Deleted.");
}

function next({ next_run_date: date, enabled }: Cron): string {
  if (!enabled) return "paused";
  return date === null ? "over" : oneLine(date.replace(/\.\d+/, ""));
}

async function connect(cli: Cli, flags: TargetFlags): Promise<Client> {
  return new Client(await findServer(flags, cli.io), cli.io.env);
}
