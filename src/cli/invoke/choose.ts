// Which assistant answers when the person names none.
import { CliError } from "../../errors.ts";
import type { Client } from "../client.ts";
import type { Output } from "../output.ts";
import { oneLine } from "../text.ts";

interface AssistantHead {
  readonly assistant_id: string;
  readonly graph_id: string;
  readonly name: string;
  readonly metadata?: { readonly created_by?: unknown } | null;
}

/** The assistant that the thread used before, else the first graph of the config; says so when there was a choice. */
export async function chooseAssistant(client: Client, thread: string | undefined, output: Output): Promise<string> {
  if (thread !== undefined) {
    const known = await client.get<{ metadata?: Record<string, unknown> | null }>(
      `/threads/${encodeURIComponent(thread)}`,
    );
    const used = known.metadata?.["assistant_id"] ?? known.metadata?.["graph_id"];
    if (typeof used === "string") return used;
  }
  const graphs = await listGraphs(client);
  const [first, ...others] = graphs;
  if (first === undefined) {
    throw new CliError("The server has no graphs.", { hint: 'Add one to "graphs" in langgraph.json.' });
  }
  if (others.length > 0) {
    output.note(output.err.dim(`assistant ${first} (others: ${others.join(", ")}; choose with --assistant)`));
  }
  return first;
}

/** The ids of the graphs, in the order of the config: the server makes their own assistants in that order. */
export async function listGraphs(client: Client): Promise<string[]> {
  const found = await client.post<AssistantHead[]>("/assistants/search", {
    body: { limit: 1000, sort_by: "created_at", sort_order: "asc" },
  });
  const ofConfig = found.filter((assistant) => assistant.metadata?.created_by === "system");
  return [...new Set((ofConfig.length > 0 ? ofConfig : found).map((assistant) => oneLine(assistant.graph_id)))];
}
