// Example bodies for the OpenAPI document, so that "try it" works on this very server: they name its first graph and have an input
// that the graph takes.
import type { JsonSchema } from "./json-schemas.ts";

/** What examples are made of. */
export interface ExampleSource {
  /** The first graph; undefined when there is none. */
  readonly graphId: string | undefined;
  /** The schema of its input, as far as it is known. */
  readonly input: JsonSchema | null;
}

/** Fields that an example has although they may be left out. */
const SHOWN = ["input"];

export class Examples {
  readonly #source: ExampleSource;
  readonly #resolve: (schema: JsonSchema) => JsonSchema;

  /** @param resolve gives the component that a schema refers to. */
  constructor(source: ExampleSource, resolve: (schema: JsonSchema) => JsonSchema) {
    this.#source = source;
    this.#resolve = resolve;
  }

  /** An example of a body: what must be there, and an input. */
  of(schema: JsonSchema): unknown {
    const {
      example,
      type,
      items,
      properties = {},
      required = [],
    } = this.#resolve(schema) as {
      example?: unknown;
      type?: unknown;
      items?: JsonSchema;
      properties?: Record<string, JsonSchema>;
      required?: string[];
    };
    if (example !== undefined) return example;
    if (type === "array") return [this.of(items ?? {})];
    const names = Object.keys(properties).filter((name) => required.includes(name) || SHOWN.includes(name));
    return Object.fromEntries(names.map((name) => [name, this.#named(name) ?? this.#sample(properties[name]!)]));
  }

  /** Values for fields that have a meaning beyond their type. */
  #named(name: string): unknown {
    switch (name) {
      case "assistant_id":
      case "graph_id":
        return this.#source.graphId;
      case "input":
        return this.#input();
      case "namespace":
        return ["users", "ada"];
      case "key":
        return "profile";
      case "value":
        return { name: "Ada" };
      case "schedule":
        return "0 9 * * *";
      case "method":
        return "state.get";
      case "channels":
        return ["values"];
      default:
        return undefined;
    }
  }

  /** An input of the first graph: a chat message if it takes messages, else a value per field. */
  #input(): unknown {
    const { input } = this.#source;
    const fields = Object.entries((input?.["properties"] ?? {}) as Record<string, JsonSchema>);
    if (input === null || fields.some(([name]) => name === "messages"))
      return { messages: [{ role: "user", content: "Hello" }] };
    return Object.fromEntries(fields.map(([name, field]) => [name, this.#sample(field)]));
  }

  /** A value of a schema. */
  #sample(schema: JsonSchema): unknown {
    const { type, enum: values, anyOf, items, format, ...rest } = this.#resolve(schema);
    if (rest["default"] !== undefined) return rest["default"];
    if (Array.isArray(values)) return values[0] as unknown;
    if (Array.isArray(anyOf)) return this.#sample(anyOf[0] as JsonSchema);
    switch (Array.isArray(type) ? (type[0] as unknown) : type) {
      case "integer":
      case "number":
        return Math.max(1, Number(rest["minimum"] ?? 1));
      case "boolean":
        return true;
      case "array":
        return Number(rest["minItems"] ?? 0) > 0 ? [this.#sample((items ?? {}) as JsonSchema)] : [];
      case "object":
        return this.of(schema);
      case "null":
        return null;
      default:
        return format === "uuid" ? "00000000-0000-4000-8000-000000000000" : "Hello";
    }
  }
}
