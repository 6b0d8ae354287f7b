// Takes `./src/agent.ts:graph` apart, and says what is wrong with one that names no JavaScript or TypeScript export.
import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";

/** Extensions of the modules that can be loaded. */
export const MODULE_EXTENSIONS = [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"] as const;

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$\u{200C}\u{200D}]*$/u;
const PYTHON_MODULE = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;

/** The two halves; `exportName` is undefined when there is no colon. */
export interface GraphPath {
  readonly file: string;
  readonly exportName: string | undefined;
}

/** Splits at the last colon; the one of a Windows drive (`C:\agent.ts`) does not count. */
export function splitGraphPath(text: string): GraphPath {
  const colon = text.lastIndexOf(":");
  const isDrive = colon === 1 && /^[A-Za-z]:[\\/]/.test(text);
  if (colon < 0 || isDrive) return { file: text, exportName: undefined };
  return { file: text.slice(0, colon), exportName: text.slice(colon + 1) };
}

/** Whether a file can be loaded as a module, by its name. */
export function isModuleFile(file: string): boolean {
  return (MODULE_EXTENSIONS as readonly string[]).includes(extname(file).toLowerCase());
}

/** What is wrong with a graph's path, or undefined. Does not look whether the file exists. */
export function checkGraphPath(id: string, text: string, root: string): { message: string; hint: string } | undefined {
  const { file, exportName } = splitGraphPath(text);
  const quoted = JSON.stringify(text);
  if (file.trim() === "") {
    return { message: `Graph "${id}" names no file: ${quoted}.`, hint: 'Write "./src/agent.ts:graph".' };
  }
  if (!isModuleFile(file)) {
    const guess = MODULE_EXTENSIONS.find((extension) => existsSync(resolve(root, file + extension)));
    if (guess !== undefined) {
      return {
        message: `Graph "${id}" names a file without its extension: ${quoted}.`,
        hint: `Did you mean "${file}${guess}:${exportName || "graph"}"?`,
      };
    }
    const isDotted = exportName !== undefined && PYTHON_MODULE.test(file) && !existsSync(resolve(root, file));
    if (/\.pyi?$/i.test(file) || isDotted) {
      return {
        message: `Graph "${id}" (${quoted}) is a Python graph; agent-server runs LangGraph.js graphs (TypeScript or JavaScript) only.`,
        hint: "Serve Python graphs with langgraph dev (pip install langgraph-cli).",
      };
    }
    return {
      message: `Graph "${id}" must name a TypeScript or JavaScript file, not ${JSON.stringify(file)}.`,
      hint: `The file must end in ${MODULE_EXTENSIONS.slice(0, -1).join(", ")} or ${MODULE_EXTENSIONS.at(-1)}.`,
    };
  }
  if (exportName === undefined || exportName === "") {
    return {
      message: `Graph "${id}" names no export: ${quoted} must end in ":export".`,
      hint: `Write "${file}:graph" for export const graph, or "${file}:default" for export default.`,
    };
  }
  if (IDENTIFIER.test(exportName)) return undefined;
  return {
    message: `Graph "${id}" names an export that no module can have: ${JSON.stringify(exportName)}.`,
    hint: `Write "${file}:${exportName.trim().replace(/^[^\p{ID_Start}$_]+|[^\p{ID_Continue}$]+/gu, "") || "graph"}".`,
  };
}
