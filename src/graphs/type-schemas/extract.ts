// From a graph file to the schemas of its types: the work of the child process.
import type { ts } from "@ts-morph/common";
import { isGap, type JsonSchema } from "../json-schema.ts";
import { toSchema, type Types } from "./convert.ts";
import { exportedGraph, typesOf, type FoundGraph } from "./find.ts";
import type { Programs } from "./program.ts";
import { hashFile } from "./hash.ts";
import { subgraphsOf } from "./subgraphs.ts";

/** Characters of JSON for the schemas of all subgraphs. */
const MAX_SUBGRAPHS_SIZE = 4_000_000;

/** Which graph: the file that exports it, and the name there. */
export interface ExtractionRequest {
  readonly file: string;
  readonly exportName: string;
}

/** The schemas of a graph's types; null where a type says nothing. */
export interface TypeSchemas {
  readonly input: JsonSchema | null;
  readonly output: JsonSchema | null;
  readonly state: JsonSchema | null;
  readonly context: JsonSchema | null;
}

/** What was found out about one export. */
export interface Extraction {
  /** Null when the types do not tell of a graph. */
  readonly graph: TypeSchemas | null;
  /** By LangGraph's names: `node`, and `node|inner` for a graph in a graph. */
  readonly subgraphs: Readonly<Record<string, TypeSchemas>>;
  /** All files that this depends on with the hashes of their contents; null stands for a file that is not there. */
  readonly files: Readonly<Record<string, string | null>>;
}

/** Reads the types of one export. Errors in the code make types less exact and nothing worse. */
export function extract(programs: Programs, { file, exportName }: ExtractionRequest): Extraction {
  const { program, files } = programs.create(file);
  // At once: what is saved from now on is not what was parsed.
  const hashes = Object.fromEntries([...files].map((each) => [each, hashFile(each)]));
  const checker = program.getTypeChecker();
  const types: Types = {
    checker,
    isBuiltIn(declaration) {
      const source = declaration.getSourceFile();
      return (
        program.isSourceFileDefaultLibrary(source) || /[\\/]node_modules[\\/]@types[\\/]node[\\/]/.test(source.fileName)
      );
    },
  };
  const convert = (type: ts.Type | undefined): JsonSchema | null => (type ? toSchema(type, types) : null);
  const schemasOf = (found: FoundGraph): TypeSchemas => {
    const { input, output, state, context } = typesOf(found.type, checker);
    const whole = convert(state);
    const given = fields(convert(output)) ?? whole;
    return {
      // A graph of bare channels bears the type of its state alone.
      input: fields(convert(input)) ?? (whole === null ? null : partial(whole)),
      output: given,
      // An agent returns its state, and a graph of the functional API keeps what it returned last.
      state: whole ?? given,
      context: contextOf(convert(context)),
    };
  };
  const graph = exportedGraph(program, file, exportName);
  const subgraphs: Record<string, TypeSchemas> = {};
  let size = 0;
  for (const [name, found] of graph ? subgraphsOf(graph, program) : []) {
    const schemas = schemasOf(found);
    size += JSON.stringify(schemas).length;
    if (size > MAX_SUBGRAPHS_SIZE) break;
    subgraphs[name] = schemas;
  }
  return {
    graph: graph ? schemasOf(graph) : null,
    subgraphs,
    files: hashes,
  };
}

/** Null for an object that may have any fields: it says nothing. */
function fields(schema: JsonSchema | null): JsonSchema | null {
  const isAnything =
    schema?.["type"] === "object" && !("properties" in schema) && isGap(schema["additionalProperties"]);
  return isAnything ? null : schema;
}

function partial({ required: _all, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

// LangGraph adds `Record<string, any>` to every context, and gives it alone to a graph without one.
function contextOf(schema: JsonSchema | null): JsonSchema | null {
  if (schema === null || !("properties" in schema)) return null;
  const { additionalProperties: _any, ...context } = schema;
  return context;
}
