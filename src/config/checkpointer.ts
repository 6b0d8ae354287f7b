// What `checkpointer` of the config means, with its defaults filled in.
import type { ConfigInput } from "./schema.ts";
import type { ProjectConfig } from "./types.ts";

/** Minutes between two sweeps, and threads per sweep, unless the config says otherwise. */
const SWEEP_MINUTES = 5;
const SWEEP_LIMIT = 1000;

/** The `checkpointer` of a project; nothing when the config does not ask for anything that acts. */
export function checkpointerOf({ checkpointer }: ConfigInput): Pick<ProjectConfig, "checkpointer"> {
  const ttl = checkpointer?.ttl;
  if (ttl === null || ttl === undefined) return {};
  return {
    checkpointer: {
      ttl: {
        strategy: ttl.strategy ?? "delete",
        defaultMinutes: ttl.default_ttl ?? undefined,
        sweepMinutes: ttl.sweep_interval_minutes ?? SWEEP_MINUTES,
        sweepLimit: ttl.sweep_limit ?? SWEEP_LIMIT,
      },
    },
  };
}
