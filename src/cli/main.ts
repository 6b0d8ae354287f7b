// The way in from the shell: parses, runs one command, and turns whatever comes back into an exit code and a sentence.
import { CommanderError } from "commander";
import { CliError, EXIT } from "../errors.ts";
import { endProcess, type Io, processIo } from "./io.ts";
import { createOutput } from "./output.ts";
import { buildProgram } from "./program.ts";
import { plain } from "./text.ts";

/** Runs the program on the real process. */
export async function main(): Promise<void> {
  // `agent-server threads ls | head` closes our stdout early: that is no failure. A vanished terminal must not stop `dev`.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") endProcess(EXIT.ok);
    throw error;
  });
  process.stderr.on("error", () => {});
  const code = await run(process.argv.slice(2), processIo());
  // Exits by itself: the user's graphs and idle connections may hold the process open. Everything written leaves first.
  process.stdout.write("", () => process.stderr.write("", () => endProcess(code)));
}

/** Runs the program with `args` (without node and script) and returns the exit code. Never throws. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { program, cli } = buildProgram(io);
  try {
    await program.parseAsync(args, { from: "user" });
    return cli.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return await report(error, io, program.opts<{ color: boolean }>().color);
  }
}

async function report(error: unknown, io: Io, color: boolean): Promise<number> {
  const output = await createOutput(io, { color });
  const label = output.err.red("error:");
  if (error instanceof CliError) {
    // A broken config brings its diagnostics, each with its own label.
    output.note("diagnostics" in error ? plain(error.message) : `${label} ${plain(error.message)}`);
    if (error.hint) output.note(plain(error.hint));
    return error.exitCode;
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  output.note(`${label} ${plain(message)}`);
  if (io.env["AGENT_SERVER_DEBUG"] === "1" && error instanceof Error) output.note(plain(error.stack ?? ""));
  output.note("This is a bug in agent-server. AGENT_SERVER_DEBUG=1 shows where it happened.");
  return EXIT.failed;
}
