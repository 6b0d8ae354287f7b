// `agent-server threads`: looks at stored threads. What each prints is in ../threads/show.ts, loaded only then.
import { type Command, Option } from "commander";
import type { TargetFlags } from "../discover.ts";
import { integer, withTarget } from "../flags.ts";
import type { Cli } from "../program.ts";

/** The flags of `threads ls` as commander gives them. */
export interface ListFlags extends TargetFlags {
  readonly status?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** The flags of the commands that show one thread. */
export interface ShowFlags extends TargetFlags {
  readonly json?: boolean;
}

/** Adds the commands to `program`. */
export function registerThreads(program: Command, cli: Cli): void {
  const threads = program.command("threads").description("list threads and look into them").helpCommand(false);
  const list = threads
    .command("ls")
    .description("list threads, the last changed first")
    .addOption(
      new Option("--status <status>", "only threads with this status").choices([
        "idle",
        "busy",
        "interrupted",
        "error",
      ]),
    )
    .addOption(new Option("-l, --limit <number>", "how many").default(20).argParser(integer(1, 1000)))
    .option("--json", "print JSON on a terminal, too");
  withTarget(list).action(async (flags: ListFlags) => {
    const { listThreads } = await import("../threads/show.ts");
    await listThreads(cli, flags);
  });

  const get = threads
    .command("get")
    .description("show one thread: status, metadata, values")
    .argument("<id>", "id of the thread")
    .option("--json", "print JSON on a terminal, too");
  withTarget(get).action(async (id: string, flags: ShowFlags) => {
    const { showThread } = await import("../threads/show.ts");
    await showThread(cli, id, flags);
  });

  const state = threads
    .command("state")
    .description("show the latest state of a thread: values, what comes next, what it waits for")
    .argument("<id>", "id of the thread")
    .option("--json", "print JSON on a terminal, too");
  withTarget(state).action(async (id: string, flags: ShowFlags) => {
    const { showState } = await import("../threads/show.ts");
    await showState(cli, id, flags);
  });
}
