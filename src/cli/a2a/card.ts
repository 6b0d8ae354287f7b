// `a2a card`: what an agent says of itself.
import type { AgentFlags } from "../commands/a2a.ts";
import { isRecord } from "../json.ts";
import type { Cli } from "../program.ts";
import { oneLine } from "../text.ts";
import { findCard } from "./agent.ts";

/** Prints the card. */
export async function showCard(cli: Cli, flags: AgentFlags): Promise<void> {
  const output = await cli.output(flags);
  const { card } = await findCard(cli.io, flags, output);
  if (output.json || flags.raw === true) return output.document(card);
  const field = (name: string, value: unknown): void => {
    if (typeof value === "string" && value !== "") output.line(`${output.out.dim(name.padEnd(12))}  ${oneLine(value)}`);
  };
  const list = (value: unknown): string =>
    Array.isArray(value) ? value.filter((one) => typeof one === "string").join(", ") : "";
  const records = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isRecord) : []);
  field("name", card["name"]);
  field("description", card["description"]);
  field("version", card["version"]);
  const interfaces = records(card["supportedInterfaces"]);
  for (const { url, protocolBinding, protocolVersion } of interfaces) {
    field("endpoint", `${String(url)} (${String(protocolBinding)} ${String(protocolVersion)})`);
  }
  if (interfaces.length === 0)
    field(
      "endpoint",
      `${String(card["url"])} (${String(card["preferredTransport"] ?? "JSONRPC")} ${String(card["protocolVersion"])})`,
    );
  const capabilities = isRecord(card["capabilities"]) ? card["capabilities"] : {};
  field(
    "capabilities",
    Object.keys(capabilities)
      .filter((name) => capabilities[name] === true)
      .join(", "),
  );
  field("takes", list(card["defaultInputModes"]));
  field("gives", list(card["defaultOutputModes"]));
  for (const { name, description } of records(card["skills"]))
    field("skill", `${String(name)}: ${String(description)}`);
}
