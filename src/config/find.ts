// Finds the config file: the one that `--config` names, or the first of the known names in the folder.
import { stat } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { CliError, EXIT } from "../errors.ts";
import { readError, errorCode } from "./read.ts";

/** The names looked for in a folder, in this order. */
export const CONFIG_NAMES = ["langgraph.json", "langgraph.jsonc", "langgraph.yaml", "langgraph.yml"] as const;

const EXTENSIONS = [".json", ".jsonc", ".yaml", ".yml"];

/**
 * The absolute path of the config file; null when none was named and `cwd` has none.
 * @param options.config Value of `--config`: a file, or a folder that has a config file.
 * @throws CliError when the named file or folder does not exist or cannot be a config.
 */
export async function findConfig(options: { config?: string | undefined; cwd: string }): Promise<string | null> {
  if (options.config === undefined) return findInFolder(options.cwd);
  const path = resolve(options.cwd, options.config);
  const kind = await kindOf(path);
  if (kind === "folder") {
    const found = await findInFolder(path);
    if (found !== null) return found;
    throw usage(
      `The folder ${path} has no langgraph.json, langgraph.yaml or langgraph.yml.`,
      "Create one there with: agent-server init",
    );
  }
  if (kind === "absent") {
    const sibling = await findInFolder(dirname(path)).catch(() => null);
    throw usage(
      `There is no config file or folder at ${path}.`,
      sibling === null
        ? "Give --config the path of a langgraph.json, or leave it away to use the one in the current folder."
        : `Did you mean --config ${sibling}?`,
    );
  }
  if (!EXTENSIONS.includes(extname(path).toLowerCase())) {
    throw usage(
      `The config file ${basename(path)} must end in .json, .yaml or .yml.`,
      "Its name says how to read it: rename the file, or give --config another one.",
    );
  }
  return path;
}

async function findInFolder(folder: string): Promise<string | null> {
  for (const name of CONFIG_NAMES) {
    const path = join(folder, name);
    if ((await kindOf(path)) !== "absent") return path;
  }
  return null;
}

async function kindOf(path: string): Promise<"file" | "folder" | "absent"> {
  try {
    return (await stat(path)).isDirectory() ? "folder" : "file";
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return "absent";
    throw readError(path, error);
  }
}

function usage(message: string, hint: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, hint });
}
