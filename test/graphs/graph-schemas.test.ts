import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { SchemaSource, type SubgraphQuery } from "../../src/graphs/graph-schemas.ts";
import type { JsonSchema } from "../../src/graphs/json-schema.ts";
import { graphSchemas } from "../../src/graphs/schemas.ts";
import type { GraphSchemas, LangGraphRuntime } from "../../src/graphs/types.ts";
import { hostOf, project, start, type TestHost } from "./project.ts";

const MESSAGES = { type: "array", items: { type: "object", required: ["content"] }, langgraph_type: "messages" };
const HEAD = `import { Annotation, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
`;
/** Ends a chain of a graph with one node; in the chain, so that its type is kept. */
const TAIL = `.addNode("node_", () => ({})).addEdge("__start__", "node_").compile()`;

// Reading types is a second or two of computing, and much more on a machine that is busy.
vi.setConfig({ testTimeout: 120_000 });

// Node tells of every process that is started.
const children: ChildProcess[] = [];
const onChild = (message: unknown): void => {
  children.push((message as { process: ChildProcess }).process);
};

let runtime: LangGraphRuntime;
let folder: string;
let shared: TestSource;

interface TestSource {
  readonly source: SchemaSource;
  readonly warnings: string[];
  /** Ids of the graphs whose types were read. */
  readonly extracted: string[];
}

function sourceOf(cacheDir: string | null): TestSource {
  const warnings: string[] = [];
  const extracted: string[] = [];
  const source = new SchemaSource({
    cacheDir,
    runtime: () => Promise.resolve(runtime),
    onWarning: (message) => warnings.push(message),
    onExtract: ({ id }) => extracted.push(id),
  });
  return { source, warnings, extracted };
}

beforeAll(async () => {
  subscribe("child_process", onChild);
  folder = mkdtempSync(join(tmpdir(), "agent-server-schemas-"));
  runtime = await hostOf(project({}).config({})).host.runtime();
  // One process reads the types of most tests.
  shared = sourceOf(null);
});
afterEach(() => {
  vi.useRealTimers();
  expect(shared.warnings).toEqual([]);
});
afterAll(async () => {
  await shared.source.close();
  rmSync(folder, { recursive: true, force: true });
  unsubscribe("child_process", onChild);
});

/** The processes that `work` starts. */
async function startedBy(work: () => Promise<unknown>): Promise<ChildProcess[]> {
  const before = children.length;
  await work();
  return children.slice(before);
}

async function ask({ host }: TestHost, { source } = shared): Promise<GraphSchemas> {
  const version = await host.get("agent");
  const schemas = await source.of(host.spec("agent"), version, await version.resolve({}));
  expectWhole(schemas);
  return schemas;
}

async function askSubgraphs({ host }: TestHost, query: SubgraphQuery): Promise<Record<string, GraphSchemas>> {
  const version = await host.get("agent");
  const found = await shared.source.subgraphs(host.spec("agent"), version, await version.resolve({}), query);
  for (const schemas of Object.values(found)) expectWhole(schemas);
  return found;
}

/** Schemas of what `code` exports as `graph`. */
async function schemasOf(code: string, more: Record<string, string> = {}): Promise<GraphSchemas> {
  return ask(await start({ "src/graph.ts": `${HEAD}${code}`, ...more }, "src/graph.ts:graph"));
}

/** Schemas of the fields of an Annotation state. */
async function fieldsOf(fields: string, code = ""): Promise<Record<string, JsonSchema>> {
  const { state_schema } = await schemasOf(`${code}
    export const graph = new StateGraph(Annotation.Root({ ${fields} }))${TAIL};`);
  return propertiesOf(state_schema);
}

const propertiesOf = (schema: JsonSchema | null): Record<string, JsonSchema> =>
  schema?.["properties"] as Record<string, JsonSchema>;

/** Every schema must be one, and every reference must lead somewhere inside it. */
function expectWhole(schemas: GraphSchemas): void {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  for (const schema of Object.values(schemas) as (JsonSchema | null)[]) {
    if (schema !== null) expect(ajv.compile(schema)).toBeTypeOf("function");
  }
}

test("plain types of an Annotation", async () => {
  const fields = await fieldsOf(
    `
    /** What is searched for. */
    word: Annotation<string>,
    count: Annotation<number>,
    maybe: Annotation<boolean | undefined>,
    empty: Annotation<string | null>,
    list: Annotation<string[]>({ reducer: (a: string[], b: string | string[]) => a.concat(b), default: () => [] }),
    frozen: Annotation<readonly { id: number }[]>,
    mode: Annotation<"fast" | "slow">,
    fixed: Annotation<"only">,
    mixed: Annotation<"a" | 1 | 2 | true>,
    table: Annotation<Record<string, number>>,
    known: Annotation<Partial<Record<"x" | "y", number>>>,
    pair: Annotation<[string, number?]>,
    rest: Annotation<[string, ...number[]]>,
    when: Annotation<Date>,
    link: Annotation<URL>,
    id: Annotation<string & { readonly brand: unique symbol }>,
    route: Annotation<\`/\${string}\`>,
    any: Annotation<any>,
    set: Annotation<Set<string>>,
    object: Annotation<object>,`,
  );
  expect(fields).toEqual({
    word: { type: "string", description: "What is searched for." },
    count: { type: "number" },
    maybe: { type: "boolean" },
    empty: { anyOf: [{ type: "null" }, { type: "string" }] },
    list: { type: "array", items: { type: "string" } },
    frozen: {
      type: "array",
      items: { type: "object", properties: { id: { type: "number" } }, required: ["id"] },
    },
    mode: { type: "string", enum: ["fast", "slow"] },
    fixed: { type: "string", const: "only" },
    mixed: {
      anyOf: [
        { type: "boolean", const: true },
        { type: "string", const: "a" },
        { type: "number", enum: [1, 2] },
      ],
    },
    table: { type: "object", additionalProperties: { type: "number" } },
    known: { type: "object", properties: { x: { type: "number" }, y: { type: "number" } } },
    pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], minItems: 1, maxItems: 2 },
    rest: { type: "array", prefixItems: [{ type: "string" }], items: { type: "number" }, minItems: 1 },
    when: { type: "string", format: "date-time" },
    link: { type: "string", format: "uri" },
    id: { type: "string" },
    route: { type: "string" },
    any: {},
    set: {},
    object: { type: "object" },
  });
});

test("what is required, in the state and in the input", async () => {
  const { state_schema, input_schema, output_schema } = await schemasOf(`
    export const graph = new StateGraph(Annotation.Root({
      ...MessagesAnnotation.spec,
      word: Annotation<string>,
      maybe: Annotation<string | undefined>,
      sum: Annotation<number, string>({ reducer: (a, b) => a + Number(b), default: () => 0 }),
    }))${TAIL};`);
  expect(state_schema?.["required"]).toEqual(["messages", "word", "sum"]);
  expect(propertiesOf(output_schema)["sum"]).toEqual({ type: "number" });
  // An update of a reducer is of another type than its value.
  expect(propertiesOf(input_schema)["sum"]).toEqual({ type: "string" });
  expect(input_schema).not.toHaveProperty("required");
});

test("interfaces, classes, enums and intersections", async () => {
  const fields = await fieldsOf(
    `user: Annotation<User>, color: Annotation<Color>, level: Annotation<Level.High | Level.Low>, both: Annotation<User & { extra: 1 }>, shape: Annotation<Shape>`,
    `
    enum Color { Red = "red", Blue = "blue" }
    enum Level { Low, Middle, High }
    class Base { private secret = 1; protected inner = 2; #hidden = 3; shown = 4; method() {} get computed() { return "x"; } }
    interface Address {
      /** Of the town. */
      zip?: string;
      lines: string[];
    }
    interface User extends Base { name: string; address: Address; notify?: (text: string) => void }
    type Shape = { kind: "circle"; radius: number } | { kind: "square"; side: number };`,
  );
  const user = {
    name: { type: "string" },
    address: {
      type: "object",
      properties: {
        zip: { type: "string", description: "Of the town." },
        lines: { type: "array", items: { type: "string" } },
      },
      required: ["lines"],
    },
    shown: { type: "number" },
    computed: { type: "string" },
  };
  expect(fields["user"]?.["properties"]).toEqual(user);
  expect(fields["color"]).toEqual({ type: "string", enum: ["red", "blue"] });
  expect(fields["level"]).toEqual({ type: "number", enum: [0, 2] });
  expect(fields["both"]?.["properties"]).toEqual({ ...user, extra: { type: "number", const: 1 } });
  expect(fields["shape"]).toMatchObject({
    anyOf: [
      { properties: { kind: { const: "circle" }, radius: { type: "number" } } },
      { properties: { kind: { const: "square" }, side: { type: "number" } } },
    ],
  });
});

test("types that contain themselves", async () => {
  const { state_schema: schema } = await schemasOf(`
    interface Tree { name: string; children: Tree[]; parent?: Tree }
    type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
    type Grows<T> = { value: T; more?: Grows<T[]> };
    export const graph = new StateGraph(Annotation.Root({
      tree: Annotation<Tree>, again: Annotation<Tree>, json: Annotation<Json>, grows: Annotation<Grows<string>>,
    }))${TAIL};`);
  const tree = { $ref: "#/$defs/Tree" };
  expect(propertiesOf(schema)).toMatchObject({ tree, again: tree, json: { $ref: "#/$defs/Json" } });
  expect(schema?.["$defs"]).toMatchObject({
    Tree: { properties: { name: { type: "string" }, children: { type: "array", items: tree }, parent: tree } },
    Json: { anyOf: expect.arrayContaining([{ type: "array", items: { $ref: "#/$defs/Json" } }]) as unknown[] },
  });
  // This one has no end; it is cut.
  expect(JSON.stringify(propertiesOf(schema)["grows"]).length).toBeLessThan(20_000);
});

test("a type of enormous size is cut, and takes nothing from the others", async () => {
  const names = Array.from({ length: 40 }, (_, index) => `f${index}`);
  const level = (next: string): string => `{ ${names.map((name) => `${name}: ${next}`).join("; ")} }`;
  const { state_schema } = await schemasOf(`
    interface A ${level("B")} interface B ${level("C")} interface C ${level("string")}
    export const graph = new StateGraph(Annotation.Root({ huge: Annotation<A>, word: Annotation<string> }))${TAIL};`);
  expect(propertiesOf(state_schema)["word"]).toEqual({ type: "string" });
  expect(JSON.stringify(state_schema).length).toBeLessThan(200_000);
});

test("messages are messages, however they are typed", async () => {
  const fields = await fieldsOf(
    `...MessagesAnnotation.spec,
     chat: Annotation<BaseMessage[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
     likes: Annotation<BaseMessageLike[]>,
     last: Annotation<AIMessage | null>,
     one: Annotation<AIMessage | HumanMessage>`,
    `import type { AIMessage, BaseMessage, BaseMessageLike, HumanMessage } from "@langchain/core/messages";`,
  );
  expect(fields).toMatchObject({ messages: MESSAGES, chat: MESSAGES, likes: MESSAGES });
  expect(fields["last"]).toMatchObject({ anyOf: [{ type: "null" }, MESSAGES.items] });
  expect(fields["one"]).toMatchObject(MESSAGES.items);
});

test("input, output and context of their own, in other files", async () => {
  const schemas = await schemasOf(
    `import { Settings } from "./settings.ts";
     const State = Annotation.Root({ given: Annotation<string>, between: Annotation<number>, result: Annotation<string[]> });
     export const graph = new StateGraph(State, {
       input: Annotation.Root({ given: Annotation<string> }),
       output: Annotation.Root({ result: Annotation<string[]> }),
       context: Settings,
     })${TAIL};`,
    {
      "src/settings.ts": `import { Annotation } from "@langchain/langgraph";
        export const Settings = Annotation.Root({ model: Annotation<"small" | "large">, heat: Annotation<number | undefined> });`,
    },
  );
  expect(schemas.input_schema).toEqual({ type: "object", properties: { given: { type: "string" } } });
  expect(schemas.output_schema).toMatchObject({ properties: { result: { type: "array", items: { type: "string" } } } });
  expect(Object.keys(propertiesOf(schemas.state_schema))).toEqual(["given", "between", "result"]);
  expect(schemas.context_schema).toEqual({
    type: "object",
    properties: { model: { type: "string", enum: ["small", "large"] }, heat: { type: "number" } },
    required: ["model"],
  });
  expect(schemas.config_schema).toEqual(schemas.context_schema);
});

test("graphs in other forms: a factory, a builder, a promise, an agent, another name, another's file", async () => {
  const files = project({
    "src/graph.ts": `${HEAD}
      const builder = new StateGraph(Annotation.Root({ word: Annotation<string> }))
        .addNode("node_", () => ({})).addEdge("__start__", "node_");
      export const make = async (config: object) => builder.compile();
      export function makeBuilder() { return builder; }
      export { builder };
      export const promised = Promise.resolve(builder.compile());
      class Agent {
        readonly graph = builder.compile();
        async invoke(state: { word: string } | null, config?: { context?: { user: string } }): Promise<{ word: string }> {
          return { word: state?.word ?? config?.context?.user ?? "" };
        }
      }
      export const agent = new Agent();
      export default builder.compile();`,
    "src/index.ts": `export * from "./graph.ts"; export { default as renamed } from "./graph.ts";`,
  });
  const targets = [
    "graph.ts:make",
    "graph.ts:makeBuilder",
    "graph.ts:builder",
    "graph.ts:promised",
    "graph.ts:default",
    "graph.ts:agent",
  ];
  const graphs = [...targets, "index.ts:builder", "index.ts:renamed"].map((name) => [name, `src/${name}`]);
  const { host } = hostOf(files.config(Object.fromEntries(graphs) as Record<string, string>));
  await host.start();
  for (const id of host.ids) {
    const version = await host.get(id);
    const { state_schema } = await shared.source.of(host.spec(id), version, await version.resolve({}));
    expect([id, propertiesOf(state_schema)]).toEqual([id, { word: { type: "string" } }]);
  }
});

test("the functional API: what goes in and what comes out", async () => {
  const schemas = await schemasOf(`import { entrypoint } from "@langchain/langgraph";
    export const graph = entrypoint("plain", async ({ topic }: { topic: string; depth?: number }) => ({ text: topic }));`);
  const output = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  expect(schemas).toEqual({
    input_schema: {
      type: "object",
      properties: { topic: { type: "string" }, depth: { type: "number" } },
      required: ["topic"],
    },
    output_schema: output,
    state_schema: output,
    config_schema: null,
    context_schema: null,
  });
});

test("a prebuilt agent", async () => {
  const { input_schema, state_schema } = await schemasOf(`
    import { createReactAgent } from "@langchain/langgraph/prebuilt";
    import { FakeListChatModel } from "@langchain/core/utils/testing";
    const llm = new FakeListChatModel({ responses: ["hi"] });
    export const graph = createReactAgent({ llm, tools: [] });`);
  expect(propertiesOf(input_schema)["messages"]).toMatchObject(MESSAGES);
  expect(propertiesOf(state_schema)["messages"]).toMatchObject(MESSAGES);
});

test("bare channels", async () => {
  const { state_schema, input_schema } = await schemasOf(`
    export const graph = new StateGraph<{ word: string; count: number }>({
      channels: { word: null, count: { reducer: (a: number, b: number) => a + b, default: () => 0 } },
    })${TAIL};`);
  const fields = { word: { type: "string" }, count: { type: "number" } };
  expect(propertiesOf(state_schema)).toEqual(fields);
  expect(propertiesOf(input_schema)).toEqual(fields);
});

test("what zod tells needs no types, and neither do messages alone", async () => {
  const before = children.length;
  const { source, extracted, warnings } = sourceOf(join(folder, "never"));
  const zod = await start(
    {
      "src/graph.ts": `import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
        import { z } from "zod";
        export const graph = new StateGraph(z.object({ word: z.string() }))${TAIL};
        export const chat = new StateGraph(MessagesAnnotation)${TAIL};`,
    },
    "src/graph.ts:graph",
  );
  const { state_schema } = await ask(zod, { source, extracted, warnings });
  expect(propertiesOf(state_schema)).toEqual({ word: { type: "string" } });
  const chat = hostOf(zod.config({ agent: "src/graph.ts:chat" }));
  await chat.host.start();
  expect(propertiesOf((await ask(chat, { source, extracted, warnings })).input_schema)["messages"]).toMatchObject(
    MESSAGES,
  );
  expect(extracted).toEqual([]);
  expect(children.slice(before)).toEqual([]);
  expect(existsSync(join(folder, "never"))).toBe(false);
  await source.close();
});

test("types fill what zod cannot say, and leave what it says", async () => {
  const { state_schema } = await schemasOf(`import { z } from "zod";
    interface Node_ { next?: Node_ }
    export const graph = new StateGraph(z.object({
      when: z.date(), word: z.string().min(3), chain: z.custom<Node_>(() => true).describe("Links."),
    }))${TAIL};`);
  expect(propertiesOf(state_schema)).toMatchObject({
    when: { type: "string", format: "date-time" },
    word: { type: "string", minLength: 3 },
    chain: { $ref: "#/$defs/Node_" },
  });
  expect(state_schema?.["required"]).toEqual(expect.arrayContaining(["when", "word"]));
});

test("a JavaScript graph has what it says at run time", async () => {
  const { host } = await start(
    {
      "src/graph.js": `import { Annotation, StateGraph } from "@langchain/langgraph";
        export const graph = new StateGraph(Annotation.Root({ word: Annotation() }))${TAIL};`,
    },
    "src/graph.js:graph",
  );
  const { source, extracted } = sourceOf(null);
  const version = await host.get("agent");
  const { state_schema } = await source.of(host.spec("agent"), version, await version.resolve({}));
  expect(propertiesOf(state_schema)).toEqual({ word: {} });
  expect(extracted).toEqual([]);
});

test("code with errors still has types", async () => {
  const fields = await fieldsOf(
    `word: Annotation<string>, lost: Annotation<Missing>, gone: Annotation<Undeclared>`,
    `import type { Missing } from "./missing.ts";
     const wrong: number = "text";
     wrong.nothing();`.replace("wrong.nothing();", "export const never = () => wrong.nothing();"),
  );
  expect(fields).toEqual({ word: { type: "string" }, lost: {}, gone: {} });
});

test("paths of tsconfig.json lead to types, and global declarations are seen", async () => {
  const { state_schema } = await schemasOf(
    `import type { Topic } from "@lib/topic";
     export const graph = new StateGraph(Annotation.Root({ topic: Annotation<Topic>, unit: Annotation<Unit> }))${TAIL};`,
    {
      "tsconfig.json": `{ "extends": "./base.json", "compilerOptions": { "strict": false, "module": "commonjs", "lib": ["es2099"] } }`,
      "base.json": `{ "compilerOptions": { "paths": { "@lib/*": ["./lib/*"] } } }`,
      "lib/topic.ts": `export interface Topic { title: string; tags?: string[] }`,
      "types/global.d.ts": `type Unit = "cm" | "in";`,
    },
  );
  expect(propertiesOf(state_schema)).toEqual({
    topic: {
      type: "object",
      properties: { title: { type: "string" }, tags: { type: "array", items: { type: "string" } } },
      required: ["title"],
    },
    unit: { type: "string", enum: ["cm", "in"] },
  });
});

const NESTED = `${HEAD}
  import { leaf as renamed } from "./leaf.ts";
  const Inner = Annotation.Root({ word: Annotation<string>, inner: Annotation<number> });
  const builder = new StateGraph(Inner);
  builder.addNode("leaf", renamed);
  const inner = builder.addNode("work", () => ({})).addEdge("__start__", "work" as never).addEdge("work", "leaf" as never).compile();
  const called = new StateGraph(Annotation.Root({ called: Annotation<boolean> }))${TAIL};
  const map = new StateGraph(Annotation.Root({ word: Annotation<string>, map: Annotation<"m"> }))${TAIL};
  const makeMade = () => new StateGraph(Annotation.Root({ word: Annotation<string>, made: Annotation<Date> }))
    .addNode("leaf", renamed).addEdge("__start__", "leaf").compile();
  export const graph = (new StateGraph(Annotation.Root({ word: Annotation<string> }))
    .addNode("inner", inner)
    .addNode("caller", async () => { await called.invoke({ called: true }); return {}; }, { subgraphs: [called] })
    .addNode({ map, plain: () => ({}) })
    .addNode("made", makeMade())
    .addEdge("__start__", "inner").addEdge("inner", "caller").addEdge("caller", "map").addEdge("map", "made")
    .addNode("end", () => ({})).addEdge("made", "plain").addEdge("plain", "end").compile()) satisfies object;`;
const LEAF = `${HEAD} export const leaf = new StateGraph(Annotation.Root({ word: Annotation<string>, leaf: Annotation<"l"> }))${TAIL};`;

test("subgraphs, by LangGraph's names", async () => {
  const nested = await start({ "src/graph.ts": NESTED, "src/leaf.ts": LEAF }, "src/graph.ts:graph");
  const types = (found: Record<string, GraphSchemas>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(found).map(([name, { state_schema }]) => [name, propertiesOf(state_schema)]));
  const word = { type: "string" };
  const top = {
    inner: { word, inner: { type: "number" } },
    caller: { called: { type: "boolean" } },
    map: { word, map: { type: "string", const: "m" } },
    made: { word, made: { type: "string", format: "date-time" } },
  };
  const leaf = { word, leaf: { type: "string", const: "l" } };
  expect(types(await askSubgraphs(nested, { recurse: false }))).toEqual(top);
  expect(types(await askSubgraphs(nested, { recurse: true }))).toEqual({
    ...top,
    "inner|leaf": leaf,
    "made|leaf": leaf,
  });
  expect(types(await askSubgraphs(nested, { namespace: "inner", recurse: true }))).toEqual({ inner: top.inner });
  expect(types(await askSubgraphs(nested, { namespace: "inner|leaf", recurse: false }))).toEqual({
    "inner|leaf": leaf,
  });
  expect(await askSubgraphs(nested, { namespace: "nowhere", recurse: true })).toEqual({});
  expect(Object.keys((await askSubgraphs(nested, { recurse: false }))["inner"]!).toSorted()).toEqual([
    "config_schema",
    "context_schema",
    "input_schema",
    "output_schema",
    "state_schema",
  ]);
});

const WORD = `${HEAD} export const graph = new StateGraph(Annotation.Root({ word: Annotation<string> }))${TAIL};`;

test("questions at the same time are one reading, and what was read survives a restart", async () => {
  const cache = join(folder, "kept");
  mkdirSync(cache);
  for (let index = 0; index < 250; index++) writeFileSync(join(cache, `${index}.json`), "{}");
  const files = await start({ "src/graph.ts": WORD }, "src/graph.ts:graph");
  const first = sourceOf(cache);
  const [one, two] = await Promise.all([ask(files, first), ask(files, first)]);
  expect(propertiesOf(one.state_schema)).toEqual({ word: { type: "string" } });
  expect(two).toEqual(one);
  expect(await ask(files, first)).toEqual(one);
  expect(first.extracted).toEqual(["agent"]);
  // Of what is there, the oldest goes.
  expect(readdirSync(cache)).toHaveLength(200);
  await first.source.close();

  const second = sourceOf(cache);
  expect(await ask(files, second)).toEqual(one);
  expect(second.extracted).toEqual([]);
  await second.source.close();

  for (const name of readdirSync(cache)) writeFileSync(join(cache, name), `{"graph": 1`);
  const third = sourceOf(cache);
  expect(await ask(files, third)).toEqual(one);
  expect(third.extracted).toEqual(["agent"]);
  expect(third.warnings).toEqual([]);
  await third.source.close();
});

test("a folder that cannot be written costs a warning and nothing else", async () => {
  const blocked = join(folder, "blocked");
  writeFileSync(blocked, "");
  const one = sourceOf(join(blocked, "schemas"));
  const files = await start({ "src/graph.ts": WORD }, "src/graph.ts:graph");
  expect(propertiesOf((await ask(files, one)).state_schema)).toEqual({ word: { type: "string" } });
  await ask(files, one);
  expect(one.warnings).toEqual([expect.stringMatching(/^Schemas cannot be kept on disk: /)]);
  expect(one.extracted).toEqual(["agent"]);
  await one.source.close();
});

test("a changed file changes the schemas, also one that gives nothing but types", async () => {
  const files = await start(
    {
      "src/graph.ts": `${HEAD} import type { Word } from "./word.ts"; import type { Late } from "./late.ts";
        export const graph = new StateGraph(Annotation.Root({ word: Annotation<Word>, late: Annotation<Late> }))${TAIL};`,
      "src/word.ts": `export type Word = string;`,
    },
    "src/graph.ts:graph",
  );
  const fields = async () => propertiesOf((await ask(files)).state_schema);
  expect(await fields()).toEqual({ word: { type: "string" }, late: {} });
  files.save("src/word.ts", `export type Word = string[];`);
  expect(await fields()).toEqual({ word: { type: "array", items: { type: "string" } }, late: {} });
  files.write("src/late.ts", `export type Late = number;`);
  expect(await fields()).toMatchObject({ late: { type: "number" } });
});

test("types that take too long are done without, and nobody waits for them again", async () => {
  vi.stubEnv("LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS", "1");
  const hasty = sourceOf(null);
  vi.unstubAllEnvs();
  const files = await start({ "src/graph.ts": WORD }, "src/graph.ts:graph");
  const { host } = files;
  const known = await graphSchemas(await (await host.get("agent")).resolve({}), runtime);
  expect(await ask(files, hasty)).toEqual(known);
  expect(propertiesOf(known.state_schema)).toEqual({ word: {} });
  expect(await ask(files, hasty)).toEqual(known);
  expect(hasty.extracted).toEqual(["agent"]);
  expect(hasty.warnings).toEqual([
    'The types of graph "agent" could not be read (longer than 1 ms): its schemas have only what is known at run time. LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS sets the limit.',
  ]);
  await hasty.source.close();
});

test("a limit that is none is refused", async () => {
  vi.stubEnv("LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS", "soon");
  const { warnings } = sourceOf(null);
  vi.unstubAllEnvs();
  expect(warnings).toEqual([
    "LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS is no number of milliseconds above 0; 30000 is used.",
  ]);
});

test("a source that is closed answers with what it knows", async () => {
  const files = await start({ "src/graph.ts": WORD }, "src/graph.ts:graph");
  let reading = (): void => {};
  const begun = new Promise<void>((resolve) => {
    reading = resolve;
  });
  const warnings: string[] = [];
  const source = new SchemaSource({
    cacheDir: null,
    runtime: () => Promise.resolve(runtime),
    onWarning: (message) => warnings.push(message),
    onExtract: reading,
  });
  const answer = ask(files, { source, warnings, extracted: [] });
  await begun;
  await source.close();
  expect(propertiesOf((await answer).state_schema)).toEqual({ word: {} });
  expect(propertiesOf((await ask(files, { source, warnings, extracted: [] })).state_schema)).toEqual({ word: {} });
  expect(warnings).toEqual([]);
});

test("one process serves all and ends when nothing comes any more; one that dies is told of; another takes its place", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const one = sourceOf(null);
  const names = ["graph", "other", "unlucky", "last"];
  const files = project({ "src/graph.ts": `${WORD} export { graph as other, graph as unlucky, graph as last };` });
  const { host } = hostOf(files.config(Object.fromEntries(names.map((name) => [name, `src/graph.ts:${name}`]))));
  await host.start();
  const read = async (id: string): Promise<unknown> => {
    const version = await host.get(id);
    const { state_schema } = await one.source.of(host.spec(id), version, await version.resolve({}));
    return propertiesOf(state_schema)["word"];
  };
  const [child, ...more] = await startedBy(async () => {
    expect(await Promise.all([read("graph"), read("other")])).toEqual([{ type: "string" }, { type: "string" }]);
  });
  expect(more).toEqual([]);
  const ended = once(child!, "exit");
  vi.advanceTimersByTime(30_000);
  vi.useRealTimers();
  await ended;
  expect(one.warnings).toEqual([]);

  const kill = (message: unknown): void => {
    const { process: started } = message as { process: ChildProcess };
    started.once("spawn", () => started.kill("SIGKILL"));
  };
  subscribe("child_process", kill);
  expect(await read("unlucky")).toEqual({});
  unsubscribe("child_process", kill);
  expect(one.warnings).toEqual([expect.stringContaining("the process ended with SIGKILL")]);

  const [next] = await startedBy(async () => {
    expect(await read("last")).toEqual({ type: "string" });
  });
  const end = once(next!, "exit");
  await one.source.close();
  await end;
  expect(one.extracted.toSorted()).toEqual(names.toSorted());
});
