// `agent-server invoke`: its flags. What it does is in ../invoke/run.ts, loaded only then.
import { type Command, Option } from "commander";
import type { TargetFlags } from "../discover.ts";
import { withTarget } from "../flags.ts";
import type { Cli } from "../program.ts";

/** The flags of `invoke` as commander gives them. */
export interface InvokeFlags extends TargetFlags {
  readonly assistant?: string;
  readonly input?: string;
  readonly thread?: string;
  readonly stateless?: boolean;
  readonly resume?: string;
  readonly webhook?: string;
  readonly configurable: readonly string[];
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  agent-server invoke "hello"                          a new thread; prints how to continue it
  agent-server invoke --thread <id> "and then?"        the same thread
  agent-server invoke --thread <id> --resume yes       answer an interrupt
  agent-server invoke --input @state.json --stateless  any input, nothing kept
  echo '{"topic":"cats"}' | agent-server invoke --input - | jq .`;

/** Adds the command to `program`. */
export function registerInvoke(program: Command, cli: Cli): void {
  const command = program
    .command("invoke")
    .description(
      "run a graph and print what it answers: as it streams on a terminal, the final values as JSON elsewhere",
    )
    .argument("[message]", "what to say; - reads it from stdin")
    .option("-a, --assistant <id>", "graph or assistant (default: the thread's, else the first graph of the config)")
    .option("-i, --input <json>", "input of the graph instead of a message: JSON, @file, or - for stdin")
    .option("-t, --thread <id>", "go on with this thread (default: a new one)")
    .addOption(new Option("--stateless", "run without keeping a thread").conflicts(["thread", "resume"]))
    .option("--resume <answer>", "answer the interrupt that the thread waits at: text, JSON, @file, or -")
    .option("--webhook <url>", "tell this URL when the run has ended (try: agent-server webhooks listen)")
    .addOption(
      new Option("--configurable <key=value>", "setting for the graph, repeatable; key:=json for other than text")
        .default([], "none")
        .argParser((pair: string, pairs: readonly string[]) => [...pairs, pair]),
    )
    .option("--json", "print the final values as JSON on a terminal, too");
  withTarget(command)
    .addHelpText("after", EXAMPLES)
    .action(async (message: string | undefined, flags: InvokeFlags) => {
      const { invoke } = await import("../invoke/run.ts");
      await invoke(cli, message, flags);
    });
}
