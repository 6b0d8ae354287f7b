// The variables in which the hosted platform hands the config to a server: JSON of the same shape as the keys of the config file. They
// have the last word, name by name in each key, so that one setting can be changed without repeating the others.
import type { ProcessEnv } from "./env.ts";
import { ConfigSource, isRecord } from "./source.ts";
import type { Diagnostic } from "./types.ts";

/** Variable, and the key of the config that it gives. */
export const PLATFORM_VARIABLES: readonly (readonly [variable: string, key: string])[] = [
  ["LANGSERVE_GRAPHS", "graphs"],
  ["LANGGRAPH_HTTP", "http"],
  ["LANGGRAPH_AUTH", "auth"],
  ["LANGGRAPH_STORE", "store"],
  ["LANGGRAPH_CHECKPOINTER", "checkpointer"],
  ["LANGGRAPH_WEBHOOKS", "webhooks"],
  ["LANGGRAPH_UI", "ui"],
  ["LANGGRAPH_UI_CONFIG", "ui_config"],
];

/** Its data would lie unencrypted where somebody has asked for the opposite. */
const REFUSED = "LANGGRAPH_ENCRYPTION";

/** Whether any of them is set. */
export const hasPlatformEnv = (env: ProcessEnv): boolean =>
  [REFUSED, ...PLATFORM_VARIABLES.map(([variable]) => variable)].some((variable) => textOf(env, variable) !== "");

/** The config with what the variables say in place of what it says; and what is wrong with them. */
export function withPlatformEnv(
  source: ConfigSource,
  env: ProcessEnv,
): { readonly source: ConfigSource; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const fail = (message: string, hint: string): void => void diagnostics.push({ severity: "error", message, hint });
  const value: Record<string, unknown> = { ...source.value };
  /** Key → variable, and the names that it gives. */
  const given = new Map<
    string,
    { readonly variable: string; readonly names: ReadonlySet<string>; readonly alone: boolean }
  >();
  for (const [variable, key] of PLATFORM_VARIABLES) {
    const text = textOf(env, variable);
    if (text === "") continue;
    let block: unknown;
    try {
      block = JSON.parse(text);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      fail(`${variable} is not valid JSON: ${reason}.`, `It takes what the config key "${key}" takes, as JSON.`);
      continue;
    }
    if (block === null) continue;
    if (!isRecord(block)) {
      const kind = Array.isArray(block) ? "a list" : `a ${typeof block}`;
      fail(`${variable} must be an object, like the config key "${key}", not ${kind}.`, `Write it like '{"…": …}'.`);
      continue;
    }
    const written = value[key];
    value[key] = { ...(isRecord(written) ? written : {}), ...block };
    given.set(key, { variable, names: new Set(Object.keys(block)), alone: !isRecord(written) });
  }
  if (textOf(env, REFUSED) !== "")
    fail(
      `${REFUSED} asks for encryption of what is stored, which this version does not do.`,
      "Unset it to store without.",
    );
  if (given.size === 0) return { source, diagnostics };
  const variableOf = ([key, name]: readonly (string | number)[]): string | undefined => {
    const block = given.get(String(key));
    const isGiven = name === undefined ? block?.alone : block?.names.has(String(name));
    return isGiven === true ? block?.variable : undefined;
  };
  return { source: source.overlaid(value, variableOf), diagnostics };
}

const textOf = (env: ProcessEnv, variable: string): string => env[variable]?.trim() ?? "";
