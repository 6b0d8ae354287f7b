// System assistants: what the config and LANGGRAPH_CONFIG give to the one assistant that every graph has, and how it follows when they
// change, without taking back what somebody has patched.
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { ApiError } from "../errors.ts";
import { systemAssistantId, timestamp } from "../ids.ts";
import { assistantConfig } from "./assistant-bodies.ts";
import { mirrored, type Settings } from "./assistant-settings.ts";
import type { Assistant } from "./assistant.ts";
import { isObject } from "./json.ts";
import { issuesText, jsonObject, optional } from "./schema.ts";

/** What the config says of a graph's assistant. Kept beside the record, to tell what was patched from what was given. */
export interface Given extends Settings {
  readonly graph_id: string;
  readonly description: string | null;
}

/** The assistant of a graph as the config wants it. */
export function systemAssistant({ graph_id, description, config, context }: Given): Assistant {
  const now = timestamp();
  return {
    assistant_id: systemAssistantId(graph_id),
    graph_id,
    config,
    context,
    created_at: now,
    updated_at: now,
    metadata: { created_by: "system" },
    version: 1,
    name: graph_id,
    description,
  };
}

/** What was given to a system assistant that was stored before this was kept; undefined for one that a caller made. */
export function givenBefore({ assistant_id, graph_id, metadata, description }: Assistant): Given | undefined {
  const isSystem = metadata["created_by"] === "system" && assistant_id === systemAssistantId(graph_id);
  return isSystem ? { graph_id, description, config: {}, context: {} } : undefined;
}

/** A version with what the config gives now, wherever it has what the config gave before; the same object when nothing changes. */
export function followed(version: Assistant, before: Given, now: Given): Assistant {
  const { config, context, description } = version;
  const describes = description === before.description && description !== now.description;
  const sets =
    isDeepStrictEqual({ config, context }, { config: before.config, context: before.context }) &&
    !isDeepStrictEqual({ config, context }, { config: now.config, context: now.context });
  if (!describes && !sets) return version;
  return {
    ...version,
    ...(describes ? { description: now.description } : {}),
    ...(sets ? { config: now.config, context: now.context } : {}),
    updated_at: timestamp(),
  };
}

const entry = z.looseObject({ context: optional(jsonObject) });

/**
 * Reads LANGGRAPH_CONFIG: `{graph: {…config, context}}`.
 * @param text its value; undefined when it is not set.
 * @returns settings by graph, and what is wrong with the rest, in sentences that name the variable.
 */
export function systemSettings(
  text: string | undefined,
  graphs: readonly string[],
): { readonly settings: ReadonlyMap<string, Settings>; readonly problems: readonly string[] } {
  const settings = new Map<string, Settings>();
  if (text === undefined || text.trim() === "") return { settings, problems: [] };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { settings, problems: [`LANGGRAPH_CONFIG is ignored, because it is not valid JSON: ${reason}`] };
  }
  if (!isObject(value)) {
    return { settings, problems: ["LANGGRAPH_CONFIG is ignored, because it is not a JSON object of graphs"] };
  }
  const problems: string[] = [];
  for (const [graph, given] of Object.entries(value)) {
    const problem = (reason: string): void => void problems.push(`LANGGRAPH_CONFIG: "${graph}" is ignored: ${reason}`);
    if (!graphs.includes(graph)) {
      problem(`there is no such graph (graphs here: ${graphs.join(", ")})`);
      continue;
    }
    try {
      const { context, ...config } = entry.parse(given);
      settings.set(graph, mirrored({ config: assistantConfig.parse(config), context }));
    } catch (error) {
      if (error instanceof z.ZodError) problem(issuesText(error));
      else if (error instanceof ApiError) problem(error.detail);
      else throw error;
    }
  }
  return { settings, problems };
}
