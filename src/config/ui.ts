// Resolves the entries of `ui` to absolute files, and points at every one whose file is not there.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isRecord } from "./source.ts";
import type { ConfigSource } from "./source.ts";
import type { Diagnostic, UiConfig } from "./types.ts";

/**
 * Checks and resolves `ui`. Entries of a wrong type are left out without a word: the schema has reported them.
 * @param root Folder that relative paths count from.
 */
export function resolveUi(
  source: ConfigSource,
  root: string,
): { files: UiConfig["files"]; diagnostics: readonly Diagnostic[] } {
  const entries = source.value["ui"];
  const files: Record<string, string> = {};
  const diagnostics: Diagnostic[] = [];
  for (const [name, path] of isRecord(entries) ? Object.entries(entries) : []) {
    if (typeof path !== "string") continue;
    files[name] = resolve(root, path);
    if (existsSync(files[name])) continue;
    const message = `The UI components of "${name}" do not exist: ${files[name]}`;
    const hint = `Paths count from the folder of the config file, ${root}.`;
    diagnostics.push(source.report(["ui", name], "value", { severity: "warning", message, hint }));
  }
  return { files, diagnostics };
}
