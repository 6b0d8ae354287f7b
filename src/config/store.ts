// The `store` key: how long items live and what makes them searchable by meaning. Types are checked by the schema; here is what a
// path needs to be of use.
import { isAbsolute, resolve } from "node:path";
import { exportPathProblem } from "./export-path.ts";
import { fieldPathProblem } from "./field-paths.ts";
import { isModuleFile, splitGraphPath } from "./graph-path.ts";
import type { ConfigInput } from "./schema.ts";
import { isRecord } from "./source.ts";
import type { ConfigSource, Problem } from "./source.ts";
import type { Diagnostic, EmbeddingSource, StoreConfig } from "./types.ts";

const EMBED = ["store", "index", "embed"] as const;
const EXAMPLES =
  'Write "./src/embed.ts:embed" for a function of yours, or "openai:text-embedding-3-small" for a model.';

/**
 * Checks what the schema cannot: that what embeds is a file that is there, or a model of a provider, and that fields lead somewhere.
 * @param root Folder that a relative path counts from.
 */
export function checkStore(source: ConfigSource, root: string): Diagnostic[] {
  const { store } = source.value;
  const index = isRecord(store) ? store["index"] : undefined;
  const embed = isRecord(index) ? index["embed"] : undefined;
  const fields = isRecord(index) ? index["fields"] : undefined;
  const problem = typeof embed === "string" ? problemOf(embed, root) : undefined;
  return [
    ...(problem === undefined ? [] : [source.report(EMBED, "value", { severity: "error", ...problem })]),
    ...(Array.isArray(fields) ? fields : []).flatMap((field: unknown, at) => {
      const flaw = typeof field === "string" ? fieldPathProblem(field) : undefined;
      if (flaw === undefined) return [];
      return [source.report(["store", "index", "fields", at], "value", { severity: "error", ...flaw })];
    }),
  ];
}

/** What the server acts on; undefined when the config says nothing about the store. Only for a config without errors. */
export function storeOf(input: ConfigInput, source: ConfigSource, root: string): StoreConfig | undefined {
  const { ttl, index } = input.store ?? {};
  if (!ttl && !index) return undefined;
  return {
    ttl: {
      defaultMinutes: ttl?.default_ttl ?? undefined,
      refreshOnRead: ttl?.refresh_on_read ?? true,
      sweepMinutes: ttl?.sweep_interval_minutes ?? undefined,
    },
    ...(index
      ? {
          index: {
            dims: index.dims,
            fields: index.fields ?? ["$"],
            embed: index.embed,
            source: sourceOf(index.embed, root),
            location: source.locate(EMBED, "value"),
          },
        }
      : {}),
  };
}

function sourceOf(embed: string, root: string): EmbeddingSource {
  const { file, exportName = "" } = splitGraphPath(embed);
  if (namesFile(embed)) return { file: resolve(root, file), exportName };
  const colon = embed.indexOf(":");
  return { provider: embed.slice(0, colon), model: embed.slice(colon + 1) };
}

/** Whether the value of `store.index.embed` names a file and not a provider. */
export function namesFile(embed: string): boolean {
  const { file } = splitGraphPath(embed);
  return embed.startsWith(".") || isAbsolute(embed) || isModuleFile(file) || /\.pyi?$/i.test(file);
}

function problemOf(embed: string, root: string): Omit<Problem, "severity"> | undefined {
  const quoted = JSON.stringify(embed);
  if (!namesFile(embed)) {
    if (/^[A-Za-z][\w-]*:./.test(embed)) return undefined;
    return {
      message: `"store.index.embed" is neither a file and export nor a provider and model: ${quoted}.`,
      hint: EXAMPLES,
    };
  }
  return exportPathProblem("store.index.embed", embed, "embed", root);
}
