// The OpenAPI 3.1 document, made from what the routes say about themselves: with the schemas that validate the requests.
import { errorShape } from "../resources/shapes.ts";
import { Examples, type ExampleSource } from "./examples.ts";
import { Schemas, type JsonSchema } from "./json-schemas.ts";
import { documentSecurity, operationSecurity, refusals, type Security } from "./openapi-security.ts";
import { pathTemplate, type Answer, type Operation, type Tag } from "./operation.ts";

const ABOUT = `An open server for LangGraph.js graphs: threads that remember, runs of graphs on them, streams of their events, and a
long-term store.

Every error is \`{"detail": "…"}\` with a status that says whose mistake it is. Unknown fields of a body are ignored, and \`null\` in an
optional field is the same as leaving it out.`;

const TAGS: Readonly<Partial<Record<Tag, string>>> = {
  Assistants: "A graph with a config. Every graph of the project has one of the same name.",
  Threads: "What a conversation remembers: states, their history, metadata.",
  "Thread runs": "Runs of a graph on a thread, one at a time per thread.",
  "Stateless runs": "Runs without a thread.",
  Crons: "Runs on a schedule.",
  Webhooks: "Deliveries of webhooks: what was sent, and what was not.",
  Store: "Memory across threads: items in namespaces.",
  "Streaming protocol": "Version 2 of the streaming protocol: commands, and the events of a thread.",
  MCP: "The Model Context Protocol: each assistant is a tool.",
  System: "About this server.",
};

const ERRORS: Readonly<Record<number, string>> = {
  400: "The body is not JSON, or what it asks for makes no sense here.",
  404: "Something that the request names does not exist.",
  409: "It cannot be done in the state that things are in.",
  413: "The body is too large.",
  422: "Part of the request is missing or not as it must be; `detail` names it.",
  426: "It takes a WebSocket.",
  429: "There are too many of these for now.",
};

const PARAMETERS: Readonly<Record<string, string>> = {
  assistant_id: "Id of an assistant, or the name of a graph.",
  checkpoint_id: "Id of a checkpoint.",
  cron_id: "Id of a cron.",
  delivery_id: "Id of a delivery.",
  namespace: "Name of a subgraph; one in another stands behind a `|`.",
  run_id: "Id of a run.",
  thread_id: "Id of a thread.",
};

/**
 * The document as an object.
 * @throws Error when two different shapes have the same id.
 */
export function openApiDocument(
  operations: readonly Operation[],
  {
    version,
    examples,
    prefix = "/",
    security = { door: undefined, config: undefined },
  }: {
    readonly version: string;
    readonly examples: ExampleSource;
    readonly prefix?: string | undefined;
    readonly security?: Security;
  },
): JsonSchema {
  const schemas = new Schemas();
  const making: Making = {
    schemas,
    graphId: examples.graphId,
    security,
    examples: new Examples(examples, (schema) => schemas.resolve(schema)),
  };
  schemas.answer(errorShape);
  const paths: Record<string, JsonSchema> = {};
  for (const operation of operations) {
    const item = (paths[pathTemplate(operation.path)] ??= {});
    item[operation.method.toLowerCase()] = describe(operation, making);
  }
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const { securitySchemes, ...ofAll } = documentSecurity(security);
  return {
    openapi: "3.1.0",
    info: { title: "agent-server", version, description: ABOUT },
    servers: [{ url: prefix, description: "The server that this document comes from" }],
    tags: tags.map((name) => (TAGS[name] === undefined ? { name } : { name, description: TAGS[name] })),
    paths,
    ...ofAll,
    components: { schemas: schemas.components, ...(securitySchemes === undefined ? {} : { securitySchemes }) },
  };
}

/** What a document is made with. */
interface Making {
  readonly schemas: Schemas;
  readonly examples: Examples;
  readonly graphId: string | undefined;
  readonly security: Security;
}

function describe(operation: Operation, making: Making): JsonSchema {
  const { summary, description } = operation;
  const more = [summary.includes(";") ? `${sentence(summary)}.` : "", description ?? ""].filter((text) => text !== "");
  const parameters = parametersOf(operation, making);
  return {
    operationId: operationId(operation),
    tags: [operation.tag],
    summary: titleOf(summary),
    ...(more.length === 0 ? {} : { description: more.join("\n\n") }),
    ...operationSecurity(operation, making.security),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(operation.body === undefined ? {} : { requestBody: requestBody(operation.body, making) }),
    responses: {
      ...refusals(operation, making.security, errorWith),
      ...Object.fromEntries(errorsOf(operation).map((status) => [status, errorResponse(status)])),
      ...Object.fromEntries(
        Object.entries(operation.answers).map(([status, answer]) => [status, response(answer, making.schemas)]),
      ),
    },
  };
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What a sidebar shows of a summary: its first part. */
function titleOf(summary: string): string {
  const [title = summary] = summary.split(";");
  return summary.startsWith("`") ? title.replaceAll("`", "") : sentence(title.replaceAll("`", ""));
}

/** `getThreadsThreadIdState`, unique because method and path are. */
function operationId({ method, path }: Operation): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return method.toLowerCase() + (words.length === 0 ? "Root" : words.map(sentence).join(""));
}

const namesIn = (path: string): string[] => Array.from(path.matchAll(/:(\w+)/g), ([, name = ""]) => name);

/** Whether a parameter of a path must be a UUID. */
const isUuidName = (name: string): boolean =>
  name.endsWith("_id") && name !== "assistant_id" && name !== "checkpoint_id";

function parametersOf(operation: Operation, { schemas, graphId }: Making): JsonSchema[] {
  const inPath = namesIn(operation.path).map((name) => ({
    name,
    in: "path",
    required: true,
    ...(PARAMETERS[name] === undefined ? {} : { description: PARAMETERS[name] }),
    schema: isUuidName(name) ? { type: "string", format: "uuid" } : { type: "string" },
    ...(name === "assistant_id" && graphId !== undefined ? { example: graphId } : {}),
  }));
  const inQuery = (operation.query === undefined ? [] : schemas.query(operation.query)).map(
    ({ name, required, schema: { description, ...schema } }) => ({
      name,
      in: "query",
      ...(required ? { required } : {}),
      ...(description === undefined ? {} : { description }),
      schema,
    }),
  );
  const inHeader = Object.entries(operation.headers ?? {}).map(([name, description]) => ({
    name,
    in: "header",
    description,
    schema: { type: "string" },
  }));
  return [...inPath, ...inQuery, ...inHeader];
}

function requestBody(body: NonNullable<Operation["body"]>, { schemas, examples }: Making): JsonSchema {
  const schema = schemas.body(body);
  return {
    // An empty body counts as an empty object.
    required: !body.safeParse({}).success,
    content: { "application/json": { schema, example: examples.of(schema) } },
  };
}

function response(
  { means, body, type = "application/json", headers, alternatives = {} }: Answer,
  schemas: Schemas,
): JsonSchema {
  const content = [...(body === undefined ? [] : [[type, body] as const]), ...Object.entries(alternatives)];
  return {
    description: means,
    ...(headers === undefined
      ? {}
      : {
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
          ),
        }),
    ...(content.length === 0
      ? {}
      : { content: Object.fromEntries(content.map(([media, shape]) => [media, { schema: schemas.answer(shape) }])) }),
  };
}

/** Statuses of errors: those that the operation names, and those that follow from what it takes. */
function errorsOf({ path, body, rpc, query, errors = [], answers }: Operation): number[] {
  // One that describes its own 400 has no other status for what is wrong with a body.
  const judges = body !== undefined && rpc !== true && answers[400] === undefined;
  const validates = judges || query !== undefined || namesIn(path).some(isUuidName);
  const ofBody = body === undefined ? [] : rpc === true ? [413] : [400, 413];
  return [...new Set([...errors, ...ofBody, ...(validates ? [422] : [])])].toSorted();
}

const errorResponse = (status: number): JsonSchema => errorWith(ERRORS[status] ?? "An error.");

function errorWith(description: string): JsonSchema {
  return {
    description,
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  };
}
