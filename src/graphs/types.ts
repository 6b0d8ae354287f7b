// What graphs/ offers to the run engine: the user's graphs, loaded and current, and the one LangGraph instance that they use.
// The types are structural: this package must not import a second copy of @langchain/langgraph at run time.

/** Config of one invocation, as LangGraph takes it (only the fields that we set or read). */
export interface GraphRunConfig {
  configurable?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
  tags?: string[];
  context?: unknown;
  recursionLimit?: number;
  [key: string]: unknown;
}

/** A snapshot as `getState` of LangGraph returns it. */
export interface GraphStateSnapshot {
  values: unknown;
  next: string[];
  tasks: readonly GraphStateTask[];
  metadata?: Record<string, unknown>;
  config: GraphRunConfig;
  createdAt?: string;
  parentConfig?: GraphRunConfig;
}

/** One task of a snapshot. */
export interface GraphStateTask {
  id: string;
  name: string;
  path?: readonly unknown[];
  error?: unknown;
  interrupts: readonly unknown[];
  state?: GraphRunConfig | GraphStateSnapshot;
  result?: unknown;
}

/** A compiled graph of the user: the part of LangGraph's `Pregel` that the server calls. */
export interface RunnableGraph {
  stream(input: unknown, options: Record<string, unknown>): Promise<AsyncIterable<unknown>>;
  streamEvents(input: unknown, options: Record<string, unknown>): AsyncIterable<Record<string, unknown>>;
  getState(config: GraphRunConfig, options?: { subgraphs?: boolean }): Promise<GraphStateSnapshot>;
  getStateHistory(config: GraphRunConfig, options?: Record<string, unknown>): AsyncIterable<GraphStateSnapshot>;
  updateState(config: GraphRunConfig, values: unknown, asNode?: string): Promise<GraphRunConfig>;
  bulkUpdateState(
    config: GraphRunConfig,
    supersteps: { updates: { values?: unknown; asNode?: string }[] }[],
  ): Promise<GraphRunConfig>;
  checkpointer?: unknown;
  store?: unknown;
  config?: GraphRunConfig;
  readonly nodes: Record<string, unknown>;
  readonly channels: Record<string, unknown>;
}

/**
 * One loaded version of one graph. A run keeps the version that it started with, whatever is reloaded meanwhile.
 */
export interface GraphVersion {
  readonly id: string;
  /** Counts up from 1 with every successful reload of this graph. */
  readonly version: number;
  /** Real paths of the user's files that it was loaded from. Files that only give types are not among them. */
  readonly files: ReadonlySet<string>;
  /** The graph is made anew on every use, by code of the project's that gets the config: two configs may give two graphs. */
  readonly isFactory: boolean;
  /**
   * The compiled graph: compiles a builder, calls a factory with `config`. Never carries a checkpointer or store of the user's.
   * @throws GraphLoadError when the factory throws or returns something else than a graph.
   */
  resolve(config: GraphRunConfig): Promise<RunnableGraph>;
}

/** The classes of the user's own LangGraph installation, resolved from the project; there is exactly one. */
export interface LangGraphRuntime {
  /** The namespace object of `@langchain/core/messages`. */
  readonly messages: Record<string, unknown>;
  /** The namespace object of `@langchain/langgraph`. */
  readonly langgraph: Record<string, unknown>;
  /** The namespace object of `@langchain/langgraph-checkpoint`. */
  readonly checkpoint: Record<string, unknown>;
  /** Version of `@langchain/langgraph`, e.g. `1.4.18`. */
  readonly version: string;
  /** Real path of the package `@langchain/langgraph`. */
  readonly folder?: string;
  /** Imports another module of the same installation, such as `@langchain/langgraph/zod/schema`. */
  importModule?(specifier: string): Promise<Record<string, unknown>>;
}

/** JSON schemas of one graph, as far as they can be known; null where they cannot. */
export interface GraphSchemas {
  readonly input_schema: Record<string, unknown> | null;
  readonly output_schema: Record<string, unknown> | null;
  readonly state_schema: Record<string, unknown> | null;
  readonly config_schema: Record<string, unknown> | null;
  readonly context_schema: Record<string, unknown> | null;
}

/** What happened to the graphs on disk; for the terminal. */
export type GraphEvent =
  | { readonly type: "loaded"; readonly ids: readonly string[]; readonly ms: number }
  | { readonly type: "reloaded"; readonly ids: readonly string[]; readonly ms: number }
  | { readonly type: "failed"; readonly ids: readonly string[]; readonly error: Error; readonly firstLoad: boolean }
  | { readonly type: "warning"; readonly message: string };
