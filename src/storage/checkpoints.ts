// Checkpoints as plain data: reading, writing, listing, and the JSON of a state, without LangGraph and without live objects.
// saver.ts puts LangGraph's interface on top of this.
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { packCheckpoint, unpackCheckpoint, type CheckpointRecord } from "./checkpoint-record.ts";
import { wireOf } from "./codec.ts";
import type { BufferedDatabase } from "./buffered.ts";
import { prefixRange, type Write } from "./database.ts";
import type { RunJournal } from "./journal.ts";
import { dec, decId, enc, keys, lastId } from "./keys.ts";
import { ValueLog, type PlacedValue, type ValueRef } from "./value-log.ts";

/** What many checkpoints share: those of one run, and mostly those of all runs of a thread. */
export interface CheckpointContext {
  /** Metadata of the run but for its id and attempt, merged under LangGraph's own in what clients see. */
  readonly metadata: Record<string, unknown>;
  /** Names of the channels that make up `values`; one name when the state is not an object; null when unknown. */
  readonly visible: readonly string[] | string | null;
  /** The JSON of visible channels that show a value before they are written. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Values cannot be put together from stored JSON (the graph has delta channels). */
  readonly opaque?: boolean;
}

/** A stored checkpoint with its place. */
export interface StoredCheckpoint {
  readonly threadId: string;
  readonly ns: string;
  readonly id: string;
  readonly record: CheckpointRecord;
}

/** One pending write. Negative indexes are LangGraph's special channels, which may be overwritten. */
export interface StoredWrite {
  readonly taskId: string;
  readonly index: number;
  readonly channel: string;
  readonly stored: string;
}

/** A checkpoint to store. */
export interface NewCheckpoint extends Omit<CheckpointRecord, "r"> {
  /** Values of the channels that changed since the parent. */
  readonly changed: ReadonlyMap<string, PlacedValue>;
  /** Channels that kept a value that is stored already. */
  readonly kept: Readonly<Record<string, ValueRef>>;
}

/** Contexts of one thread that are kept in memory. */
const MAX_CONTEXTS = 100;

interface Newest {
  newest: StoredCheckpoint | null;
}

const EMPTY_CONTEXT: CheckpointContext = { metadata: {}, visible: null };

export class CheckpointStore {
  readonly db: BufferedDatabase;
  readonly values: ValueLog;
  /** The newest checkpoint of the root graph on the threads that were used last; null where there is none. */
  readonly #newest: Map<string, Newest> | LRUCache<string, Newest>;
  /** Contexts of the threads that were used last, by thread and id. */
  readonly #contexts: Map<string, Map<string, CheckpointContext>> | LRUCache<string, Map<string, CheckpointContext>>;
  readonly #listeners = new Set<(threadId: string) => void>();

  /** @param transient the store lives as long as one run, so that its caches need no bounds. */
  constructor(db: BufferedDatabase, transient = false) {
    this.db = db;
    this.#newest = transient ? new Map() : new LRUCache({ max: 500 });
    this.values = new ValueLog(db, !transient);
    this.#contexts = transient ? new Map() : new LRUCache({ max: 500 });
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

  /** Pending writes at a checkpoint, by task and index. */
  writes(threadId: string, ns: string, id: string, changes?: ReadonlyMap<string, string | undefined>): StoredWrite[] {
    const prefix = keys.writesOf(threadId, ns, id);
    const found: StoredWrite[] = [];
    for (const [key, stored] of this.db.range(prefixRange(prefix))) {
      const text = changes?.has(key) === true ? changes.get(key) : stored;
      if (text === undefined) continue;
      for (const write of parseWrites(lastId(key), text)) found.push(write);
    }
    return found;
  }

  /** Adds the writes of one task: regular ones stay as they were first stored, special ones (index < 0) are replaced. */
  putWrites(
    threadId: string,
    ns: string,
    id: string,
    taskId: string,
    writes: readonly StoredWrite[],
    runId?: string,
    journal?: RunJournal,
  ): void {
    if (writes.length === 0) return;
    const key = keys.writes(threadId, ns, id, taskId);
    const before = this.db.get(key);
    let all = writes;
    if (before !== undefined) {
      const merged = new Map(parseWrites(taskId, before).map((write) => [write.index, write]));
      for (const write of writes) if (write.index < 0 || !merged.has(write.index)) merged.set(write.index, write);
      all = [...merged.values()];
    }
    const text = all.map((write) => `${write.index}\t${enclose(write.channel)}\t${write.stored}`).join("\n");
    if (text === before) return;
    const undo = this.#undoOf({ threadId, ns, id, taskId }, before, runId);
    if (journal !== undefined && undo.length > 0) journal.changedEarlier = true;
    this.db.writeSoon([{ key, value: text }, ...undo]);
    this.#changed(threadId);
  }

  /**
   * What a run found at a checkpoint of an earlier run, when it answers interrupts there: rolling the run back puts that back.
   * Kept once per record, as it was before the run's first change.
   */
  #undoOf(
    { threadId, ns, id, taskId }: { threadId: string; ns: string; id: string; taskId: string },
    before: string | undefined,
    runId: string | undefined,
  ): Write[] {
    if (runId === undefined || this.get(threadId, ns, id)?.record.d === runId) return [];
    const key = keys.undo(threadId, runId, ns, id, taskId);
    return this.db.get(key) === undefined ? [{ key, value: before ?? "" }] : [];
  }

  /** The changes that put back what a run changed at checkpoints of earlier runs. */
  undo(threadId: string, runId: string): Write[] {
    const prefix = keys.undoOf(threadId, runId);
    const writes: Write[] = [];
    for (const [key, before] of this.db.range(prefixRange(prefix))) {
      const [ns = "", id = "", taskId = ""] = key.slice(prefix.length).split("/");
      const changed = keys.writes(threadId, dec(ns), decId(id), decId(taskId));
      writes.push({ key: changed, value: before === "" ? undefined : before }, { key, value: undefined });
    }
    return writes;
  }

  /** The changes that forget what a run changed, when it has ended. */
  forgetUndo(threadId: string, runId: string): Write[] {
    return Array.from(this.db.range(prefixRange(keys.undoOf(threadId, runId))), ([key]) => ({ key, value: undefined }));
  }

  /** The context of a checkpoint; an empty one when it has none. */
  context(threadId: string, { x: contextId }: CheckpointRecord): CheckpointContext {
    return (contextId === undefined ? undefined : this.#findContext(threadId, contextId)) ?? EMPTY_CONTEXT;
  }

  /** The metadata of a checkpoint as clients see it. */
  metadata({ threadId, record }: StoredCheckpoint): Record<string, unknown> {
    const run = record.d === undefined ? {} : { run_id: record.d, run_attempt: record.a ?? 1 };
    return { ...this.context(threadId, record).metadata, ...run, ...record.m };
  }

  #findContext(threadId: string, contextId: string): CheckpointContext | undefined {
    const known = this.#contexts.get(threadId)?.get(contextId);
    if (known !== undefined) return known;
    const text = this.db.get(keys.context(threadId, contextId));
    if (text === undefined) return undefined;
    const context = JSON.parse(text) as CheckpointContext;
    this.#rememberContext(threadId, contextId, context);
    return context;
  }

  #rememberContext(threadId: string, contextId: string, context: CheckpointContext): void {
    let known = this.#contexts.get(threadId);
    // A thread may have many contexts, when its runs have metadata of their own; the newest are read most.
    if (known === undefined || known.size >= MAX_CONTEXTS) this.#contexts.set(threadId, (known = new Map()));
    known.set(contextId, context);
  }

  /**
   * The id of a context, which is stored with the next commit if it is not yet.
   * @param journal of the run whose checkpoints have it.
   */
  contextId(threadId: string, context: CheckpointContext, journal?: RunJournal): string {
    const text = JSON.stringify(context);
    const id = createHash("sha1").update(text).digest("base64url").slice(0, 12);
    if (this.#findContext(threadId, id) === undefined) {
      this.db.writeSoon([{ key: keys.context(threadId, id), value: text }]);
      this.#rememberContext(threadId, id, context);
      journal?.contexts.push(id);
    }
    return id;
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
    if (!opaque && !this.writes(threadId, "", newest.id).some(({ index }) => index >= 0)) return;
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
    this.#contexts.delete(threadId);
  }

  /** Forgets what is in memory of a thread whose keys were deleted. */
  forget(threadId: string): void {
    this.#contexts.delete(threadId);
    this.#newest.delete(threadId);
    this.values.forget(threadId);
    this.#changed(threadId);
  }
}

/** Channel names go into a line that is split at tabs; they come from graphs and, in commands, from clients. */
const enclose = (channel: string): string => (/^[\w:+-]*$/.test(channel) ? channel : enc(channel));
const disclose = (text: string): string => (text.includes("%") ? decodeURIComponent(text) : text);

function parseWrites(taskId: string, text: string): StoredWrite[] {
  return text.split("\n").map((line) => {
    const first = line.indexOf("\t");
    const second = line.indexOf("\t", first + 1);
    return {
      taskId,
      index: Number(line.slice(0, first)),
      channel: disclose(line.slice(first + 1, second)),
      stored: line.slice(second + 1),
    };
  });
}
