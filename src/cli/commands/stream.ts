// `agent-server stream`: joins a run and prints its events as they come.
import { type Command, InvalidArgumentError, Option } from "commander";
import type { TargetFlags } from "../discover.ts";
import { withTarget } from "../flags.ts";
import type { Cli } from "../program.ts";

/** The flags of `stream` as commander gives them. */
export interface StreamFlags extends TargetFlags {
  readonly mode: readonly string[];
  readonly json?: boolean;
}

/** Adds the command to `program`. */
export function registerStream(program: Command, cli: Cli): void {
  const command = program
    .command("stream")
    .description("join a run and print its events until it ends; reconnects when the connection breaks")
    .argument("<thread>", "id of the thread")
    .argument("[run]", "id of the run (default: the newest one that waits or runs)")
    .addOption(
      new Option(
        "-m, --mode <mode>",
        "only this stream mode, such as values or messages-tuple; repeatable, or a list with commas",
      )
        .default([], "all")
        .argParser((text: string, modes: readonly string[]) => [...modes, ...modesOf(text)]),
    )
    .option("--json", "one JSON object per event on a terminal, too: {id, event, data}");
  withTarget(command).action(async (thread: string, run: string | undefined, flags: StreamFlags) => {
    const { tail } = await import("../stream/tail.ts");
    await tail(cli, thread, run, flags);
  });
}

function modesOf(text: string): string[] {
  const modes = text.split(",").map((mode) => mode.trim());
  if (modes.includes("")) throw new InvalidArgumentError("Give the name of a stream mode.");
  return modes;
}
