// `agent-server stream`: joins a run and prints its events as they come.
import type { Command } from "commander";
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
    .option("-m, --mode <modes...>", "only these stream modes, e.g. values or messages-tuple", [])
    .option("--json", "one JSON object per event on a terminal, too: {id, event, data}");
  withTarget(command).action(async (thread: string, run: string | undefined, flags: StreamFlags) => {
    const { tail } = await import("../stream/tail.ts");
    await tail(cli, thread, run, flags);
  });
}
