// Thread states as clients see them: the newest one, earlier ones, the history; and updates from outside. Values come from stored
// JSON as they are; LangGraph is asked only which tasks come next, and gets a checkpoint without values for that.
import { LRUCache } from "lru-cache";
import { ApiError } from "../errors.ts";
import type { GraphRunConfig, GraphStateSnapshot, GraphVersion, RunnableGraph } from "../graphs/types.ts";
import { timestamp, withOffset } from "../ids.ts";
import type { Json } from "../resources/json.ts";
import type { ThreadRecord, Threads } from "../resources/threads.ts";
import type { CheckpointStore, StoredCheckpoint } from "../storage/checkpoints.ts";
import { bindGraph } from "./bind.ts";
import type { GraphKit } from "./engine.ts";
import { checkpointConfig } from "./run-config.ts";
import { taskJson } from "./state-json.ts";
import { visibleChannels } from "./visible.ts";
import { interruptsOf } from "./result.ts";

export interface StatesOptions {
  readonly threads: Threads;
  readonly checkpoints: CheckpointStore;
  readonly store: unknown;
  readonly graph: (id: string) => Promise<GraphVersion>;
  readonly kit: () => Promise<GraphKit>;
  readonly isBusy: (threadId: string) => boolean;
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

/** Task id under which LangGraph keeps writes that belong to no task. */
const NULL_TASK = "00000000-0000-0000-0000-000000000000";
/** Characters of ready states that are kept. */
const CACHE_CHARS = 4 * 1024 * 1024;
/** History entries that are made in one go before others get their turn. */
const HISTORY_SLICE = 25;

const EMPTY_STATE = JSON.stringify({
  values: {},
  next: [],
  tasks: [],
  metadata: null,
  checkpoint: null,
  created_at: null,
  parent_checkpoint: null,
  interrupts: [],
});

export class ThreadStates {
  readonly #options: StatesOptions;
  readonly #latest = new LRUCache<string, { version: number; json: string }>({
    maxSize: CACHE_CHARS,
    sizeCalculation: ({ json }) => json.length,
  });

  constructor(options: StatesOptions) {
    this.#options = options;
    options.checkpoints.onChange((threadId) => this.#latest.delete(threadId));
  }

  /** The newest state of a thread. @throws ApiError 404 */
  async latest(threadId: string, subgraphs: boolean): Promise<string> {
    const thread = this.#options.threads.get(threadId);
    const version = await this.#version(thread);
    const cached = subgraphs ? undefined : this.#latest.get(threadId);
    if (cached !== undefined && cached.version === (version?.version ?? 0)) return cached.json;
    const stored = this.#options.checkpoints.get(threadId, "");
    if (stored === undefined) return EMPTY_STATE;
    const json = await this.#state(stored, version, { latest: true, subgraphs });
    // Only if nothing changed while it was made.
    if (
      !subgraphs &&
      this.#options.checkpoints.get(threadId, "")?.id === stored.id &&
      !this.#options.isBusy(threadId)
    ) {
      this.#latest.set(threadId, { version: version?.version ?? 0, json });
    }
    return json;
  }

  /** The state at a checkpoint. @throws ApiError 404 */
  async at(threadId: string, checkpoint: Json, subgraphs: boolean): Promise<string> {
    const thread = this.#options.threads.get(threadId);
    const { checkpoint_id: id, checkpoint_ns: ns = "" } = checkpoint as {
      checkpoint_id?: string;
      checkpoint_ns?: string;
    };
    const stored = this.#options.checkpoints.get(threadId, ns, id);
    if (stored === undefined) {
      if (id === undefined && ns === "") return EMPTY_STATE;
      throw new ApiError(404, `Checkpoint ${id ?? `in namespace "${ns}"`} not found`);
    }
    return this.#state(stored, await this.#version(thread), { latest: id === undefined, subgraphs });
  }

  /** States of a thread, newest first, as the elements of a JSON array. @throws ApiError 404 */
  async history(
    threadId: string,
    options: { limit: number; before?: string | undefined; ns?: string | undefined; metadata?: Json | undefined },
  ): Promise<string[]> {
    const thread = this.#options.threads.get(threadId);
    const version = await this.#version(thread);
    const { checkpoints } = this.#options;
    const filter = Object.entries(options.metadata ?? {});
    const states: string[] = [];
    const range = options.before === undefined ? {} : { before: options.before };
    for (const stored of checkpoints.list(threadId, options.ns ?? "", range)) {
      if (states.length >= options.limit) break;
      const metadata: Json = checkpoints.metadata(stored);
      if (!filter.every(([key, value]) => metadata[key] === value)) continue;
      states.push(await this.#state(stored, version, { latest: false, subgraphs: false }));
      if (states.length % HISTORY_SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return states;
  }

  /** The graph of a thread; undefined when it has none yet, or none that is there. */
  async #version(thread: ThreadRecord): Promise<GraphVersion | undefined> {
    const graphId = thread.metadata["graph_id"];
    return typeof graphId === "string" ? this.#options.graph(graphId).catch(() => undefined) : undefined;
  }

  async #state(
    stored: StoredCheckpoint,
    version: GraphVersion | undefined,
    options: { latest: boolean; subgraphs: boolean },
  ): Promise<string> {
    const { checkpoints } = this.#options;
    const { threadId, ns, id, record } = stored;
    if (version === undefined) return this.#compose(checkpoints.valuesJson(stored), undefined, stored, "[]");
    const { codec } = await this.#options.kit();
    const writes = checkpoints.writes(threadId, ns, id);
    // Writes that change values, and subgraphs, need the live state.
    const applied = writes.some((write) => write.index >= 0 && (options.latest || write.taskId === NULL_TASK));
    const live = applied || options.subgraphs || ns !== "" || checkpoints.context(threadId, record).opaque === true;
    const config: GraphRunConfig = {
      configurable: {
        thread_id: threadId,
        checkpoint_ns: ns,
        ...(options.latest && live ? {} : { checkpoint_id: id }),
      },
    };
    const read = async (shallow: boolean): Promise<GraphStateSnapshot> =>
      (await this.#bound(version, config, shallow)).getState(config, { subgraphs: options.subgraphs });
    let snapshot: GraphStateSnapshot;
    let values: string | undefined;
    if (live) snapshot = await read(false);
    else {
      try {
        snapshot = await read(true);
        values = checkpoints.valuesJson(stored);
      } catch {
        // A channel of the user's own that cannot do without its value.
        snapshot = await read(false);
      }
    }
    const tasks = codec.wire(snapshot.tasks.map(taskJson));
    return this.#compose(values ?? codec.wire(snapshot.values), snapshot, stored, tasks);
  }

  #compose(values: string, snapshot: GraphStateSnapshot | undefined, stored: StoredCheckpoint, tasks: string): string {
    const { threadId, ns, id, record } = stored;
    const reference = { thread_id: threadId, checkpoint_ns: ns };
    const rest = JSON.stringify({
      next: snapshot?.next ?? [],
      metadata: { ...this.#options.checkpoints.metadata(stored), thread_id: threadId },
      checkpoint: { ...reference, checkpoint_id: id },
      created_at: withOffset(record.ts),
      parent_checkpoint: record.p === undefined ? null : { ...reference, checkpoint_id: record.p },
    });
    const interrupts = JSON.stringify(
      (JSON.parse(tasks) as { interrupts?: unknown[] }[]).flatMap((task) => task.interrupts ?? []),
    );
    return `{"values":${values},"tasks":${tasks},"interrupts":${interrupts},${rest.slice(1)}`;
  }

  async #bound(
    version: GraphVersion,
    config: GraphRunConfig,
    shallow: boolean,
    metadata?: Json,
  ): Promise<RunnableGraph> {
    const { codec, makeSaver } = await this.#options.kit();
    const graph = await version.resolve(config);
    const writer =
      metadata === undefined ? {} : { writer: { context: { metadata, ...visibleChannels(graph, codec) } } };
    return bindGraph(
      graph,
      makeSaver({ store: this.#options.checkpoints, codec, shallow, ...writer }),
      this.#options.store,
    );
  }

  /**
   * Changes a thread's state as if a node had returned `values`.
   * @returns the reference of the new checkpoint.
   * @throws ApiError 400 the thread has no graph; 404; 409 busy; 422 LangGraph refuses the update.
   */
  async update(
    threadId: string,
    update: { values: unknown; asNode?: string | undefined; checkpoint?: Json | undefined },
  ): Promise<Json> {
    const config = { configurable: { thread_id: threadId, ...checkpointConfig(update.checkpoint) } };
    return this.#exclusive(threadId, config, (graph) => graph.updateState(config, update.values, update.asNode));
  }

  /** Applies imported supersteps in their order. Throws as `update` does. */
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
    if (id !== undefined && checkpoints.get(threadId, ns, id) === undefined)
      throw new ApiError(404, `Checkpoint ${id} not found`);
    const metadata: Json = { graph_id: graphId };
    if (thread.metadata["assistant_id"] !== undefined) metadata["assistant_id"] = thread.metadata["assistant_id"];
    const graph = await this.#bound(version, config, false, metadata);
    let after: GraphRunConfig;
    try {
      after = await change(graph);
    } catch (error) {
      throw new ApiError(422, error instanceof Error ? error.message : String(error));
    }
    const { next, values } = await graph.getState({ configurable: { thread_id: threadId } });
    checkpoints.showValues(threadId, (await this.#options.kit()).codec.wire(values));
    const now = timestamp();
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
