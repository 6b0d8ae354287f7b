// One loaded version of a graph: what the module exported, made into a graph that runs on the server's own persistence.
import { relative } from "node:path";
import type { GraphSpec } from "../config/types.ts";
import { nearest } from "../config/suggest.ts";
import { copyGraph } from "./copy.ts";
import { atConfig, diagnose } from "./diagnose.ts";
import { GraphLoadError } from "./errors.ts";
import { kindOf, toRunnable } from "./recognise.ts";
import type { GraphRunConfig, GraphVersion, RunnableGraph } from "./types.ts";

/** What a version needs to know of its surroundings. */
export interface VersionContext {
  readonly spec: GraphSpec;
  readonly root: string;
  readonly version: number;
  /** Called for every graph that brings its own checkpointer or store. */
  onOwnPersistence(parts: readonly string[]): void;
}

/**
 * Makes a version of what `module` exports under the name in the config.
 * @throws GraphLoadError when there is no such export, or when it is no graph.
 */
export async function createVersion(
  module: Record<string, unknown>,
  context: VersionContext,
): Promise<Omit<GraphVersion, "files">> {
  const { spec, version } = context;
  // A promise is a graph that is still being built.
  const exported = await exportOf(module, context);
  if (typeof exported === "function") {
    const factory = exported as (config: GraphRunConfig) => unknown;
    return { id: spec.id, version, isFactory: true, resolve: (config) => callFactory(factory, config, context) };
  }
  const graph = toRunnable(exported);
  if (!graph) throw new GraphLoadError(spec.id, notAGraph(exported, context));
  const resolved = withoutPersistence(graph, context);
  return { id: spec.id, version, isFactory: false, resolve: () => Promise.resolve(resolved) };
}

function exportOf(module: Record<string, unknown>, { spec, root }: VersionContext): unknown {
  if (spec.exportName in module) return module[spec.exportName];
  const names = Object.keys(module);
  const file = relative(root, spec.file);
  const found = names.length === 0 ? "it exports nothing" : `it exports ${names.join(", ")}`;
  const guess = nearest(spec.exportName, names) ?? (names.length === 1 ? names[0] : undefined);
  const hint = guess === undefined ? undefined : `Did you mean "${guess}"?`;
  throw new GraphLoadError(spec.id, atConfig(spec, `${file} has no export "${spec.exportName}"; ${found}`, hint));
}

async function callFactory(
  factory: (config: GraphRunConfig) => unknown,
  config: GraphRunConfig,
  context: VersionContext,
): Promise<RunnableGraph> {
  const { spec, root } = context;
  try {
    const made = await factory(config);
    const graph = toRunnable(made);
    if (!graph) throw new GraphLoadError(spec.id, notAGraph(made, context));
    return withoutPersistence(graph, context);
  } catch (error) {
    throw diagnose(error, spec, root).error;
  }
}

function notAGraph(value: unknown, { spec, root }: VersionContext): ReturnType<typeof atConfig> {
  const message = `"${spec.exportName}" of ${relative(root, spec.file)} is no graph but ${kindOf(value)}`;
  return atConfig(spec, message, "Export a compiled graph, a StateGraph, or a function that returns one.");
}

// `checkpointer: false` says that the graph must not be stored at all; that is the user's to decide.
function withoutPersistence(graph: RunnableGraph, context: VersionContext): RunnableGraph {
  const parts = [
    ...(graph.checkpointer ? ["checkpointer"] : []),
    ...(graph.store === undefined || graph.store === null ? [] : ["store"]),
  ];
  if (parts.length === 0) return graph;
  context.onOwnPersistence(parts);
  return copyGraph(graph, {
    checkpointer: graph.checkpointer === false ? false : undefined,
    store: undefined,
  });
}
