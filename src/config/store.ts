// The `store` key: how long items live and what makes them searchable by meaning. Types are checked by the schema; here is what takes
// more than one key, and what a path needs to be of use.
import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { isModuleFile, MODULE_EXTENSIONS, splitGraphPath } from "./graph-path.ts";
import type { ConfigInput } from "./schema.ts";
import { isRecord } from "./source.ts";
import type { ConfigSource, Problem } from "./source.ts";
import type { Diagnostic, EmbeddingSource, StoreConfig } from "./types.ts";

const EMBED = ["store", "index", "embed"] as const;
const EXAMPLES =
  'Write "./src/embed.ts:embed" for a function of yours, or "openai:text-embedding-3-small" for a model.';

/**
 * Checks what the schema cannot: that an index is complete, and that a file is there.
 * @param root Folder that a relative path counts from.
 */
export function checkStore(source: ConfigSource, root: string): Diagnostic[] {
  const { store } = source.value;
  const index = isRecord(store) ? store["index"] : undefined;
  if (!isRecord(index)) return [];
  const report = (path: readonly string[], problem: Omit<Problem, "severity">): Diagnostic =>
    source.report(path, "value", { severity: "error", ...problem });
  const missing = (name: string, hint: string): Diagnostic[] => {
    const isThere = index[name] !== undefined && index[name] !== null;
    return isThere ? [] : [report(["store", "index"], { message: `"store.index.${name}" is missing.`, hint })];
  };
  const { embed } = index;
  const problem = typeof embed === "string" ? problemOf(embed, root) : undefined;
  return [
    ...missing("dims", "It is the number of dimensions of the embedding, such as 1536."),
    ...missing("embed", EXAMPLES),
    ...(problem === undefined ? [] : [report(EMBED, problem)]),
  ];
}

/** What the server acts on; undefined when the config says nothing about the store. Only for a config without errors. */
export function storeOf(input: ConfigInput, source: ConfigSource, root: string): StoreConfig | undefined {
  const { ttl, index } = input.store ?? {};
  if (!ttl && !index) return undefined;
  const embed = index?.embed ?? "";
  return {
    ttl: {
      defaultMinutes: ttl?.default_ttl ?? undefined,
      refreshOnRead: ttl?.refresh_on_read ?? true,
      sweepMinutes: ttl?.sweep_interval_minutes ?? undefined,
    },
    ...(index
      ? {
          index: {
            dims: index.dims ?? 0,
            fields: index.fields ?? ["$"],
            embed,
            source: sourceOf(embed, root),
            location: source.locate(EMBED, "value"),
          },
        }
      : {}),
  };
}

function sourceOf(embed: string, root: string): EmbeddingSource {
  const { file, exportName = "" } = splitGraphPath(embed);
  if (isPath(embed)) return { file: resolve(root, file), exportName };
  const colon = embed.indexOf(":");
  return { provider: embed.slice(0, colon), model: embed.slice(colon + 1) };
}

/** Whether it names a file and not a provider. */
function isPath(embed: string): boolean {
  const { file } = splitGraphPath(embed);
  return embed.startsWith(".") || isAbsolute(embed) || isModuleFile(file) || /\.pyi?$/i.test(file);
}

function problemOf(embed: string, root: string): Omit<Problem, "severity"> | undefined {
  const quoted = JSON.stringify(embed);
  if (!isPath(embed)) {
    if (/^[A-Za-z][\w-]*:./.test(embed)) return undefined;
    return {
      message: `"store.index.embed" is neither a file and export nor a provider and model: ${quoted}.`,
      hint: EXAMPLES,
    };
  }
  const { file, exportName } = splitGraphPath(embed);
  if (/\.pyi?$/i.test(file)) {
    const message = `"store.index.embed" (${quoted}) is a Python function; agent-server runs TypeScript and JavaScript only.`;
    return { message, hint: EXAMPLES };
  }
  if (!isModuleFile(file)) {
    const message = `"store.index.embed" must name a TypeScript or JavaScript file, not ${JSON.stringify(file)}.`;
    return { message, hint: `The file must end in ${MODULE_EXTENSIONS.join(", ")}.` };
  }
  if (exportName === undefined || exportName === "") {
    const message = `"store.index.embed" names no export: ${quoted} must end in ":export".`;
    return { message, hint: `Write "${file}:embed" for export const embed, or "${file}:default" for export default.` };
  }
  const absolute = resolve(root, file);
  if (existsSync(absolute)) return undefined;
  const message = `The file of "store.index.embed" does not exist: ${absolute}`;
  return { message, hint: `Paths count from the folder of the config file, ${root}.` };
}
