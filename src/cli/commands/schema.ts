// `agent-server schema`: prints the JSON Schema of the config file, for editors and other tools.
import type { Command } from "commander";
import type { Cli } from "../program.ts";

const TEXT = `
Editors check a langgraph.json by its "$schema":
  "$schema": "./node_modules/agent-server/langgraph.schema.json"
and a langgraph.yaml by its first line:
  # yaml-language-server: $schema=./node_modules/agent-server/langgraph.schema.json`;

/** Adds the command to `program`. */
export function registerSchema(program: Command, cli: Cli): void {
  program
    .command("schema")
    .description("print the JSON Schema of the config file, for editors")
    .addHelpText("after", TEXT)
    .action(async () => {
      const { schemaText } = await import("../../config/json-schema.ts");
      const output = await cli.output();
      output.write(schemaText());
    });
}
