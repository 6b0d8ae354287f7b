// The project that is served when there is no config file: the agent template, as it lies in this package.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ProjectConfig } from "../config/types.ts";

const TEMPLATE = fileURLToPath(new URL("../../templates/agent", import.meta.url));

/** The demo project; its state lies in `cwd` as that of any other project would. */
export function demoProject(cwd: string): ProjectConfig {
  return {
    file: null,
    root: cwd,
    demo: true,
    graphs: [
      {
        id: "agent",
        file: join(TEMPLATE, "src", "agent.ts"),
        exportName: "graph",
        description: "The built-in demo agent",
      },
    ],
    env: {},
    envFile: null,
    http: {
      disable_assistants: false,
      disable_threads: false,
      disable_runs: false,
      disable_store: false,
      disable_meta: false,
      disable_ui: false,
      disable_webhooks: false,
      disable_mcp: false,
      disable_a2a: false,
    },
    ui: { files: {}, shared: [] },
    persist: true,
  };
}
