// The program as commander knows it: every command, its flags and its help. Commands load what they need only when they run,
// so that `--help` and `--version` answer at once.
import { Command, type ErrorOptions, type HelpContext } from "commander";
import { registerCheck } from "./commands/check.ts";
import { registerA2A } from "./commands/a2a.ts";
import { registerCrons } from "./commands/crons.ts";
import { registerDev } from "./commands/dev.ts";
import { registerDoctor } from "./commands/doctor.ts";
import { registerInit } from "./commands/init.ts";
import { registerInvoke } from "./commands/invoke.ts";
import { registerKeys } from "./commands/keys.ts";
import { registerSchema } from "./commands/schema.ts";
import { registerStream } from "./commands/stream.ts";
import { registerThreads } from "./commands/threads.ts";
import { registerWebhooks } from "./commands/webhooks.ts";
import { EXIT_CODES } from "./environment.ts";
import type { Io } from "./io.ts";
import { createOutput, type Output } from "./output.ts";
import { version } from "./package.ts";

/** What every command gets beside its own flags. */
export interface Cli {
  readonly io: Io;
  /** The exit code when the command returns without throwing. */
  exitCode: number;
  /** How this call talks, with the command's own `--json`. */
  output(flags?: { json?: boolean }): Promise<Output>;
}

/** A command that treats being called without a subcommand as a question, not as a mistake. */
class QuietCommand extends Command {
  override createCommand(name?: string): QuietCommand {
    return new QuietCommand(name);
  }

  override help(context?: HelpContext | ((text: string) => string)): never {
    if (typeof context === "function") return super.help(context);
    return super.help();
  }

  override error(message: string, options?: ErrorOptions): never {
    this.showHelpAfterError(`Run \`${commandPath(this)} --help\` to see what it takes.`);
    return super.error(message, options);
  }
}

/** `agent-server threads ls`. */
export function commandPath(command: Command): string {
  return command.parent ? `${commandPath(command.parent)} ${command.name()}` : command.name();
}

/** Builds the program; `cli.output` follows its global flags. */
export function buildProgram(io: Io): { program: Command; cli: Cli } {
  const program = new QuietCommand("agent-server");
  const cli: Cli = {
    io,
    exitCode: 0,
    output: (flags = {}) => createOutput(io, { json: flags.json, color: program.opts<{ color: boolean }>().color }),
  };
  program
    .description("The open, local dev server for LangGraph.js agents.")
    .version(version, "-v, --version", "print the version")
    .helpOption("-h, --help", "print help for a command")
    .option("--no-color", "print without colour")
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: (text) => io.stderr.write(text) })
    .addHelpText(
      "after",
      () => `\nExit codes:\n${EXIT_CODES.map(([code, text]) => `  ${`${code}`.padEnd(5)}${text}`).join("\n")}`,
    )
    .helpCommand(false)
    .exitOverride();
  program.commandsGroup("Serve:");
  registerDev(program, cli);
  registerInit(program, cli);
  registerKeys(program, cli);
  program.commandsGroup("Look at a project:");
  registerCheck(program, cli);
  registerDoctor(program, cli);
  registerSchema(program, cli);
  program.commandsGroup("Talk to a running server:");
  registerInvoke(program, cli);
  registerStream(program, cli);
  registerThreads(program, cli);
  registerCrons(program, cli);
  registerWebhooks(program, cli);
  registerA2A(program, cli);
  return { program, cli };
}
