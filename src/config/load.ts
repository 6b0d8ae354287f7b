// The door to config/: from a folder or a --config value to a project that the server can run, or to everything that is wrong with it.
import { basename, dirname, join } from "node:path";
import { CliError, EXIT } from "../errors.ts";
import { authOf, checkAuth } from "./auth.ts";
import { checkpointerOf } from "./checkpointer.ts";
import { readEnv } from "./env.ts";
import type { ProcessEnv } from "./env.ts";
import { findConfig } from "./find.ts";
import { formatDiagnostic } from "./format.ts";
import { resolveGraphs } from "./graphs.ts";
import { checkHeaderWords } from "./header-words.ts";
import { checkHosts } from "./hosts.ts";
import { checkHttp, httpOf } from "./http.ts";
import { parseConfig } from "./parse.ts";
import { hasPlatformEnv, withPlatformEnv } from "./platform-env.ts";
import { readText } from "./read.ts";
import type { ConfigInput } from "./schema.ts";
import { ConfigSource } from "./source.ts";
import { checkStore, storeOf } from "./store.ts";
import type { Diagnostic, ProjectConfig, UiConfig } from "./types.ts";
import { resolveUi } from "./ui.ts";
import { resolveWebhooks } from "./webhooks.ts";
import { validateConfig } from "./validate.ts";

/** A config file with errors. The message has them all, ready to print. */
export class ConfigError extends CliError {
  /** Errors and warnings, in the order of the file. */
  readonly diagnostics: readonly Diagnostic[];
  constructor(file: string, diagnostics: readonly Diagnostic[], cwd: string) {
    const errors = diagnostics.filter(({ severity }) => severity === "error").length;
    const isElsewhere = diagnostics.every(({ severity, location }) => severity !== "error" || location === undefined);
    const place = isElsewhere ? "The environment" : basename(file);
    const summary = `${place} has ${errors} ${errors === 1 ? "error" : "errors"}.`;
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
  /** For the names of an `env` list, templates, and the variables of the platform; `process.env` when absent. */
  readonly processEnv?: ProcessEnv;
  /** The project when there is no config file. Without it there is none then, unless the platform's variables name graphs. */
  readonly fallback?: ProjectConfig;
}

/** A config file, and everything that is wrong with it. */
export interface Inspection {
  /** Null when the text cannot be used at all. */
  readonly source: ConfigSource | null;
  /** What the file asks for; with errors, what can be understood of it: what is without fault, and defaults. */
  readonly project: ProjectConfig;
  /** Errors and warnings, in the order of the file. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Finds, parses and validates the config. `config` is null when none was named and `cwd` has none.
 * @throws ConfigError when the file has errors.
 * @throws CliError when a named file does not exist or cannot be read.
 */
export async function loadProject(
  options: LoadOptions,
): Promise<{ config: ProjectConfig | null; warnings: readonly Diagnostic[] }> {
  const inspection = await inspectProject(options);
  if (inspection === null) return { config: options.fallback ?? null, warnings: [] };
  const { project, diagnostics } = inspection;
  if (hasErrors(diagnostics)) throw new ConfigError(project.file ?? "", diagnostics, options.cwd);
  return { config: project, warnings: diagnostics };
}

/**
 * What `loadProject` would load, without stopping at what is wrong with it. Null when there is neither a config file nor a variable of the
 * platform that counts: then the fallback is served as it is.
 * @throws CliError when a named file does not exist or cannot be read.
 */
export async function inspectProject(options: LoadOptions): Promise<Inspection | null> {
  const file = await findConfig(options);
  const { cwd, processEnv = process.env, fallback } = options;
  if (file !== null) return inspectConfig(file, processEnv);
  const hasGraphs = fallback !== undefined || Boolean(processEnv["LANGSERVE_GRAPHS"]?.trim());
  return hasGraphs && hasPlatformEnv(processEnv) ? inspectEnv(cwd, processEnv, fallback) : null;
}

/** The config of the platform's variables alone, in a folder that has no config file. */
async function inspectEnv(
  cwd: string,
  processEnv: ProcessEnv,
  fallback: ProjectConfig | undefined,
): Promise<Inspection> {
  const usesFallback = fallback !== undefined && !processEnv["LANGSERVE_GRAPHS"]?.trim();
  const graphs = Object.fromEntries(
    (usesFallback ? fallback.graphs : []).map(({ id, file, exportName }) => [id, `${file}:${exportName}`]),
  );
  const nowhere = { file: join(cwd, "langgraph.json"), text: "", format: "json", extras: [] } as const;
  const source = new ConfigSource(
    { ...nowhere, value: { graphs } },
    () => ({ offset: 0, length: 0 }),
    () => undefined,
  );
  const { project, ...inspection } = await inspectSource(source, processEnv, []);
  const own = usesFallback ? { graphs: fallback.graphs, demo: fallback.demo } : {};
  return { ...inspection, project: { ...project, ...own, file: null } };
}

/**
 * Reads the config `file` (an absolute path) without stopping at what is wrong with it.
 * @throws CliError when it cannot be read.
 */
export async function inspectConfig(file: string, processEnv: ProcessEnv): Promise<Inspection> {
  const { source, diagnostics } = await parseConfig(file, await readText(file));
  if (source) return inspectSource(source, processEnv, diagnostics);
  const root = dirname(file);
  const http = httpOf(NOTHING, null, root);
  const project = { file, root, demo: false, ...settings(NOTHING, {}), http, graphs: [], env: {}, envFile: null };
  return { source, project, diagnostics };
}

/** @param diagnostics what is wrong with the text. */
async function inspectSource(
  written: ConfigSource,
  processEnv: ProcessEnv,
  diagnostics: readonly Diagnostic[],
): Promise<Inspection> {
  const { file } = written;
  const root = dirname(file);
  const base = { file, root, demo: false };
  const { env, envFile, diagnostics: envProblems } = await readEnv(written, root, processEnv);
  const { source, diagnostics: platformProblems } = withPlatformEnv(written, { ...env, ...processEnv });
  const { input, diagnostics: shape } = validateConfig(source);
  const { graphs, diagnostics: graphProblems } = await resolveGraphs(source, root);
  const { webhooks, diagnostics: webhookProblems } =
    input === null
      ? { webhooks: undefined, diagnostics: [] }
      : resolveWebhooks(source, input, { ...env, ...processEnv });
  const { files: uiFiles, diagnostics: uiProblems } = resolveUi(source, root);
  const storeProblems = checkStore(source, root);
  const all = inOrder(
    [
      ...diagnostics,
      ...shape,
      ...graphProblems,
      ...envProblems,
      ...platformProblems,
      ...uiProblems,
      ...storeProblems,
      ...checkAuth(source, root),
      ...checkHosts(source),
      ...checkHeaderWords(source),
      ...checkHttp(source, root),
      ...webhookProblems,
    ],
    file,
  );
  const sound = input ?? NOTHING;
  const store = hasErrors(storeProblems) ? undefined : storeOf(sound, source, root);
  const project: ProjectConfig = {
    ...settings(sound, uiFiles),
    http: httpOf(sound, source, root),
    ...checkpointerOf(sound),
    ...authOf(sound, source, root),
    ...(store ? { store } : {}),
    ...(webhooks ? { webhooks } : {}),
    ...base,
    graphs,
    env,
    envFile,
  };
  return { source, project, diagnostics: all };
}

/** A config without settings. */
const NOTHING: ConfigInput = { graphs: {} };

function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === "error");
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
): { persist: boolean; ui: UiConfig; cronCatchUp?: "skip" | "once" } {
  const catchUp = input.agent_server?.crons?.catch_up;
  return {
    persist: input.disable_persistence !== true,
    ...(catchUp == null ? {} : { cronCatchUp: catchUp }),
    ui: {
      files: uiFiles,
      shared: input.ui_config?.shared ?? [],
    },
  };
}
