// `agent-server check`: its flags. The checking is in ../check/run.ts, loaded only then.
import { type Command, Option } from "commander";
import { integer } from "../flags.ts";
import type { Cli } from "../program.ts";

/** The flags of `check` as commander gives them. */
export interface CheckFlags {
  readonly config?: string;
  /** Seconds. */
  readonly timeout: number;
  readonly json?: boolean;
}

const TEXT = `
Loads the config, the env file, every graph with its schemas, and what else the config names (auth, app,
embeddings, checkpointer, encryption, UI components), without starting a server. Everything that is wrong is
listed at once. What the hosted platform would refuse is a warning. Exits 1 when there is an error.`;

/** Adds the command to `program`. */
export function registerCheck(program: Command, cli: Cli): void {
  program
    .command("check")
    .description("say everything that is wrong with the config and the code that it names")
    .option("-c, --config <path>", "config file, or the folder that has one (default: the current folder)")
    .addOption(
      new Option("--timeout <seconds>", "how long the project's code may take to load")
        .default(60)
        .argParser(integer(1, 3600)),
    )
    .option("--json", "print the result as JSON: ok, file, errors, warnings, graphs")
    .addHelpText("after", TEXT)
    .action(async (flags: CheckFlags) => {
      const { check } = await import("../check/run.ts");
      await check(cli, flags);
    });
}
