// `agent-server check`: everything that is wrong with a project at once, and nothing that its code does reaches the command itself.
import { chmodSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { hostedWarnings } from "../../src/cli/check/hosted.ts";
import type { CheckReport } from "../../src/cli/check/report.ts";
import { inspectConfig } from "../../src/config/load.ts";
import type { Diagnostic } from "../../src/config/types.ts";
import { asNobody } from "../config/project.ts";
import { start } from "./helpers/built.ts";
import { call, finish } from "./helpers/io.ts";
import { folderWith, projectWith } from "./helpers/project.ts";

// Each check starts a process, and another one where types have to be read.
vi.setConfig({ testTimeout: 60_000 });

/** JavaScript: only in the types of TypeScript is more to be read, which takes seconds. */
const GRAPH = `import { Annotation, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ topic: Annotation() });
const builder = new StateGraph(State).addNode("write", () => ({ topic: "x" })).addEdge("__start__", "write");
export const graph = builder.compile();
`;
const BASE = { "package.json": '{ "type": "module" }', "src/agent.js": GRAPH };
const GOOD = { graphs: { agent: "./src/agent.js:graph" } };

const config = (value: object): Record<string, string> => ({ "langgraph.json": JSON.stringify(value, null, 2) });

/** Runs the built command: what it starts for the project's code is what users get. */
async function run(cwd: string, args: readonly string[], env: Record<string, string> = {}) {
  const child = start(["check", ...args], { cwd, env });
  return { code: await child.ended, ...child.output };
}

async function check(cwd: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await run(cwd, ["--json", ...args], env);
  return { code, stderr, report: JSON.parse(stdout) as CheckReport };
}

/** `file:line:column message`, with paths as they are written in the project. */
function lines(diagnostics: readonly Diagnostic[], cwd: string): string[] {
  return diagnostics.map(({ location, message }) => {
    const place = location ? `${location.file}:${location.line}:${location.column} ` : "";
    return `${place}${message}`.replaceAll(`${cwd}/`, "");
  });
}

describe("a good project", () => {
  it("passes, with the schemas of its graphs as far as their types tell", async () => {
    const cwd = projectWith({
      ...BASE,
      "src/agent.ts": GRAPH.replace("Annotation()", "Annotation<string>"),
      ...config({ graphs: { agent: "./src/agent.ts:graph" } }),
    });
    const { code, stderr, report } = await check(cwd);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(report).toMatchObject({
      ok: true,
      file: join(cwd, "langgraph.json"),
      errors: [],
      warnings: [],
      graphs: [{ id: "agent", file: join(cwd, "src", "agent.ts"), export: "graph", ok: true }],
    });
    expect(report.graphs[0]?.schemas?.state_schema).toMatchObject({ properties: { topic: { type: "string" } } });
  });

  it("is one line for people", async () => {
    const cwd = projectWith({ ...BASE, ...config(GOOD) });
    const stdout = "langgraph.json: no problems; 1 graph loaded\n";
    expect(await run(cwd, [])).toEqual({ code: 0, stdout, stderr: "" });
  });

  it("may lie elsewhere, and has its env file", async () => {
    const files = {
      "app/langgraph.json": JSON.stringify({ ...GOOD, env: ".env" }),
      "app/package.json": "{}",
      "app/.env": "KEY=from the file\n",
      "app/src/agent.js": `if (process.env.KEY !== "from the file") throw new Error("no KEY");\n${GRAPH}`,
    };
    const cwd = projectWith(files);
    expect((await check(cwd, ["--config", "app"])).report).toMatchObject({ ok: true, warnings: [] });
    // The process wins.
    expect((await check(cwd, ["-c", "app"], { KEY: "other" })).report.errors).toMatchObject([
      { message: 'Graph "agent": no KEY', location: { line: 1 } },
    ]);
  });

  it("writes nothing", async () => {
    const cwd = projectWith({ ...BASE, ...config(GOOD) });
    const before = readdirSync(cwd).toSorted();
    await check(cwd);
    expect(readdirSync(cwd).toSorted()).toEqual(before);
  });
});

describe("everything that is wrong", () => {
  const files = {
    ...BASE,
    "src/broken.ts": 'import { x } from "./nowhere.ts";\nexport const graph = x;\n',
    "src/importer.ts": 'export { graph } from "./broken.ts";\n',
    "src/syntax.ts": "export const graph = (;\n",
    "src/throws.ts":
      'const key: string | undefined = undefined;\nif (!key) throw new Error("no key");\nexport const graph = 1;\n',
    "src/odd.ts":
      'export const number = 1;\nexport const makesNothing = () => 1;\nexport const demanding = (): never => {\n  throw new Error("no user");\n};\nexport const nothing = undefined;\nexport class Embeds {}\n',
    "src/ui.tsx": 'import missing from "not-installed";\nexport default { missing };\n',
    "langgraph.json": `{
  // all of it
  "graphs": {
    "agent": "./src/agent.js:graph",
    "broken": "./src/broken.ts:graph",
    "importer": "./src/importer.ts:graph",
    "syntax": "./src/syntax.ts:graph",
    "throws": "./src/throws.ts:graph",
    "typo": "./src/agent.js:grahp",
    "number": "./src/odd.ts:number",
    "makesNothing": "./src/odd.ts:makesNothing",
    "demanding": "./src/odd.ts:demanding",
    "absent": "./src/agnet.js:graph",
  },
  "env": "missing.env",
  "encryption": { "path": "./src/odd.ts:nothing" },
  "checkpointer": { "path": "./src/odd.ts" },
  "store": { "index": { "dims": 3, "embed": "./src/odd.ts:Embeds" } },
  "ui": { "agent": "./src/ui.tsx", "absent": "./ui.tsx" },
  "evn": {},
}
`,
  };

  it("is listed at once, in the config and in the code", async () => {
    const cwd = projectWith(files);
    const { code, report } = await check(cwd);
    expect(code).toBe(1);
    const errors = [
      'langgraph.json:13:15 The file of graph "absent" does not exist: src/agnet.js',
      'langgraph.json:17:29 "checkpointer.path" names no export: "./src/odd.ts" must end in ":export".',
      'langgraph.json:16:27 encryption.path: "nothing" is undefined',
      'langgraph.json:18:45 store.index.embed: "Embeds" embeds nothing: it is a class',
      'langgraph.json:9:13 Graph "typo": src/agent.js has no export "grahp"; it exports graph',
      'langgraph.json:10:15 Graph "number": "number" of src/odd.ts is no graph but a number',
      'langgraph.json:11:21 Graph "makesNothing": "makesNothing" of src/odd.ts is no graph but a number',
      'src/broken.ts:1:19 Graph "broken", Graph "importer": Cannot find file "./nowhere.ts"',
      'src/syntax.ts:1:23 Graph "syntax": Unexpected token',
      'src/throws.ts:2:17 Graph "throws": no key',
      expect.stringMatching(/^langgraph\.json:19:20 ui\.agent: .*failed to resolve import "not-installed"/),
    ];
    expect(lines(report.errors, cwd)).toHaveLength(errors.length);
    expect(lines(report.errors, cwd)).toEqual(expect.arrayContaining(errors));
    expect(lines(report.warnings, cwd)).toEqual(
      expect.arrayContaining([
        'langgraph.json:19:46 The UI components of "absent" do not exist: ui.tsx',
        "langgraph.json:15:10 The env file does not exist: missing.env",
        'langgraph.json:20:3 Unknown key "evn"; it is ignored.',
        "langgraph.json:2:3 The hosted platform reads JSON without comments and trailing commas.",
        'src/odd.ts:4:9 Graph "demanding": no user',
      ]),
    );
    for (const { frame } of report.errors) expect(frame).toMatch(/^>.*\n +\| +\^/m);
    expect(report.graphs.map(({ id, ok, schemas }) => [id, ok, schemas !== null])).toEqual([
      ["agent", true, true],
      ["broken", false, false],
      ["importer", false, false],
      ["syntax", false, false],
      ["throws", false, false],
      ["typo", false, false],
      ["number", false, false],
      ["makesNothing", false, false],
      ["demanding", true, false],
      ["absent", false, false],
    ]);
  });

  it("has a block each for people, then a summary", async () => {
    const cwd = projectWith({
      ...BASE,
      "src/throws.ts": files["src/throws.ts"],
      "langgraph.yaml":
        "graphs:\n  agent: ./src/agent.js:graph\n  throws: ./src/throws.ts:graph\nhttp:\n  disable_a2a: yes\n",
    });
    const { code, stdout, stderr } = await run(cwd, []);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(stdout.replaceAll(`${cwd}/`, ""))
      .toBe(`langgraph.yaml:5:16 - error: "http.disable_a2a" must be a boolean, not the string "yes": use true/false (YAML 1.2 reads yes, no, on and off as text).

  3 |   throws: ./src/throws.ts:graph
  4 | http:
> 5 |   disable_a2a: yes
    |                ^^^
  6 |

hint: Write true, without quotes.

src/throws.ts:2:17 - error: Graph "throws": no key

  1 | const key: string | undefined = undefined;
> 2 | if (!key) throw new Error("no key");
    |                 ^
  3 | export const graph = 1;
  4 |

langgraph.yaml:1:1 - warning: The hosted platform does not read YAML.

> 1 | graphs:
    | ^
  2 |   agent: ./src/agent.js:graph
  3 |   throws: ./src/throws.ts:graph

hint: Write it as langgraph.json before you deploy.

langgraph.yaml: 2 errors, 1 warning; 1 of 2 graphs loaded
`);
  });

  it("is coloured on a terminal only, and what files say does not drive it", async () => {
    const cwd = projectWith({ ...BASE, "langgraph.json": '{ "graphs": { "a\\u001b[31m": "./x.ts:y" } }' });
    const plain = await finish(["check"], { cwd });
    expect(plain.stdout).not.toContain("\u001b");
    const { stdout } = await finish(["check"], { cwd, tty: true });
    expect(stdout).toContain("\u001b[31merror:\u001b[39m");
    expect(stdout).not.toContain("a\u001b[31m");
  });
});

describe("code", () => {
  const withModule = (text: string, more: object = {}): string =>
    projectWith({ ...BASE, "src/more.js": text, ...config({ graphs: { more: "./src/more.js:graph" }, ...more }) });

  it("may print and leave things running: stdout is the result alone, and the command ends", async () => {
    const cwd = withModule(`import { createServer } from "node:http";
console.log("logged by the project");
process.stdout.write("written by the project\\n");
console.error("an error of the project");
setInterval(() => console.log("again"), 1);
createServer().listen(0);
${GRAPH}`);
    const { code, stderr, report } = await check(cwd);
    expect({ code, errors: report.errors }).toEqual({ code: 0, errors: [] });
    for (const text of ["logged by the project", "written by the project", "an error of the project"])
      expect(stderr).toContain(text);
    expect((await run(cwd, [])).stdout).toBe("langgraph.json: no problems; 1 graph loaded\n");
  });

  it("may throw where nobody catches it", async () => {
    const cwd = withModule(`void Promise.reject(new Error("stray"));\n${GRAPH}`);
    const { code, report } = await check(cwd);
    expect(code).toBe(0);
    expect(lines(report.warnings, cwd)).toEqual(["src/more.js:1:21 An error that nothing catches: stray"]);
  });

  it.each([
    [
      "calls process.exit",
      "process.exit(0);",
      "src/more.js:1:9",
      /^Graph "more": process\.exit\(0\) ends the whole server$/,
    ],
    [
      "kills its process",
      'process.kill(process.pid, "SIGKILL");',
      "langgraph.json:3:13",
      /^Graph "more": it ends the whole process \(SIGKILL\)$/,
    ],
    ["never ends", "for (;;);", "langgraph.json:3:13", /^Graph "more": not loaded within 1 s \(--timeout\)$/],
    [
      "waits for ever",
      "await new Promise(() => {});",
      "langgraph.json:3:13",
      /^Graph "more": not loaded within 1 s \(--timeout\)$/,
    ],
  ])("that %s is an error", async (_, text, place, message) => {
    const cwd = withModule(`${text}\nexport const graph = 1;\n`);
    const { code, report } = await check(cwd, message.source.includes("--timeout") ? ["--timeout", "1"] : []);
    expect(code).toBe(1);
    const [error] = report.errors;
    expect(lines(report.errors, cwd)).toHaveLength(1);
    expect(error?.message).toMatch(message);
    expect(`${error?.location?.file}:${error?.location?.line}:${error?.location?.column}`).toBe(join(cwd, place));
    expect(error?.frame).toContain("^");
    expect(report.graphs).toMatchObject([{ id: "more", ok: false }]);
  });

  it("may need what LANGGRAPH_CONFIG gives to its assistant", async () => {
    const cwd = withModule(`${GRAPH}
export const factory = ({ configurable }) => {
  if (configurable.user === undefined) throw new Error("no user");
  return builder;
};`);
    const path = join(cwd, "langgraph.json");
    const named = readFileSync(path, "utf8").replace(":graph", ":factory");
    const project = projectWith({
      ...BASE,
      "langgraph.json": named,
      "src/more.js": readFileSync(join(cwd, "src/more.js"), "utf8"),
    });
    const without = await check(project);
    expect(without.code).toBe(0);
    expect(without.report.warnings.map(({ message }) => message)).toEqual(['Graph "more": no user']);
    const env = { LANGGRAPH_CONFIG: JSON.stringify({ more: { configurable: { user: "ada" } } }) };
    const { report } = await check(project, [], env);
    expect(report.warnings).toEqual([]);
    expect(report.graphs[0]?.schemas?.state_schema).toMatchObject({ properties: { topic: {} } });
  });

  it("has its own checkpointer, as dev says", async () => {
    const cwd = withModule(`import { MemorySaver } from "@langchain/langgraph";
${GRAPH.replace("compile()", "compile({ checkpointer: new MemorySaver() })")}`);
    const { report } = await check(cwd);
    expect(report).toMatchObject({
      ok: true,
      warnings: [{ message: 'Graph "more" has its own checkpointer; the server\'s own takes over.' }],
    });
  });

  it("needs LangGraph, which is said once", async () => {
    const cwd = folderWith({ ...BASE, ...config(GOOD) });
    const { code, report } = await check(cwd);
    expect(code).toBe(1);
    expect(report.errors).toMatchObject([
      {
        message: `@langchain/langgraph is not installed in ${cwd}`,
        hint: expect.stringContaining("npm install @langchain/langgraph@"),
      },
    ]);
    expect(report.graphs).toMatchObject([{ id: "agent", ok: false, schemas: null }]);
  });

  it("that embeds may be of a provider that is not installed: a warning, for another machine may have it", async () => {
    const cwd = projectWith({
      ...BASE,
      ...config({ ...GOOD, store: { index: { dims: 3, embed: "cohere:embed-english-v3.0" } } }),
    });
    const { code, report } = await check(cwd);
    expect(code).toBe(0);
    expect(lines(report.warnings, cwd)).toEqual([
      "langgraph.json:8:16 store.index.embed: @langchain/cohere is not installed",
    ]);
  });

  it("that authenticates must be an Auth object with a handler, and covers everything", async () => {
    const auth = (text: string) =>
      projectWith({
        ...BASE,
        "src/auth.js": `import { Auth } from "@langchain/langgraph-sdk/auth";\n${text}\n`,
        ...config({ ...GOOD, auth: { path: "./src/auth.js:auth" } }),
      });
    const good = await check(auth('export const auth = new Auth().authenticate(() => "ada");'));
    expect(good.report).toMatchObject({ ok: true, warnings: [] });
    const bad = auth("export const auth = {};");
    const { code, report } = await check(bad);
    expect(code).toBe(1);
    expect(lines(report.errors, bad)).toEqual([
      expect.stringMatching(/^langgraph\.json:6:13 auth\.path: "auth" is no Auth object: it is /),
    ]);
    const partly = auth('export const auth = new Auth().authenticate(() => "ada").on("threads", () => true);');
    expect(lines((await check(partly)).report.warnings, partly)).toEqual([
      expect.stringMatching(/^langgraph\.json:6:13 auth\.path: has no handler for assistants:create, /),
    ]);
  });

  it("that serves must be an app", async () => {
    const files = {
      "src/app.ts": "export const app = (request: Request) => new Response(request.url);\nexport const no = 1;\n",
    };
    const good = projectWith({ ...BASE, ...files, ...config({ ...GOOD, http: { app: "./src/app.ts:app" } }) });
    expect((await check(good)).report.errors).toEqual([]);
    const bad = projectWith({ ...BASE, ...files, ...config({ ...GOOD, http: { app: "./src/app.ts:no" } }) });
    const { report } = await check(bad);
    expect(lines(report.errors, bad)).toEqual([
      expect.stringMatching(/^langgraph\.json:6:12 http\.app: "no" is no web app/),
    ]);
  });
});

describe("what the hosted platform refuses", () => {
  const cases: readonly (readonly [name: string, value: object, says: readonly string[]])[] = [
    [
      "another Node",
      { node_version: "18" },
      ['"node_version" must be one of "20", "22", "24" for the hosted platform.'],
    ],
    [
      "a number as the Node",
      { node_version: 20 },
      ['"node_version" must be one of "20", "22", "24" for the hosted platform.'],
    ],
    [
      "images of its own",
      { image_distro: "alpine", pip_installer: "poetry", source: { kind: "git" } },
      [
        '"image_distro" must be one of "debian", "wolfi", "bookworm" for the hosted platform.',
        '"pip_installer" must be one of "auto", "pip", "uv" for the hosted platform.',
        '"source.kind" must be "uv" for the hosted platform.',
      ],
    ],
    [
      "variables that are no text",
      { env: { PORT: 8080, DEBUG: true, NAME: "x" } },
      ['"env.PORT" must be text for the hosted platform.', '"env.DEBUG" must be text for the hosted platform.'],
    ],
    [
      "a list of variables that are not set",
      { env: ["AGENT_SERVER_TEST_UNSET"] },
      ["The environment variable AGENT_SERVER_TEST_UNSET is not set."],
    ],
    [
      "webhooks to itself",
      { webhooks: {} },
      ["The hosted platform refuses webhooks to its own machine: relative URLs and those of localhost."],
    ],
    [
      "webhooks to itself by name",
      { webhooks: { url: { allowed_domains: ["localhost", "127.0.0.1", "example.com"] } } },
      [
        "The hosted platform refuses webhooks to its own machine, such as localhost.",
        "The hosted platform refuses webhooks to its own machine, such as 127.0.0.1.",
      ],
    ],
    ["no webhooks to itself", { webhooks: { url: { disable_loopback: true } } }, []],
    ["no webhooks at all", { webhooks: {}, http: { disable_webhooks: true } }, []],
    ["what it takes", { node_version: "22", image_distro: "wolfi", env: { A: "b" } }, []],
  ];
  it.each(cases)("%s", async (_, value, says) => {
    const cwd = projectWith({ ...BASE, ...config({ ...GOOD, ...value }) });
    const { source, project, diagnostics } = await inspectConfig(join(cwd, "langgraph.json"), {});
    const warnings = [...diagnostics, ...hostedWarnings(source!, project)];
    expect(warnings.map(({ message }) => message)).toEqual(says);
    for (const { severity, location, frame } of warnings) {
      expect(severity).toBe("warning");
      expect(location?.file).toBe(join(cwd, "langgraph.json"));
      expect(frame).toContain("^");
    }
  });

  it("graphs that no image gets, and no packages", async () => {
    const cwd = projectWith({
      "src/agent.js": GRAPH,
      "app/langgraph.json": '{ "graphs": { "agent": "../src/agent.js:graph" } }',
    });
    const { code, report } = await check(cwd, ["--config", "app"]);
    expect(code).toBe(0);
    expect(lines(report.warnings, cwd)).toEqual([
      'app/langgraph.json:1:24 Graph "agent" lies outside of the folder of the config, which is all that the hosted platform gets.',
      `app/langgraph.json:1:13 There is no package.json in app: the hosted platform would install no packages.`,
    ]);
  });
});

describe("a config that cannot be read", () => {
  it("because it is a folder, empty, or of another encoding, is an error with its place", async () => {
    const folder = folderWith();
    mkdirSync(join(folder, "langgraph.json"));
    expect((await check(folder)).report).toMatchObject({
      ok: false,
      errors: [
        {
          message: `${join(folder, "langgraph.json")} is a folder; a file is needed.`,
          location: { file: join(folder, "langgraph.json"), line: 1, column: 1 },
        },
      ],
      graphs: [],
    });
    const empty = folderWith({ "langgraph.json": "" });
    const { code, stdout } = await finish(["check"], { cwd: empty });
    expect(code).toBe(1);
    expect(stdout).toContain("langgraph.json:1:1 - error: The file is empty.");
    expect(stdout).toMatch(/\nlanggraph\.json: 1 error\n$/);
  });

  it("because of its permissions is one, too", async () => {
    const cwd = folderWith({ "langgraph.json": "{}" });
    chmodSync(cwd, 0o755);
    chmodSync(join(cwd, "langgraph.json"), 0);
    const { code, stdout } = await asNobody(() => finish(["check", "--json"], { cwd }));
    expect(code).toBe(1);
    expect((JSON.parse(stdout) as CheckReport).errors).toMatchObject([
      { message: `No permission to read ${join(cwd, "langgraph.json")}.` },
    ]);
  });

  it.each([
    [[], /^error: There is no langgraph\.json, langgraph\.yaml or langgraph\.yml in .+\n.*agent-server init\n$/],
    [["--config", "other.json"], /^error: There is no config file or folder at .+other\.json\.\n/],
    [["--timeout", "0"], /^error: .*whole number from 1 to 3600/],
  ])("because it is not there is a mistake of the command line: %j", async (args, message) => {
    const { code, stdout, stderr } = await finish(["check", "--json", ...args], { cwd: folderWith() });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });
});

describe("without a config file", () => {
  it("the platform's variables are what is checked, as dev takes them", async () => {
    const cwd = projectWith(BASE);
    const graphs = JSON.stringify({ mine: "./src/agent.js:graph", gone: "./src/gone.js:graph" });
    const { code, report } = await check(cwd, [], { LANGSERVE_GRAPHS: graphs, LANGGRAPH_HTTP: '{"disable_mcp":1}' });
    expect(code).toBe(1);
    expect(report).toMatchObject({
      file: null,
      graphs: [
        { id: "mine", ok: true },
        { id: "gone", ok: false },
      ],
    });
    expect(lines(report.errors, cwd)).toEqual([
      'LANGGRAPH_HTTP: "http.disable_mcp" must be true or false, not the number 1.',
      'LANGSERVE_GRAPHS: The file of graph "gone" does not exist: src/gone.js',
    ]);
    const good = await run(cwd, [], { LANGSERVE_GRAPHS: '{"mine":"./src/agent.js:graph"}' });
    expect(good).toEqual({ code: 0, stdout: "The environment: no problems; 1 graph loaded\n", stderr: "" });
  });

  it("so are those that dev refuses, and those for the demo", async () => {
    const env = { LANGGRAPH_ENCRYPTION: '{"path":"./e.ts:e"}' };
    const { code, stdout } = await finish(["check"], { cwd: projectWith(), env });
    expect(code).toBe(1);
    expect(stdout).toContain("LANGGRAPH_ENCRYPTION asks for encryption");
    expect(stdout).toContain("The environment: 1 error; 1 graph loaded\n");
  });
});

it("Ctrl-C ends it and the project's code", async () => {
  const cwd = projectWith({
    ...BASE,
    "src/more.js": 'console.log("begun " + process.pid);\nfor (;;);\n',
    ...config({ graphs: { more: "./src/more.js:graph" } }),
  });
  const started = call(["check"], { cwd });
  const [, pid] = /begun (\d+)/.exec(await started.seen("stderr", /begun \d+\n/)) ?? [];
  started.signal("SIGINT");
  expect(await started.exitCode).toBe(130);
  expect(() => process.kill(Number(pid), 0)).toThrow("ESRCH");
});
