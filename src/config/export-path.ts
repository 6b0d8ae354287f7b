// What is wrong with a `./file.ts:export` that names no graph: the value of `auth.path`, `http.app` and their like.
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { isModuleFile, MODULE_EXTENSIONS, splitGraphPath } from "./graph-path.ts";
import { missingFileHint } from "./nearby.ts";
import type { Problem } from "./source.ts";

/**
 * Checks the value of a key that names an export; undefined when nothing is wrong.
 * @param key as people write it, `auth.path`.
 * @param example the name of an export that the hints suggest.
 * @param root Folder that relative paths count from.
 */
export function exportPathProblem(
  key: string,
  text: string,
  example: string,
  root: string,
): Omit<Problem, "severity"> | undefined {
  const { file, exportName } = splitGraphPath(text);
  const quoted = JSON.stringify(text);
  if (/\.pyi?$/i.test(file)) {
    return {
      message: `"${key}" (${quoted}) is Python; agent-server runs TypeScript and JavaScript only.`,
      hint: `Write "./src/${example}.ts:${example}".`,
    };
  }
  if (file.trim() === "" || !isModuleFile(file)) {
    const extension = MODULE_EXTENSIONS.find((each) => file !== "" && existsSync(resolve(root, file + each)));
    return {
      message: `"${key}" must name a TypeScript or JavaScript file, not ${JSON.stringify(file)}.`,
      hint:
        extension === undefined
          ? `The file must end in ${MODULE_EXTENSIONS.slice(0, -1).join(", ")} or ${MODULE_EXTENSIONS.at(-1)}.`
          : `Did you mean "${file}${extension}:${exportName || example}"?`,
    };
  }
  if (exportName === undefined || exportName === "") {
    return {
      message: `"${key}" names no export: ${quoted} must end in ":export".`,
      hint: `Write "${file}:${example}" for export const ${example}, or "${file}:default" for export default.`,
    };
  }
  const absolute = resolve(root, file);
  const found = statSync(absolute, { throwIfNoEntry: false });
  if (found?.isFile()) return undefined;
  if (found) return { message: `The file of "${key}" is not a file: ${absolute}` };
  const hint = missingFileHint(file, text.slice(file.length), root);
  return { message: `The file of "${key}" does not exist: ${absolute}`, hint };
}
