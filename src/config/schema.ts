// The one description of the config file: what it may hold, what this version does with each key, and the README's table.
// Types, unknown keys, did-you-mean and warnings are all read from here, so they cannot drift apart.
import { z } from "zod";
import { count, flag, free, group, headerFilter, key, keyMeta, required, text, texts, version } from "./schema-keys.ts";
import type { ConfigKey } from "./schema-keys.ts";
import { keyRows, schemaIn } from "./schema-walk.ts";
import type { ConfigPath } from "./source.ts";

const GRAPH = '"./file.ts:export" or {"path": "./file.ts:export", "description": "…"}';

const cors = {
  allow_origins: texts(
    "acts",
    "Origins that may call from a browser; requests of others that change something are refused. With `auth.path`, `*` does not count for " +
      "requests with cookies: name the origin, or set `allow_credentials`.",
    { default: '["*"]' },
  ),
  allow_methods: texts("acts", "Methods that other origins may use.", { default: "all" }),
  allow_headers: texts("acts", "Request headers that other origins may send.", { default: "all" }),
  allow_credentials: flag(
    "acts",
    "Whether other origins may send cookies and authorization; with `*` in `allow_origins`, every page may.",
  ),
  allow_origin_regex: text("acts", "A regular expression for further origins that may call."),
  expose_headers: texts("acts", "Response headers that scripts of other origins may read.", {
    default: "Content-Location, Location, X-Pagination-Total, X-Pagination-Next, X-Request-Id",
  }),
  max_age: count("acts", "Seconds for which a browser may remember a preflight answer.", { default: "600" }),
};

const http = {
  app: text(
    "acts",
    "A Hono app, an h3 app or a function `(request) => Response`: its routes and middleware come first.",
    {
      type: '"./file.ts:export"',
    },
  ),
  cors: group("acts", "Which other origins may call the server from a browser.", cors),
  disable_assistants: flag("acts", "Do not serve /assistants."),
  disable_threads: flag("acts", "Do not serve /threads."),
  disable_runs: flag("acts", "Do not serve runs."),
  disable_store: flag("acts", "Do not serve /store."),
  disable_meta: flag("acts", "Do not serve /, /info, /metrics, /docs and /openapi.json; /ok stays."),
  disable_mcp: flag("acts", "Do not serve /mcp."),
  disable_a2a: flag("acts", "Do not serve /a2a and the agent cards."),
  disable_ui: flag("acts", "Do not serve /ui."),
  disable_webhooks: flag("acts", "Send no webhooks; runs that ask for one run all the same."),
  mount_prefix: text("acts", "A path in front of all routes, such as /api; /ok answers without it, too."),
  configurable_headers: headerFilter(
    "acts",
    "Which request headers are copied into the configurable of the runs that they start.",
  ),
  logging_headers: headerFilter(
    "acts",
    "Which request headers `dev --log-requests` shows; of those that carry secrets the names only.",
  ),
  middleware_order: key(
    {
      type: '"auth_first" or "middleware_first"',
      default: "middleware_first",
      effect: "acts",
      description: "Whether authentication comes before the middleware of `http.app` or behind it.",
    },
    z.enum(["auth_first", "middleware_first"]),
  ),
  enable_custom_route_auth: flag(
    "acts",
    "Whether the routes of `http.app` need authentication; it then comes before the app in either order.",
  ),
};

const auth = {
  path: text("acts", "The module and export with the `Auth` object that authenticates and authorises every request.", {
    type: '"./file.ts:export"',
    json: { examples: ["./src/auth.ts:auth"] },
  }),
  disable_studio_auth: flag(
    "acts",
    "Whether Studio must authenticate like any other client. If not, `x-auth-scheme: langsmith` is taken from Studio's pages on this machine, and from everybody behind a tunnel or port forward that ends on it.",
  ),
  openapi: free("acts", "`securitySchemes`, `security` and `paths` for the OpenAPI document."),
  cache: group("acts", "How long an authentication result is remembered; without it every request is authenticated.", {
    cache_keys: texts("acts", "Headers that tell one caller from another: all that `authenticate` looks at.", {
      default: '["authorization", "x-api-key", "cookie"]',
    }),
    ttl_seconds: key(
      {
        type: "number",
        default: "60",
        effect: "acts",
        description: "Seconds until a remembered result is forgotten.",
        expected: "a number of seconds greater than 0",
      },
      z.number().positive(),
    ),
    max_size: key(
      {
        type: "integer",
        default: "1000",
        effect: "acts",
        description: "The number of remembered results.",
        expected: "a whole number, 1 or more",
      },
      z.int().min(1),
    ),
  }),
  allow_langsmith_api_keys: flag("not yet", "Whether a LangSmith API key is accepted as well.", {
    missing: "only LangSmith can check its keys; all requests go to auth.path",
  }),
};

const webhooks = {
  env_prefix: text("acts", "Prefix of the variables that header templates may name.", { default: "LG_WEBHOOK_" }),
  headers: key(
    {
      type: "{name: string}",
      default: "",
      effect: "acts",
      description:
        "Headers of every webhook of a run, with `${{ env.NAME }}` templates; not of A2A push notifications, whose address is the caller's choice. A variable that is missing or has another prefix stops the server from starting.",
    },
    z.record(z.string(), z.string()),
  ),
  url: group("acts", "Which webhook URLs are accepted.", {
    allowed_domains: texts(
      "acts",
      "Exact hosts, or `*.example.com` for all names below (not `example.com` itself). Not set: any.",
    ),
    allowed_ports: key(
      {
        type: "integer[]",
        default: "",
        effect: "acts",
        description: "Ports that a URL may have; a URL without one has 443 (https) or 80 (http). Not set: any.",
      },
      z.array(
        z.int().min(1).max(65_535).register(keyMeta, {
          type: "integer",
          default: "",
          effect: "acts",
          description: "One port.",
          expected: "a whole number from 1 to 65535",
        }),
      ),
    ),
    require_https: flag("acts", "Whether http:// URLs are refused."),
    max_url_length: count("acts", "The longest URL that is accepted, in characters.", { default: "65536" }),
    disable_loopback: flag(
      "acts",
      "Whether relative URLs and this machine's own addresses, in any spelling or by name, are refused.",
    ),
  }),
};

const agentServer = {
  webhooks: group("acts", "How webhooks are delivered.", {
    secret: text(
      "acts",
      "Signs deliveries as Standard Webhooks says: plain text, or base64 behind `whsec_`; may be a template as in `webhooks.headers`.",
    ),
    timeout_seconds: key(
      {
        type: "number",
        default: "10",
        effect: "acts",
        description: "Seconds for one attempt.",
        expected: "a number of seconds greater than 0 and at most 300",
      },
      z.number().positive().max(300),
    ),
    max_attempts: key(
      {
        type: "integer",
        default: "8",
        effect: "acts",
        description: "Attempts until a delivery is given up.",
        expected: "a whole number from 1 to 100",
      },
      z.int().min(1).max(100),
    ),
  }),
  crons: group("acts", "How crons fire.", {
    catch_up: key(
      {
        type: '"skip" or "once"',
        default: "skip",
        effect: "acts",
        description: "A firing that was missed while the server was down: left out, or made once at start.",
      },
      z.enum(["skip", "once"]),
    ),
  }),
};

const store = {
  index: group("acts", "Semantic search in the store.", {
    dims: required(
      {
        type: "integer",
        effect: "acts",
        description: "Dimensions of the embedding.",
        expected: "a whole number, 1 or more",
        write: "It is the number of dimensions of the embedding, such as 1536.",
      },
      z.int().min(1),
    ),
    embed: required(
      {
        type: '"./file.ts:export" or "provider:model"',
        effect: "acts",
        description: "The embedding: a function `(texts) => vectors` or an Embeddings object of yours, or a model.",
        write: 'Write "./src/embed.ts:embed" for a function of yours, or "openai:text-embedding-3-small" for a model.',
        json: { examples: ["./src/embed.ts:embed", "openai:text-embedding-3-small"] },
      },
      z.string(),
    ),
    fields: texts("acts", "The fields of an item to embed, as `title`, `a.b`, `a[0]`, `a[*].b`; `$` is all of it.", {
      default: '["$"]',
    }),
  }),
  ttl: group("acts", "Expiry of the store's items.", {
    refresh_on_read: flag("acts", "Whether reading an item starts its time anew.", { default: "true" }),
    default_ttl: key(
      {
        type: "number",
        default: "",
        effect: "acts",
        description: "Minutes until an item expires that is put without a ttl; never by default.",
        expected: "a number of minutes greater than 0",
      },
      z.number().positive(),
    ),
    sweep_interval_minutes: key(
      {
        type: "number",
        default: "",
        effect: "acts",
        description:
          "Minutes between two sweeps of expired items; without it they are deleted when met or at a later put.",
        expected: "a number of minutes greater than 0",
      },
      z.number().positive(),
    ),
  }),
};

const OWN_STORAGE = "checkpoints stay in the server's own storage";
const minutes = z.number().positive();
const MINUTES = "a number of minutes greater than 0";

const checkpointer = {
  path: text("not yet", "A custom checkpointer.", { type: '"./file.ts:export"', missing: OWN_STORAGE }),
  backend: text("not yet", "Where checkpoints are kept.", { default: "default", missing: OWN_STORAGE }),
  ttl: group("acts", "Expiry of threads and checkpoints.", {
    strategy: key(
      {
        type: '"delete" or "keep_latest"',
        default: "delete",
        effect: "acts",
        description: "Whether an expired thread goes as a whole, or all its checkpoints but the latest.",
      },
      z.enum(["delete", "keep_latest"]),
    ),
    default_ttl: key(
      {
        type: "number",
        default: "",
        effect: "acts",
        description: "Minutes after its last activity when a thread expires; for threads that are made from now on.",
        expected: MINUTES,
      },
      minutes,
    ),
    sweep_interval_minutes: key(
      {
        type: "number",
        default: "5",
        effect: "acts",
        description: "Least minutes between two sweeps of expired threads.",
        expected: MINUTES,
      },
      minutes,
    ),
    sweep_limit: key(
      {
        type: "integer",
        default: "1000",
        effect: "acts",
        description: "The most threads that one sweep takes.",
        expected: "a whole number, 1 or more",
      },
      z.int().min(1),
    ),
  }),
  serde: free("not yet", "How checkpoints are serialised.", { missing: "the server serialises them in its own way" }),
};

const env = key(
  {
    type: "path, {NAME: value} or NAME[]",
    default: "",
    effect: "acts",
    description:
      "Environment of the graphs: an env file, variables, or names that must be set. Numbers keep their spelling. The process's own win.",
    expected: 'the path of an env file, an object of variables or a list of names, such as ".env" or {"NAME": "value"}',
  },
  z.union([
    z.string(),
    z.array(z.string()),
    z.record(
      z.string(),
      z.union([z.string(), z.number(), z.boolean()]).register(keyMeta, {
        type: "string",
        default: "",
        effect: "acts",
        description: "One variable.",
        expected: "a string, a number, true or false",
      }),
    ),
  ]),
);

/** A file, a colon and the name of an export. */
const graphPath = () =>
  z.string().register(keyMeta, {
    type: '"./file.ts:export"',
    default: "",
    effect: "acts",
    description: "The file that exports the graph, and the name of the export.",
    json: { pattern: ":[^:/\\\\]+$", examples: ["./src/agent.ts:graph"] },
  });

const graph = z
  .union([
    graphPath(),
    z.object({
      path: graphPath(),
      description: text("acts", "What the graph does; the description of its assistant."),
    }),
  ])
  .register(keyMeta, { type: GRAPH, default: "", effect: "acts", description: "One graph.", expected: GRAPH });

const graphs = required(
  {
    type: '{id: "./file.ts:export" or {path, description?}}',
    effect: "acts",
    description: "The graphs to serve: an id, and the file and export of each.",
    expected: 'an object of graph ids, such as {"agent": "./src/agent.ts:graph"}',
    json: { minProperties: 1 },
  },
  z.record(z.string(), graph),
);

/** The config file. */
export const configSchema = z.object({
  $schema: text("tolerated", "A JSON schema for editors."),
  graphs,
  env,
  http: group("acts", "The HTTP server.", http),
  disable_persistence: flag("acts", "Keep all state in memory: it is gone when the server stops."),
  auth: group("acts", "Authentication and authorisation.", auth),
  webhooks: group("acts", "Rules and headers for webhooks.", webhooks),
  agent_server: group("acts", "Settings that only this server has.", agentServer),
  store: group("acts", "The long-term store.", store),
  checkpointer: group("acts", "Checkpoints.", checkpointer),
  encryption: group(
    "not yet",
    "Encryption of stored data.",
    { path: text("not yet", "The module and export with the handlers.", { type: '"./file.ts:export"' }) },
    "stored data is NOT encrypted",
  ),
  dependencies: texts("tolerated", "Packages of Python graphs."),
  node_version: version("Node version of the image.", "20", ["20", "22", "24"]),
  node_loader: text("tolerated", "The loader of TypeScript. This server has its own.", { default: "tsx" }),
  ui: key(
    {
      type: "{name: path}",
      default: "",
      effect: "acts",
      description: "UI components of the graphs: a module for each graph, whose default export has the components.",
    },
    z.record(z.string(), z.string()),
  ),
  ui_config: group("acts", "Settings of the UI components.", {
    shared: texts("acts", "Packages that the components share with the page, beside React and the SDK."),
  }),
  python_version: version("Python version of the image.", "3.11", ["3.11", "3.12", "3.13"]),
  api_version: version("Version of the image's server.", ""),
  _INTERNAL_docker_tag: text("tolerated", "Tag of the base image."),
  base_image: text("tolerated", "Base image."),
  image_distro: text("tolerated", "Linux distribution of the image.", {
    json: { examples: ["debian", "wolfi", "bookworm"] },
  }),
  pip_config_file: text("tolerated", "Configuration of pip."),
  pip_installer: text("tolerated", "auto, pip or uv.", {
    default: "auto",
    json: { examples: ["auto", "pip", "uv"] },
  }),
  source: group("tolerated", "Where Python sources come from.", {
    kind: text("tolerated", "The kind of source: uv.", { json: { examples: ["uv"] } }),
    root: text("tolerated", "Folder of the workspace."),
    package: text("tolerated", "Package of the workspace."),
  }),
  dockerfile_lines: texts("tolerated", "Further lines of the Dockerfile."),
  keep_pkg_tools: key(
    {
      type: "boolean or string[]",
      default: "false",
      effect: "tolerated",
      description: "Package tools left in the image.",
    },
    z.union([z.boolean(), z.array(z.string())]),
  ),
  docker_compose_file: text("tolerated", "Further services for docker compose."),
});

/** A config file that satisfies the schema. */
export type ConfigInput = z.infer<typeof configSchema>;

/** Every key of the config file, in the schema's order; keys inside objects as `http.cors.max_age`. The docs are made of it. */
export function configKeys(): ConfigKey[] {
  return keyRows(configSchema);
}

/** The schema at `path` of the config, or undefined when it does not say. */
export function schemaAt(path: ConfigPath): z.core.$ZodType | undefined {
  return schemaIn(configSchema, path);
}
