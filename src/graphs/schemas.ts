// JSON schemas of a graph from what it tells at run time: zod and Standard Schema states through LangGraph's own conversion, Annotation
// states as the list of their channels. Types that TypeScript erased are `{}`: anything; graph-schemas.ts fills them.
import { embed, MESSAGES, record, type JsonSchema } from "./json-schema.ts";
import type { GraphSchemas, LangGraphRuntime, RunnableGraph } from "./types.ts";

type Convert = (schema: unknown) => unknown;

/** What a `StateGraph` keeps of its definition; other graphs have none of it. */
interface Builder {
  readonly _schemaDefinition?: unknown;
  readonly _inputDefinition?: unknown;
  readonly _outputDefinition?: unknown;
  readonly _schemaRuntimeDefinition?: unknown;
  readonly _inputRuntimeDefinition?: unknown;
  readonly _outputRuntimeDefinition?: unknown;
  readonly _configRuntimeSchema?: unknown;
}

interface Tools {
  readonly official: Record<string, unknown>;
  readonly convert: Convert;
}

/** The schemas of `graph`; parts that cannot be known are null. Never throws. */
export async function graphSchemas(graph: RunnableGraph, runtime: LangGraphRuntime): Promise<GraphSchemas> {
  const builder = record((graph as { builder?: unknown }).builder) as Builder;
  const tools = await loadTools(runtime);
  const state = builder._schemaRuntimeDefinition;
  // Without a definition of its own, the input is the state with nothing required; LangGraph marks that with a symbol.
  const input = typeof builder._inputRuntimeDefinition === "object" ? builder._inputRuntimeDefinition : state;
  const part = (name: string, definition: unknown, channels: unknown, isInput = false): JsonSchema | null =>
    official(name, graph, channels, tools) ?? fromChannels(definition, channels, tools, isInput);
  const context = official("getConfigTypeSchema", graph, {}, tools) ?? fromFields(builder._configRuntimeSchema, tools);
  return {
    state_schema: part("getStateTypeSchema", state, builder._schemaDefinition),
    input_schema: part("getInputTypeSchema", input, builder._inputDefinition, true),
    output_schema: part("getOutputTypeSchema", builder._outputRuntimeDefinition, builder._outputDefinition),
    config_schema: context,
    context_schema: context,
  };
}

async function loadTools(runtime: LangGraphRuntime): Promise<Tools> {
  const load = async (specifier: string): Promise<JsonSchema> => {
    try {
      return (await runtime.importModule?.(specifier)) ?? {};
    } catch {
      return {};
    }
  };
  const [zod, core] = await Promise.all([
    load("@langchain/langgraph/zod/schema"),
    load("@langchain/core/utils/json_schema"),
  ]);
  const { toJsonSchema } = core;
  return { official: zod, convert: typeof toJsonSchema === "function" ? (toJsonSchema as Convert) : () => null };
}

// LangGraph converts a state as a whole and gives up when one field is a Date or a `z.custom`, which the usual messages field is.
function official(
  name: string,
  graph: RunnableGraph,
  channels: unknown,
  { official: functions }: Tools,
): JsonSchema | null {
  const make = functions[name];
  if (typeof make !== "function") return null;
  const schema = attempt(() => make(graph) as unknown);
  if (typeof schema !== "object" || schema === null) return null;
  const defs = { ...record((schema as JsonSchema)["$defs"]) };
  const properties = Object.entries(record((schema as JsonSchema)["properties"])).map(([key, value]) => {
    // A zod object is converted as a whole, the fields of a `StateSchema` one by one.
    const isWhole = ["$schema", "$defs", "definitions"].some((mark) => mark in record(value));
    return [key, fieldSchema(isWhole ? embed(record(value), defs, key) : value, record(channels)[key])];
  });
  return withDefs({ ...schema, properties: Object.fromEntries(properties) as JsonSchema }, defs);
}

function fromChannels(definition: unknown, channels: unknown, tools: Tools, isInput: boolean): JsonSchema | null {
  const names = Object.keys(record(channels));
  if (names.length === 0) return null;
  // `__root__`: the state is one value and no object.
  if (names.includes("__root__")) return fieldSchema({}, record(channels)["__root__"]);
  const shape = shapeOf(definition);
  const defs: JsonSchema = {};
  const properties = names.map((name) => {
    const converted = embed(record(attempt(() => tools.convert(shape[name]))), defs, name);
    return [name, fieldSchema(converted, record(channels)[name])];
  });
  const required = isInput ? [] : names.filter((name) => name in shape && !acceptsNothing(shape[name]));
  const schema = { type: "object", properties: Object.fromEntries(properties) as JsonSchema };
  return withDefs(required.length > 0 ? { ...schema, required } : schema, defs);
}

function withDefs(schema: JsonSchema, defs: JsonSchema): JsonSchema {
  return Object.keys(defs).length > 0 ? { ...schema, $defs: defs } : schema;
}

function fromFields(definition: unknown, tools: Tools): JsonSchema | null {
  const shape = shapeOf(definition);
  return fromChannels(definition, shape, tools, false);
}

function fieldSchema(schema: unknown, channel: unknown): JsonSchema {
  const rest = record(schema);
  const isMessages = rest["langgraph_type"] === "messages" || reducerName(channel) === "messagesStateReducer";
  return isMessages && rest["type"] === undefined ? { ...MESSAGES, ...rest } : rest;
}

// By name: another copy of LangGraph has another function.
function reducerName(channel: unknown): unknown {
  const made = typeof channel === "function" ? attempt(() => (channel as () => unknown)()) : channel;
  const { operator } = record(made);
  return typeof operator === "function" ? operator.name : undefined;
}

/** The fields of a zod object of either version, or of a `StateSchema`. */
function shapeOf(definition: unknown): JsonSchema {
  const { shape, fields } = record(definition);
  return record(typeof shape === "function" ? attempt(() => (shape as () => unknown)()) : (shape ?? fields));
}

function acceptsNothing(schema: unknown): boolean {
  const standard = record(record(schema)["~standard"]);
  const { validate } = standard;
  if (typeof validate !== "function") return true;
  const result = attempt(() => validate.call(standard, undefined) as unknown);
  return typeof result !== "object" || result === null || !("issues" in result) || result.issues === undefined;
}

function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch {
    return undefined;
  }
}
