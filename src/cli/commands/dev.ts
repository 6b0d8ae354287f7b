// `agent-server dev`: its flags. What it does while it runs is in ../dev/serve.ts, loaded only then.
import { type Command, Option } from "commander";
import { DEFAULT_PORT } from "../discover.ts";
import { folder, integer } from "../flags.ts";
import type { Cli } from "../program.ts";

/** The flags of `dev` as commander gives them. */
export interface DevFlags {
  readonly port: number;
  readonly host: string;
  readonly strictPort?: boolean;
  readonly config?: string;
  readonly dataDir?: string;
  readonly persist: boolean;
  readonly reload: boolean;
  readonly logRequests?: boolean;
  readonly apiKey: readonly string[];
  readonly apiKeyFile?: string;
  readonly insecure?: boolean;
  readonly nJobsPerWorker: number;
}

const EXAMPLES = `
Examples:
  agent-server dev                         serve ./langgraph.json, or the demo agent when there is none
  agent-server dev -c apps/agent -p 8123   another project, another port
  agent-server dev --no-persist            forget everything at the end`;

/** Adds the command to `program`. */
export function registerDev(program: Command, cli: Cli): void {
  program
    .command("dev")
    .description("serve the graphs of this project and reload them when you save")
    .addOption(
      new Option("-p, --port <number>", "port; the next free one when it is taken")
        .env("AGENT_SERVER_PORT")
        .default(DEFAULT_PORT)
        .argParser(integer(0, 65_535)),
    )
    .option(
      "--host <address>",
      "address to listen on; 0.0.0.0 opens it to the network, with API keys, auth.path or --insecure",
      "127.0.0.1",
    )
    .option("--strict-port", "fail when the port is taken")
    .option("-c, --config <path>", "config file, or the folder that has one (default: the current folder)")
    .addOption(
      new Option(
        "--data-dir <folder>",
        "where threads and runs are kept (default: .agent-server beside the config)",
      ).argParser(folder),
    )
    .option("--no-persist", "keep everything in memory")
    .option("--no-reload", "do not watch the files")
    .option("--log-requests", "print a line per request, with the headers of http.logging_headers")
    .addOption(
      new Option("-n, --n-jobs-per-worker <number>", "how many runs execute at once")
        .default(1000)
        .argParser(integer(1)),
    )
    .addOption(
      new Option(
        "--api-key <key>",
        "a key that requests must send as X-Api-Key; repeatable. Better in AGENT_SERVER_API_KEYS: command lines can be seen by others",
      )
        .default([])
        .argParser((key: string, before: readonly string[]) => [...before, key]),
    )
    .option("--api-key-file <path>", "a file with such keys, one per line")
    .option("--insecure", "let everybody in who can reach --host")
    .option("--no-browser", "accepted for scripts written for langgraphjs; no browser is ever opened")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: DevFlags) => {
      const { serve } = await import("../dev/serve.ts");
      await serve(cli, flags);
    });
}
