// The end of an `invoke`: the answer or the final values, then on stderr what to type next.
import { CliError, EXIT } from "../../errors.ts";
import type { Client } from "../client.ts";
import type { InvokeFlags } from "../commands/invoke.ts";
import { commandLine } from "../flags.ts";
import type { Output } from "../output.ts";
import type { Cli } from "../program.ts";
import { oneLine, plain, toJson } from "../text.ts";
import type { Interrupt, RunResult } from "./result.ts";
import type { TokenPrinter } from "./tokens.ts";

interface Ended {
  readonly cli: Cli;
  readonly client: Client;
  readonly flags: InvokeFlags;
  readonly output: Output;
  readonly thread: string | undefined;
  readonly result: RunResult;
  readonly tokens: TokenPrinter;
}

/** Prints the end of a run whose stream closed. */
export async function printEnd(ended: Ended): Promise<void> {
  const { output, thread, result, tokens, cli, flags } = ended;
  const next = (...args: string[]): string => commandLine(cli.io, flags, ["invoke", "--thread", thread ?? "", ...args]);
  if (result.error) {
    tokens.finish(undefined);
    const { name, message } = result.error;
    throw new CliError(`The run failed: ${oneLine(name)}: ${plain(message)}`, {
      hint: thread === undefined ? undefined : `The thread keeps what came before; go on with: ${next("<message>")}`,
    });
  }
  const paused = thread === undefined ? false : await isPaused(ended, thread);
  printAnswer(ended, paused || result.interrupts.length > 0);
  if (thread === undefined) {
    if (result.interrupts.length > 0) output.note("The graph asks something, and a stateless run cannot be resumed.");
    return;
  }
  if (result.interrupts.length > 0) {
    output.note(output.err.yellow("waiting for an answer:"));
    for (const { value } of result.interrupts) output.note(typeof value === "string" ? plain(value) : toJson(value, 2));
    output.note(`answer with: ${next("--resume", answerExample(result.interrupts))}`);
  } else if (paused) {
    output.note(`stopped at a breakpoint; go on with: ${next("--input", "null")}`);
  } else {
    output.note(output.err.dim(`continue with: ${next("<message>")}`));
  }
}

/** True when the thread waits. Throws when the stream closed for another reason than the end of the run. */
async function isPaused({ client, result }: Ended, thread: string): Promise<boolean> {
  if (result.runId === undefined) return false;
  const [run, found] = await Promise.all([
    client.get<{ status: string }>(`/threads/${encodeURIComponent(thread)}/runs/${encodeURIComponent(result.runId)}`),
    client.post<{ thread_id: string; status: string }[]>("/threads/search", {
      body: { ids: [thread], limit: 1, select: ["thread_id", "status"] },
    }),
  ]);
  if (run.status === "pending" || run.status === "running") {
    throw new CliError("The server closed the stream before the run ended.", {
      exitCode: EXIT.failed,
      hint: `Follow the rest with: agent-server stream ${thread} ${result.runId}`,
    });
  }
  const paused = found.some((item) => item.thread_id === thread && item.status === "interrupted");
  if (run.status === "interrupted" && !paused) throw new CliError("The run was cancelled.");
  if (run.status === "error" || run.status === "timeout")
    throw new CliError(`The run ended with status ${run.status}.`);
  return paused;
}

function printAnswer({ output, result, tokens }: Ended, waiting: boolean): void {
  if (output.json) return output.document(result.document());
  const messages = result.newMessages();
  const last = messages?.at(-1);
  tokens.finish(!waiting && last?.type === "ai" ? last : undefined);
  // A graph without messages has no answer to stream: its state is the answer.
  if (messages === undefined && result.values !== null) output.document(result.values);
}

function answerExample(interrupts: readonly Interrupt[]): string {
  if (interrupts.length === 1) return "<answer>";
  return toJson(Object.fromEntries(interrupts.map(({ id }, index) => [id ?? `${index}`, "<answer>"])));
}
