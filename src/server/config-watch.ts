// Follows the config file and the env file while the server runs.
import type { ProcessEnv } from "../config/env.ts";
import { ConfigError, loadProject } from "../config/load.ts";
import type { ProjectConfig } from "../config/types.ts";
import { FileWatcher } from "../graphs/watch.ts";
import type { StartOptions } from "./types.ts";

/** A project as it was read. */
export interface ReadProject {
  readonly project: ProjectConfig;
  /** Milliseconds since 1970 at which reading began: what was saved later has not been seen. */
  readonly readAt: number;
  /** The variables that the process was started with. */
  readonly processEnv: ProcessEnv;
}

/** Follows the config file and the env file; a broken edit is reported and changes nothing. */
export function watchConfig(
  { cwd, config, onEvent }: StartOptions,
  { project, readAt, processEnv }: ReadProject,
  reconfigure: (project: ProjectConfig) => Promise<void>,
): { close(): void } {
  let last = Promise.resolve();
  // One for all the time: a new one would not know what happens while a save is taken over.
  const watcher = new FileWatcher(() => {
    last = last.then(reload);
  });
  const follow = ({ file, envFile }: ProjectConfig, since: number): void => {
    watcher.set(
      [file, envFile].filter((path) => path !== null),
      since,
    );
  };
  const reload = async (): Promise<void> => {
    try {
      const loaded = await loadProject({ cwd, config: config ?? project.file ?? cwd, processEnv });
      for (const diagnostic of loaded.warnings) onEvent({ type: "diagnostic", diagnostic });
      if (loaded.config === null) return;
      await reconfigure(loaded.config);
      // A file that it begins to name is read again: it may have been saved meanwhile, and the time of a file may be behind the clock.
      follow(loaded.config, 0);
    } catch (error) {
      if (error instanceof ConfigError)
        for (const diagnostic of error.diagnostics) onEvent({ type: "diagnostic", diagnostic });
      else onEvent({ type: "log", level: "error", message: error instanceof Error ? error.message : String(error) });
    }
  };
  // What was saved in the very millisecond before is not taken for a change.
  follow(project, readAt + 1);
  return { close: () => watcher.close() };
}
