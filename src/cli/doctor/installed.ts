// Finds packages as Node does, by the folders `node_modules` upwards, and every copy of one that a project reaches through its packages.
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRecord } from "../json.ts";

/** A package on disk. */
export interface Installed {
  readonly name: string;
  /** Real path. */
  readonly folder: string;
  readonly version: string;
  readonly manifest: Readonly<Record<string, unknown>>;
}

/** A copy of a package, and through which packages the project reaches it. */
export interface Copy extends Installed {
  readonly via: readonly string[];
}

/** A project with more packages than this is looked at in part. */
const MAX_PACKAGES = 10_000;

/** The package `name` as modules in `folder` import it; null when it is not installed. */
export function findInstalled(name: string, folder: string): Installed | null {
  for (let at = folder; ; at = dirname(at)) {
    const found = readPackage(join(at, "node_modules", name), name);
    if (found) return found;
    if (at === dirname(at)) return null;
  }
}

/** The package that `folder` is in: the nearest package.json upwards. */
export function packageOf(folder: string): Installed | null {
  for (let at = folder; ; at = dirname(at)) {
    const found = readPackage(at, "");
    if (found) return found;
    if (at === dirname(at)) return null;
  }
}

/**
 * Every copy of the packages `names` that is reached from the packages around `folders`, by folder.
 * @param except names of packages that are not followed.
 */
export function copiesOf(names: readonly string[], folders: readonly string[], except: readonly string[]): Copy[] {
  const copies: Copy[] = [];
  const seen = new Set<string>();
  const open: Copy[] = folders.flatMap((folder) => {
    const found = packageOf(folder);
    return found ? [{ ...found, via: [] }] : [];
  });
  const roots = new Set(open.map(({ folder }) => folder));
  for (let at = open.shift(); at !== undefined && seen.size < MAX_PACKAGES; at = open.shift()) {
    if (seen.has(at.folder)) continue;
    seen.add(at.folder);
    if (names.includes(at.name)) copies.push(at);
    const isRoot = roots.has(at.folder);
    for (const name of dependenciesOf(at.manifest, isRoot)) {
      const found = except.includes(name) ? null : findInstalled(name, at.folder);
      if (found && !seen.has(found.folder)) open.push({ ...found, via: isRoot ? [] : [...at.via, at.name] });
    }
  }
  return copies;
}

function dependenciesOf(manifest: Installed["manifest"], isRoot: boolean): string[] {
  const fields = ["dependencies", "optionalDependencies", "peerDependencies", ...(isRoot ? ["devDependencies"] : [])];
  return fields.flatMap((field) => Object.keys(isRecord(manifest[field]) ? manifest[field] : {}));
}

function readPackage(folder: string, name: string): Installed | null {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    if (!isRecord(manifest)) return null;
    const { name: own, version } = manifest;
    return {
      name: typeof own === "string" ? own : name,
      folder: realpathSync(folder),
      version: typeof version === "string" ? version : "unknown",
      manifest,
    };
  } catch {
    return null;
  }
}
