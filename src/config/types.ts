// The shapes that the rest of the server receives from config/: a project, and the diagnostics about it.
// Plain data only, so that graphs and server code never look at the file itself.

/** A place in a file. Lines and columns count from 1. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One problem in a user's file, ready to print. */
export interface Diagnostic {
  readonly severity: "error" | "warning";
  /** One sentence, without the place. */
  readonly message: string;
  readonly location?: SourceLocation;
  /** The lines around the place with a marker, uncoloured, ending without a newline. */
  readonly frame?: string;
  /** What to write or run instead. */
  readonly hint?: string;
}

/** One entry of `graphs`, resolved. */
export interface GraphSpec {
  readonly id: string;
  /** Absolute path of the module that exports the graph. */
  readonly file: string;
  readonly exportName: string;
  readonly description: string | null;
  /** Where the config names it; absent for the demo project. */
  readonly location?: SourceLocation;
}

/** `http.cors` as written; every field optional. */
export interface CorsConfig {
  readonly allow_origins?: readonly string[];
  readonly allow_methods?: readonly string[];
  readonly allow_headers?: readonly string[];
  readonly allow_credentials?: boolean;
  readonly allow_origin_regex?: string;
  readonly expose_headers?: readonly string[];
  readonly max_age?: number;
}

/** The `http` settings that this server acts on. */
export interface HttpConfig {
  readonly disable_assistants: boolean;
  readonly disable_threads: boolean;
  readonly disable_runs: boolean;
  readonly disable_store: boolean;
  readonly disable_meta: boolean;
  readonly disable_ui: boolean;
  readonly cors?: CorsConfig;
}

/** UI components of the project, for chat pages. */
export interface UiConfig {
  /** Absolute path of the module of each entry of `ui`. */
  readonly files: Readonly<Record<string, string>>;
  /** Packages that the page brings, beside React and the SDK. */
  readonly shared: readonly string[];
}

/** A project as the server runs it: found, parsed, validated, paths made absolute. */
export interface ProjectConfig {
  /** Absolute path of the config file; null when there is none and the demo agent is served. */
  readonly file: string | null;
  /** Absolute folder that relative paths count from: the config file's own. */
  readonly root: string;
  /** True when there is no config file and the built-in demo agent is served. */
  readonly demo: boolean;
  readonly graphs: readonly GraphSpec[];
  /** Variables from `env`, as written there; the process environment wins over them. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path of the env file, to watch it; null when `env` is an object or absent. */
  readonly envFile: string | null;
  readonly http: HttpConfig;
  readonly ui: UiConfig;
  /** False when `disable_persistence` is set: state is kept in memory only. */
  readonly persist: boolean;
}
