// `agent-server keys`: API keys for servers that others can reach. A key is random, so that making one needs no server.
import type { Command } from "commander";
import type { Cli } from "../program.ts";

const EXAMPLES = `
Examples:
  export AGENT_SERVER_API_KEYS=$(agent-server keys new)   then: agent-server dev --host 0.0.0.0
  agent-server keys new >> keys.txt                       then: agent-server dev --api-key-file keys.txt`;

/** Adds the commands to `program`. */
export function registerKeys(program: Command, cli: Cli): void {
  const keys = program.command("keys").description("make API keys").helpCommand(false);
  keys
    .command("new")
    .description("print a new random API key")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: { json?: boolean }) => {
      const { printNewKey } = await import("../keys/new.ts");
      await printNewKey(cli, flags);
    });
}
