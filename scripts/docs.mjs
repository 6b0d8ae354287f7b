// Writes the reference tables of README.md from the program itself, so that they cannot be wrong: commands and flags, variables,
// exit codes, config keys, routes. Reads dist/, so build first. `--check` changes nothing and exits with 1 when README.md is stale.
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = join(import.meta.dirname, "..");
const README = join(ROOT, "README.md");

/** Variables that are read outside of the command line, which `src/cli/environment.ts` does not list. */
const MORE_VARIABLES = [
  [
    "BG_JOB_TIMEOUT_SECS",
    "seconds that a run may take before it ends with status `timeout`; default `3600`, at most `2147483`",
  ],
  [
    "HTTP_MAX_REQUEST_BODY_BYTES",
    "the largest request body that `dev` accepts; default `67108864` (64 MiB), larger: 413",
  ],
  ["LANGCHAIN_API_KEY", "another name of `LANGSMITH_API_KEY`, for traces"],
  ["LANGCHAIN_TRACING", "another name of `LANGSMITH_TRACING`"],
  ["LANGCHAIN_TRACING_V2", "another name of `LANGSMITH_TRACING`"],
  ["LANGGRAPH_API_KEY", "used when `AGENT_SERVER_API_KEY` is not set"],
  ["LANGGRAPH_AUTH", "JSON, as the config key `auth`. This and its like win over the config file, name by name"],
  ["LANGGRAPH_CHECKPOINTER", "JSON, as the config key `checkpointer`"],
  [
    "LANGGRAPH_CONFIG",
    'JSON `{"graph": {…config, "context": {…}}}`: config and context of the assistants that the graphs of the config have',
  ],
  ["LANGGRAPH_ENCRYPTION", "refused: this version does not encrypt what it stores"],
  ["LANGGRAPH_HTTP", "JSON, as the config key `http`"],
  [
    "LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS",
    "milliseconds that a request for schemas waits for TypeScript types to be read; default `30000`. Afterwards it gets what is known without them",
  ],
  ["LANGGRAPH_STORE", "JSON, as the config key `store`"],
  ["LANGGRAPH_UI", "JSON, as the config key `ui`"],
  ["LANGGRAPH_UI_CONFIG", "JSON, as the config key `ui_config`"],
  ["LANGGRAPH_WEBHOOKS", "JSON, as the config key `webhooks`"],
  ["LANGSERVE_GRAPHS", "JSON, as the config key `graphs`; a project without a config file may have its graphs here"],
  ["LANGSMITH_API_KEY", "used when neither of the two is set; LangSmith's own key as well, for traces of runs"],
  [
    "LANGSMITH_TRACING",
    "`true`, with a key: LangGraph itself sends traces of runs to LangSmith, and `/info` says `langsmith: true`",
  ],
  ["LANGSMITH_TRACING_V2", "another name of `LANGSMITH_TRACING`"],
  ["NODE_ENV", "left as you set it: your graphs see your value, not the one that Vite would give it"],
  [
    "RESUMABLE_STREAM_TTL_SECONDS",
    "seconds that the events of runs with `stream_resumable` are kept behind the end of their run; default `120`",
  ],
  ["npm_command", "set by npm and npx themselves; printed commands then begin with `npx agent-server`"],
];

const EFFECTS = [
  ["acts", "Keys that act", "What they say is what happens."],
  [
    "not yet",
    "Keys without effect in this version",
    "They are known and their types are checked. Setting one prints a warning that says what does not happen.",
  ],
  ["tolerated", "Keys for other tools", "Accepted silently: they are for building images, for Python, or for editors."],
];

/**
 * The generated parts of README.md by name.
 * @param {object} source the modules that they are made from; see `load`.
 * @returns {Record<string, string>}
 */
export function tables(source) {
  return {
    routes: routeTable(source.routes),
    commands: commandSections(source),
    environment: table(["Variable", "Meaning"], variables(source)),
    "exit-codes": table(
      ["Code", "Meaning"],
      source.EXIT_CODES.map(([code, meaning]) => [`${code}`, meaning]),
    ),
    config: configTables(source.configKeys()),
  };
}

/** Every variable that the program reads, with its meaning. */
function variables({ ENVIRONMENT }) {
  const known = new Set(ENVIRONMENT.map(([name]) => name));
  return [...ENVIRONMENT, ...MORE_VARIABLES.filter(([name]) => !known.has(name))].map(([name, meaning]) => [
    code(name),
    meaning,
  ]);
}

function commandSections({ commandTables, buildProgram, processIo }) {
  // Its tables of variables and exit codes stand in sections of their own here.
  const [commands] = commandTables().split("\n\n### Environment\n");
  const { options } = buildProgram(processIo()).program;
  const rows = options.map(({ flags, description }) => [code(flags), description]);
  const shared = ["### Every command", table(["Flag", "Meaning"], [...rows, [code("-h, --help"), "print help"]])];
  return [commands, ...shared].join("\n\n");
}

function routeTable(operations) {
  const rows = operations.map(({ method, path, summary }) => [
    code(`${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`),
    summary,
  ]);
  return table(["Route", "What it does"], rows);
}

function configTables(keys) {
  return EFFECTS.map(([effect, title, text]) => {
    const rows = keys
      .filter((key) => key.effect === effect)
      .map(({ key, type, default: fallback, description }) => [
        code(key),
        code(type),
        fallback === "" || fallback === "required" ? fallback : code(fallback),
        description,
      ]);
    return [`### ${title}`, text, table(["Key", "Type", "Default", "Meaning"], rows)].join("\n\n");
  }).join("\n\n");
}

function table(heading, rows) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(heading), line(heading.map(() => "---")), ...rows.map(line)].join("\n");
}

const code = (text) => `\`${text}\``;

/** The lines around a generated part, and what is between them: the formatter must leave the part alone. */
const first = (name) => `<!-- generated: ${name}; npm run docs -->\n`;
const last = (name) => `<!-- end of ${name} -->`;
const between = (part) => `<!-- prettier-ignore-start -->\n\n${part}\n\n<!-- prettier-ignore-end -->\n`;

/**
 * `text` with every generated part as it should be.
 * @param {string} text @param {Record<string, string>} parts
 */
export function withTables(text, parts) {
  let result = text;
  for (const [name, part] of Object.entries(parts)) {
    const { start, end } = find(result, name);
    result = result.slice(0, start) + between(part) + result.slice(end);
  }
  return result;
}

/**
 * The parts of `text` that are not as they should be, each with its first line that differs.
 * @param {string} text @param {Record<string, string>} parts
 * @returns {{name: string, line: number, found: string, wanted: string}[]}
 */
export function stale(text, parts) {
  return Object.entries(parts).flatMap(([name, part]) => {
    const { start, end } = find(text, name);
    if (text.slice(start, end) === between(part)) return [];
    const found = text.slice(start, end).split("\n");
    const wanted = between(part).split("\n");
    const at = wanted.findIndex((line, i) => line !== found[i]);
    const i = at < 0 ? wanted.length : at;
    const line = text.slice(0, start).split("\n").length + i;
    return [{ name, line, found: found[i] ?? "(nothing)", wanted: wanted[i] ?? "(nothing)" }];
  });
}

function find(text, name) {
  const at = text.indexOf(first(name));
  const end = text.indexOf(last(name), at);
  if (at < 0 || end < 0) throw new Error(`README.md has no place for the generated part "${name}"`);
  return { start: at + first(name).length, end };
}

/**
 * The operations that a server has when the config switches nothing off.
 * @param {(route: (operation: object) => void, services: object) => void} register `registerRoutes` of src/server/routes.ts
 */
export function operationsOf(register) {
  const operations = [];
  // Nothing is called but the registration itself, so nothing of the services is needed.
  register((operation) => void operations.push(operation), { http: {} });
  return operations;
}

/** Loads what `tables` needs from a folder of built modules. */
async function load(folder) {
  const from = (path) => import(pathToFileURL(join(folder, path)).href);
  const modules = await Promise.all([
    from("cli/reference.js"),
    from("cli/program.js"),
    from("cli/io.js"),
    from("cli/environment.js"),
    from("config/schema.js"),
  ]);
  const { registerRoutes } = await from("server/routes.js");
  return { ...Object.assign({}, ...modules), routes: operationsOf(registerRoutes) };
}

async function main(args) {
  const parts = tables(await load(join(ROOT, "dist")));
  const text = readFileSync(README, "utf8");
  if (!args.includes("--check")) return writeFileSync(README, withTables(text, parts));
  const differences = stale(text, parts);
  for (const { name, line, found, wanted } of differences) {
    console.error(`README.md:${line}: the part "${name}" is stale\n- ${found}\n+ ${wanted}`);
  }
  if (differences.length === 0) return;
  console.error("Write it anew with: npm run docs");
  process.exitCode = 1;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  await main(process.argv.slice(2));
