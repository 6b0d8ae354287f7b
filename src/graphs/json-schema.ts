// What the schemas from run time and those from TypeScript have in common: how messages look, what counts as a gap, and how a part moves
// into another schema without its references going astray.

/** A JSON schema of draft 2020-12, or a part of one. */
export type JsonSchema = Record<string, unknown>;

/** One message of LangChain. */
export const MESSAGE: JsonSchema = {
  type: "object",
  properties: {
    type: { type: "string" },
    content: { anyOf: [{ type: "string" }, { type: "array", items: { type: "object" } }] },
    id: { type: "string" },
    name: { type: "string" },
    tool_calls: { type: "array", items: { type: "object" } },
    tool_call_id: { type: "string" },
  },
  required: ["content"],
};

/** A list of messages; `langgraph_type` is how Studio knows it. */
export const MESSAGES: JsonSchema = { type: "array", items: MESSAGE, langgraph_type: "messages" };

const SAYS_NOTHING: readonly string[] = ["$schema", "title", "description", "default"];

/** `value` as a record; anything else is an empty one. */
export function record(value: unknown): JsonSchema {
  return typeof value === "object" && value !== null ? (value as JsonSchema) : {};
}

/** Whether a schema says nothing about the values that it allows: `{}`, with or without words. */
export function isGap(schema: unknown): boolean {
  return Object.keys(record(schema)).every((key) => SAYS_NOTHING.includes(key));
}

/** Whether `schema` is unknown, or one of its properties is. */
export function hasGaps(schema: JsonSchema | null): boolean {
  return schema === null || isGap(schema) || Object.values(record(schema["properties"])).some(isGap);
}

/**
 * `known` with its gaps filled from `typed`, which describes the same values: as a whole, or property by property. What `known` says
 * stays. Null where neither says anything.
 */
export function fillGaps(known: JsonSchema | null, typed: JsonSchema | null): JsonSchema | null {
  if (known === null || typed === null) return known ?? typed;
  if (isGap(known)) return { ...typed, ...known };
  const offers = record(typed["properties"]);
  const required = new Set(namesIn(known["required"]));
  const requiredByType = namesIn(typed["required"]);
  const defs = { ...record(known["$defs"]) };
  const adopt = adopter(record(typed["$defs"]), defs);
  const properties: JsonSchema = {};
  for (const [name, schema] of Object.entries(record(known["properties"]))) {
    const fills = isGap(schema) && Object.hasOwn(offers, name) && !isGap(offers[name]);
    properties[name] = schema;
    if (fills) properties[name] = { ...adopt(record(offers[name])), ...record(schema) };
    // Of a list of messages the run time knows what it is, and the types whether it is always there.
    const isTyped = fills || record(schema)["langgraph_type"] === "messages";
    if (isTyped && requiredByType.includes(name)) required.add(name);
  }
  return {
    ...known,
    properties,
    ...(required.size > 0 ? { required: [...required] } : {}),
    ...(Object.keys(defs).length > 0 ? { $defs: defs } : {}),
  };
}

/**
 * Makes a part of what was a schema of its own. Its definitions move to `defs`, those of the new whole; so does it itself, as `name`,
 * when something in it refers to its root.
 */
export function embed(schema: JsonSchema, defs: JsonSchema, name: string): JsonSchema {
  const { $schema: _dialect, $defs, definitions, ...part } = schema;
  let root: string | undefined;
  const adopt = adopter({ ...record(definitions), ...record($defs) }, defs, (pointer) => {
    root ??= reserve(defs, name);
    return `#/$defs/${root}${pointer}`;
  });
  const moved = adopt(part);
  if (root === undefined) return moved;
  defs[root] = moved;
  return { $ref: `#/$defs/${root}` };
}

/** Turns references of parts to `defs`, where the definitions that the parts need out of `own` get a free name. */
function adopter(
  own: JsonSchema,
  defs: JsonSchema,
  toRoot = (pointer: string): string => `#${pointer}`,
): (part: JsonSchema) => JsonSchema {
  const names = new Map<string, string>();
  const turn = (reference: string): string => {
    const [, name, rest = ""] = /^#\/(?:\$defs|definitions)\/([^/]+)(.*)$/.exec(reference) ?? [];
    if (name === undefined || !Object.hasOwn(own, name))
      return reference.startsWith("#") ? toRoot(reference.slice(1)) : reference;
    let id = names.get(name);
    if (id === undefined) {
      id = reserve(defs, name);
      names.set(name, id);
      defs[id] = mapReferences(own[name], turn);
    }
    return `#/$defs/${id}${rest}`;
  };
  return (part) => mapReferences(part, turn) as JsonSchema;
}

function reserve(defs: JsonSchema, name: string): string {
  let id = name;
  for (let count = 2; Object.hasOwn(defs, id); count++) id = `${name}${count}`;
  defs[id] = {};
  return id;
}

function mapReferences(value: unknown, turn: (reference: string) => string): unknown {
  if (Array.isArray(value)) return value.map((each) => mapReferences(each, turn));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]: [string, unknown]) => [
      key,
      key === "$ref" && typeof each === "string" ? turn(each) : mapReferences(each, turn),
    ]),
  );
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
