// The OpenAPI document as a test reads it: what it says of an operation, whether a value is as it says, and requests that are not.
import addFormats from "ajv-formats";
import { Ajv2020, type AnySchemaObject } from "ajv/dist/2020.js";

export type Schema = Record<string, unknown>;

/** What the document says of one operation. */
export interface Described {
  readonly operationId: string;
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema }[];
  readonly requestBody?: { required: boolean; content: { "application/json": { schema: Schema; example?: unknown } } };
  readonly responses: Record<string, { headers?: Schema; content?: Record<string, { schema: Schema }> }>;
}

interface Json {
  readonly openapi: string;
  readonly servers: readonly { url: string }[];
  readonly paths: Record<string, Record<string, Described>>;
  readonly components: Schema;
}

/** Values of every JSON type. */
const VALUES = ["a text", 1.5, true, { a: { b: 1 } }, [[{ a: 1 }]]];

/** Operations are named as in `GET /threads/{thread_id}`. */
export class ApiDocument {
  readonly json: Json;
  readonly #open: Ajv2020;
  readonly #closed: Ajv2020;

  constructor(json: unknown) {
    this.json = json as Json;
    this.#open = reader(this.json.components);
    this.#closed = reader(closed(this.json.components));
  }

  get names(): string[] {
    return Object.entries(this.json.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
  }

  of(name: string): Described {
    const [method = "", path = ""] = name.split(" ");
    return this.json.paths[path]![method.toLowerCase()]!;
  }

  /** The statuses that an operation answers with. */
  statuses(name: string): number[] {
    return Object.keys(this.of(name).responses).map(Number);
  }

  /** Parameters of the path that must be UUIDs. */
  uuids(name: string): string[] {
    const parameters = this.of(name).parameters ?? [];
    return parameters.filter((each) => each.in === "path" && each.schema["format"] === "uuid").map((each) => each.name);
  }

  /** What a reference leads to; undefined when there is nothing. */
  resolve(reference: string): unknown {
    const [, ...steps] = reference.split("/");
    return steps.reduce<unknown>((value, step) => (value as Schema | undefined)?.[step], this.json);
  }

  /** What is wrong with something that is to be sent. */
  faults(schema: Schema, value: unknown): unknown[] {
    const fits = this.#open.compile(anchored(schema));
    return fits(value) ? [] : (fits.errors ?? []);
  }

  /** What is wrong with an answer; a field that is not documented is wrong. */
  faultsOfAnswer(schema: Schema, value: unknown): unknown[] {
    const fits = this.#closed.compile(anchored(closed(schema)));
    return fits(value) ? [] : (fits.errors ?? []);
  }

  /** Queries in which one parameter is not as the document says. */
  wrongQueries(name: string): string[] {
    const inQuery = (this.of(name).parameters ?? []).filter((parameter) => parameter.in === "query");
    return inQuery.flatMap((parameter) => {
      const { schema } = parameter;
      const item = (schema["type"] === "array" ? schema["items"] : schema) as Schema;
      // Any text will do; but it must be one.
      if (item["type"] === "string" && item["enum"] === undefined && item["pattern"] === undefined)
        return schema["type"] === "array" ? [] : [`?${parameter.name}=a&${parameter.name}=b`];
      return [`?${parameter.name}=${encodeURIComponent("no such value")}`];
    });
  }

  /** A good body with each of its fields once as the document says that it must not be. */
  wrongBodies(name: string, good: unknown): { field: string; body: unknown }[] {
    const whole = this.#referred(this.of(name).requestBody!.content["application/json"].schema);
    const list = whole["type"] === "array";
    const { properties = {} } = list ? this.#referred(whole["items"] as Schema) : whole;
    const [first] = [good].flat() as [object];
    return Object.entries(properties as Record<string, Schema>).flatMap(([field, property]) => {
      const wrong = VALUES.find((value) => this.faults(property, value).length > 0);
      if (wrong === undefined) return [];
      const body = { ...first, [field]: wrong };
      return [{ field, body: list ? [body] : body }];
    });
  }

  #referred(schema: Schema): Schema {
    const { $ref } = schema;
    return typeof $ref === "string" ? (this.resolve($ref) as Schema) : schema;
  }
}

function reader(components: unknown): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  return ajv.addSchema({ $id: "document", components });
}

/** With references that lead into the document from outside of it. */
const anchored = (schema: unknown): AnySchemaObject =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"document#/')) as AnySchemaObject;

/** A schema with every object that has named fields closed. */
const closed = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema), (_key, value: Schema | null) =>
    typeof value?.["properties"] === "object" && value["type"] === "object" && !("additionalProperties" in value)
      ? { ...value, additionalProperties: false }
      : value,
  );
