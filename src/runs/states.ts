// Thread states as clients see them: the newest one, earlier ones, the history. Values come from stored JSON as they are; LangGraph is
// asked only which tasks come next, and gets a checkpoint without values for that. Changes from outside are in state-updates.ts.
import { LRUCache } from "lru-cache";
import { ApiError } from "../errors.ts";
import type { GraphRunConfig, GraphStateSnapshot, GraphVersion, RunnableGraph } from "../graphs/types.ts";
import { withOffset } from "../ids.ts";
import { contains, type Json } from "../resources/json.ts";
import type { ThreadRecord } from "../resources/threads.ts";
import type { StoredCheckpoint } from "../storage/checkpoints.ts";
import { NULL_TASK } from "../storage/pending-writes.ts";
import { boundTo } from "./state-graph.ts";
import { taskJson } from "./state-json.ts";
import { stateSettings, type StateSettings } from "./state-settings.ts";
import { StateUpdates, type StateUpdateOptions } from "./state-updates.ts";

export interface StatesOptions extends StateUpdateOptions {
  readonly isBusy: (threadId: string) => boolean;
}

/** Characters of ready states that are kept. */
const CACHE_CHARS = 4 * 1024 * 1024;
/** History entries that are made in one go before others get their turn. */
const HISTORY_SLICE = 25;

/**
 * The graph of a thread, bound to its states; a shallow one leaves out the values of channels. Undefined when its settings were guessed and its
 * factory does not take them.
 */
type StateGraph = (shallow: boolean) => Promise<RunnableGraph | undefined>;

/** The graph of a thread for one request. */
interface StateSource {
  readonly graph: StateGraph;
  /** What the graph is made with: where it is the same, the graph is. */
  readonly settings: string;
  /** Names the graph as long as it stays the same; undefined where it may depend on who calls. */
  readonly of: string | undefined;
}

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
  /** Changes from outside. */
  readonly updates: StateUpdates;
  readonly #options: StatesOptions;
  readonly #latest = new LRUCache<string, { of: string; json: string }>({
    maxSize: CACHE_CHARS,
    sizeCalculation: ({ json }) => json.length,
  });
  /** Newest states that are being made; what changes meanwhile makes them stale. */
  readonly #inMaking = new Set<{ readonly threadId: string; stale: boolean }>();

  constructor(options: StatesOptions) {
    this.#options = options;
    this.updates = new StateUpdates(options);
    options.checkpoints.onChange((threadId) => {
      this.#latest.delete(threadId);
      for (const making of this.#inMaking) making.stale ||= making.threadId === threadId;
    });
  }

  /**
   * The newest state of a thread.
   * @param caller settings that a factory gets beside those of the thread, such as who calls. @throws ApiError 404
   */
  async latest(threadId: string, subgraphs: boolean, caller?: Json): Promise<string> {
    const thread = this.#options.threads.get(threadId);
    const version = await this.#version(thread);
    const stored = this.#options.checkpoints.get(threadId, "");
    if (stored === undefined) return EMPTY_STATE;
    const source = version && this.#source(version, thread, stored, caller);
    const cached = subgraphs ? undefined : this.#latest.get(threadId);
    if (cached !== undefined && cached.of === source?.of) return cached.json;
    const making = { threadId, stale: false };
    this.#inMaking.add(making);
    try {
      const json = await this.#state(stored, source?.graph, { latest: true, subgraphs });
      // Only if nothing changed while it was made.
      if (source?.of !== undefined && !subgraphs && !making.stale && !this.#options.isBusy(threadId)) {
        this.#latest.set(threadId, { of: source.of, json });
      }
      return json;
    } finally {
      this.#inMaking.delete(making);
    }
  }

  /** The state at a checkpoint. @param caller as in `latest`. @throws ApiError 404 */
  async at(threadId: string, checkpoint: Json, subgraphs: boolean, caller?: Json): Promise<string> {
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
    const version = await this.#version(thread);
    const graph = version && this.#source(version, thread, stored, caller).graph;
    return this.#state(stored, graph, { latest: id === undefined, subgraphs });
  }

  /** States of a thread, newest first, as the elements of a JSON array. @throws ApiError 404 */
  async history(
    threadId: string,
    options: {
      limit: number;
      before?: string | undefined;
      ns?: string | undefined;
      metadata?: Json | undefined;
      /** As in `latest`. */
      caller?: Json | undefined;
    },
  ): Promise<string[]> {
    const thread = this.#options.threads.get(threadId);
    const version = await this.#version(thread);
    const { checkpoints } = this.#options;
    const filter = options.metadata ?? {};
    const states: string[] = [];
    const range = options.before === undefined ? {} : { before: options.before };
    // Each run may have had settings of its own.
    const graphs = new Map<string, StateGraph>();
    for (const stored of checkpoints.list(threadId, options.ns ?? "", range)) {
      if (states.length >= options.limit) break;
      if (!contains(checkpoints.metadata(stored), filter)) continue;
      const source = version && this.#source(version, thread, stored, options.caller);
      const graph = source && (graphs.get(source.settings) ?? source.graph);
      if (source !== undefined && graph !== undefined) graphs.set(source.settings, graph);
      states.push(await this.#state(stored, graph, { latest: false, subgraphs: false }));
      if (states.length % HISTORY_SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return states;
  }

  /** The graph of a thread; undefined when it has none yet, or none that is there. */
  async #version(thread: ThreadRecord): Promise<GraphVersion | undefined> {
    const graphId = thread.metadata["graph_id"];
    return typeof graphId === "string" ? this.#options.graph(graphId).catch(() => undefined) : undefined;
  }

  /** The graph of a thread, for one request: a factory of the project's is asked once, however often the graph is needed. */
  #source(
    version: GraphVersion,
    thread: ThreadRecord,
    stored: StoredCheckpoint,
    caller: Json | undefined,
  ): StateSource {
    const place = { thread_id: stored.threadId, checkpoint_ns: stored.ns };
    const { config, from, guessed }: StateSettings = version.isFactory
      ? stateSettings(this.#options, thread, stored, place, caller)
      : { config: {}, from: "" };
    let resolved: Promise<RunnableGraph | undefined> | undefined;
    return {
      graph: async (shallow) => {
        resolved ??= guessed === true ? version.resolve(config).catch(() => undefined) : version.resolve(config);
        const graph = await resolved;
        return graph && boundTo(this.#options, graph, { shallow });
      },
      settings: JSON.stringify(config),
      of: version.isFactory && caller !== undefined ? undefined : `${version.version} ${from}`,
    };
  }

  async #state(
    stored: StoredCheckpoint,
    graph: StateGraph | undefined,
    options: { latest: boolean; subgraphs: boolean },
  ): Promise<string> {
    const { checkpoints } = this.#options;
    const { threadId, ns, id, record } = stored;
    const asStored = (): string => this.#compose(checkpoints.valuesJson(stored), undefined, stored, "[]");
    if (graph === undefined) return asStored();
    const { codec } = await this.#options.kit();
    const writes = checkpoints.pending.at(threadId, ns, id);
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
    const read = (bound: RunnableGraph): Promise<GraphStateSnapshot> =>
      bound.getState(config, { subgraphs: options.subgraphs });
    // A factory that fails is the project's mistake, and told.
    const bound = await graph(!live);
    if (bound === undefined) return asStored();
    let snapshot: GraphStateSnapshot;
    let values: string | undefined;
    try {
      snapshot = await read(bound);
      if (!live) values = checkpoints.valuesJson(stored);
    } catch {
      // A channel of the user's own that cannot do without its value.
      const other = live ? undefined : await graph(false);
      const whole = other && (await read(other).catch(() => undefined));
      // Or code of the user's that fails, such as a reducer for a write that waits: the thread is shown as far as it is known.
      if (whole === undefined) return asStored();
      snapshot = whole;
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
    // A function that has not returned anything yet, for one.
    const shown = values === "null" ? "{}" : values;
    return `{"values":${shown},"tasks":${tasks},"interrupts":${interrupts},${rest.slice(1)}`;
  }
}
