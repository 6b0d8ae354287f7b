// What the command line and the server say to each other: how to start, what is running, what happened.
// A file of its own so that `--help` can know these types without loading any server code.
import type { Timers } from "../clock.ts";
import type { Diagnostic, ProjectConfig } from "../config/types.ts";
import type { GraphEvent } from "../graphs/types.ts";
import type { RequestLine } from "./request-log.ts";

/** Everything that `dev` decides before the server starts. */
export interface StartOptions {
  readonly cwd: string;
  /** A config file or the folder that holds one; searched from `cwd` when absent. */
  readonly config?: string | undefined;
  readonly port: number;
  /** Fail instead of taking the next free port. */
  readonly strictPort: boolean;
  readonly host: string;
  /** Where state lives; `.agent-server` beside the config when absent. */
  readonly dataDir?: string | undefined;
  /** False keeps everything in memory. */
  readonly persist: boolean;
  /** Watch and reload the user's code. */
  readonly reload: boolean;
  /** How many runs execute at once. */
  readonly jobs: number;
  /** Tell of every request. */
  readonly logRequests?: boolean | undefined;
  /** API keys, one of which every request but those to `/ok` must show; none are needed when there are none. */
  readonly apiKeys?: readonly string[] | undefined;
  /** Listen on more than this machine although nobody is kept out. */
  readonly insecure?: boolean | undefined;
  /** For tests, which own time by it: when threads expire, when crons fire. The machine's own clock when absent. */
  readonly clock?: Timers | undefined;
  onEvent(event: ServerEvent): void;
}

/** A server that accepts requests. */
export interface RunningServer {
  readonly url: string;
  readonly port: number;
  readonly host: string;
  readonly project: ProjectConfig;
  /** Who is kept out: those without an API key, those whom the project's own handlers do not let in, or nobody. */
  readonly auth: "keys" | "project" | null;
  /** Absolute path of the state folder; null with `persist: false`. */
  readonly dataDir: string | null;
  /** What the state folder held at start. */
  readonly stored: { readonly threads: number; readonly bytes: number; readonly items: number };
  /** Resolves when every graph was loaded (or failed and was reported). */
  readonly ready: Promise<void>;
  /** Ends streams, finishes or parks runs, flushes. */
  stop(): Promise<{ finished: number; parked: number }>;
}

/** What the person at the terminal should learn while the server runs. */
export type ServerEvent =
  | GraphEvent
  | { readonly type: "diagnostic"; readonly diagnostic: Diagnostic }
  | { readonly type: "port-taken"; readonly wanted: number; readonly port: number }
  | { readonly type: "recovered"; readonly pending: number; readonly resumed: number; readonly failed: number }
  | { readonly type: "moved-aside"; readonly from: string; readonly to: string; readonly reason: string }
  | {
      readonly type: "run-failed";
      readonly run_id: string;
      readonly thread_id: string;
      readonly error: string;
      readonly diagnostic: Diagnostic | null;
    }
  | ({ readonly type: "request" } & RequestLine)
  | { readonly type: "log"; readonly level: "info" | "warn" | "error"; readonly message: string };
