// LangGraph's checkpointer interface over the checkpoint store. One saver is made per run, because checkpoints of a run share
// a context (metadata, visible channels) that is stored once and not once per superstep.
import type {
  BaseCheckpointSaver,
  Checkpoint,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { LangGraphRuntime } from "../graphs/types.ts";
import type { CheckpointContext } from "./checkpoint-contexts.ts";
import type { CheckpointStore, StoredCheckpoint } from "./checkpoints.ts";
import type { StoredWrite } from "./pending-writes.ts";
import { packList, type Codec } from "./codec.ts";
import type { RunJournal } from "./journal.ts";
import { isLongList, type PlacedValue, type ValueRef } from "./value-log.ts";

/** Indexes of LangGraph's special channels in pending writes; such a write replaces an earlier one of its task. */
const SPECIAL_WRITES: Readonly<Record<string, number>> = {
  __error__: -1,
  __scheduled__: -2,
  __interrupt__: -3,
  __resume__: -4,
};

/** LangGraph's channel of tasks to run next. */
const TASKS = "__pregel_tasks";

/** What a saver marks its checkpoints with. */
export interface SaverContext {
  /** The run that writes them; undefined for an update from outside. */
  readonly run?: { readonly id: string; readonly attempt: number };
  readonly context: CheckpointContext;
}

export interface SaverOptions {
  readonly store: CheckpointStore;
  readonly codec: Codec;
  readonly writer?: SaverContext;
  /** Where it is noted what the run writes on its own thread. */
  readonly journal?: RunJournal | undefined;
  /** Whether the run that writes was given up: nothing of it may get into the thread of its successors any more. */
  readonly isAbandoned?: (() => boolean) | undefined;
  /** Stores everything at once: what LangGraph's durability `sync` asks for. */
  readonly sync?: boolean;
  /** Leaves channel values out of what it reads (null stands for them): enough to find out which tasks come next. */
  readonly shallow?: boolean;
}

interface Place {
  readonly threadId: string;
  readonly ns: string;
  readonly id: string | undefined;
}

/** Makes savers whose base class is the one of the user's own `@langchain/langgraph-checkpoint`. */
export type SaverFactory = (options: SaverOptions) => BaseCheckpointSaver<number>;

/** Channels that LangGraph itself reads to find the next tasks; a shallow saver revives these. */
const isInternal = (channel: string): boolean => channel.startsWith("__") || channel.includes(":");

export function saverFactory(runtime: Pick<LangGraphRuntime, "checkpoint">): SaverFactory {
  const Base = runtime.checkpoint["BaseCheckpointSaver"] as new (serde: unknown) => BaseCheckpointSaver<number>;

  class AgentServerSaver extends Base {
    readonly #store: CheckpointStore;
    readonly #codec: Codec;
    readonly #writer: SaverContext | undefined;
    readonly #shallow: boolean;
    readonly #sync: boolean;
    readonly #journal: RunJournal | undefined;
    readonly #isAbandoned: (() => boolean) | undefined;
    #contextId: string | undefined;

    constructor({ store, codec, writer, journal, isAbandoned, shallow = false, sync = false }: SaverOptions) {
      super(codec.serializer);
      this.#store = store;
      this.#codec = codec;
      this.#writer = writer;
      this.#journal = journal;
      this.#isAbandoned = isAbandoned;
      this.#shallow = shallow;
      this.#sync = sync;
    }

    async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
      const threadId = config.configurable?.["thread_id"] as unknown;
      if (typeof threadId !== "string" || threadId === "") return undefined;
      const { ns, id } = placeOf(config, threadId);
      const stored = this.#store.get(threadId, ns, id);
      if (stored === undefined) return undefined;
      const tuple = await this.#tuple(stored);
      // LangGraph goes on from the config that it asked with.
      return id === undefined ? tuple : { ...tuple, config };
    }

    async *list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
      const wanted = config.configurable ?? {};
      const before = options?.before?.configurable?.["checkpoint_id"] as string | undefined;
      let left = options?.limit ?? Infinity;
      const threads = typeof wanted["thread_id"] === "string" ? [wanted["thread_id"]] : this.#store.threads();
      for (const threadId of threads) {
        const namespaces =
          typeof wanted["checkpoint_ns"] === "string" ? [wanted["checkpoint_ns"]] : this.#store.namespaces(threadId);
        for (const ns of namespaces) {
          for (const stored of this.#store.list(threadId, ns, before === undefined ? {} : { before })) {
            if (left <= 0) return;
            if (typeof wanted["checkpoint_id"] === "string" && stored.id !== wanted["checkpoint_id"]) continue;
            if (options?.filter && !matches(this.#store.metadata(stored), options.filter)) continue;
            left--;
            yield await this.#tuple(stored);
          }
        }
      }
    }

    async put(
      config: RunnableConfig,
      checkpoint: Checkpoint,
      metadata: CheckpointMetadata,
      newVersions: Record<string, number | string>,
    ): Promise<RunnableConfig> {
      this.#check();
      const { threadId, ns, id: parentId } = placeOf(config);
      const parent = parentId === undefined ? undefined : this.#store.get(threadId, ns, parentId)?.record;
      const changed = new Map<string, PlacedValue>();
      const kept: Record<string, ValueRef> = {};
      const slow: Promise<void>[] = [];
      for (const [channel, value] of Object.entries(checkpoint.channel_values)) {
        if (!(channel in newVersions)) {
          // Not new, so it is stored already: with the parent, or (when LangGraph copies a checkpoint) with another one.
          const version = checkpoint.channel_versions[channel];
          const ref =
            parent?.cv[channel] === version
              ? parent?.r[channel]
              : this.#store.findValue(threadId, ns, channel, version);
          if (ref !== undefined) kept[channel] = ref;
          continue;
        }
        // Serialised right away, so that what the value holds now is stored, whatever the graph does with it next.
        const placed = this.#place(value);
        if (placed instanceof Promise) {
          changed.set(channel, { stored: "" });
          slow.push(placed.then((result) => void changed.set(channel, result)));
        } else changed.set(channel, placed);
      }
      const record = {
        v: checkpoint.v,
        ts: checkpoint.ts,
        cv: { ...checkpoint.channel_versions },
        vs: copyVersions(checkpoint.versions_seen),
        m: { ...metadata },
        ...(parentId === undefined ? {} : { p: parentId }),
        ...this.#mark(threadId),
      };
      if (slow.length > 0) {
        await Promise.all(slow);
        this.#check();
      }
      this.#store.put(threadId, ns, checkpoint.id, { ...record, changed, kept }, this.#journalOf(threadId));
      if (this.#sync) this.#store.db.write([]);
      return { configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: checkpoint.id } };
    }

    async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
      this.#check();
      const { threadId, ns, id } = placeOf(config);
      if (id === undefined) throw new Error("putWrites needs configurable.checkpoint_id");
      const encoded = writes.map(([channel, value], position) => {
        const quick = this.#codec.encodeQuick(value);
        return {
          taskId,
          index: SPECIAL_WRITES[channel] ?? position,
          channel,
          stored: quick?.stored ?? this.#codec.encode(value),
        };
      });
      const ready: StoredWrite[] = [];
      for (const write of encoded) {
        ready.push({ ...write, stored: typeof write.stored === "string" ? write.stored : await write.stored });
      }
      this.#check();
      const place = { threadId, ns, id, taskId };
      this.#store.pending.put(place, ready, this.#writer?.run?.id, this.#journalOf(threadId));
    }

    async deleteThread(threadId: string): Promise<void> {
      this.#store.db.write(this.#store.deletion(threadId));
      this.#store.forget(threadId);
    }

    #check(): void {
      if (this.#isAbandoned?.() === true) throw new Error("the run was cancelled");
    }

    /** A graph may write on other threads, too; those are not taken back with the run. */
    #journalOf(threadId: string): RunJournal | undefined {
      return this.#journal?.threadId === threadId ? this.#journal : undefined;
    }

    /** The fields of a checkpoint record that say who wrote it. */
    #mark(threadId: string): { d?: string; a?: number; x?: string } {
      if (this.#writer === undefined) return {};
      const { run, context } = this.#writer;
      this.#contextId ??= this.#store.contexts.idOf(threadId, context, this.#journalOf(threadId));
      const x = this.#contextId;
      if (run === undefined) return { x };
      return run.attempt === 1 ? { d: run.id, x } : { d: run.id, a: run.attempt, x };
    }

    #place(value: unknown): PlacedValue | Promise<PlacedValue> {
      if (!Array.isArray(value)) {
        const quick = this.#codec.encodeQuick(value);
        return quick ?? this.#codec.encode(value).then((stored) => ({ stored }));
      }
      const live = [...(value as unknown[])];
      const parts: string[] = [];
      for (const item of live) {
        const quick = this.#codec.encodeQuick(item);
        if (quick === undefined) return this.#placeSlow(live);
        parts.push(quick.stored);
      }
      return isLongList(parts) ? { parts, live } : { stored: packList(parts) };
    }

    /** For lists with elements that only LangGraph's serializer can keep. */
    async #placeSlow(live: unknown[]): Promise<PlacedValue> {
      const parts = await Promise.all(live.map((item) => this.#codec.encode(item)));
      return isLongList(parts) ? { parts, live: [] } : { stored: packList(parts) };
    }

    async #tuple(stored: StoredCheckpoint): Promise<CheckpointTuple> {
      const { threadId, ns, id, record } = stored;
      const values: Record<string, unknown> = {};
      for (const [channel, ref] of Object.entries(record.r)) {
        if (this.#shallow && !isInternal(channel)) values[channel] = null;
        else {
          const value = this.#value(threadId, ns, channel, ref);
          values[channel] = value instanceof Promise ? await value : value;
        }
      }
      const pendingWrites = await this.#writes(threadId, ns, id);
      let versions = { ...record.cv } as Record<string, number>;
      if (record.v < 4 && record.p !== undefined) {
        // Before format 4 the sends to run next were writes of the parent and not a channel.
        const sends = (await this.#writes(threadId, ns, record.p)).filter(([, channel]) => channel === TASKS);
        values[TASKS] = sends.map(([, , value]) => value);
        versions = { ...versions, [TASKS]: Math.max(1, ...Object.values(versions)) };
      }
      return {
        config: { configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: id } },
        checkpoint: {
          v: record.v,
          id,
          ts: record.ts,
          channel_values: values,
          channel_versions: versions,
          versions_seen: copyVersions(record.vs),
        },
        metadata: this.#store.metadata(stored) as unknown as CheckpointMetadata,
        pendingWrites,
        ...(record.p === undefined
          ? {}
          : { parentConfig: { configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: record.p } } }),
      };
    }

    async #writes(threadId: string, ns: string, id: string): Promise<[string, string, unknown][]> {
      const found: [string, string, unknown][] = [];
      for (const write of this.#store.pending.at(threadId, ns, id)) {
        const value = this.#codec.revive(write.stored);
        found.push([write.taskId, write.channel, value instanceof Promise ? await value : value]);
      }
      return found;
    }

    #value(threadId: string, ns: string, channel: string, ref: ValueRef): unknown {
      const read = this.#store.values.read(threadId, ns, channel, ref);
      if ("stored" in read) return this.#codec.revive(read.stored);
      const known = this.#store.values.live(threadId, ns, channel, ref);
      const items = read.parts.map((part, i) => {
        const item = known?.[i];
        // An element that user code changed in place is not what was stored.
        const intact = item !== undefined && this.#codec.encodeQuick(item)?.stored === part;
        return intact ? item : this.#codec.revive(part);
      });
      if (items.some((item) => item instanceof Promise)) return Promise.all(items);
      this.#store.values.keepLive(threadId, ns, channel, ref, items);
      return [...items];
    }
  }

  return (options) => new AgentServerSaver(options);
}

/** LangGraph writes into what it reads, and goes on writing into what it stored. */
function copyVersions<T>(seen: Record<string, Record<string, T>>): Record<string, Record<string, T>> {
  const copy: Record<string, Record<string, T>> = {};
  for (const node of Object.keys(seen)) copy[node] = { ...seen[node] };
  return copy;
}

function placeOf(config: RunnableConfig, threadId: unknown = config.configurable?.["thread_id"]): Place {
  if (typeof threadId !== "string" || threadId === "") throw new Error("a checkpointer needs configurable.thread_id");
  const { checkpoint_ns: ns, checkpoint_id: id } = (config.configurable ?? {}) as Record<string, string | undefined>;
  return { threadId, ns: ns ?? "", id: id === undefined || id === "" ? undefined : id };
}

function matches(metadata: Record<string, unknown>, filter: Record<string, unknown>): boolean {
  return Object.entries(filter).every(([key, value]) => metadata[key] === value);
}
