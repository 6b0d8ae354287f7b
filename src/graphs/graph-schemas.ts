// The JSON schemas of graphs, complete: what a graph tells at run time, and where that says nothing, its TypeScript types. Those are read in
// another process, the first time that somebody asks, and kept until a file changes.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { GraphSpec } from "../config/types.ts";
import { fillGaps, hasGaps } from "./json-schema.ts";
import { graphSchemas } from "./schemas.ts";
import { nestedGraphs } from "./subgraphs.ts";
import { ExtractionCache } from "./type-schemas/cache.ts";
import { ExtractionTimeout, TypeReader } from "./type-schemas/client.ts";
import type { Extraction, TypeSchemas } from "./type-schemas/extract.ts";
import type { GraphSchemas, GraphVersion, LangGraphRuntime, RunnableGraph } from "./types.ts";

/** To be raised when the same types give other schemas. */
const EXTRACTOR = 1;
/** Milliseconds that the reading of types may take, unless LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS says otherwise. */
const TIMEOUT_MS = 30_000;
const TIMEOUT_VARIABLE = "LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS";

/** What a `SchemaSource` needs. */
export interface SchemaSourceOptions {
  /** Folder where what was read from types is kept; null keeps it in memory only. Made when needed. */
  readonly cacheDir: string | null;
  /** The LangGraph that the graphs run on. */
  runtime(): Promise<LangGraphRuntime>;
  /** Told, once for each version of a graph, why its types could not be read. */
  onWarning(message: string): void;
  /** Told of every reading of types that begins. */
  onExtract?(spec: GraphSpec): void;
}

/** Which subgraphs are asked for. */
export interface SubgraphQuery {
  /** The name of one, `node` or `node|inner`; without it, all. */
  readonly namespace?: string;
  /** Whether those inside subgraphs are meant too. */
  readonly recurse: boolean;
}

/** The schemas of graphs. Nothing is started before the first question that needs it. */
export class SchemaSource {
  readonly #options: SchemaSourceOptions;
  readonly #cache: ExtractionCache;
  readonly #timeoutMs: number;
  readonly #running = new Map<string, Promise<Extraction | undefined>>();
  // Of these it is known that their types cannot be read: nobody waits for that twice.
  readonly #failed = new WeakSet<GraphVersion>();
  readonly #withContext = new WeakMap<GraphVersion, Promise<boolean>>();
  #reader: TypeReader | undefined;
  #keepsOnDisk = true;
  #closed = false;

  constructor(options: SchemaSourceOptions) {
    this.#options = options;
    this.#cache = new ExtractionCache(options.cacheDir);
    this.#timeoutMs = this.#timeout(process.env["LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS"]);
  }

  /** The schemas of a graph; parts that cannot be known are null. Never throws for what is wrong with the graph. */
  async of(spec: GraphSpec, version: GraphVersion, graph: RunnableGraph): Promise<GraphSchemas> {
    const known = await graphSchemas(graph, await this.#options.runtime());
    if (!(await this.#isIncomplete(known, version, graph))) return known;
    const extraction = await this.#extraction(spec, version);
    return fill(known, extraction?.graph);
  }

  /** The schemas of the graphs inside a graph, by LangGraph's names of them: `node`, and `node|inner` for those deeper. */
  async subgraphs(
    spec: GraphSpec,
    version: GraphVersion,
    graph: RunnableGraph,
    { namespace, recurse }: SubgraphQuery,
  ): Promise<Record<string, GraphSchemas>> {
    const runtime = await this.#options.runtime();
    const nested = await nestedGraphs(graph, recurse || namespace !== undefined);
    const asked = [...nested].filter(([name]) => namespace === undefined || name === namespace);
    const schemas = await Promise.all(
      asked.map(async ([name, inner]) => {
        const known = await graphSchemas(inner, runtime);
        if (!(await this.#isIncomplete(known, version, inner))) return [name, known] as const;
        const extraction = await this.#extraction(spec, version);
        return [name, fill(known, extraction?.subgraphs[name])] as const;
      }),
    );
    return Object.fromEntries(schemas);
  }

  /** Ends the process that reads types, if there is one. What waits for it gets what is known without it. */
  close(): Promise<void> {
    this.#closed = true;
    this.#reader?.close();
    return Promise.resolve();
  }

  async #isIncomplete(known: GraphSchemas, version: GraphVersion, graph: RunnableGraph): Promise<boolean> {
    const { state_schema: state, input_schema: input, output_schema: output, context_schema: context } = known;
    if ([state, input, output].some(hasGaps)) return true;
    if (context !== null) return hasGaps(context);
    // A context in form of an Annotation leaves no trace at run time. Most graphs have none, and need not be read for it.
    return (graph as { builder?: unknown }).builder !== undefined && this.#mentionsAnnotation(version);
  }

  #mentionsAnnotation(version: GraphVersion): Promise<boolean> {
    let found = this.#withContext.get(version);
    if (found === undefined) {
      found = someMentions([...version.files], /\bAnnotation\b/);
      this.#withContext.set(version, found);
    }
    return found;
  }

  async #extraction(spec: GraphSpec, version: GraphVersion): Promise<Extraction | undefined> {
    if (!/\.[cm]?tsx?$/.test(spec.file)) return undefined;
    const runtime = await this.#options.runtime();
    const key = JSON.stringify([...versions(), runtime.version, spec.file, spec.exportName]);
    let running = this.#running.get(key);
    if (running === undefined) {
      running = this.#find(key, spec, version).finally(() => this.#running.delete(key));
      this.#running.set(key, running);
    }
    return running;
  }

  async #find(key: string, spec: GraphSpec, version: GraphVersion): Promise<Extraction | undefined> {
    const kept = await this.#cache.get(key);
    if (kept || this.#failed.has(version) || this.#closed) return kept;
    this.#options.onExtract?.(spec);
    this.#reader ??= new TypeReader(this.#timeoutMs);
    try {
      const extraction = await this.#reader.read({ file: spec.file, exportName: spec.exportName });
      await this.#keep(key, extraction);
      return extraction;
    } catch (error) {
      if (this.#closed) return undefined;
      this.#failed.add(version);
      const reason = error instanceof Error ? error.message : String(error);
      const hint = error instanceof ExtractionTimeout ? ` ${TIMEOUT_VARIABLE} sets the limit.` : "";
      this.#options.onWarning(
        `The types of graph "${spec.id}" could not be read (${reason}): its schemas have only what is known at run time.${hint}`,
      );
      return undefined;
    }
  }

  async #keep(key: string, extraction: Extraction): Promise<void> {
    try {
      await this.#cache.set(key, extraction);
    } catch (error) {
      if (this.#keepsOnDisk && !this.#closed)
        this.#options.onWarning(
          `Schemas cannot be kept on disk: ${error instanceof Error ? error.message : String(error)}`,
        );
      this.#keepsOnDisk = false;
    }
  }

  #timeout(written: string | undefined): number {
    if (written === undefined || written.trim() === "") return TIMEOUT_MS;
    const value = Number(written);
    // Timers of Node hold 31 bits.
    if (value > 0 && value < 2 ** 31) return value;
    this.#options.onWarning(`${TIMEOUT_VARIABLE} is no number of milliseconds above 0; ${TIMEOUT_MS} is used.`);
    return TIMEOUT_MS;
  }
}

function fill(known: GraphSchemas, types: TypeSchemas | null | undefined): GraphSchemas {
  if (!types) return known;
  const context = fillGaps(known.context_schema, types.context);
  return {
    state_schema: fillGaps(known.state_schema, types.state),
    input_schema: fillGaps(known.input_schema, types.input),
    output_schema: fillGaps(known.output_schema, types.output),
    config_schema: context,
    context_schema: context,
  };
}

async function someMentions(files: readonly string[], pattern: RegExp): Promise<boolean> {
  for (const file of files) {
    // oxlint-disable-next-line no-await-in-loop -- the first that does ends it
    if (pattern.test(await readFile(file, "utf8").catch(() => ""))) return true;
  }
  return false;
}

/** What makes schemas out of types: a change of any of it may change them. */
function versions(): readonly unknown[] {
  const require = createRequire(import.meta.url);
  const versionOf = (path: string): string => (require(path) as { version: string }).version;
  return [EXTRACTOR, versionOf("../../package.json"), versionOf("@ts-morph/common/package.json")];
}
