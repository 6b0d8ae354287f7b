// The `env` key: reads the variables that it gives, and puts them into the environment of the process without ever touching
// what the process was started with.
import { resolve } from "node:path";
import { CliError } from "../errors.ts";
import { parseEnvFile } from "./env-file.ts";
import { errorCode, readText } from "./read.ts";
import { diagnosticAt, isRecord } from "./source.ts";
import type { ConfigSource } from "./source.ts";
import type { Diagnostic } from "./types.ts";

/** The variables of a process, as `process.env`. */
export type ProcessEnv = Record<string, string | undefined>;

/** A variable by its name, which may be one that every object has, such as `toString`. */
export function variableOf(env: ProcessEnv, name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

/** What `env` gives. */
export interface EnvResult {
  readonly env: Record<string, string>;
  /** Absolute path of the env file; null when `env` names none. */
  readonly envFile: string | null;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads `env`. A value of a wrong type gives nothing: the schema has reported it.
 * @param root Folder that a relative path counts from.
 */
export async function readEnv(source: ConfigSource, root: string, processEnv: ProcessEnv): Promise<EnvResult> {
  const value = source.value["env"];
  if (typeof value === "string") return readEnvFile(source, resolve(root, value));
  if (Array.isArray(value)) return { env: {}, envFile: null, diagnostics: checkNames(source, value, processEnv) };
  const env = new Map<string, string>();
  const diagnostics: Diagnostic[] = [];
  for (const [name, item] of Object.entries(isRecord(value) ? value : {})) {
    if (typeof item !== "string" && typeof item !== "number" && typeof item !== "boolean") continue;
    // As written: 1.10 is a version and not 1.1, and an id of many digits must keep them all.
    const variable = typeof item === "string" ? item : source.written(["env", name]);
    // The operating system ends a name at "=" and any text at a NUL: the variable would silently become another one.
    if (name === "" || /[=\0]/.test(name) || variable.includes("\0")) {
      const message = `${JSON.stringify(name)} cannot be a variable: names must not be empty or have "=", and nothing may have a NUL.`;
      diagnostics.push(source.report(["env", name], "key", { severity: "error", message }));
    } else env.set(name, variable);
  }
  return { env: Object.fromEntries(env), envFile: null, diagnostics };
}

async function readEnvFile(source: ConfigSource, envFile: string): Promise<EnvResult> {
  const fail = (severity: Diagnostic["severity"], message: string, hint?: string): EnvResult => ({
    env: {},
    envFile,
    diagnostics: [source.report(["env"], "value", { severity, message, hint })],
  });
  let content: string;
  try {
    content = await readText(envFile);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (errorCode(error.cause) !== "ENOENT") return fail("error", `The env file: ${error.message}`, error.hint);
    return fail("warning", `The env file does not exist: ${envFile}`, "The server starts without its variables.");
  }
  const { variables, text, problems } = parseEnvFile(content);
  const diagnostics = problems.map(({ message, span }) =>
    diagnosticAt(envFile, text, span, { severity: "warning", message }),
  );
  return { env: variables, envFile, diagnostics };
}

function checkNames(source: ConfigSource, names: readonly unknown[], processEnv: ProcessEnv): Diagnostic[] {
  return names.flatMap((name, index) => {
    if (typeof name !== "string" || variableOf(processEnv, name) !== undefined) return [];
    const message = `The environment variable ${name} is not set.`;
    const hint = `Set it before you start the server, or give "env" the path of an env file.`;
    return [source.report(["env", index], "value", { severity: "warning", message, hint })];
  });
}

/**
 * Sets the variables of `env` that `processEnv` does not have. The function that it gives does the same for the next `env`, after a
 * reload: it updates and removes what was set before. What the process or the user's code has set is never touched.
 * @example
 * const update = applyEnv(config.env, process.env);
 * update(reloaded.env);
 * update({}); // takes everything back
 */
export function applyEnv(env: Readonly<Record<string, string>>, processEnv: ProcessEnv): (next: typeof env) => void {
  const ours = new Map<string, string>();
  const update = (next: typeof env): void => {
    for (const [name, value] of ours) {
      // Somebody else has changed it since: it is theirs now.
      if (variableOf(processEnv, name) !== value) ours.delete(name);
      else if (!Object.hasOwn(next, name)) {
        delete processEnv[name];
        ours.delete(name);
      }
    }
    for (const [name, value] of Object.entries(next)) {
      if (!ours.has(name) && variableOf(processEnv, name) !== undefined) continue;
      processEnv[name] = value;
      ours.set(name, value);
    }
  };
  update(env);
  return update;
}
