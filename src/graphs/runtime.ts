// Finds the one LangGraph installation that the user's graphs run on. The server uses its classes and never its own copy: a message or
// command of another copy is a stranger to the graph.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { CliError } from "../errors.ts";
import { installCommand, TESTED_VERSIONS } from "./install.ts";
import type { LangGraphRuntime } from "./types.ts";

/** Where to look for LangGraph. */
export interface RuntimeOptions {
  readonly root: string;
  /** Files of the user, in whose packages it may be when the root has none (a workspace). */
  readonly files: readonly string[];
  /** Whether this package's own copy serves when there is no other: for the demo project. */
  readonly fallback: boolean;
  /** Where a specifier leads for a user's module; the loader's. */
  resolve(specifier: string, importer: string): Promise<string | null>;
}

/**
 * Loads LangGraph as the user's modules load it, which gives the same objects.
 * @throws CliError with the command to run when it is not installed.
 */
export async function loadRuntime({ root, files, fallback, resolve }: RuntimeOptions): Promise<LangGraphRuntime> {
  const find = async (specifier: string, importers: readonly string[]): Promise<string | null> => {
    for (const importer of importers) {
      // oxlint-disable-next-line no-await-in-loop -- the first that has it wins
      const found = await resolve(specifier, importer);
      if (found !== null) return found;
    }
    return fallback ? ownCopy(specifier) : null;
  };
  const places = [join(root, "package.json"), ...files];
  const langgraph = await find("@langchain/langgraph", places);
  if (langgraph === null) throw notInstalled("@langchain/langgraph", root);
  // Under pnpm only what the project itself names lies at its root; the rest is beside LangGraph.
  const importModule = async (specifier: string): Promise<Record<string, unknown>> => {
    const file = await find(
      specifier,
      specifier.startsWith("@langchain/langgraph/") ? [langgraph] : [...places, langgraph],
    );
    if (file === null) throw notInstalled(specifier.split("/", 2).join("/"), root);
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  };
  const [main, checkpoint, messages, version] = await Promise.all([
    import(pathToFileURL(langgraph).href) as Promise<Record<string, unknown>>,
    importModule("@langchain/langgraph-checkpoint"),
    importModule("@langchain/core/messages"),
    versionOf(langgraph),
  ]);
  return { langgraph: main, checkpoint, messages, version, folder: packageFolder(langgraph), importModule };
}

/** The folder of the package that `file` belongs to. */
export function packageFolder(file: string): string {
  let folder = dirname(file);
  while (!isPackage(folder) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

// A build folder may hold a package.json of its own, with nothing in it but a "type".
function isPackage(folder: string): boolean {
  return existsSync(join(folder, "package.json")) && !/[\\/](dist|lib|build|cjs|esm)$/.test(folder);
}

function ownCopy(specifier: string): string | null {
  try {
    return fileURLToPath(import.meta.resolve(specifier));
  } catch {
    return null;
  }
}

async function versionOf(file: string): Promise<string> {
  const text = await readFile(join(packageFolder(file), "package.json"), "utf8");
  const { version } = JSON.parse(text) as { version?: unknown };
  return typeof version === "string" ? version : "unknown";
}

function notInstalled(name: string, root: string): CliError {
  return new CliError(`${name} is not installed in ${root}`, {
    hint: installCommand(root, Object.keys(TESTED_VERSIONS)),
  });
}
