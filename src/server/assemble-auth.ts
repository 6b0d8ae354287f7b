// Which door the server has: that of the project's own authentication, that of the API keys, or none; and that a server which others can
// reach has one.
import { ApiKeys, keysOfVariable } from "../auth/api-keys.ts";
import { CustomAuth } from "../auth/custom-auth.ts";
import { CustomDoor, KeyDoor, type Door } from "../auth/door.ts";
import type { Timers } from "../clock.ts";
import type { ProjectConfig } from "../config/types.ts";
import { CliError, EXIT } from "../errors.ts";
import type { GraphHost } from "../graphs/host.ts";
import { isLoopback } from "./host-check.ts";
import type { ServerEvent } from "./types.ts";

export interface DoorsOptions {
  /** Keys of the command line; those of AGENT_SERVER_API_KEYS come to them. */
  readonly keys: readonly string[];
  /** The address that the server listens on. */
  readonly host: string;
  /** Others may reach a server without a door. */
  readonly insecure: boolean;
  readonly graphs: GraphHost;
  readonly clock: Timers;
  readonly onEvent: (event: ServerEvent) => void;
}

/** All API keys that a server is given. */
const allKeys = (keys: readonly string[]): string[] => [
  ...keys,
  ...keysOfVariable(process.env["AGENT_SERVER_API_KEYS"]),
];

/** Refuses to let a server be open to others. @throws CliError */
function refuseOpen(
  project: ProjectConfig,
  { keys, host, insecure }: Pick<DoorsOptions, "keys" | "host" | "insecure">,
): void {
  if (isLoopback(host) || insecure || project.auth !== undefined || allKeys(keys).length > 0) return;
  throw new CliError(
    `Everyone who can reach ${host || "this machine"} could run these graphs and read these threads.`,
    {
      exitCode: EXIT.usage,
      hint: [
        "Take an API key:       AGENT_SERVER_API_KEYS=$(agent-server keys new) agent-server dev --host …",
        "or your own handlers:  auth.path in the config",
        "or nothing at all:     --insecure",
      ].join("\n"),
    },
  );
}

const STUDIO_COMES_IN =
  "auth.path: LangGraph Studio on this machine is let in without authenticate. Behind a tunnel, port forward or proxy on this machine everybody could say to be Studio: set auth.disable_studio_auth there.";

export class Doors {
  readonly #options: DoorsOptions;
  #auth: CustomAuth | undefined;
  #of = "";
  #toldOfStudio = false;

  constructor(options: DoorsOptions) {
    this.#options = options;
    // What is wrong with a save is told before somebody comes.
    options.graphs.onExportsChange(() => void this.check());
  }

  /** The door for a project; undefined when everybody may come in. @throws CliError for what goes with nothing. */
  open(project: ProjectConfig): Door | undefined {
    const { auth: config, root, http } = project;
    const { graphs, clock, onEvent } = this.#options;
    refuseOpen(project, this.#options);
    const keys = allKeys(this.#options.keys);
    if (config === undefined) {
      this.#auth = undefined;
      this.#of = "";
      return keys.length === 0 ? undefined : new KeyDoor(new ApiKeys(keys));
    }
    if (keys.length > 0) {
      throw new CliError("auth.path decides who is let in, so that API keys would mean nothing.", {
        exitCode: EXIT.usage,
        hint: "Leave away --api-key, --api-key-file and AGENT_SERVER_API_KEYS, or auth.path.",
      });
    }
    // What was loaded last stays in force over a change of something else.
    const of = `${config.file}:${config.exportName}`;
    if (this.#auth === undefined || of !== this.#of) {
      const onProblem = (diagnostic: Extract<ServerEvent, { type: "diagnostic" }>["diagnostic"]): void =>
        onEvent({ type: "diagnostic", diagnostic });
      const onReload = (ms: number): void => onEvent({ type: "reloaded", ids: ["auth.path"], ms });
      this.#auth = new CustomAuth({ config, root, graphs, onProblem, onReload });
      this.#of = of;
    }
    const { studio, cache } = config;
    if (studio && !this.#toldOfStudio) {
      this.#toldOfStudio = true;
      onEvent({ type: "log", level: "info", message: STUDIO_COMES_IN });
    }
    const origins = (http.cors?.allow_origins ?? []).filter((origin) => origin !== "*");
    return new CustomDoor(this.#auth, { studio, origins, cache, clock });
  }

  /** Loads the project's handlers. Never rejects. */
  async check(): Promise<void> {
    await this.#auth?.check();
  }
}
