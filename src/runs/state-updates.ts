// Changes of thread states from outside: values as if a node had returned them, imported histories, metadata of a checkpoint.
import { ApiError } from "../errors.ts";
import type { GraphRunConfig, GraphVersion, RunnableGraph } from "../graphs/types.ts";
import type { Json } from "../resources/json.ts";
import type { Threads } from "../resources/threads.ts";
import { packCheckpoint } from "../storage/checkpoint-record.ts";
import { keys } from "../storage/keys.ts";
import { interruptsOf } from "./result.ts";
import { checkpointConfig } from "./run-config.ts";
import { stateGraph, type StateGraphOptions } from "./state-graph.ts";

export interface StateUpdateOptions extends StateGraphOptions {
  readonly threads: Threads;
  readonly graph: (id: string) => Promise<GraphVersion>;
  /** Makes a change while nothing else happens on a thread. */
  readonly exclusive: <T>(threadId: string, change: () => Promise<T>) => Promise<T>;
}

/** One superstep of updates to import. */
export interface SuperstepUpdates {
  readonly updates: readonly {
    readonly values?: unknown;
    readonly command?: Json | undefined;
    readonly as_node: string;
  }[];
}

/** Metadata that a checkpoint has of LangGraph or of the server, and nobody else may set. */
const RESERVED = new Set([
  "source",
  "step",
  "parents",
  "counters_since_delta_snapshot",
  "thread_id",
  "run_id",
  "run_attempt",
]);

export class StateUpdates {
  readonly #options: StateUpdateOptions;

  constructor(options: StateUpdateOptions) {
    this.#options = options;
  }

  /**
   * Changes a thread's state as if a node had returned `values`.
   * @returns the reference of the new checkpoint.
   * @throws ApiError 400 the thread has no graph; 404; 409 busy; 422 LangGraph refuses the update.
   */
  async make(
    threadId: string,
    update: { values: unknown; asNode?: string | undefined; checkpoint?: Json | undefined },
  ): Promise<Json> {
    const config = { configurable: { thread_id: threadId, ...checkpointConfig(update.checkpoint) } };
    return this.#exclusive(threadId, config, (graph) => graph.updateState(config, update.values, update.asNode));
  }

  /** Applies imported supersteps in their order. Throws as `make` does. */
  async importSupersteps(threadId: string, supersteps: readonly SuperstepUpdates[]): Promise<Json> {
    const config = { configurable: { thread_id: threadId } };
    const { runtime } = await this.#options.kit();
    const Command = runtime.langgraph["Command"] as new (fields: Json) => unknown;
    const steps = supersteps.map(({ updates }) => ({
      updates: updates.map(({ values, command, as_node }) => ({
        values: command === undefined ? values : new Command(command),
        asNode: as_node,
      })),
    }));
    return this.#exclusive(threadId, config, (graph) => graph.bulkUpdateState(config, steps));
  }

  /**
   * Merges metadata into that of a thread's newest checkpoint, one level deep. Keys that are reserved are left out.
   * @throws ApiError 404 no such thread, or it has no checkpoint yet; 409 busy.
   */
  patchMetadata(threadId: string, metadata: Json): Promise<void> {
    const own = Object.fromEntries(Object.entries(metadata).filter(([key]) => !RESERVED.has(key)));
    return this.#options.exclusive(threadId, async () => {
      const { threads, checkpoints } = this.#options;
      const stored = checkpoints.get(threadId, "");
      if (stored === undefined) throw new ApiError(404, `Thread ${threadId} has no checkpoint yet`);
      const { id, record } = stored;
      const thread = { ...threads.get(threadId), updated_at: threads.stamp() };
      checkpoints.db.write([
        {
          key: keys.checkpoint(threadId, "", id),
          value: packCheckpoint(id, { ...record, m: { ...record.m, ...own } }),
        },
        threads.writeOf(thread),
      ]);
      threads.committed(thread);
      checkpoints.forget(threadId);
    });
  }

  #exclusive(
    threadId: string,
    config: GraphRunConfig,
    change: (graph: RunnableGraph) => Promise<GraphRunConfig>,
  ): Promise<Json> {
    return this.#options.exclusive(threadId, () => this.#change(threadId, config, change));
  }

  async #change(
    threadId: string,
    config: GraphRunConfig,
    change: (graph: RunnableGraph) => Promise<GraphRunConfig>,
  ): Promise<Json> {
    const { threads, checkpoints } = this.#options;
    const thread = threads.get(threadId);
    const graphId = thread.metadata["graph_id"];
    if (typeof graphId !== "string") throw new ApiError(400, `Thread ${threadId} has no graph ID`);
    const version = await this.#options.graph(graphId);
    const { checkpoint_id: id, checkpoint_ns: ns = "" } = (config.configurable ?? {}) as {
      checkpoint_id?: string;
      checkpoint_ns?: string;
    };
    if ((id !== undefined || ns !== "") && checkpoints.get(threadId, ns, id) === undefined) {
      throw new ApiError(404, `Checkpoint ${id ?? `in namespace "${ns}"`} not found`);
    }
    const metadata: Json = { graph_id: graphId };
    if (thread.metadata["assistant_id"] !== undefined) metadata["assistant_id"] = thread.metadata["assistant_id"];
    const graph = await stateGraph(this.#options, version, config, { metadata });
    let after: GraphRunConfig;
    try {
      after = await change(graph);
    } catch (error) {
      throw new ApiError(422, error instanceof Error ? error.message : String(error));
    }
    const { next, values } = await graph.getState({ configurable: { thread_id: threadId } });
    checkpoints.showValues(threadId, (await this.#options.kit()).codec.wire(values));
    const now = threads.stamp();
    threads.put({
      ...threads.get(threadId),
      status: next.length > 0 ? "interrupted" : "idle",
      interrupts: interruptsOf(checkpoints, threadId),
      updated_at: now,
      state_updated_at: now,
    });
    return { thread_id: threadId, checkpoint_ns: "", ...checkpointConfig(after.configurable) };
  }
}
