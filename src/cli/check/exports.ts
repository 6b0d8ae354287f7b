// What the config names beside graphs: the exports of the user's that authenticate, serve, embed, store and encrypt.
import { resolve } from "node:path";
import { exportPathProblem } from "../../config/export-path.ts";
import { splitGraphPath } from "../../config/graph-path.ts";
import { formatPath, isRecord, type ConfigSource } from "../../config/source.ts";
import { namesFile } from "../../config/store.ts";
import type { Diagnostic } from "../../config/types.ts";
import type { ExportSpec } from "../../graphs/exports.ts";

/** The keys, and what an export of theirs may be called. */
const KEYS = [
  [["auth", "path"], "auth"],
  [["http", "app"], "app"],
  [["store", "index", "embed"], "embed"],
  [["checkpointer", "path"], "checkpointer"],
  [["encryption", "path"], "encryption"],
] as const;

/** The exports to load, and what is wrong with the paths of others. `known` are the problems that were found already. */
export function exportsOf(
  source: ConfigSource,
  root: string,
  known: readonly Diagnostic[],
): { exports: ExportSpec[]; diagnostics: Diagnostic[] } {
  const exports: ExportSpec[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const [path, example] of KEYS) {
    let text: unknown = source.value;
    for (const part of path) text = isRecord(text) ? text[part] : undefined;
    const key = formatPath(path);
    // A value of another type has been reported; one without a file is the model of a provider.
    if (typeof text !== "string" || (key === "store.index.embed" && !namesFile(text))) continue;
    const location = source.locate(path, "value");
    const isReported = known.some(
      (each) =>
        each.severity === "error" &&
        each.location?.line === location.line &&
        each.location.column === location.column &&
        each.location.file === location.file,
    );
    if (isReported) continue;
    const problem = exportPathProblem(key, text, example, root);
    if (problem) diagnostics.push(source.report(path, "value", { severity: "error", ...problem }));
    else {
      const { file, exportName = "" } = splitGraphPath(text);
      exports.push({ key, file: resolve(root, file), exportName, location });
    }
  }
  return { exports, diagnostics };
}
