// A temporary project folder for one test; removed when the test ends.
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { ConfigError, loadProject } from "../../src/config/load.ts";
import type { ProjectConfig, Diagnostic } from "../../src/config/types.ts";

/** Writes `files` (path → content) into a new folder and gives its path. */
export async function project(files: Record<string, string | Uint8Array> = {}): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "agent-server-config-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
  return root;
}

/** Loads the config of `root`, which must be there and good. */
export async function load(
  root: string,
  processEnv: Record<string, string> = {},
): Promise<{ config: ProjectConfig; warnings: readonly Diagnostic[] }> {
  const { config, warnings } = await loadProject({ cwd: root, processEnv });
  if (config === null) throw new Error("no config was found");
  return { config, warnings };
}

/** The error of a config that must not load. */
export async function loadError(root: string, processEnv: Record<string, string> = {}): Promise<ConfigError> {
  const result = await loadProject({ cwd: root, processEnv }).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (result instanceof ConfigError) return result;
  throw new Error("a ConfigError was expected", { cause: result });
}

/** The smallest good config and its graph. */
export const GOOD = '{ "graphs": { "agent": "./src/agent.ts:graph" } }';

/** Runs `work` with the rights of a user who owns nothing: root may read everything. */
export async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work();
  process.seteuid!(65_534);
  try {
    return await work();
  } finally {
    process.seteuid!(0);
  }
}
