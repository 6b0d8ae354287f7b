// The JSON Schema of the config file, for editors: `$schema` in a langgraph.json names the copy in this package. Made from the zod schema that
// checks the file, in draft 7, which is what editors know.
import { z } from "zod";
import { configSchema } from "./schema.ts";
import type { KeyMeta } from "./schema-keys.ts";
import { metaOf } from "./schema-walk.ts";

type JsonSchema = Record<string, unknown>;

/** Name of the schema in the root folder of this package. */
export const SCHEMA_FILE = "langgraph.schema.json";

/** The schema as a JSON document. It refuses unknown keys, which the server ignores with a warning: in an editor that is a warning, too. */
export function configJsonSchema(): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, {
    target: "draft-7",
    io: "input",
    override: ({ zodSchema, jsonSchema }) => describe(zodSchema, jsonSchema as JsonSchema),
  });
  return {
    $schema,
    title: "langgraph.json",
    description: "The config file of a LangGraph project, as agent-server reads it.",
    // Words that editors know beyond the standard.
    allowComments: true,
    allowTrailingCommas: true,
    ...schema,
  };
}

/** The schema as the text of a file. */
export function schemaText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}

function describe(zodSchema: z.core.$ZodType, schema: JsonSchema): void {
  delete schema["propertyNames"];
  // Zod's bound of an integer is that of a double; it says nothing to a reader.
  if (schema["maximum"] === Number.MAX_SAFE_INTEGER) delete schema["maximum"];
  if (zodSchema instanceof z.ZodObject) schema["additionalProperties"] = false;
  fold(schema);
  const meta = metaOf(zodSchema);
  if (!meta) return;
  const fallback = defaultOf(meta, zodSchema);
  Object.assign(schema, {
    description: sentences(meta, fallback),
    ...(fallback === undefined ? {} : { default: fallback }),
    ...meta.json,
  });
}

/** `{anyOf: [{type: "string"}, {type: "null"}]}` as `{type: ["string", "null"]}`: editors explain one type better than a choice. */
function fold(schema: JsonSchema): void {
  const { anyOf } = schema;
  if (!Array.isArray(anyOf)) return;
  const options = (anyOf as JsonSchema[]).flatMap((option) =>
    Array.isArray(option["anyOf"]) && Object.keys(option).length === 1 ? (option["anyOf"] as JsonSchema[]) : [option],
  );
  const isPlain = (option: JsonSchema): boolean =>
    typeof option["type"] === "string" && Object.keys(option).length === 1;
  const [first, ...rest] = options;
  const isOneAndNull = rest.length === 1 && rest[0]?.["type"] === "null" && typeof first?.["type"] === "string";
  if (!first || (!isOneAndNull && !options.every(isPlain))) {
    schema["anyOf"] = options;
    return;
  }
  delete schema["anyOf"];
  Object.assign(schema, first, { type: options.map((option) => option["type"]) });
  if (Array.isArray(first["enum"])) schema["enum"] = [...(first["enum"] as unknown[]), null];
}

function defaultOf({ default: written }: KeyMeta, type: z.core.$ZodType): unknown {
  if (written === "" || written === "required") return undefined;
  return [parsed(written), written].find((value) => value !== undefined && z.safeParse(type, value).success);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function sentences({ description, effect, default: written, missing }: KeyMeta, fallback: unknown): string {
  const parts = [description];
  if (fallback === undefined && written !== "" && written !== "required") parts.push(`Default: ${written}.`);
  if (effect === "not yet") {
    const reason = missing === undefined ? "" : `: ${missing}`;
    parts.push(`No effect in this version of agent-server${reason}.`);
  }
  return parts.join(" ");
}
