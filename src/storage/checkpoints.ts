// Checkpoints as plain data: reading, writing, listing, and the JSON of a state, without LangGraph and without live objects.
// saver.ts puts LangGraph's interface on top of this.
import { LRUCache } from "lru-cache";
import { CheckpointContexts, type CheckpointContext } from "./checkpoint-contexts.ts";
import { packCheckpoint, unpackCheckpoint, type CheckpointRecord } from "./checkpoint-record.ts";
import { wireOf } from "./codec.ts";
import type { BufferedDatabase } from "./buffered.ts";
import { prefixRange, type Write } from "./database.ts";
import type { RunJournal } from "./journal.ts";
import { dec, decId, keys, lastId } from "./keys.ts";
import { PendingWrites } from "./pending-writes.ts";
import { ValueLog, type PlacedValue, type ValueRef } from "./value-log.ts";

/** A stored checkpoint with its place. */
export interface StoredCheckpoint {
  readonly threadId: string;
  readonly ns: string;
  readonly id: string;
  readonly record: CheckpointRecord;
}

/** A checkpoint to store. */
export interface NewCheckpoint extends Omit<CheckpointRecord, "r"> {
  /** Values of the channels that changed since the parent. */
  readonly changed: ReadonlyMap<string, PlacedValue>;
  /** Channels that kept a value that is stored already. */
  readonly kept: Readonly<Record<string, ValueRef>>;
}

interface Newest {
  newest: StoredCheckpoint | null;
}

const EMPTY_CONTEXT: CheckpointContext = { metadata: {}, visible: null };

export class CheckpointStore {
  readonly db: BufferedDatabase;
  readonly values: ValueLog;
  /** The newest checkpoint of the root graph on the threads that were used last; null where there is none. */
  readonly #newest: Map<string, Newest> | LRUCache<string, Newest>;
  readonly contexts: CheckpointContexts;
  readonly pending: PendingWrites;
  readonly #listeners = new Set<(threadId: string) => void>();

  /** @param transient the store lives as long as one run, so that its caches need no bounds. */
  constructor(db: BufferedDatabase, transient = false) {
    this.db = db;
    this.#newest = transient ? new Map() : new LRUCache({ max: 500 });
    this.values = new ValueLog(db, !transient);
    this.contexts = new CheckpointContexts(db, transient);
    this.pending = new PendingWrites(db, {
      writerOf: (threadId, ns, id) => this.get(threadId, ns, id)?.record.d,
      onChange: (threadId) => this.#changed(threadId),
    });
  }

  /** Calls `listener` after anything of a thread's checkpoints changed; for caches. */
  onChange(listener: (threadId: string) => void): void {
    this.#listeners.add(listener);
  }

  #changed(threadId: string): void {
    for (const listener of this.#listeners) listener(threadId);
  }

  /** The checkpoint with `id`, or the newest of the namespace. */
  get(threadId: string, ns: string, id?: string): StoredCheckpoint | undefined {
    const newest = id === undefined || ns === "" ? this.#newestOf(threadId, ns) : null;
    if (id === undefined || newest?.id === id) return newest ?? undefined;
    const text = this.db.get(keys.checkpoint(threadId, ns, id));
    return text === undefined ? undefined : { threadId, ns, id, record: unpackCheckpoint(id, text) };
  }

  #newestOf(threadId: string, ns: string): StoredCheckpoint | null {
    let newest = ns === "" ? this.#newest.get(threadId)?.newest : undefined;
    if (newest === undefined) {
      [newest = null] = this.list(threadId, ns, { limit: 1 });
      if (ns === "") this.#newest.set(threadId, { newest });
    }
    return newest;
  }

  /** Checkpoints of one namespace, newest first; `before` is an id that is not included. */
  *list(threadId: string, ns: string, options: { before?: string; limit?: number } = {}): Iterable<StoredCheckpoint> {
    const { start, end } = prefixRange(keys.checkpoints(threadId, ns));
    const range = {
      start,
      end: options.before === undefined ? end : keys.checkpoint(threadId, ns, options.before),
      reverse: true,
    };
    for (const [key, text] of this.db.range(options.limit === undefined ? range : { ...range, limit: options.limit })) {
      const id = lastId(key);
      yield { threadId, ns, id, record: unpackCheckpoint(id, text) };
    }
  }

  /** Namespaces of a thread that hold checkpoints; the root's is the empty string. */
  namespaces(threadId: string): string[] {
    const prefix = keys.checkpointNamespaces(threadId);
    const { start, end } = prefixRange(prefix);
    const found: string[] = [];
    for (let from = start; ;) {
      const [first] = this.db.range({ start: from, end, limit: 1 });
      if (first === undefined) return found;
      const ns = first[0].slice(prefix.length, first[0].indexOf("/", prefix.length));
      found.push(dec(ns));
      from = prefixRange(`${prefix}${ns}/`).end;
    }
  }

  /** Threads that hold checkpoints. */
  threads(): string[] {
    const { start, end } = prefixRange(keys.allCheckpoints);
    const found: string[] = [];
    for (let from = start; ;) {
      const [first] = this.db.range({ start: from, end, limit: 1 });
      if (first === undefined) return found;
      const thread = first[0].slice(keys.allCheckpoints.length, first[0].indexOf("/", keys.allCheckpoints.length));
      found.push(decId(thread));
      from = prefixRange(`${keys.allCheckpoints}${thread}/`).end;
    }
  }

  /**
   * Stores a checkpoint and what is new of its values in one batch, soon: with the next write that must be stored at once.
   * @param journal of the run that writes it.
   */
  put(threadId: string, ns: string, id: string, checkpoint: NewCheckpoint, journal?: RunJournal): void {
    const { changed, kept, ...record } = checkpoint;
    const parent = record.p === undefined ? undefined : this.get(threadId, ns, record.p)?.record.r;
    if (ns === "" && record.p === undefined && this.#newestOf(threadId, ns) === null) this.values.begin(threadId);
    const writes: Write[] = [];
    const refs: Record<string, ValueRef> = { ...kept };
    for (const [channel, value] of changed) {
      refs[channel] = this.values.place(threadId, ns, channel, value, parent?.[channel], writes, journal);
    }
    const stored: StoredCheckpoint = { threadId, ns, id, record: { ...record, r: refs } };
    writes.push({ key: keys.checkpoint(threadId, ns, id), value: packCheckpoint(id, stored.record) });
    const before = ns === "" ? this.#newestOf(threadId, ns) : undefined;
    this.db.writeSoon(writes);
    journal?.wrote(ns, id);
    const cached = this.#newest.get(threadId);
    if (cached !== undefined && (before === null || (before !== undefined && before.id <= id))) cached.newest = stored;
    this.#changed(threadId);
  }

  /** The value that a channel had at some version, in whatever checkpoint of the namespace it was stored. */
  findValue(threadId: string, ns: string, channel: string, version: number | string | undefined): ValueRef | undefined {
    for (const { record } of this.list(threadId, ns)) {
      if (record.cv[channel] === version && record.r[channel] !== undefined) return record.r[channel];
    }
    return undefined;
  }

  /** The context of a checkpoint; an empty one when it has none. */
  context(threadId: string, { x: contextId }: CheckpointRecord): CheckpointContext {
    return (contextId === undefined ? undefined : this.contexts.find(threadId, contextId)) ?? EMPTY_CONTEXT;
  }

  /** The metadata of a checkpoint as clients see it. */
  metadata({ threadId, record }: StoredCheckpoint): Record<string, unknown> {
    const run = record.d === undefined ? {} : { run_id: record.d, run_attempt: record.a ?? 1 };
    return { ...this.context(threadId, record).metadata, ...run, ...record.m };
  }

  /** The JSON of a state's `values`, joined from stored JSON. */
  valuesJson({ threadId, ns, record }: StoredCheckpoint): string {
    // A context names the root graph's channels; what a subgraph shows is everything but LangGraph's own channels.
    const { visible, defaults = {} } = ns === "" ? this.context(threadId, record) : EMPTY_CONTEXT;
    const value = (name: string): string | undefined => {
      const ref = record.r[name];
      return ref === undefined ? defaults[name] : this.#valueJson(threadId, ns, name, ref);
    };
    if (typeof visible === "string") return value(visible) ?? "null";
    const names = visible ?? Object.keys(record.r).filter((name) => !name.startsWith("__") && !name.includes(":"));
    let text = "{";
    for (const name of names) {
      const json = value(name);
      if (json !== undefined) text += `${text.length === 1 ? "" : ","}${JSON.stringify(name)}:${json}`;
    }
    return `${text}}`;
  }

  /** The JSON of a thread's newest values; undefined when it never ran. */
  newestValuesJson(threadId: string): string | undefined {
    const newest = this.get(threadId, "");
    if (newest === undefined) return undefined;
    const shown = this.db.get(keys.shownValues(threadId));
    if (shown?.startsWith(newest.id) === true) return shown.slice(newest.id.length);
    return this.valuesJson(newest);
  }

  /**
   * Keeps the values that the newest checkpoint is shown with, where they cannot be read from it: tasks beside an interrupted one
   * have finished, and what they returned is part of the state already; or the graph has delta channels.
   */
  showValues(threadId: string, json: string): void {
    const newest = this.get(threadId, "");
    if (newest === undefined) return;
    const opaque = this.context(threadId, newest.record).opaque === true;
    if (!opaque && !this.pending.at(threadId, "", newest.id).some(({ index }) => index >= 0)) return;
    this.db.writeSoon([{ key: keys.shownValues(threadId), value: newest.id + json }]);
    this.#changed(threadId);
  }

  #valueJson(threadId: string, ns: string, channel: string, ref: ValueRef): string {
    const value = this.values.read(threadId, ns, channel, ref);
    if ("stored" in value) return wireOf(value.stored);
    let text = "[";
    for (const [i, part] of value.parts.entries()) text += (i === 0 ? "" : ",") + wireOf(part);
    return `${text}]`;
  }

  /** The changes that delete everything of a thread. */
  deletion(threadId: string): Write[] {
    const range = prefixRange(keys.checkpointsOf(threadId));
    return Array.from(this.db.range(range), ([key]) => ({ key, value: undefined }));
  }

  /** Says that a thread was just made and holds nothing. */
  begin(threadId: string): void {
    this.#newest.set(threadId, { newest: null });
  }

  /** A run of this thread has ended: what little is in memory of a short thread need not stay there. */
  rest(threadId: string): void {
    if (!this.values.rest(threadId)) return;
    this.#newest.delete(threadId);
    this.contexts.forget(threadId);
  }

  /** Forgets what is in memory of a thread whose keys were deleted. */
  forget(threadId: string): void {
    this.contexts.forget(threadId);
    this.#newest.delete(threadId);
    this.values.forget(threadId);
    this.#changed(threadId);
  }
}
