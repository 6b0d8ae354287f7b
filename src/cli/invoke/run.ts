// One `invoke`: thread, run, its stream to the end, and what the person can do next.
import { CliError, EXIT } from "../../errors.ts";
import { Client, HttpCliError, isConnectionError } from "../client.ts";
import type { InvokeFlags } from "../commands/invoke.ts";
import { findServer } from "../discover.ts";
import { commandLine } from "../flags.ts";
import { followRun } from "../follow.ts";
import type { Cli } from "../program.ts";
import { interruptible } from "../signals.ts";
import { chooseAssistant, listGraphs } from "./choose.ts";
import { printEnd } from "./end.ts";
import { parseConfigurable, readPayload } from "./payload.ts";
import { eventData, RunResult } from "./result.ts";
import { TokenPrinter } from "./tokens.ts";

/** Runs a graph once and prints what it answers. */
export async function invoke(cli: Cli, message: string | undefined, flags: InvokeFlags): Promise<void> {
  const { io } = cli;
  const output = await cli.output(flags);
  const configurable = parseConfigurable(flags.configurable);
  const payload = await readPayload(message, flags, io);
  const client = new Client(await findServer(flags, io), io.env);
  const assistant = flags.assistant ?? (await chooseAssistant(client, flags.thread, output));
  // The run makes the thread: a run that is refused leaves none behind.
  const isNew = flags.stateless !== true && flags.thread === undefined;
  const thread = isNew ? io.uuid() : flags.thread;

  const result = new RunResult();
  const tokens = new TokenPrinter(output);
  const work = async (signal: AbortSignal): Promise<void> => {
    const runs = thread === undefined ? "/runs" : `/threads/${encodeURIComponent(thread)}/runs`;
    const body = {
      assistant_id: assistant,
      ...payload,
      ...(isNew ? { if_not_exists: "create" } : {}),
      ...(Object.keys(configurable).length > 0 ? { config: { configurable } } : {}),
      ...(flags.webhook === undefined ? {} : { webhook: flags.webhook }),
      stream_mode: output.json ? ["values"] : ["values", "messages-tuple"],
      stream_resumable: thread !== undefined,
      // Nobody can cancel a stateless run by its id: it ends with our connection. One on a thread is cancelled below.
      on_disconnect: thread === undefined ? "cancel" : "continue",
    };
    const stream = await client
      .stream("POST", `${runs}/stream`, { body, signal })
      .catch((error: unknown) => explainAssistant(error, client, flags.assistant));
    if (isNew) output.note(output.err.dim(`thread ${thread}`));
    result.runId = stream.contentLocation?.split("/").at(-1);
    const path = thread === undefined ? undefined : samePath(stream.location);
    try {
      for await (const event of followRun({ cli, client, output, signal, body: stream.body, path })) {
        const data = eventData(event);
        result.take(event, data);
        if (event.event === "messages" && !output.json) tokens.take(data);
      }
    } catch (error) {
      tokens.finish(undefined);
      if (thread !== undefined && result.runId !== undefined && isConnectionError(error)) {
        const follow = commandLine(io, flags, ["stream", thread, result.runId]);
        throw new CliError((error as CliError).message, {
          exitCode: EXIT.noServer,
          hint: `Follow the rest with: ${follow}`,
        });
      }
      throw error;
    }
    await printEnd({ cli, client, flags, output, thread, result, tokens });
  };
  await interruptible(cli, work, async () => {
    tokens.finish(undefined);
    if (thread === undefined || result.runId === undefined) return output.note("interrupted");
    const cancelled = await cancel(client, thread, result.runId);
    output.note(cancelled ? `cancelled run ${result.runId}` : `run ${result.runId} had ended already`);
    output.note(`continue the thread with: ${commandLine(io, flags, ["invoke", "--thread", thread, "<message>"])}`);
  });
}

/** Where the rest of a broken stream is, if the server said so: a path on the same server, never another address. */
function samePath(location: string | null): string | undefined {
  return location?.startsWith("/") && !location.startsWith("//") ? location : undefined;
}

async function cancel(client: Client, thread: string, run: string): Promise<boolean> {
  const path = `/threads/${encodeURIComponent(thread)}/runs/${encodeURIComponent(run)}/cancel`;
  try {
    await client.post(path, { query: { action: "interrupt", wait: "0" }, timeout: 3000 });
    return true;
  } catch (error) {
    if (error instanceof HttpCliError) return false;
    throw new CliError(`Run ${run} may go on: it could not be cancelled.`, {
      exitCode: EXIT.interrupted,
      cause: error,
    });
  }
}

/** Names the graphs that exist when the chosen one does not. */
async function explainAssistant(failure: unknown, client: Client, chosen: string | undefined): Promise<never> {
  if (chosen === undefined || !(failure instanceof HttpCliError) || failure.status !== 404) throw failure;
  if (!/assistant/i.test(failure.message)) throw failure;
  const graphs = await listGraphs(client).catch(() => []);
  throw new CliError(failure.message, {
    hint: `This server has: ${graphs.join(", ") || "no graphs"}.`,
    cause: failure,
  });
}
