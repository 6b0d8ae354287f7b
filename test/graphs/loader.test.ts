import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { frameOfError } from "../../src/graphs/errors.ts";
import { graphSource, project, hostOf, reply, start } from "./project.ts";

const cases: Record<string, { files: Record<string, string>; target?: string; reply: unknown }> = {
  TypeScript: {
    files: { "graph.ts": graphSource("Kind.B", "enum Kind { A, B }; type Unused = string;") },
    reply: 1,
  },
  JavaScript: {
    files: {
      "graph.js": graphSource(`"js"`)
        .replace("Annotation<string>", "Annotation")
        .replace("Annotation<unknown>", "Annotation"),
    },
    target: "graph.js",
    reply: "js",
  },
  "TypeScript with an extension that names its format": {
    files: {
      "graph.mts": graphSource("word", `import { word } from "./word.cjs";`),
      "word.cts": `export const word: string = "cts";`,
    },
    target: "graph.mts",
    reply: "cts",
  },
  "a path with blanks and other letters": {
    files: {
      "my gräph/[a] (b)/100%.ts": graphSource("word", `import { word } from "./it's.ts";`),
      "my gräph/[a] (b)/it's.ts": `export const word = "odd";`,
    },
    target: "my gräph/[a] (b)/100%.ts",
    reply: "odd",
  },
  "TSX with a pragma": {
    files: {
      "graph.tsx": `/** @jsxRuntime classic @jsx h */\n${graphSource(
        "<b>x</b>",
        "const h = (tag: string, _props: unknown, text: string) => `<${tag}>${text}`;",
      )}`,
    },
    target: "graph.tsx",
    reply: "<b>x",
  },
  "tsconfig paths": {
    files: {
      "tsconfig.json": `{ "compilerOptions": { "paths": { "@lib/*": ["./src/lib/*"] } } }`,
      "src/graph.ts": graphSource("word", `import { word } from "@lib/word";`),
      "src/lib/word.ts": `export const word = "aliased";`,
    },
    target: "src/graph.ts",
    reply: "aliased",
  },
  JSON: {
    files: {
      "graph.ts": graphSource("data.word", `import data from "./data.json" with { type: "json" };`),
      "data.json": `{ "word": "from json" }`,
    },
    reply: "from json",
  },
  "top-level await": {
    files: { "graph.ts": graphSource("word", `const word: string = await Promise.resolve("awaited");`) },
    reply: "awaited",
  },
  "imports of .js that mean .ts": {
    files: {
      "graph.ts": graphSource("word", `import { word } from "./word.js";`),
      "word.ts": `export const word: string = "ts";`,
    },
    reply: "ts",
  },
  "import.meta": {
    files: {
      "graph.ts": graphSource(
        "[import.meta.filename, import.meta.url].map((text) => text.endsWith('/graph.ts')).concat(import.meta.resolve('./x.js').startsWith('file:'))",
      ),
    },
    reply: [true, true, true],
  },
  CommonJS: {
    files: {
      "package.json": "{}",
      "graph.cjs": `
        const { Annotation, StateGraph } = require("@langchain/langgraph");
        const { word } = require("./word");
        let optional = "none";
        try { optional = require("not-there"); } catch {}
        const State = Annotation.Root({ reply: Annotation });
        exports.graph = new StateGraph(State)
          .addNode("answer", () => ({ reply: [word, optional, typeof require("fs").readFileSync, __dirname === __filename.slice(0, -10)] }))
          .addEdge("__start__", "answer");`,
      "word.js": `module.exports.word = "cjs";`,
    },
    target: "graph.cjs",
    reply: ["cjs", "none", "function", true],
  },
};

for (const [name, { files, target, reply: expected }] of Object.entries(cases)) {
  test(`loads ${name}`, async () => {
    const started = await start(files, `${target ?? "graph.ts"}:graph`);
    expect(started.events.map(({ type }) => type)).toEqual(["loaded"]);
    expect(await reply(started)).toEqual(expected);
  });
}

test("serves a project that lies in node_modules itself, as the demo does", async () => {
  const files = project(
    {
      "node_modules/agent-server/templates/demo/graph.ts": graphSource(
        "explode()",
        `import { explode } from "./tools/explode.ts";`,
      ),
      "node_modules/agent-server/templates/demo/tools/explode.ts": `export function explode(): never {\n  throw new Error("found");\n}`,
    },
    { modules: false },
  );
  const folder = "node_modules/agent-server/templates/demo";
  symlinkSync(
    join(import.meta.dirname, "../../node_modules/@langchain"),
    files.path("node_modules/@langchain"),
    "junction",
  );
  const tested = hostOf(files.config({ agent: `${folder}/graph.ts:graph` }, { root: files.path(folder), demo: true }));
  await tested.host.start();
  expect(tested.events.map(({ type }) => type)).toEqual(["loaded"]);
  const error: unknown = await reply(tested).catch((thrown: unknown) => thrown);
  expect(frameOfError(error, files.path(folder))).toMatchObject({
    message: "found",
    location: { file: files.path(`${folder}/tools/explode.ts`), line: 2 },
  });
});

test("transforms a linked workspace package that exports TypeScript", async () => {
  const app = project({
    "app/graph.ts": graphSource("shout('hi')", `import { shout } from "@acme/text";`),
    "packages/text/package.json": `{ "name": "@acme/text", "type": "module", "exports": "./src/index.ts" }`,
    "packages/text/src/index.ts": `export { shout } from "./shout.ts";`,
    "packages/text/src/shout.ts": `export function shout(text: string): string { return text.toUpperCase(); }`,
  });
  mkdirSync(app.path("app/node_modules/@acme"), { recursive: true });
  symlinkSync(app.path("packages/text"), app.path("app/node_modules/@acme/text"), "junction");
  const host = hostOf(app.config({ agent: "app/graph.ts:graph" }, { root: app.path("app") }));
  await host.host.start();
  expect(await reply(host)).toBe("HI");
});

test("gives user code the LangGraph that the runtime has", async () => {
  const started = await start(
    {
      "graph.ts": graphSource(
        "[StateGraph, AIMessage, MemorySaver]",
        `import { AIMessage } from "@langchain/core/messages"; import { MemorySaver } from "@langchain/langgraph-checkpoint";`,
      ),
    },
    "graph.ts:graph",
  );
  const { langgraph, messages, checkpoint } = await started.host.runtime();
  const [StateGraph, AIMessage, MemorySaver] = (await reply(started)) as unknown[];
  expect(StateGraph).toBe(langgraph["StateGraph"]);
  expect(AIMessage).toBe(messages["AIMessage"]);
  expect(MemorySaver).toBe(checkpoint["MemorySaver"]);
  expect(MemorySaver).toBe(langgraph["MemorySaver"]);
});

test("gives CommonJS code the same instance too", async () => {
  const started = await start(
    {
      "package.json": "{}",
      "graph.cjs": `const lg = require("@langchain/langgraph"); exports.graph = new lg.StateGraph(lg.MessagesAnnotation).addNode("a", () => ({})).addEdge("__start__", "a");`,
    },
    "graph.cjs:graph",
  );
  const graph = await (await started.host.get("agent")).resolve({});
  const { langgraph } = await started.host.runtime();
  expect(graph.constructor).toBe(langgraph["CompiledStateGraph"]);
});

test("ignores a vite config, reads no .env, leaves NODE_ENV alone and writes nothing into the project", async () => {
  const files = {
    "graph.ts": graphSource("[process.env.NODE_ENV ?? null, import.meta.env.VITE_SECRET ?? null]"),
    "vite.config.ts": `throw new Error("must not be read");`,
    "postcss.config.js": `throw new Error("must not be read");`,
    ".env": "VITE_SECRET=1",
  };
  const before = process.env["NODE_ENV"];
  delete process.env["NODE_ENV"];
  try {
    const started = await start(files, "graph.ts:graph");
    expect(await reply(started)).toEqual([null, null]);
    const found = readdirSync(started.root, { recursive: false }).toSorted();
    expect(found).toEqual([...Object.keys(files), "langgraph.json", "node_modules", "package.json"].toSorted());
  } finally {
    process.env["NODE_ENV"] = before;
  }
});
