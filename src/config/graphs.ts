// Resolves the entries of `graphs` to absolute files, and points at every entry whose file cannot be found.
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { isUuid } from "../ids.ts";
import { checkGraphPath, splitGraphPath } from "./graph-path.ts";
import { missingFileHint } from "./nearby.ts";
import { errorCode } from "./read.ts";
import { isRecord } from "./source.ts";
import type { ConfigPath, ConfigSource, Problem } from "./source.ts";
import type { Diagnostic, GraphSpec } from "./types.ts";

/**
 * Checks and resolves `graphs`. Entries of a wrong type are left out without a word: the schema has reported them.
 * @param root Folder that relative paths count from.
 */
export async function resolveGraphs(
  source: ConfigSource,
  root: string,
): Promise<{ graphs: GraphSpec[]; diagnostics: Diagnostic[] }> {
  const entries = source.value["graphs"];
  const graphs: GraphSpec[] = [];
  const diagnostics: Diagnostic[] = [];
  if (!isRecord(entries)) return { graphs, diagnostics };
  if (Object.keys(entries).length === 0) {
    const hint = 'Name at least one graph, such as "agent": "./src/agent.ts:graph".';
    diagnostics.push(source.report(["graphs"], "value", { severity: "error", message: '"graphs" is empty.', hint }));
  }
  for (const [id, entry] of Object.entries(entries)) {
    const path: ConfigPath = isRecord(entry) ? ["graphs", id, "path"] : ["graphs", id];
    const text = isRecord(entry) ? entry["path"] : entry;
    const idProblem = checkId(id);
    if (idProblem) diagnostics.push(source.report(["graphs", id], "key", { severity: "error", ...idProblem }));
    if (typeof text !== "string") continue;
    const problem = checkGraphPath(id, text, root) ?? (await checkFile(id, splitGraphPath(text).file, text, root));
    if (problem) {
      diagnostics.push(source.report(path, "value", { severity: "error", ...problem }));
      continue;
    }
    const { file, exportName } = splitGraphPath(text);
    const description = isRecord(entry) ? entry["description"] : null;
    graphs.push({
      id,
      file: resolve(root, file),
      exportName: exportName ?? "",
      description: typeof description === "string" ? description : null,
      location: source.locate(path, "value"),
    });
  }
  return { graphs, diagnostics };
}

function checkId(id: string): Pick<Problem, "message" | "hint"> | undefined {
  if (id.trim() === "") return { message: "A graph id must not be empty.", hint: "Clients call a graph by its id." };
  if (id === "__proto__") return { message: '"__proto__" cannot be a graph id.' };
  if (isUuid(id)) {
    const hint = "Clients take a UUID for the id of an assistant: the graph could never be called by its name.";
    return { message: `A graph id must not be a UUID: "${id}".`, hint };
  }
  return undefined;
}

async function checkFile(
  id: string,
  file: string,
  text: string,
  root: string,
): Promise<Pick<Problem, "message" | "hint"> | undefined> {
  const absolute = resolve(root, file);
  try {
    if ((await stat(absolute)).isFile()) return undefined;
    return { message: `The file of graph "${id}" is not a file: ${absolute}` };
  } catch (error) {
    const code = errorCode(error);
    if (code !== "ENOENT" && code !== "ENOTDIR") {
      return { message: `The file of graph "${id}" cannot be read (${code}): ${absolute}` };
    }
  }
  const hint = missingFileHint(file, text.slice(file.length), root);
  return { message: `The file of graph "${id}" does not exist: ${absolute}`, hint };
}
