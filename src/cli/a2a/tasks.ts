// `a2a get`, `a2a cancel` and `a2a ls`.
import { CliError, EXIT } from "../../errors.ts";
import type { AgentFlags, ListTasksFlags } from "../commands/a2a.ts";
import { isRecord } from "../json.ts";
import type { Output } from "../output.ts";
import type { Cli } from "../program.ts";
import { ago, oneLine, plain, table } from "../text.ts";
import { findAgent } from "./agent.ts";
import { shown, type Shown } from "./words.ts";

/** Asks for a task, or stops it, and prints it. */
export async function showTask(cli: Cli, how: "get" | "cancel", id: string, flags: AgentFlags): Promise<void> {
  const output = await cli.output(flags);
  const { rpc } = await findAgent(cli.io, flags, output);
  const result = await rpc.call(rpc.method(how), { id });
  if (output.json) return output.document(result);
  const task = shown(result);
  if (task === undefined) throw new CliError("The agent answers with something that is no task.");
  printTask(output, task, cli.io.now());
}

function printTask(output: Output, task: Shown, now: number): void {
  const field = (name: string, value: string | undefined): void => {
    if (value !== undefined) output.line(`${output.out.dim(name.padEnd(8))}  ${oneLine(value)}`);
  };
  field("task", task.task);
  field("context", task.context);
  field("state", task.state);
  if (task.changed !== undefined) field("changed", `${task.changed} (${ago(task.changed, now)})`);
  for (const { text } of task.said.filter(({ kind }) => kind === "text")) field("says", text);
  if (task.history.length > 0) output.line();
  for (const { role, parts } of task.history) {
    output.line(`${output.out.dim(oneLine(role).padEnd(5))}  ${plain(parts.map(({ text }) => text).join("\n"))}`);
  }
  for (const { name, parts } of task.artifacts) {
    output.line();
    output.line(output.out.bold(oneLine(name)));
    for (const { text } of parts) output.line(plain(text));
  }
}

/** Lists tasks. */
export async function listTasks(cli: Cli, flags: ListTasksFlags): Promise<void> {
  const output = await cli.output(flags);
  const { rpc, version } = await findAgent(cli.io, flags, output);
  if (version === "0.3") {
    throw new CliError("A2A 0.3 has no method that lists tasks.", {
      exitCode: flags.v03 === true ? EXIT.usage : EXIT.failed,
      hint: flags.v03 === true ? "Leave --v03 away, if the agent speaks 1.0." : undefined,
    });
  }
  const context = flags.context === undefined ? {} : { contextId: flags.context };
  const result = await rpc.call("ListTasks", { pageSize: flags.limit, ...context });
  if (output.json) return output.document(result);
  const found =
    isRecord(result) && Array.isArray(result["tasks"]) ? result["tasks"].flatMap((task) => shown({ task }) ?? []) : [];
  if (found.length === 0) return output.note("No tasks.");
  const now = cli.io.now();
  const rows = found.map(({ task = "", state = "", changed, context: of = "" }) => [
    oneLine(task),
    oneLine(state),
    changed === undefined ? "" : ago(changed, now),
    oneLine(of),
  ]);
  const [heading = "", ...lines] = table(["TASK", "STATE", "CHANGED", "CONTEXT"], rows);
  output.line(output.out.bold(heading));
  for (const line of lines) output.line(line);
  const total = isRecord(result) ? result["totalSize"] : undefined;
  if (typeof total === "number" && total > found.length)
    output.note(output.err.dim(`${found.length} of ${total}; more with --limit`));
}
