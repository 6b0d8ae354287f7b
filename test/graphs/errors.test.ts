import { expect, test } from "vitest";
import type { Diagnostic } from "../../src/config/types.ts";
import { frameOfError, GraphLoadError } from "../../src/graphs/errors.ts";
import { graphSource, hostOf, project, reply, start } from "./project.ts";

/** The diagnostic of loading `graph.ts` among these files. */
async function diagnosticOf(
  files: Record<string, string>,
  target = "graph.ts:graph",
): Promise<{ root: string; diagnostic: Diagnostic; error: GraphLoadError }> {
  const { root, host, next } = await start(files, target);
  const { error } = await next("failed");
  if (!(error instanceof GraphLoadError)) throw error;
  await expect(host.get("agent")).rejects.toBe(error);
  return { root, diagnostic: error.diagnostic, error };
}

test("a syntax error shows the user's own line", async () => {
  const { root, diagnostic, error } = await diagnosticOf({
    "graph.ts": `interface A { a: string }\n\nexport const graph: A = { a: ;\n`,
  });
  expect(diagnostic).toEqual({
    severity: "error",
    message: "Unexpected token",
    location: { file: `${root}/graph.ts`, line: 3, column: 30 },
    frame: [
      "  1 | interface A { a: string }",
      "  2 |",
      "> 3 | export const graph: A = { a: ;",
      `    | ${" ".repeat(29)}^`,
      "  4 |",
    ].join("\n"),
  });
  expect(error.message).toBe(`Graph "agent": Unexpected token (${root}/graph.ts:3:30)`);
  expect(error.id).toBe("agent");
});

test("a syntax error of an imported JavaScript file is found in that file", async () => {
  const { root, diagnostic } = await diagnosticOf({
    "graph.ts": graphSource("1", `import "./lib/broken.js";`),
    "lib/broken.js": "export const a = 1;\nexport const = 2;\n",
  });
  expect(diagnostic).toMatchObject({
    message: "Unexpected token",
    location: { file: `${root}/lib/broken.js`, line: 2, column: 14 },
  });
});

test("a broken JSON file is found", async () => {
  const { root, diagnostic } = await diagnosticOf({
    "graph.ts": graphSource("data", `import data from "./data.json";`),
    "data.json": `{\n  "a": 1,\n  oops\n}`,
  });
  expect(diagnostic).toMatchObject({ location: { file: `${root}/data.json`, line: 3, column: 3 } });
  expect(diagnostic.message).not.toContain("position");
});

const missing: Record<string, { statement: string; message: string; hint?: string }> = {
  "a file": { statement: `import { a } from "./nope.ts";`, message: `Cannot find file "./nope.ts"` },
  "a package": {
    statement: `import { a } from "@acme/not-there/sub";`,
    message: `Cannot find module "@acme/not-there/sub"`,
    hint: "npm install @acme/not-there",
  },
  "an alias": {
    statement: `import { a } from "@/not-there";`,
    message: `Cannot find module "@/not-there"`,
    hint: "Check `paths` in tsconfig.json or `imports` in package.json.",
  },
};
for (const [name, { statement, message, hint }] of Object.entries(missing)) {
  test(`an import of ${name} that is missing shows the import`, async () => {
    const { root, diagnostic } = await diagnosticOf({ "graph.ts": `\n${statement}\nexport const graph = a;` });
    const location = { file: `${root}/graph.ts`, line: 2, column: 19 };
    expect(diagnostic).toMatchObject({ message, location, ...(hint === undefined ? {} : { hint }) });
    const carets = "^".repeat(statement.length - "import { a } from ;".length);
    expect(diagnostic.frame).toContain(`> 2 | ${statement}\n    | ${" ".repeat(18)}${carets}\n`);
  });
}

test("a name that a package does not export shows the import", async () => {
  const { root, diagnostic } = await diagnosticOf({
    "graph.ts": `import {\n  StateGraph,\n  StateGrpah,\n} from "@langchain/langgraph";\nexport const graph = [StateGraph, StateGrpah];`,
  });
  expect(diagnostic).toMatchObject({
    message: "The requested module '@langchain/langgraph' does not provide an export named 'StateGrpah'",
    location: { file: `${root}/graph.ts`, line: 3, column: 3 },
  });
});

test("an exception while a module is evaluated shows where it was thrown", async () => {
  const { root, diagnostic } = await diagnosticOf({
    "graph.ts": `import { check } from "./check.ts";\nexport const graph = check({});\n`,
    "check.ts": `interface Options { key?: string }\n\ntype Unused = 1;\nexport function check(options: Options): never {\n  throw new TypeError(\`bad key \${options.key}\`);\n}\n`,
  });
  expect(diagnostic).toMatchObject({
    message: "TypeError: bad key undefined",
    location: { file: `${root}/check.ts`, line: 5, column: 9 },
  });
  expect(diagnostic.frame).toContain("> 5 |   throw new TypeError(");
});

test("an exception of a package shows the user's call", async () => {
  const { root, diagnostic } = await diagnosticOf({
    "graph.ts": `import { StateGraph, Annotation } from "@langchain/langgraph";\nconst State = Annotation.Root({ a: Annotation<string> });\nexport const graph = new StateGraph(State)\n  .addNode("a", () => ({}));\n`,
  });
  expect(diagnostic).toMatchObject({ location: { file: `${root}/graph.ts`, line: 4, column: 4 } });
});

test("a thrown value that is no error is still told", async () => {
  const { root, diagnostic } = await diagnosticOf({ "graph.ts": `throw "plain text";` });
  // There is no stack: the config names the graph.
  expect(diagnostic).toMatchObject({
    message: "plain text",
    location: { file: `${root}/langgraph.json`, line: 2, column: 3 },
  });
});

test("a missing export names those that exist and guesses", async () => {
  const { root, diagnostic } = await diagnosticOf(
    { "graph.ts": `${graphSource("1")} export const other = 1;` },
    "graph.ts:grpah",
  );
  expect(diagnostic).toMatchObject({
    message: `graph.ts has no export "grpah"; it exports builder, graph, other`,
    hint: `Did you mean "graph"?`,
    location: { file: `${root}/langgraph.json`, line: 2, column: 3 },
  });
  expect(diagnostic.frame).toContain(`> 2 |   "agent": "graph.ts:grpah"`);
});

test("an export that is no graph is refused", async () => {
  const { diagnostic } = await diagnosticOf({ "graph.ts": "export const graph = new Map();" });
  expect(diagnostic).toMatchObject({ message: `"graph" of graph.ts is no graph but an object of class Map` });
});

test("a graph file that does not exist is told where the config names it", async () => {
  const { root, diagnostic } = await diagnosticOf({}, "src/none.ts:graph");
  expect(diagnostic).toMatchObject({
    message: "src/none.ts does not exist",
    location: { file: `${root}/langgraph.json` },
  });
});

test("a path that no module can have is told", async () => {
  const { diagnostic } = await diagnosticOf({ "a#b/graph.ts": graphSource("1") }, "a#b/graph.ts:graph");
  expect(diagnostic.message).toBe('a#b/graph.ts cannot be loaded from a path with "#" or "?"');
});

test("decorators without the setting that they need point at the first of them", async () => {
  const files = {
    "graph.ts": `const text = \`\n@no decorator\`;\n${graphSource("new A().x")}\nclass A {\n  @bind x: number = 1;\n}\nfunction bind(..._: unknown[]) {}`,
  };
  const { root, diagnostic } = await diagnosticOf(files);
  const message = 'Decorators need "experimentalDecorators": true in tsconfig.json';
  expect(diagnostic).toMatchObject({ message, location: { file: `${root}/graph.ts`, line: 12, column: 3 } });
  const config = `{ "compilerOptions": { "experimentalDecorators": true } }`;
  const started = await start({ ...files, "tsconfig.json": config }, "graph.ts:graph");
  expect(await reply(started)).toBe(1);
});

test("an exception of a node at run time has the user's frame", async () => {
  const started = await start(
    {
      "graph.ts": graphSource("await explode(state as never)", `import { explode } from "./explode.ts";`),
      "explode.ts": `type Deep = { deep: { er: string } };\n\nexport async function explode(state: Deep): Promise<string> {\n  await Promise.resolve();\n  return state.deep.er;\n}\n`,
    },
    "graph.ts:graph",
  );
  const error: unknown = await reply(started).catch((thrown: unknown) => thrown);
  expect(frameOfError(error, started.root)).toEqual({
    severity: "error",
    message: "TypeError: Cannot read properties of undefined (reading 'er')",
    location: { file: started.path("explode.ts"), line: 5, column: 21 },
    frame: expect.stringContaining("> 5 |   return state.deep.er;") as string,
  });
  expect((error as Error).stack).toMatch(/explode \(.*explode\.ts:5:21\)\n.*graph\.ts:5:\d+/);
});

test("the frame of an error is that of its cause when its own stack has none", async () => {
  const files = project({ "graph.ts": `export const inner = new Error("inner");\nexport const graph = 1;` });
  const { host, next } = hostOf(files.config({ agent: "graph.ts:graph" }));
  await host.start();
  await next("failed");
  const inner = Object.assign(new Error("inner"), { stack: `Error: inner\n    at f (${files.path("graph.ts")}:1:22)` });
  const outer = Object.assign(new Error("outer", { cause: inner }), {
    stack: "Error: outer\n    at g (node:internal/x:1:1)",
  });
  expect(frameOfError(outer, files.root)).toMatchObject({ message: "outer", location: { line: 1, column: 22 } });
});

test("frames of packages and of Node are nobody's own", () => {
  const error = Object.assign(new Error("x"), {
    stack:
      "Error: x\n    at f (/p/node_modules/a/index.js:1:1)\n    at node:internal/process/task_queues:95:5\n    at <anonymous>",
  });
  expect(frameOfError(error, "/p")).toBeNull();
  expect(frameOfError("text", "/p")).toBeNull();
});
