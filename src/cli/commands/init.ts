// `agent-server init`: its flags. The copying is in ../init/scaffold.ts, loaded only then.
import { type Command, Option } from "commander";
import type { Cli } from "../program.ts";

/** The flags of `init` as commander gives them. */
export interface InitFlags {
  readonly template: string;
}

/** Names of the folders in templates/. */
export const TEMPLATES = ["agent", "echo", "a2a-pair"] as const;

/** Adds the command to `program`. */
export function registerInit(program: Command, cli: Cli): void {
  program
    .command("init")
    .description("start a project from a template; overwrites nothing")
    .argument("[dir]", "folder of the project, made when missing", ".")
    .addOption(
      new Option(
        "-t, --template <name>",
        "agent: tools, human approval, memory; echo: one node; a2a-pair: two agents that talk to each other. All run without a model key",
      )
        .choices(TEMPLATES)
        .default("agent"),
    )
    .action(async (dir: string, flags: InitFlags) => {
      const { init } = await import("../init/scaffold.ts");
      await init(cli, dir, flags.template);
    });
}
