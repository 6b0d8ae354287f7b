// The tables of commands, flags, variables and exit codes for the README, made from the program itself so that they cannot be wrong.
import type { Argument, Command, Option } from "commander";
import { ENVIRONMENT, EXIT_CODES } from "./environment.ts";
import { processIo } from "./io.ts";
import { buildProgram, commandPath } from "./program.ts";

/** Markdown: one section per command, then the variables and the exit codes. */
export function commandTables(): string {
  const { program } = buildProgram(processIo());
  const sections = leaves(program).map(commandSection);
  return [
    ...sections,
    section(
      "Environment",
      ["Variable", "Meaning"],
      ENVIRONMENT.map(([name, meaning]) => [code(name), meaning]),
    ),
    section(
      "Exit codes",
      ["Code", "Meaning"],
      EXIT_CODES.map(([number, meaning]) => [`${number}`, meaning]),
    ),
  ].join("\n\n");
}

/** The commands that do something, in the order of the help. */
function leaves(command: Command): Command[] {
  return command.commands.flatMap((child) => (child.commands.length > 0 ? leaves(child) : [child]));
}

function commandSection(command: Command): string {
  const rows = [
    ...command.registeredArguments.map((argument) => [code(argumentTerm(argument)), describe(argument)]),
    ...command.options.filter((option) => !option.hidden).map((option) => [code(option.flags), describe(option)]),
  ];
  const title = [commandPath(command), ...command.registeredArguments.map(argumentTerm)].join(" ");
  const text = `${command.description()[0]?.toUpperCase()}${command.description().slice(1)}.`;
  return [`### ${code(title)}`, text, markdownTable(["Argument or flag", "Meaning"], rows)].join("\n\n");
}

function argumentTerm(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}

function describe(item: Argument | Option): string {
  const notes = [];
  if (item.argChoices) notes.push(`one of ${item.argChoices.map(code).join(", ")}`);
  const { defaultValue, description } = item;
  const isSwitch = typeof defaultValue === "boolean";
  const isEmpty = Array.isArray(defaultValue) && defaultValue.length === 0;
  if (defaultValue !== undefined && !isSwitch && !isEmpty) notes.push(`default ${code(String(defaultValue))}`);
  if ("envVar" in item && item.envVar !== undefined) notes.push(`variable ${code(item.envVar)}`);
  return notes.length > 0 ? `${description} (${notes.join("; ")})` : description;
}

function section(title: string, heading: readonly string[], rows: readonly (readonly string[])[]): string {
  return `### ${title}\n\n${markdownTable(heading, rows)}`;
}

function markdownTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(heading), line(heading.map(() => "---")), ...rows.map(line)].join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}
