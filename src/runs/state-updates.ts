// Changes of thread states from outside: values as if a node had returned them, imported histories, metadata of a checkpoint. What an update
// writes is staged and stored in one batch with the thread that shows it: it may fail or be given up anywhere in between, and readers see
// the thread as it was before until it is done.
import { ApiError } from "../errors.ts";
import type { GraphRunConfig, GraphVersion, RunnableGraph } from "../graphs/types.ts";
import type { Json } from "../resources/json.ts";
import { merged } from "../resources/settings-size.ts";
import type { ThreadRecord, Threads } from "../resources/threads.ts";
import { packCheckpoint } from "../storage/checkpoint-record.ts";
import { CheckpointStore } from "../storage/checkpoints.ts";
import { keys } from "../storage/keys.ts";
import { StagedDatabase } from "../storage/staged.ts";
import type { BoundedWork } from "./changes.ts";
import type { StateChange } from "./ledger.ts";
import { interruptsOf } from "./result.ts";
import { checkpointConfig, graphCommand, InvalidCommandError } from "./run-config.ts";
import { stateGraph, type StateGraphOptions } from "./state-graph.ts";
import { stateSettings, type SettingsSources } from "./state-settings.ts";

export interface StateUpdateOptions extends StateGraphOptions, SettingsSources {
  readonly threads: Threads;
  readonly graph: (id: string) => Promise<GraphVersion>;
  /** Makes a change while nothing else happens on a thread, for as long as a change may take. */
  readonly exclusive: <T>(threadId: string, change: BoundedWork<T>) => Promise<T>;
  /** Does work that is about no thread that is there, for as long as a change may take. */
  readonly bounded: <T>(work: BoundedWork<T>) => Promise<T>;
  /** Stores the change of a thread. */
  readonly stateChanged: (threadId: string, change: StateChange) => void;
}

/** An update to import: what a node returned. */
export interface SuperstepUpdate {
  readonly values?: unknown;
  readonly command?: Json | undefined;
  readonly as_node: string;
}

/** One superstep of updates to import. */
export interface SuperstepUpdates {
  readonly updates: readonly SuperstepUpdate[];
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

/** What changes a state through its graph. @returns the config of the new checkpoint. */
type GraphChange = (graph: RunnableGraph) => Promise<GraphRunConfig>;

export class StateUpdates {
  readonly #options: StateUpdateOptions;

  constructor(options: StateUpdateOptions) {
    this.#options = options;
  }

  /**
   * Changes a thread's state as if a node had returned `values`.
   * @param caller settings that a factory gets beside those of the thread, such as who calls.
   * @returns the reference of the new checkpoint.
   * @throws ApiError 400 the thread has no graph; 404; 409 busy; 422 LangGraph refuses the update, or it takes too long; 503 the server stops.
   */
  make(
    threadId: string,
    update: { values: unknown; asNode?: string | undefined; checkpoint?: Json | undefined },
    caller?: Json,
  ): Promise<Json> {
    const { threads, exclusive, stateChanged } = this.#options;
    const config = { configurable: { thread_id: threadId, ...checkpointConfig(update.checkpoint) } };
    return exclusive(threadId, async (signal) => {
      const make: GraphChange = (graph) => graph.updateState(config, update.values, update.asNode);
      const staged = await this.#stage(threads.get(threadId), config, make, caller);
      signal.throwIfAborted();
      stateChanged(threadId, staged.change);
      return { thread_id: threadId, checkpoint_ns: "", ...checkpointConfig(staged.at.configurable) };
    });
  }

  /**
   * Creates a thread with a history: supersteps of updates in their order. The thread is there when all of it is, and never with less.
   * @param draft the thread without it. @param caller as in `make`.
   * @returns the thread; undefined when somebody else has made it meanwhile.
   * @throws ApiError 400 the thread has no graph; 404; 422; 503, as `make` does.
   */
  importThread(
    draft: ThreadRecord,
    supersteps: readonly SuperstepUpdates[],
    caller?: Json,
  ): Promise<ThreadRecord | undefined> {
    const { threads, checkpoints, bounded, kit } = this.#options;
    const threadId = draft.thread_id;
    const config = { configurable: { thread_id: threadId } };
    return bounded(async (signal) => {
      const { runtime } = await kit();
      const make: GraphChange = (graph) => {
        const valuesOf = ({ values, command }: SuperstepUpdate): unknown =>
          command === undefined ? values : graphCommand(withoutAnswer(command), runtime, graph);
        const steps = supersteps.map(({ updates }) => ({
          updates: updates.map((update) => ({ values: valuesOf(update), asNode: update.as_node })),
        }));
        return graph.bulkUpdateState(config, steps);
      };
      const { change } = await this.#stage(draft, config, make, caller);
      signal.throwIfAborted();
      if (threads.find(threadId) !== undefined) return undefined;
      const now = threads.stamp();
      const { writes, ...shown } = change;
      const thread: ThreadRecord = { ...draft, ...shown, updated_at: now, state_updated_at: now };
      checkpoints.db.write([...writes, ...threads.writesOf(thread)]);
      threads.committed(thread);
      checkpoints.forget(threadId);
      return thread;
    });
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
          value: packCheckpoint(id, { ...record, m: merged(record.m, own) }),
        },
        threads.writeOf(thread),
      ]);
      threads.committed(thread);
      checkpoints.forget(threadId);
    });
  }

  /** Makes a change that is not stored yet. @returns what is to be stored, and the config of the new checkpoint. */
  async #stage(
    thread: ThreadRecord,
    config: GraphRunConfig,
    make: GraphChange,
    caller: Json | undefined,
  ): Promise<{ change: StateChange; at: GraphRunConfig }> {
    const { checkpoints, kit, graph: graphOf } = this.#options;
    const { thread_id: threadId, metadata: about } = thread;
    const graphId = about["graph_id"];
    if (typeof graphId !== "string") throw new ApiError(400, `Thread ${threadId} has no graph ID`);
    const version = await graphOf(graphId);
    const { checkpoint_id: id, checkpoint_ns: ns = "" } = (config.configurable ?? {}) as {
      checkpoint_id?: string;
      checkpoint_ns?: string;
    };
    const stored = checkpoints.get(threadId, ns, id);
    if ((id !== undefined || ns !== "") && stored === undefined) {
      throw new ApiError(404, `Checkpoint ${id ?? `in namespace "${ns}"`} not found`);
    }
    const metadata: Json = { graph_id: graphId };
    if (about["assistant_id"] !== undefined) metadata["assistant_id"] = about["assistant_id"];
    const database = new StagedDatabase(checkpoints.db);
    const staged = new CheckpointStore(database, true);
    const made = version.isFactory
      ? stateSettings(this.#options, thread, stored, { ...config.configurable }, caller).config
      : config;
    const graph = await stateGraph({ ...this.#options, checkpoints: staged }, version, made, { metadata });
    let at: GraphRunConfig;
    try {
      at = await make(graph);
    } catch (error) {
      throw new ApiError(422, error instanceof Error ? error.message : String(error));
    }
    const { next, values } = await graph.getState({ configurable: { thread_id: threadId } });
    staged.showValues(threadId, (await kit()).codec.wire(values));
    const interrupts = interruptsOf(staged, threadId);
    return { change: { writes: database.writes, status: next.length > 0 ? "interrupted" : "idle", interrupts }, at };
  }
}

/** A node's command that answers an interrupt means nothing. @throws InvalidCommandError */
function withoutAnswer({ resume, ...command }: Json): Json {
  if (resume == null) return command;
  throw new InvalidCommandError("supersteps: a command of a node cannot resume; an answer belongs to a run");
}
