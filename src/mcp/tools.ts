// The tools that MCP clients see: one for each assistant, named so that every client can call it, with the graph's input as its schema.
import { createHash } from "node:crypto";
import type { Assistant } from "../resources/assistant.ts";
import { isObject, type Json } from "../resources/json.ts";

/** A tool as `tools/list` shows it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Json & { readonly type: "object" };
}

/** What some clients and models accept as a tool's name. */
const MAX_NAME = 64;
/** Characters of an assistant's name that a tool's name is made of. */
const LOOKED_AT = 1000;

/**
 * Names for all assistants: the assistant's own where it can be one, with what no client takes replaced, and the beginning of the id behind
 * it where two would be the same. A graph's own assistant keeps the plain name before others.
 */
export function toolNames(assistants: readonly Assistant[]): Map<string, Assistant> {
  const names = new Map<string, Assistant>();
  const isSystem = ({ metadata }: Assistant): boolean => metadata["created_by"] === "system";
  const ordered = assistants.toSorted(
    (a, b) => Number(isSystem(b)) - Number(isSystem(a)) || (a.created_at < b.created_at ? -1 : 1),
  );
  for (const assistant of ordered) {
    const plain = sanitise(assistant.name) || sanitise(assistant.graph_id) || "assistant";
    const name = names.has(plain) ? `${plain.slice(0, MAX_NAME - 9)}_${assistant.assistant_id.slice(0, 8)}` : plain;
    // Two ids may begin alike; a hash of the whole one does not.
    const unique = names.has(name) ? `${plain.slice(0, MAX_NAME - 17)}_${hash(assistant.assistant_id)}` : name;
    names.set(unique, assistant);
  }
  return names;
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

function sanitise(name: string): string {
  // Assistants that were made before names had a limit may have longer ones.
  const plain = name
    .slice(0, LOOKED_AT)
    .normalize("NFKD")
    .replaceAll(/[^A-Za-z0-9_-]+/g, "_");
  let from = 0;
  let to = plain.length;
  while (from < to && plain[from] === "_") from++;
  while (to > from && plain[to - 1] === "_") to--;
  return plain.slice(from, to).slice(0, MAX_NAME);
}

/** The tool of an assistant. @param schema the graph's input schema, as far as it is known. */
export function toolOf(name: string, assistant: Assistant, schema: unknown): Tool {
  const known = isObject(schema) && (schema["type"] === undefined || schema["type"] === "object") ? schema : {};
  return {
    name,
    title: assistant.name,
    description: assistant.description ?? `Runs the graph ${assistant.graph_id}.`,
    inputSchema: { ...known, type: "object" },
  };
}
