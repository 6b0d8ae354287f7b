// `agent-server doctor`: its flags. The checks are in ../doctor/, loaded only then.
import { type Command, Option } from "commander";
import { DEFAULT_PORT } from "../discover.ts";
import { folder, integer } from "../flags.ts";
import type { Cli } from "../program.ts";

/** The flags of `doctor` as commander gives them. */
export interface DoctorFlags {
  readonly config?: string;
  readonly dataDir?: string;
  readonly port: number;
  readonly quiet?: boolean;
  readonly json?: boolean;
}

const TEXT = `
Looks at Node, the packages (versions, and whether there is one LangGraph only), the port, the data folder (who
uses it, size, damage), free space, the clock and who may read env files. Changes nothing. Exits 1 when something
fails: dev would not start, or would lose data.`;

/** Adds the command to `program`. */
export function registerDoctor(program: Command, cli: Cli): void {
  program
    .command("doctor")
    .description("look at Node, packages, port, data folder, clock and permissions")
    .option("-c, --config <path>", "config file, or the folder that has one (default: the current folder)")
    .addOption(
      new Option("--data-dir <folder>", "data folder to look at (default: .agent-server beside the config)").argParser(
        folder,
      ),
    )
    .addOption(
      new Option("-p, --port <number>", "port that dev is to take")
        .env("AGENT_SERVER_PORT")
        .default(DEFAULT_PORT)
        .argParser(integer(0, 65_535)),
    )
    .option("-q, --quiet", "print only what is not well")
    .option("--json", "print the result as JSON: ok, findings")
    .addHelpText("after", TEXT)
    .action(async (flags: DoctorFlags) => {
      const { doctor } = await import("../doctor/run.ts");
      await doctor(cli, flags);
    });
}
