// `agent-server crons`: runs on a schedule. What the commands do is in ../crons/manage.ts, loaded only then.
import { type Command, Option } from "commander";
import type { TargetFlags } from "../discover.ts";
import { integer, withTarget } from "../flags.ts";
import type { Cli } from "../program.ts";

/** The flags of `crons ls` as commander gives them. */
export interface ListCronsFlags extends TargetFlags {
  readonly limit: number;
  readonly json?: boolean;
}

/** The flags of `crons create`. */
export interface CreateCronFlags extends TargetFlags {
  readonly assistant?: string;
  readonly thread?: string;
  readonly input?: string;
  readonly timezone?: string;
  readonly endTime?: string;
  readonly keep?: boolean;
  readonly webhook?: string;
  readonly configurable: readonly string[];
  readonly json?: boolean;
}

/** The flags of the commands about one cron. */
export interface CronFlags extends TargetFlags {
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  agent-server crons create "0 9 * * 1-5" "What is new?"                 every working day at nine, UTC
  agent-server crons create "0 9 * * *" "hi" --timezone Europe/Zurich    at nine in Zurich, all the year
  agent-server crons create "*/5 * * * *" --input @in.json -t <id>       every five minutes on one thread`;

/** Adds the commands to `program`. */
export function registerCrons(program: Command, cli: Cli): void {
  const crons = program.command("crons").description("run graphs on a schedule").helpCommand(false);
  const list = crons
    .command("ls")
    .description("list crons, the next to run first")
    .addOption(new Option("-l, --limit <number>", "how many").default(20).argParser(integer(1, 1000)))
    .option("--json", "print JSON on a terminal, too");
  withTarget(list).action(async (flags: ListCronsFlags) => {
    const { listCrons } = await import("../crons/manage.ts");
    await listCrons(cli, flags);
  });

  const create = crons
    .command("create")
    .description("make a cron")
    .argument("<schedule>", "five fields: minute, hour, day of the month, month, day of the week")
    .argument("[message]", "what to say each time; - reads it from stdin")
    .option("-a, --assistant <id>", "graph or assistant (default: the thread's, else the first graph of the config)")
    .option("-i, --input <json>", "input of the graph instead of a message: JSON, @file, or - for stdin")
    .option("-t, --thread <id>", "run on this thread (default: a new one each time)")
    .option("--timezone <name>", "IANA time zone of the schedule (default: UTC)")
    .option("--end-time <time>", "ISO time after which it does not run")
    .addOption(new Option("--keep", "keep the thread of each run").conflicts("thread"))
    .option("--webhook <url>", "tell this URL of each run that has ended")
    .addOption(
      new Option("--configurable <key=value>", "setting for the graph, repeatable; key:=json for other than text")
        .default([], "none")
        .argParser((pair: string, pairs: readonly string[]) => [...pairs, pair]),
    )
    .option("--json", "print JSON on a terminal, too");
  withTarget(create)
    .addHelpText("after", EXAMPLES)
    .action(async (schedule: string, message: string | undefined, flags: CreateCronFlags) => {
      const { createCron } = await import("../crons/manage.ts");
      await createCron(cli, schedule, message, flags);
    });

  const one = (name: string, description: string, run: "runNow" | "pause" | "resume" | "remove"): void => {
    const command = crons
      .command(name)
      .description(description)
      .argument("<id>", "id of the cron")
      .option("--json", "print JSON on a terminal, too");
    withTarget(command).action(async (id: string, flags: CronFlags) => {
      const manage = await import("../crons/manage.ts");
      await manage[run](cli, id, flags);
    });
  };
  one("run-now", "run it now, beside its schedule", "runNow");
  one("pause", "do not run it until it is resumed", "pause");
  one("resume", "run it on its schedule again", "resume");
  one("rm", "delete it; runs that it has started go on", "remove");
}
