// `agent-server a2a`: talks to agents over the Agent2Agent protocol, on this server or on any other. The work is in ../a2a/.
import { type Command, Option } from "commander";
import type { TargetFlags } from "../discover.ts";
import { dataDirOption, integer } from "../flags.ts";
import type { Cli } from "../program.ts";

/** The flags of every command as commander gives them. */
export interface AgentFlags extends TargetFlags {
  readonly assistant?: string;
  readonly v03?: boolean;
  readonly raw?: boolean;
  readonly json?: boolean;
}

/** The flags of `a2a send` and `a2a stream`. */
export interface SayFlags extends AgentFlags {
  readonly context?: string;
  readonly task?: string;
  readonly continue?: boolean;
  readonly data?: string;
  readonly file: readonly string[];
}

/** The flags of `a2a ls`. */
export interface ListTasksFlags extends AgentFlags {
  readonly context?: string;
  readonly limit: number;
}

const EXAMPLES = `
Examples:
  agent-server a2a send "hello"                                  prints the answer, and how to go on
  agent-server a2a send --continue "and then?"                   the conversation of the last message
  agent-server a2a send --task <id> --data '{"approved":true}'   answer a task that waits
  agent-server a2a stream "tell me more" --raw                   every JSON-RPC message as it is on the wire
  agent-server a2a card --url https://agent.example.com          any A2A server`;

/** Adds the flags that choose the agent. */
function withAgent(command: Command): Command {
  return command
    .option("-a, --assistant <id>", "graph or assistant (default: the only one, else the first graph of the config)")
    .option(
      "--url <url>",
      "an A2A server, agent or card (default: AGENT_SERVER_URL, the server of this project, http://localhost:2024)",
    )
    .addOption(dataDirOption())
    .option("--v03", "speak A2A 0.3 (default: 1.0, if the agent's card has it)")
    .option("--raw", "show the JSON-RPC messages of both sides on stderr")
    .option("--json", "print JSON on a terminal, too");
}

/** Adds the commands to `program`. */
export function registerA2A(program: Command, cli: Cli): void {
  const a2a = program.command("a2a").description("talk to agents over A2A, here or anywhere").helpCommand(false);
  a2a.addHelpText("after", EXAMPLES);

  withAgent(a2a.command("card").description("show the agent card")).action(async (flags: AgentFlags) => {
    const { showCard } = await import("../a2a/card.ts");
    await showCard(cli, flags);
  });

  const say = (name: "send" | "stream", description: string): void => {
    const command = a2a
      .command(name)
      .description(description)
      .argument("[message]", "what to say; - reads it from stdin")
      .option("-c, --context <id>", "the conversation to go on with")
      .option("-t, --task <id>", "the task to answer or to add to")
      .addOption(new Option("--continue", "go on with the last conversation").conflicts(["context", "task"]))
      .option("-d, --data <json>", "a data part: JSON, @file, or - for stdin")
      .addOption(
        new Option("-f, --file <path>", "a file part: a path or URL, repeatable")
          .default([], "none")
          .argParser((path: string, paths: readonly string[]) => [...paths, path]),
      );
    withAgent(command).action(async (message: string | undefined, flags: SayFlags) => {
      const { say: run } = await import("../a2a/say.ts");
      await run(cli, name, message, flags);
    });
  };
  say("send", "send a message and print the answer when it is complete");
  say("stream", "send a message and print the answer while it comes");

  const one = (name: "get" | "cancel", description: string): void => {
    const command = a2a.command(name).description(description).argument("<task>", "id of the task");
    withAgent(command).action(async (id: string, flags: AgentFlags) => {
      const { showTask } = await import("../a2a/tasks.ts");
      await showTask(cli, name, id, flags);
    });
  };
  one("get", "show a task: its state, answer and history");
  one("cancel", "stop a task");

  const list = a2a
    .command("ls")
    .description("list tasks, the last changed first (A2A 1.0)")
    .option("-c, --context <id>", "only those of this conversation")
    .addOption(new Option("-l, --limit <number>", "how many").default(20).argParser(integer(1, 100)));
  withAgent(list).action(async (flags: ListTasksFlags) => {
    const { listTasks } = await import("../a2a/tasks.ts");
    await listTasks(cli, flags);
  });
}
