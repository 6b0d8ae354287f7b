// The door to config/: from a folder or a --config value to a project that the server can run, or to everything that is wrong with it.
import { basename, dirname } from "node:path";
import { CliError, EXIT } from "../errors.ts";
import { checkpointerOf } from "./checkpointer.ts";
import { readEnv } from "./env.ts";
import type { ProcessEnv } from "./env.ts";
import { findConfig } from "./find.ts";
import { formatDiagnostic } from "./format.ts";
import { resolveGraphs } from "./graphs.ts";
import { parseConfig } from "./parse.ts";
import { readText } from "./read.ts";
import type { ConfigInput } from "./schema.ts";
import { checkStore, storeOf } from "./store.ts";
import type { CorsConfig, Diagnostic, HeaderFilter, HttpConfig, ProjectConfig, UiConfig } from "./types.ts";
import { resolveUi } from "./ui.ts";
import { resolveWebhooks } from "./webhooks.ts";
import { validateConfig } from "./validate.ts";

/** A config file with errors. The message has them all, ready to print. */
export class ConfigError extends CliError {
  /** Errors and warnings, in the order of the file. */
  readonly diagnostics: readonly Diagnostic[];
  constructor(file: string, diagnostics: readonly Diagnostic[], cwd: string) {
    const errors = diagnostics.filter(({ severity }) => severity === "error").length;
    const summary = `${basename(file)} has ${errors} ${errors === 1 ? "error" : "errors"}.`;
    const parts = diagnostics.map((diagnostic) => formatDiagnostic(diagnostic, cwd));
    super([...parts, summary].join("\n\n"), { exitCode: EXIT.usage });
    this.diagnostics = diagnostics;
  }
}

/** Where to look. */
export interface LoadOptions {
  /** Value of `--config`: a file or a folder. */
  readonly config?: string | undefined;
  readonly cwd: string;
  /** Only asked whether the names of an `env` list are set; `process.env` when absent. */
  readonly processEnv?: ProcessEnv;
}

/**
 * Finds, parses and validates the config. `config` is null when none was named and `cwd` has none.
 * @throws ConfigError when the file has errors.
 * @throws CliError when a named file does not exist or cannot be read.
 */
export async function loadProject(
  options: LoadOptions,
): Promise<{ config: ProjectConfig | null; warnings: readonly Diagnostic[] }> {
  const file = await findConfig(options);
  if (file === null) return { config: null, warnings: [] };
  const { source, diagnostics } = await parseConfig(file, await readText(file));
  if (!source) throw new ConfigError(file, diagnostics, options.cwd);

  const root = dirname(file);
  const { input, diagnostics: shape } = validateConfig(source);
  const { graphs, diagnostics: graphProblems } = await resolveGraphs(source, root);
  const { env, envFile, diagnostics: envProblems } = await readEnv(source, root, options.processEnv ?? process.env);
  const processEnv = options.processEnv ?? process.env;
  const { webhooks, diagnostics: webhookProblems } =
    input === null
      ? { webhooks: undefined, diagnostics: [] }
      : resolveWebhooks(source, input, { ...env, ...processEnv });
  const { files: uiFiles, diagnostics: uiProblems } = resolveUi(source, root);
  const all = inOrder(
    [
      ...diagnostics,
      ...shape,
      ...graphProblems,
      ...envProblems,
      ...uiProblems,
      ...checkStore(source, root),
      ...webhookProblems,
    ],
    file,
  );
  if (input === null || all.some(({ severity }) => severity === "error")) {
    throw new ConfigError(file, all, options.cwd);
  }
  const store = storeOf(input, source, root);
  return {
    config: {
      ...settings(input, uiFiles),
      ...checkpointerOf(input),
      ...(store ? { store } : {}),
      ...(webhooks ? { webhooks } : {}),
      file,
      root,
      demo: false,
      graphs,
      env,
      envFile,
    },
    warnings: all,
  };
}

/** Problems of the config file in the order of its lines, then those of other files. */
function inOrder(diagnostics: Diagnostic[], file: string): Diagnostic[] {
  const key = ({ location }: Diagnostic): [number, number, number] => [
    location?.file === file ? 0 : 1,
    location?.line ?? 0,
    location?.column ?? 0,
  ];
  return diagnostics.toSorted((a, b) => {
    const [left, right] = [key(a), key(b)];
    return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
  });
}

function settings(
  input: ConfigInput,
  uiFiles: UiConfig["files"],
): { http: HttpConfig; persist: boolean; ui: UiConfig; cronCatchUp?: "skip" | "once" } {
  const http = input.http ?? {};
  const catchUp = input.agent_server?.crons?.catch_up;
  return {
    persist: input.disable_persistence !== true,
    ...(catchUp == null ? {} : { cronCatchUp: catchUp }),
    ui: {
      files: uiFiles,
      shared: input.ui_config?.shared ?? [],
    },
    http: {
      disable_assistants: http.disable_assistants ?? false,
      disable_threads: http.disable_threads ?? false,
      disable_runs: http.disable_runs ?? false,
      disable_store: http.disable_store ?? false,
      disable_meta: http.disable_meta ?? false,
      disable_ui: http.disable_ui ?? false,
      disable_webhooks: http.disable_webhooks ?? false,
      disable_mcp: http.disable_mcp ?? false,
      ...(http.cors ? { cors: withoutNull(http.cors) } : {}),
      ...(http.configurable_headers ? { configurable_headers: headerFilter(http.configurable_headers) } : {}),
    },
  };
}

type HeaderLists = Record<"includes" | "include" | "excludes" | "exclude", readonly string[] | null | undefined>;

function headerFilter({ includes, include, excludes, exclude }: Partial<HeaderLists>): HeaderFilter {
  return { includes: [...(includes ?? []), ...(include ?? [])], excludes: [...(excludes ?? []), ...(exclude ?? [])] };
}

function withoutNull(cors: { [K in keyof CorsConfig]?: CorsConfig[K] | null | undefined }): CorsConfig {
  return Object.fromEntries(Object.entries(cors).filter(([, value]) => value !== null && value !== undefined));
}
