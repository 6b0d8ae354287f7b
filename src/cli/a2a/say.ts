// `a2a send` and `a2a stream`: a message, the answer, and what the person can type next.
import { randomUUID } from "node:crypto";
import { CliError, EXIT } from "../../errors.ts";
import type { SayFlags } from "../commands/a2a.ts";
import { commandLine } from "../flags.ts";
import type { Output } from "../output.ts";
import type { Cli } from "../program.ts";
import { interruptible } from "../signals.ts";
import { oneLine, plain } from "../text.ts";
import { isConnectionError } from "../client.ts";
import { findAgent, type Agent } from "./agent.ts";
import { keepLast, withLast } from "./last.ts";
import { readSaying } from "./payload.ts";
import { answerOf, messageParams, shown, waits, type Shown } from "./words.ts";

/** Sends a message and prints what comes back. */
export async function say(
  cli: Cli,
  how: "send" | "stream",
  message: string | undefined,
  given: SayFlags,
): Promise<void> {
  const { io } = cli;
  const output = await cli.output(given);
  const flags = await withLast(io, given);
  const saying = {
    ...(await readSaying(message, flags, io)),
    context: flags.context,
    task: flags.task,
    messageId: randomUUID(),
  };
  const agent = await findAgent(io, flags, output);
  const params = messageParams(agent.version, saying);
  const talk: Talk = { cli, output, flags, agent };
  if (how === "stream") return stream(talk, params);
  const result = await agent.rpc.call(agent.rpc.method("send"), params);
  const answer = shown(result);
  if (output.json) output.document(result);
  else if (answer !== undefined) printText(output, answerOf(answer));
  await finish(talk, answer);
}

interface Talk {
  readonly cli: Cli;
  readonly output: Output;
  readonly flags: SayFlags;
  readonly agent: Agent;
}

async function stream(talk: Talk, params: Record<string, unknown>): Promise<void> {
  const { cli, output, agent } = talk;
  const printer = new Printer(output);
  let last: Shown | undefined;
  const read = async (signal: AbortSignal): Promise<void> => {
    for await (const result of agent.rpc.stream(agent.rpc.method("stream"), params, signal)) {
      const event = shown(result);
      if (output.json) output.record(result);
      if (event === undefined) continue;
      if (!output.json) printer.event(event);
      last = {
        ...event,
        task: event.task ?? last?.task,
        context: event.context ?? last?.context,
        state: event.state ?? last?.state,
      };
    }
  };
  const work = async (signal: AbortSignal): Promise<void> => {
    const broken = await read(signal).then(
      () => undefined,
      (error: unknown) => error,
    );
    // What has come may be all that there was to come.
    if (broken !== undefined && (last === undefined || !isConnectionError(broken))) throw broken;
    const unknown = last?.state === undefined && last?.kind !== "message";
    if (last === undefined || !(isOpen(last.state) || (broken !== undefined && unknown))) {
      // Many agents say what they have to say in their last status, without an artifact.
      if (!output.json && last !== undefined) printer.end(last);
      return finish(talk, last);
    }
    printer.breakLine();
    await keep(talk, last);
    const { task } = last;
    throw new CliError(broken instanceof Error ? broken.message : "The stream ended before the task did.", {
      exitCode: EXIT.noServer,
      hint: task === undefined ? undefined : `Look at the task with: ${next(talk, "get", [task])}`,
      cause: broken,
    });
  };
  await interruptible(cli, work, async () => {
    printer.breakLine();
    if (last !== undefined) await keep(talk, last);
    if (last?.task !== undefined) output.note(`the task goes on; look at it with: ${next(talk, "get", [last.task])}`);
  });
}

/** Prints the artifacts of a stream as they grow. */
class Printer {
  readonly #output: Output;
  /** Nothing yet, the middle of a line, or the begin of one. */
  #at: "nothing" | "inside" | "begin" = "nothing";

  constructor(output: Output) {
    this.#output = output;
  }

  event(event: Shown): void {
    // The artifacts of a task that goes on are those of before.
    if (event.kind === "status" || (event.kind === "task" && isOpen(event.state))) return;
    const text = answerOf(event);
    if (text === "") return;
    if (!event.append) this.breakLine();
    this.#output.write(plain(text));
    this.#at = text.endsWith("\n") ? "begin" : "inside";
  }

  end(last: Shown): void {
    const text = this.#at === "nothing" ? answerOf(last) : "";
    if (text !== "") this.#output.line(plain(text));
    else this.breakLine();
  }

  breakLine(): void {
    if (this.#at === "inside") this.#output.line();
    if (this.#at === "inside") this.#at = "begin";
  }
}

/** Says where the conversation stands, keeps it for `--continue`, and fails if the task has failed. */
async function finish(talk: Talk, answer: Shown | undefined): Promise<void> {
  const { output } = talk;
  if (answer === undefined)
    throw new CliError("The agent answers with something that is neither a task nor a message.");
  const { task, context, state } = answer;
  const open = waits(state) || isOpen(state);
  await keep(talk, answer);
  const ids = [
    ["context", context],
    ["task", task],
  ].flatMap(([name, id]) => (id === undefined ? [] : [`${name} ${oneLine(id)}`]));
  if (ids.length > 0)
    output.note(output.err.dim(`${ids.join("  ")}${state === undefined ? "" : `  (${oneLine(state)})`}`));
  if (state === "failed" || state === "canceled" || state === "rejected") {
    const why = oneLine(answer.said.map(({ text }) => text).join(" "), 1000);
    throw new CliError(
      `The task ${state === "failed" ? "has failed" : `was ${state}`}${why === "" ? "." : `: ${why}`}`,
      {
        exitCode: EXIT.failed,
        hint:
          context === undefined
            ? undefined
            : `Go on with the conversation: ${next(talk, "send", ["--context", context, "<message>"])}`,
      },
    );
  }
  const inContext = context === undefined ? [] : ["--context", context];
  if (waits(state)) {
    output.note(output.err.yellow("waiting for an answer:"));
    for (const part of answer.said) if (part.kind === "text") output.note(plain(part.text));
    if (task !== undefined)
      output.note(`answer with: ${next(talk, "send", [...inContext, "--task", task, "<answer>"])}`);
  } else if (context !== undefined) {
    const more = open && task !== undefined ? ["--task", task] : [];
    output.note(output.err.dim(`continue with: ${next(talk, "send", ["--context", context, ...more, "<message>"])}`));
  }
}

/** Keeps the conversation for `--continue`, with the task if that takes another message. */
async function keep({ cli, flags, agent }: Talk, { context, task, state }: Shown): Promise<void> {
  if (context === undefined) return;
  const open = waits(state) || isOpen(state);
  const assistant = agent.assistant ?? flags.assistant;
  await keepLast(cli.io, flags, {
    context,
    ...(open && task !== undefined ? { task } : {}),
    ...(assistant === undefined ? {} : { assistant }),
    ...(flags.v03 === true ? { v03: true } : {}),
  });
}

const isOpen = (state: string | undefined): boolean => state === "submitted" || state === "working";

/** A command about the same agent, as the person has to type it. */
function next({ cli, flags, agent }: Talk, command: string, args: readonly string[]): string {
  const assistant = agent.assistant ?? flags.assistant;
  const more = [
    ...(assistant === undefined ? [] : ["--assistant", assistant]),
    ...(flags.v03 === true ? ["--v03"] : []),
  ];
  return commandLine(cli.io, flags, ["a2a", command, ...[...args, ...more].map((arg) => oneLine(arg))]);
}

function printText(output: Output, text: string): void {
  if (text !== "") output.line(plain(text));
}
