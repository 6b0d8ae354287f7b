// "Did you mean …?" for files: what lies where a file is missing.
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { isModuleFile } from "./graph-path.ts";
import { nearest } from "./suggest.ts";

/**
 * What to write instead of `file` (as written, without `:export`), which does not exist.
 * @param exportName with its colon, put behind the suggested file.
 * @param root Folder that relative paths count from.
 */
export function missingFileHint(file: string, exportName: string, root: string): string {
  const { guess, others } = lookAround(resolve(root, file));
  if (guess !== undefined) return `Did you mean "${written(guess, file, root)}${exportName}"?`;
  if (file.includes("\\") && existsSync(resolve(root, file.replaceAll("\\", "/")))) {
    return `Did you mean "${file.replaceAll("\\", "/")}${exportName}"?`;
  }
  if (others.length > 0) return `That folder has ${others.join(", ")}.`;
  return `Paths count from the folder of the config file, ${root}.`;
}

/** Looks in the deepest folder of the path that exists: for a name like the missing one, and for what there is instead. */
function lookAround(absolute: string): { guess?: string; others: string[] } {
  let missing = absolute;
  while (!existsSync(dirname(missing)) && dirname(missing) !== missing) missing = dirname(missing);
  const folder = dirname(missing);
  const names = namesIn(folder);
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

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The path in the style in which the user wrote the wrong one. */
function written(absolute: string, original: string, root: string): string {
  if (isAbsolute(original)) return absolute;
  const path = relative(root, absolute).split(sep).join("/");
  return path.startsWith(".") || !original.startsWith(".") ? path : `./${path}`;
}
