// What the hosted platform and its build tool would refuse although this server takes it (wire-api §5.1, §6): worth knowing before a deployment,
// and no reason to fail.
import { existsSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { diagnosticAt, formatPath, isRecord, type ConfigPath, type ConfigSource } from "../../config/source.ts";
import type { Diagnostic, ProjectConfig } from "../../config/types.ts";
import { isLoopbackHost } from "../../webhooks/addresses.ts";

/** The values that it takes, of keys that this server has no use for. */
const CHOICES: readonly (readonly [path: ConfigPath, values: readonly string[]])[] = [
  [["node_version"], ["20", "22", "24"]],
  [["image_distro"], ["debian", "wolfi", "bookworm"]],
  [["pip_installer"], ["auto", "pip", "uv"]],
  [["source", "kind"], ["uv"]],
  [
    ["checkpointer", "backend"],
    ["default", "mongo", "custom"],
  ],
];

/** One warning for everything that would be refused. */
export function hostedWarnings(source: ConfigSource, { root, graphs }: ProjectConfig): Diagnostic[] {
  const warn = (path: ConfigPath, message: string, hint?: string): Diagnostic =>
    source.report(path, "value", { severity: "warning", message, hint });
  return [
    ...syntax(source),
    ...choices(source, warn),
    ...variables(source, warn),
    ...webhooks(source, warn),
    ...files(),
  ];

  function files(): Diagnostic[] {
    const outside = graphs.filter(({ file }) => isOutside(file, root));
    return [
      ...outside.map(({ id }) =>
        warn(
          isRecord(valueAt(source, ["graphs", id])) ? ["graphs", id, "path"] : ["graphs", id],
          `Graph "${id}" lies outside of the folder of the config, which is all that the hosted platform gets.`,
        ),
      ),
      ...(existsSync(join(root, "package.json"))
        ? []
        : [
            warn(
              ["graphs"],
              `There is no package.json in ${root}: the hosted platform would install no packages.`,
              "npm init",
            ),
          ]),
    ];
  }
}

type Warn = (path: ConfigPath, message: string, hint?: string) => Diagnostic;

function syntax({ file, text, format, extras }: ConfigSource): Diagnostic[] {
  const at = (offset: number, length: number, message: string, hint: string): Diagnostic[] => [
    diagnosticAt(file, text, { offset, length }, { severity: "warning", message, hint }),
  ];
  if (format === "yaml") {
    return at(0, 1, "The hosted platform does not read YAML.", "Write it as langgraph.json before you deploy.");
  }
  const [first] = extras;
  if (first === undefined) return [];
  const message = "The hosted platform reads JSON without comments and trailing commas.";
  const hint = `Remove ${extras.length === 1 ? "it" : `all ${extras.length}`} before you deploy.`;
  return at(first.offset, first.length, message, hint);
}

function choices(source: ConfigSource, warn: Warn): Diagnostic[] {
  return CHOICES.flatMap(([path, values]) => {
    const value = valueAt(source, path);
    if (value === undefined || value === null || values.includes(value as string)) return [];
    const name = formatPath(path);
    const known = values.map((each) => JSON.stringify(each)).join(", ");
    const hint = values.includes(String(value)) ? `Write ${JSON.stringify(String(value))}.` : undefined;
    return [
      warn(path, `"${name}" must be ${values.length > 1 ? "one of " : ""}${known} for the hosted platform.`, hint),
    ];
  });
}

function variables(source: ConfigSource, warn: Warn): Diagnostic[] {
  const { env } = source.value;
  return Object.entries(isRecord(env) ? env : {}).flatMap(([name, value]) => {
    if (typeof value !== "number" && typeof value !== "boolean") return [];
    const message = `"${formatPath(["env", name])}" must be text for the hosted platform.`;
    return [warn(["env", name], message, `Write ${JSON.stringify(String(value))}.`)];
  });
}

function webhooks(source: ConfigSource, warn: Warn): Diagnostic[] {
  const url = valueAt(source, ["webhooks", "url"]);
  const rules = isRecord(url) ? url : {};
  if (!isRecord(source.value["webhooks"]) || valueAt(source, ["http", "disable_webhooks"]) === true) return [];
  if (rules["disable_loopback"] === true) return [];
  const domains: unknown[] = Array.isArray(rules["allowed_domains"]) ? rules["allowed_domains"] : [];
  const local = domains.flatMap((domain, index) =>
    typeof domain === "string" && isLoopbackHost(domain)
      ? [
          warn(
            ["webhooks", "url", "allowed_domains", index],
            `The hosted platform refuses webhooks to its own machine, such as ${domain}.`,
          ),
        ]
      : [],
  );
  if (local.length > 0) return local;
  const message = "The hosted platform refuses webhooks to its own machine: relative URLs and those of localhost.";
  const hint = 'Set "webhooks.url.disable_loopback" to true, and this server refuses them, too.';
  return [warn(isRecord(url) ? ["webhooks", "url"] : ["webhooks"], message, hint)];
}

function valueAt({ value }: ConfigSource, path: ConfigPath): unknown {
  let at: unknown = value;
  for (const part of path) at = isRecord(at) ? at[part] : undefined;
  return at;
}

function isOutside(file: string, root: string): boolean {
  const path = relative(root, file);
  return path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path);
}
