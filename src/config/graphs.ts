// Resolves the entries of `graphs` to absolute files, and points at every entry whose file cannot be found.
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { checkGraphPath, isModuleFile, splitGraphPath } from "./graph-path.ts";
import { errorCode } from "./read.ts";
import { isRecord } from "./source.ts";
import type { ConfigPath, ConfigSource, Problem } from "./source.ts";
import { nearest } from "./suggest.ts";
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
  const { guess, others } = await lookAround(absolute);
  const exportName = text.slice(file.length);
  const message = `The file of graph "${id}" does not exist: ${absolute}`;
  if (guess !== undefined) return { message, hint: `Did you mean "${written(guess, file, root)}${exportName}"?` };
  if (file.includes("\\") && existsSync(resolve(root, file.replaceAll("\\", "/")))) {
    return { message, hint: `Did you mean "${file.replaceAll("\\", "/")}${exportName}"?` };
  }
  if (others.length > 0) return { message, hint: `That folder has ${others.join(", ")}.` };
  return { message, hint: `Paths count from the folder of the config file, ${root}.` };
}

/** Looks in the deepest folder of the path that exists: for a name like the missing one, and for what there is instead. */
async function lookAround(absolute: string): Promise<{ guess?: string; others: string[] }> {
  let missing = absolute;
  while (!existsSync(dirname(missing)) && dirname(missing) !== missing) missing = dirname(missing);
  const folder = dirname(missing);
  const names = await readdir(folder).catch(() => []);
  if (missing === absolute) {
    const files = names.filter((name) => isModuleFile(name) && !/\.d\.[cm]?ts$/.test(name)).toSorted();
    const stem = (name: string) => basename(name, extname(name));
    // agent.js for agent.ts is a likelier mistake than any misspelling.
    const guess = files.find((name) => stem(name) === stem(absolute)) ?? nearest(basename(absolute), files);
    return { ...(guess === undefined ? {} : { guess: join(folder, guess) }), others: files.slice(0, 5) };
  }
  const similar = nearest(basename(missing), names);
  const guess = similar === undefined ? undefined : join(folder, similar, relative(missing, absolute));
  return guess !== undefined && existsSync(guess) ? { guess, others: [] } : { others: [] };
}

/** The path in the style in which the user wrote the wrong one. */
function written(absolute: string, original: string, root: string): string {
  if (isAbsolute(original)) return absolute;
  const path = relative(root, absolute).split(sep).join("/");
  return path.startsWith(".") || !original.startsWith(".") ? path : `./${path}`;
}
