// The zod schemas that validate requests and describe answers, as the JSON schemas of the OpenAPI document. Schemas that have an id
// become components.
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";

export type JsonSchema = Record<string, unknown>;

/** One parameter of a query. */
export interface QueryParameter {
  readonly name: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

const REFERENCE = "#/components/schemas/";

export class Schemas {
  readonly #components = new Map<string, JsonSchema>();

  /** Everything that was referred to so far, by id. */
  get components(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#components].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** The shape of an answer. @throws Error when two different shapes have the same id. */
  answer(schema: z.ZodType): JsonSchema {
    return this.#take(convert(schema, "input"));
  }

  /** What has to be sent to satisfy `schema`. @throws Error when two different shapes have the same id. */
  body(schema: z.ZodType): JsonSchema {
    return this.#take(withoutNulls(convert(schema, "input")));
  }

  /** The component that a schema refers to, or the schema itself. */
  resolve(schema: JsonSchema): JsonSchema {
    const { $ref } = schema;
    return typeof $ref === "string" ? this.#components.get($ref.slice(REFERENCE.length))! : schema;
  }

  /** The parameters of a query, from a zod object. */
  query(query: z.ZodType): QueryParameter[] {
    const sent = this.body(query);
    const properties = Object.entries((sent["properties"] ?? {}) as Record<string, JsonSchema>);
    const required = (sent["required"] ?? []) as string[];
    const fields = (query as z.ZodObject).shape;
    return properties.map(([name, property]) => ({
      name,
      required: required.includes(name),
      schema: parameterSchema(property, convert(fields[name] as z.ZodType, "output")),
    }));
  }

  #take({ $defs = {}, $schema: _dialect, ...own }: JsonSchema): JsonSchema {
    for (const [id, shape] of Object.entries($defs as Record<string, JsonSchema>)) {
      const known = this.#components.get(id);
      if (known !== undefined && !isDeepStrictEqual(known, shape)) throw new Error(`two schemas have the id "${id}"`);
      this.#components.set(id, shape);
    }
    return own;
  }
}

const FLAGS = ["true", "false", "1", "0"];

/** @param io the schema of what is sent, or of what becomes of it. */
function convert(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const json = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override({ jsonSchema }) {
      // Zod's bounds of an integer are those of a double; they say nothing to a reader.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      // A boolean, as query strings spell it.
      if (FLAGS.every((flag) => jsonSchema.enum?.includes(flag))) {
        delete jsonSchema.enum;
        jsonSchema.type = "boolean";
      }
    },
  });
  return JSON.parse(JSON.stringify(json), (key, value: unknown) =>
    key === "$ref" && typeof value === "string" ? value.replace("#/$defs/", REFERENCE) : value,
  ) as JsonSchema;
}

/** Leaves `null` away where a field may be absent: it means the same, and would stand beside nearly every type of a body. */
function withoutNulls(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    const { properties, required = [] } = (value ?? {}) as {
      properties?: Record<string, unknown>;
      required?: string[];
    };
    if (typeof properties !== "object" || (value as JsonSchema)["type"] !== "object") return value;
    const fields = Object.entries(properties).map(([name, field]) => [
      name,
      required.includes(name) ? field : notNull(field as JsonSchema),
    ]);
    return { ...(value as JsonSchema), properties: Object.fromEntries(fields) as unknown };
  }) as JsonSchema;
}

function notNull(schema: JsonSchema): JsonSchema {
  const { anyOf, type, ...rest } = schema;
  if (Array.isArray(type)) {
    const types = type.filter((name) => name !== "null");
    return { ...rest, type: types.length === 1 ? types[0] : types };
  }
  if (!Array.isArray(anyOf)) return schema;
  const variants = (anyOf as JsonSchema[]).filter((variant) => variant["type"] !== "null").map(notNull);
  return variants.length === 1 ? { ...variants[0], ...rest } : { ...rest, anyOf: variants };
}

/** A list may be sent as one value or as several; the document has the list, which says what its items may be. */
function parameterSchema(sent: JsonSchema, parsed: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = sent;
  if (anyOf === undefined) return sent;
  const variants = anyOf as JsonSchema[];
  const list = variants.find((variant) => variant["type"] === "array");
  if (list !== undefined)
    return { ...rest, type: "array", items: (parsed["type"] === "array" ? parsed : list)["items"] };
  const different = variants.filter((variant, at) => variants.findIndex((v) => isDeepStrictEqual(v, variant)) === at);
  return different.length === 1 ? { ...different[0], ...rest } : { ...rest, anyOf: different };
}
