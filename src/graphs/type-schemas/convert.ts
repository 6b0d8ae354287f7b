// Turns a resolved TypeScript type into a JSON schema. It asks the checker and not the syntax, because the types of a graph come out of
// LangGraph's generics and are written down nowhere.
import { ts } from "@ts-morph/common";
import { MESSAGE, MESSAGES, type JsonSchema } from "../json-schema.ts";
import { literals, literalSchema } from "./literals.ts";

/** Types inside types; what lies deeper is `{}`. */
const MAX_DEPTH = 16;
/** Parts of the schema of one field, and of all. A type of a big library would fill megabytes. */
const MAX_FIELD_PARTS = 1500;
const MAX_PARTS = 10_000;
/** Properties of one object. */
const MAX_PROPERTIES = 200;
const MAX_DESCRIPTION = 1000;

const { TypeFlags } = ts;
const UNKNOWABLE = TypeFlags.Any | TypeFlags.Unknown | TypeFlags.ESSymbolLike | TypeFlags.Never;
const NOTHING = TypeFlags.Undefined | TypeFlags.Void;

/** What the conversion needs of the program that the type belongs to. */
export interface Types {
  readonly checker: ts.TypeChecker;
  /** Whether a declaration is one of TypeScript's own libraries or of `@types/node`. */
  isBuiltIn(declaration: ts.Declaration): boolean;
}

/** The schema of `type`, complete in itself; null when the type says nothing. */
export function toSchema(type: ts.Type, types: Types): JsonSchema | null {
  const conversion = new Conversion(types);
  const schema = conversion.convert(type, 0);
  // The root of a recursive type stands at the root, so that its properties are found there.
  const name = typeof schema["$ref"] === "string" ? schema["$ref"].slice("#/$defs/".length) : undefined;
  const root = name === undefined ? schema : (conversion.defs[name] as JsonSchema);
  if (Object.keys(root).length === 0) return null;
  return Object.keys(conversion.defs).length > 0 ? { ...root, $defs: conversion.defs } : root;
}

class Conversion {
  /** Definitions of the types that contain themselves. */
  readonly defs: JsonSchema = {};
  readonly #types: Types;
  readonly #open = new Set<ts.Type>();
  readonly #names = new Map<ts.Type, string>();
  #fieldParts = MAX_FIELD_PARTS;
  #parts = MAX_PARTS;

  constructor(types: Types) {
    this.#types = types;
  }

  convert(type: ts.Type, depth: number): JsonSchema {
    const name = this.#names.get(type);
    if (name !== undefined) return { $ref: `#/$defs/${name}` };
    if (depth === 1) this.#fieldParts = MAX_FIELD_PARTS;
    if (depth > MAX_DEPTH || this.#fieldParts-- <= 0 || this.#parts-- <= 0) return {};
    const simple = literalSchema(type);
    if (simple) return simple;
    if (type.flags & (UNKNOWABLE | NOTHING)) return {};
    if (type.flags & TypeFlags.Instantiable) {
      const constraint = this.#types.checker.getBaseConstraintOfType(type);
      return constraint === undefined || constraint === type ? {} : this.convert(constraint, depth + 1);
    }
    if (this.#open.has(type)) return { $ref: `#/$defs/${this.#name(type)}` };
    // What a list contains comes back to its element, which has a name more often.
    if (this.#types.checker.isArrayType(type)) return this.#array(type as ts.TypeReference, depth);
    this.#open.add(type);
    const schema = type.isUnion() ? this.#union(type, depth) : this.#structure(type, depth);
    this.#open.delete(type);
    const own = this.#names.get(type);
    if (own === undefined) return schema;
    this.defs[own] = schema;
    return { $ref: `#/$defs/${own}` };
  }

  #name(type: ts.Type): string {
    const known = this.#names.get(type);
    if (known !== undefined) return known;
    const written = (type.aliasSymbol ?? type.symbol)?.name.replaceAll(/\W/g, "") ?? "";
    const base = written === "" || written.startsWith("__") ? "Type" : written;
    let name = base;
    for (let count = 2; Object.hasOwn(this.defs, name); count++) name = `${base}${count}`;
    this.defs[name] = {};
    this.#names.set(type, name);
    return name;
  }

  #union(union: ts.UnionType, depth: number): JsonSchema {
    const { checker } = this.#types;
    const types = union.types.filter((each) => !(each.flags & NOTHING) && !this.#isOverwrite(each));
    if (types.some((each) => this.#isMessage(each) || this.#isMessageList(each))) {
      // What LangGraph takes for messages has many more forms, down to a single string.
      if (types.some((each) => this.#isMessageList(each))) return MESSAGES;
      if (types.some((each) => checker.isTupleType(each))) return MESSAGE;
    }
    const { schemas, rest } = literals(types);
    const parts = [...schemas, ...rest.map((each) => this.convert(each, depth + 1))];
    if (parts.some((part) => Object.keys(part).length === 0)) return {};
    const distinct = [...new Map(parts.map((part) => [JSON.stringify(part), part])).values()];
    return distinct.length === 1 ? distinct[0]! : { anyOf: distinct };
  }

  #structure(type: ts.Type, depth: number): JsonSchema {
    const { checker } = this.#types;
    if (this.#isMessage(type)) return MESSAGE;
    if (checker.isTupleType(type)) return this.#tuple(type as ts.TupleTypeReference, depth);
    if (type.isIntersection()) {
      // A brand: `string & { __brand: … }` is a string.
      const primitive = type.types.find((each) => each.flags & (TypeFlags.StringLike | TypeFlags.NumberLike));
      if (primitive) return this.convert(primitive, depth + 1);
    }
    if (type.flags & TypeFlags.NonPrimitive) return { type: "object" };
    if (type.isClassOrInterface() || (type as ts.TypeReference).target?.isClassOrInterface()) {
      const declaration = type.symbol.declarations?.[0];
      if (declaration && this.#types.isBuiltIn(declaration)) return builtIn(type.symbol.name);
    }
    return this.#object(type, depth);
  }

  #array(type: ts.TypeReference, depth: number): JsonSchema {
    const [item] = this.#types.checker.getTypeArguments(type);
    const items = item === undefined ? {} : this.convert(item, depth + 1);
    return items === MESSAGE ? MESSAGES : { type: "array", items };
  }

  #tuple(type: ts.TupleTypeReference, depth: number): JsonSchema {
    const { elementFlags, minLength } = type.target;
    const parts = this.#types.checker.getTypeArguments(type).map((each) => this.convert(each, depth + 1));
    const isRest = (index: number): boolean => ((elementFlags[index] ?? 0) & ts.ElementFlags.Variable) !== 0;
    const fixed = parts.findIndex((_, index) => isRest(index));
    const prefixItems = fixed < 0 ? parts : parts.slice(0, fixed);
    return {
      type: "array",
      ...(prefixItems.length > 0 ? { prefixItems } : {}),
      ...(fixed === parts.length - 1 ? { items: parts[fixed] } : {}),
      minItems: minLength,
      ...(fixed < 0 ? { maxItems: parts.length } : {}),
    };
  }

  #object(type: ts.Type, depth: number): JsonSchema {
    const { checker } = this.#types;
    const index = checker.getIndexInfosOfType(type).find(({ keyType }) => !(keyType.flags & TypeFlags.ESSymbolLike));
    const isCallable = [ts.SignatureKind.Call, ts.SignatureKind.Construct].some(
      (kind) => checker.getSignaturesOfType(type, kind).length > 0,
    );
    if (isCallable) return {};
    const properties: JsonSchema = {};
    const required: string[] = [];
    for (const property of checker.getPropertiesOfType(type).filter(isData).slice(0, MAX_PROPERTIES)) {
      const value = checker.getTypeOfSymbol(property);
      if (this.#isFunction(value)) continue;
      const description = ts.displayPartsToString(property.getDocumentationComment(checker)).trim();
      const schema = this.convert(value, depth + 1);
      properties[property.name] =
        description === "" ? schema : { ...schema, description: description.slice(0, MAX_DESCRIPTION) };
      const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0 || this.#allowsUndefined(value);
      if (!isOptional) required.push(property.name);
    }
    const isEmpty = Object.keys(properties).length === 0;
    // `{}` is anything but null and undefined.
    if (isEmpty && !index && checker.getPropertiesOfType(type).length === 0) return {};
    return {
      type: "object",
      ...(isEmpty ? {} : { properties }),
      ...(required.length > 0 ? { required } : {}),
      ...(index ? { additionalProperties: this.convert(index.type, depth + 1) } : {}),
    };
  }

  #allowsUndefined(type: ts.Type): boolean {
    const types = type.isUnion() ? type.types : [type];
    return types.some((each) => each.flags & (NOTHING | TypeFlags.Any | TypeFlags.Unknown));
  }

  #isFunction(type: ts.Type): boolean {
    const types = (type.isUnion() ? type.types : [type]).filter((each) => !(each.flags & (NOTHING | TypeFlags.Null)));
    return types.length > 0 && types.every((each) => each.getCallSignatures().length > 0);
  }

  /** What a reducer's channel accepts besides its updates: `{ __overwrite__: value }`. Nobody means it when asking for an input. */
  #isOverwrite(type: ts.Type): boolean {
    return (type.flags & TypeFlags.Object) !== 0 && type.getProperty("__overwrite__") !== undefined;
  }

  #isMessage(type: ts.Type): boolean {
    if (!(type.flags & (TypeFlags.Object | TypeFlags.Intersection))) return false;
    if (type.getProperty("content") === undefined) return false;
    return (
      type.getProperty("_getType") !== undefined ||
      type.getProperties().some(({ escapedName }) => String(escapedName).startsWith("__@MESSAGE_SYMBOL"))
    );
  }

  #isMessageList(type: ts.Type): boolean {
    if (!this.#types.checker.isArrayType(type)) return false;
    const [item] = this.#types.checker.getTypeArguments(type as ts.TypeReference);
    if (item === undefined) return false;
    return item.isUnion() ? item.types.some((each) => this.#isMessage(each)) : this.#isMessage(item);
  }
}

/** Whether a property can be in JSON: no symbol, nothing private. */
function isData(property: ts.Symbol): boolean {
  if (String(property.escapedName).startsWith("__@") || property.name.startsWith("#")) return false;
  const declaration = property.valueDeclaration;
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  return declaration === undefined || (ts.getCombinedModifierFlags(declaration) & hidden) === 0;
}

/** Classes of JavaScript and Node: only some have a form in JSON. */
function builtIn(name: string): JsonSchema {
  if (name === "Date") return { type: "string", format: "date-time" };
  if (name === "URL") return { type: "string", format: "uri" };
  if (name === "String" || name === "Number" || name === "Boolean") return { type: name.toLowerCase() };
  return {};
}
