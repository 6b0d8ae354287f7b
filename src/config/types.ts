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
  readonly disable_webhooks: boolean;
  readonly disable_mcp: boolean;
  readonly disable_a2a: boolean;
  readonly cors?: CorsConfig;
  /** Request headers that reach the graph of a run; none when absent. */
  readonly configurable_headers?: HeaderFilter;
  /** Request headers that `dev --log-requests` shows; none when absent. */
  readonly logging_headers?: HeaderFilter;
  /** The project's own routes and middleware. */
  readonly app?: ConfiguredExport;
  /** In front of all paths: `/api`, without a slash at its end. */
  readonly mount_prefix?: string;
  /** Whether authentication comes before the middleware of `app`; behind it when absent. */
  readonly middleware_order?: "auth_first" | "middleware_first";
  /** Whether the routes of `app` are for authenticated callers only. */
  readonly enable_custom_route_auth?: boolean;
}

/** An export of the user's that a key of the config names. */
export interface ConfiguredExport {
  /** The key, as `http.app`. */
  readonly key: string;
  /** Absolute path of the module. */
  readonly file: string;
  readonly exportName: string;
  /** Where the config names it. */
  readonly location?: SourceLocation;
}

/** Names of headers; `*` stands for any characters, upper and lower case are the same. */
export interface HeaderFilter {
  readonly includes: readonly string[];
  /** Leaves out what `includes` has. */
  readonly excludes: readonly string[];
}

/** Where webhooks may be sent; what is absent restricts nothing. */
export interface WebhookPolicy {
  /** Exact hosts, or `*.example.com` for all names below one. */
  readonly allowedDomains?: readonly string[];
  readonly allowedPorts?: readonly number[];
  readonly maxUrlLength?: number;
  readonly requireHttps: boolean;
  /** No relative URLs, and no host that is this machine. */
  readonly disableLoopback: boolean;
}

/** How webhooks are sent. Headers and secret have their templates filled in: they must not be shown. */
export interface WebhookConfig {
  readonly headers: Readonly<Record<string, string>>;
  /** Signs the deliveries. */
  readonly secret?: string;
  /** What must not be shown: header values, what was filled into them, the secret. */
  readonly secrets: readonly string[];
  /** Of one attempt. */
  readonly timeoutSeconds: number;
  readonly maxAttempts: number;
  readonly policy: WebhookPolicy;
}

/** UI components of the project, for chat pages. */
export interface UiConfig {
  /** Absolute path of the module of each entry of `ui`. */
  readonly files: Readonly<Record<string, string>>;
  /** Packages that the page brings, beside React and the SDK. */
  readonly shared: readonly string[];
}

/** `checkpointer.ttl`: how long threads live. */
export interface CheckpointerTtl {
  /** What becomes of a thread that has expired: it goes, or only its history does. */
  readonly strategy: "delete" | "keep_latest";
  /** Minutes after its last activity when a thread expires that has no ttl of its own; never when undefined. */
  readonly defaultMinutes: number | undefined;
  /** Least minutes between two sweeps. */
  readonly sweepMinutes: number;
  /** The most threads that one sweep takes. */
  readonly sweepLimit: number;
}

/** What makes vectors of texts: an export of the user's (`file` is absolute), or a model of a provider. */
export type EmbeddingSource =
  | { readonly file: string; readonly exportName: string }
  | { readonly provider: string; readonly model: string };

/** `store`: the long-term store. */
export interface StoreConfig {
  readonly ttl: {
    /** Minutes to live of items that are put without a ttl; for ever when undefined. */
    readonly defaultMinutes: number | undefined;
    readonly refreshOnRead: boolean;
    /** Minutes between two sweeps; none by the clock when undefined. */
    readonly sweepMinutes: number | undefined;
  };
  /** Semantic search; absent when it is not configured. */
  readonly index?: {
    /** Numbers in a vector, 1 or more. */
    readonly dims: number;
    /** Paths of the fields to embed. */
    readonly fields: readonly string[];
    /** As written in the config. */
    readonly embed: string;
    readonly source: EmbeddingSource;
    /** Where the config names it. */
    readonly location: SourceLocation;
  };
}

/** `auth.cache`: how long it is remembered whom a request comes from. */
export interface AuthCache {
  /** Names of the headers that tell it, in lower case. */
  readonly headers: readonly string[];
  readonly ttlSeconds: number;
  /** Callers that are remembered. */
  readonly maxSize: number;
}

/** `auth.path` and what goes with it: the project's own authentication. */
export interface AuthConfig {
  /** Absolute path of the module that exports the Auth object. */
  readonly file: string;
  readonly exportName: string;
  /** Where the config names it. */
  readonly location?: SourceLocation;
  /** Whether Studio may come in without it. */
  readonly studio: boolean;
  /** Every request is authenticated when absent. */
  readonly cache?: AuthCache;
}

/** `auth.openapi`: what the API document says about security, in the words of OpenAPI. */
export interface SecurityConfig {
  readonly securitySchemes?: Readonly<Record<string, unknown>> | null;
  readonly security?: readonly Readonly<Record<string, unknown>>[] | null;
  /** Path template → method → requirements. */
  readonly paths?: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> | null;
}

/** A project as the server runs it: found, parsed, validated, paths made absolute. */
export interface ProjectConfig {
  /** Absolute path of the config file; null when there is none: the demo agent is served then, or what LANGSERVE_GRAPHS names. */
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
  /** Absent when the project does not authenticate requests itself. */
  readonly auth?: AuthConfig;
  readonly security?: SecurityConfig;
  /** Absent when the config says nothing about webhooks. */
  readonly webhooks?: WebhookConfig;
  /** What happens to the firing of a cron that was missed while the server was down; `skip` when absent. */
  readonly cronCatchUp?: "skip" | "once";
  /** `checkpointer`; absent when the config says nothing that acts. */
  readonly checkpointer?: { readonly ttl?: CheckpointerTtl };
  /** Absent when the config says nothing about the store. */
  readonly store?: StoreConfig;
  /** False when `disable_persistence` is set: state is kept in memory only. */
  readonly persist: boolean;
}
