import * as langgraph from "@langchain/langgraph";
import { registry } from "@langchain/langgraph/zod";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import { beforeAll, expect, test } from "vitest";
import { graphSchemas } from "../../src/graphs/schemas.ts";
import type { GraphSchemas, LangGraphRuntime, RunnableGraph } from "../../src/graphs/types.ts";
import { hostOf, project } from "./project.ts";

const { Annotation, MemorySaver, MessagesAnnotation, MessagesZodMeta, StateSchema, entrypoint, messagesStateReducer } =
  langgraph;
let runtime: LangGraphRuntime;

beforeAll(async () => {
  const { host } = hostOf(project({}).config({}));
  runtime = await host.runtime();
});

type StateInit = ConstructorParameters<typeof langgraph.StateGraph>[0];

function schemasOf(state: unknown, options: object = {}): Promise<GraphSchemas> {
  const builder = new langgraph.StateGraph(state as StateInit, options as never) as langgraph.StateGraph<unknown>;
  const graph = builder
    .addNode("node_", () => ({}))
    .addEdge("__start__", "node_" as "__start__")
    .compile();
  return graphSchemas(graph as unknown as RunnableGraph, runtime);
}

const messages = { type: "array", items: { type: "object" }, langgraph_type: "messages" };

test("a zod 4 state", async () => {
  const state = z.object({ question: z.string(), count: z.number().default(1) });
  const schemas = await schemasOf(state, { context: z.object({ user: z.string() }) });
  expect(schemas.state_schema).toMatchObject({
    type: "object",
    properties: { question: { type: "string" }, count: { type: "number", default: 1 } },
  });
  expect(schemas.state_schema?.["required"]).toContain("question");
  expect(schemas.input_schema).toMatchObject({ properties: { question: { type: "string" } } });
  expect(schemas.input_schema?.["required"] ?? []).toEqual([]);
  expect(schemas.context_schema).toMatchObject({ properties: { user: { type: "string" } }, required: ["user"] });
  expect(schemas.config_schema).toEqual(schemas.context_schema);
});

test("a zod 3 state", async () => {
  const schemas = await schemasOf(z3.object({ question: z3.string(), more: z3.string().optional() }));
  expect(schemas.output_schema).toMatchObject({
    properties: { question: { type: "string" }, more: { type: "string" } },
    required: ["question"],
  });
  expect(schemas.context_schema).toBeNull();
});

test("a zod state of which one field has no JSON schema keeps the others", async () => {
  const field = z.custom<unknown[]>().register(registry, MessagesZodMeta as never);
  const state = z.object({ messages: field, when: z.date(), question: z.string(), more: z.string().optional() });
  const schemas = await schemasOf(state);
  expect(schemas.state_schema).toMatchObject({
    type: "object",
    properties: { messages, when: {}, question: { type: "string" }, more: { type: "string" } },
    required: ["when", "question"],
  });
  expect(schemas.input_schema).toMatchObject({ properties: { messages, question: { type: "string" } } });
  expect(schemas.input_schema).not.toHaveProperty("required");
});

test("a StateSchema", async () => {
  const schemas = await schemasOf(
    new StateSchema({
      messages: langgraph.MessagesValue,
      history: new langgraph.ReducedValue(
        z.array(z.string()).default(() => []),
        { inputSchema: z.string(), reducer: (current: string[], next: string) => [...current, next] },
      ),
    }),
  );
  expect(schemas.state_schema).toMatchObject({
    properties: { messages, history: { type: "array", items: { type: "string" } } },
  });
  expect(schemas.input_schema).toMatchObject({ properties: { messages, history: { type: "string" } } });
});

test.each(["an object", "a StateSchema", "an object with a field that has no schema"])(
  "%s with a type that contains itself refers to what is there",
  async (form) => {
    const tree: z.ZodType = z.lazy(() => z.object({ name: z.string(), children: z.array(tree) }));
    const state =
      form === "a StateSchema"
        ? new StateSchema({ tree, again: tree })
        : z.object({ tree, again: tree, ...(form === "an object" ? {} : { when: z.date() }) });
    const { state_schema: schema } = await schemasOf(state);
    const find = (reference: string): unknown =>
      reference
        .split("/")
        .slice(1)
        .reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], schema);
    const references = [...JSON.stringify(schema).matchAll(/"\$ref":"([^"]*)"/g)].map(([, each]) => each!);
    expect(references.length).toBeGreaterThan(1);
    for (const reference of references) expect(find(reference)).toBeTypeOf("object");
    const fields = schema?.["properties"] as Record<string, Record<string, string>>;
    const whole = (field: unknown): unknown => {
      const { $ref } = field as { $ref?: string };
      return $ref === undefined ? field : whole(find($ref));
    };
    expect(whole(fields["tree"])).toMatchObject({ properties: { name: { type: "string" } } });
    expect(whole(fields["again"])).toMatchObject({ properties: { name: { type: "string" } } });
  },
);

test("an Annotation state lists its channels and knows messages", async () => {
  const schemas = await schemasOf(
    Annotation.Root({
      chat: Annotation<unknown[]>({ reducer: messagesStateReducer as never, default: () => [] }),
      list: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
      word: Annotation<string>,
    }),
  );
  expect(schemas.state_schema).toMatchObject({ type: "object", properties: { chat: messages, list: {}, word: {} } });
  expect(schemas.state_schema?.["properties"]).toMatchObject({
    list: expect.not.objectContaining({ type: "array" }) as object,
  });
  expect(Object.keys(schemas.state_schema?.["properties"] as object)).toEqual(["chat", "list", "word"]);
  expect(schemas.config_schema).toBeNull();
});

test("MessagesAnnotation", async () => {
  const schemas = await schemasOf(MessagesAnnotation);
  expect(schemas.input_schema).toMatchObject({ type: "object", properties: { messages } });
});

test("input and output of their own are honoured", async () => {
  const schemas = await schemasOf(Annotation.Root({ given: Annotation<string>, between: Annotation<string> }), {
    input: Annotation.Root({ given: Annotation<string> }),
    output: z.object({ result: z.string() }),
  });
  expect(Object.keys(schemas.state_schema?.["properties"] as object)).toEqual(["given", "between"]);
  expect(Object.keys(schemas.input_schema?.["properties"] as object)).toEqual(["given"]);
  expect(schemas.output_schema).toMatchObject({ properties: { result: { type: "string" } } });
});

test("a graph of the functional API has no schemas, and strange ones do no harm", async () => {
  const nothing = {
    state_schema: null,
    input_schema: null,
    output_schema: null,
    config_schema: null,
    context_schema: null,
  };
  const graph = entrypoint({ name: "plain", checkpointer: new MemorySaver() }, (input: unknown) =>
    Promise.resolve(input),
  );
  expect(await graphSchemas(graph as unknown as RunnableGraph, runtime)).toEqual(nothing);
  const strange = new Proxy({}, { get: (_, key) => (key === "then" ? undefined : strange) }) as RunnableGraph;
  expect(await graphSchemas(strange, runtime)).toMatchObject({ config_schema: null });
});

test("without the conversion of LangGraph the fields are still listed", async () => {
  const { importModule: _, ...bare } = runtime;
  const builder = new langgraph.StateGraph(z.object({ question: z.string() })).addNode("node_", () => ({}));
  const graph = builder.addEdge("__start__", "node_").compile();
  expect(await graphSchemas(graph as unknown as RunnableGraph, bare)).toMatchObject({
    state_schema: { type: "object", properties: { question: {} }, required: ["question"] },
  });
});
