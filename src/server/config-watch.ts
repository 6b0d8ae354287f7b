// Follows the config file and the env file while the server runs.
import type { ProcessEnv } from "../config/env.ts";
import { ConfigError, loadProject } from "../config/load.ts";
import type { ProjectConfig } from "../config/types.ts";
import { watchFiles } from "../graphs/watch.ts";
import type { StartOptions } from "./types.ts";

/**
 * Follows the config file and the env file; a broken edit is reported and changes nothing.
 * @param processEnv the variables that the process was started with.
 */
export function watchConfig(
  { cwd, config, onEvent }: StartOptions,
  project: ProjectConfig,
  processEnv: ProcessEnv,
  reconfigure: (project: ProjectConfig) => Promise<void>,
): { close(): void } {
  const pathsOf = ({ file, envFile }: ProjectConfig): string[] => [file, envFile].filter((path) => path !== null);
  let watcher: { close(): void };
  let last = Promise.resolve();
  const reload = async (): Promise<void> => {
    try {
      const loaded = await loadProject({ cwd, config: config ?? project.file ?? cwd, processEnv });
      for (const diagnostic of loaded.warnings) onEvent({ type: "diagnostic", diagnostic });
      if (loaded.config === null) return;
      await reconfigure(loaded.config);
      watcher.close();
      watcher = watchFiles(pathsOf(loaded.config), onChange);
    } catch (error) {
      if (error instanceof ConfigError)
        for (const diagnostic of error.diagnostics) onEvent({ type: "diagnostic", diagnostic });
      else onEvent({ type: "log", level: "error", message: error instanceof Error ? error.message : String(error) });
    }
  };
  const onChange = (): void => {
    last = last.then(reload);
  };
  watcher = watchFiles(pathsOf(project), onChange);
  return { close: () => watcher.close() };
}
