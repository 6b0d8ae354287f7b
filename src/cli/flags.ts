// Flags that several commands share, and how their values are read.
import { type Command, InvalidArgumentError, Option } from "commander";
import type { TargetFlags } from "./discover.ts";
import { shellQuote } from "./text.ts";
import type { Io } from "./io.ts";

/** Adds the flags that choose the server. */
export function withTarget(command: Command): Command {
  return command
    .option(
      "--url <url>",
      "the server (default: AGENT_SERVER_URL, the one running for this project, http://localhost:2024)",
    )
    .addOption(dataDirOption());
}

/** Finds the server by its state folder. */
export function dataDirOption(): Option {
  return new Option("--data-dir <folder>", "state folder of a `dev --data-dir` server, to find it there")
    .conflicts("url")
    .argParser(folder);
}

/** Reads a path. An empty one, as of a variable that is not set, would be the current folder. */
export function folder(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("Give the path of a folder.");
  return text;
}

/** Reads a whole number of at least `min`. */
export function integer(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(
      max === Number.MAX_SAFE_INTEGER
        ? `Give a whole number from ${min}.`
        : `Give a whole number from ${min} to ${max}.`,
    );
  };
}

/** `agent-server <args>` as this person has to type it to reach the same server. */
export function commandLine(io: Pick<Io, "env">, flags: TargetFlags, args: readonly string[]): string {
  const target = [
    ...(flags.url === undefined ? [] : ["--url", flags.url]),
    ...(flags.dataDir === undefined ? [] : ["--data-dir", flags.dataDir]),
  ];
  // Set inside `npx` and npm scripts: then the bare name is not on the PATH of the shell.
  const name = io.env["npm_command"] !== undefined ? "npx agent-server" : "agent-server";
  return [name, ...[...args, ...target].map(shellQuote)].join(" ");
}
