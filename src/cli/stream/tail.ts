// One `stream`: finds the run, prints its events, and says how it ended.
import { CliError } from "../../errors.ts";
import { Client } from "../client.ts";
import type { StreamFlags } from "../commands/stream.ts";
import { findServer } from "../discover.ts";
import { followRun } from "../follow.ts";
import { eventData } from "../invoke/result.ts";
import type { Output } from "../output.ts";
import type { Cli } from "../program.ts";
import { interruptible } from "../signals.ts";
import type { SseEvent } from "../sse.ts";
import { oneLine, toJson } from "../text.ts";

interface Run {
  readonly run_id: string;
  readonly status: string;
  readonly created_at: string;
}

/** Prints the events of a run until it ends. */
export async function tail(cli: Cli, thread: string, run: string | undefined, flags: StreamFlags): Promise<void> {
  const output = await cli.output(flags);
  const client = new Client(await findServer(flags, cli.io), cli.io.env);
  const runs = `/threads/${encodeURIComponent(thread)}/runs`;
  const id = run ?? (await newestRun(client, runs, thread));
  const path = `${runs}/${encodeURIComponent(id)}`;

  const work = async (signal: AbortSignal): Promise<void> => {
    const query = flags.mode.length > 0 ? { stream_mode: flags.mode } : {};
    if (run === undefined) output.note(output.err.dim(`run ${oneLine(id)}`));
    for await (const event of followRun({ cli, client, output, signal, path: `${path}/stream`, query }))
      print(output, event);
    const { status } = await client.get<Run>(path);
    if (status === "pending" || status === "running")
      throw new CliError("The server closed the stream before the run ended.");
    if (status === "error" || status === "timeout")
      throw new CliError(`Run ${oneLine(id)} ended with status ${status}.`);
    output.note(output.err.dim(`run ${oneLine(id)} ended with status ${oneLine(status)}`));
  };
  await interruptible(cli, work, async () => output.note(`left the stream; run ${oneLine(id)} goes on`));
}

async function newestRun(client: Client, runs: string, thread: string): Promise<string> {
  const found = await Promise.all(
    ["running", "pending"].map((status) => client.get<Run[]>(runs, { query: { status, limit: 100 } })),
  );
  const newest = found.flat().toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at))[0];
  if (newest) return newest.run_id;
  throw new CliError(`No run waits or runs on thread ${oneLine(thread)}.`, {
    hint: "Name a run to see the end of an older one, or read the result with: agent-server threads state <thread>",
  });
}

function print(output: Output, event: SseEvent): void {
  const data = eventData(event);
  if (output.json) return output.record({ id: event.id ?? null, event: event.event, data });
  const { out } = output;
  const [mode = ""] = event.event.split("|");
  const paint = { metadata: out.dim, values: out.green, updates: out.cyan, messages: out.yellow, error: out.red }[
    mode.split("/")[0] ?? ""
  ];
  output.line(`${(paint ?? out.magenta)(oneLine(event.event))} ${toJson(data)}`);
}
