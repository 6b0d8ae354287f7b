// The command that installs what is missing, in the words of the project's own package manager.
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Versions that install together and that this package is tested with; left to itself npm picks some that do not. */
export const TESTED_VERSIONS: Readonly<Record<string, string>> = {
  "@langchain/langgraph": "1.4.18",
  "@langchain/core": "1.2.13",
  "@langchain/langgraph-checkpoint": "1.1.5",
  "@langchain/langgraph-sdk": "1.12.4",
};

const COMMANDS: readonly (readonly [lockfile: string, command: string])[] = [
  ["pnpm-lock.yaml", "pnpm add"],
  ["yarn.lock", "yarn add"],
  ["bun.lock", "bun add"],
  ["bun.lockb", "bun add"],
];

/** The command that adds `packages` to the project in `root`. */
export function installCommand(root: string, packages: readonly string[]): string {
  const command = COMMANDS.find(([lockfile]) => existsSync(join(root, lockfile)))?.[1] ?? "npm install";
  const named = packages.map((name) =>
    Object.hasOwn(TESTED_VERSIONS, name) ? `${name}@${TESTED_VERSIONS[name]}` : name,
  );
  return [command, ...named].join(" ");
}
