// What many checkpoints share is stored once per thread, under a digest of its content.
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { BufferedDatabase } from "./buffered.ts";
import type { RunJournal } from "./journal.ts";
import { keys } from "./keys.ts";

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

/** Contexts of one thread that are kept in memory. */
const MAX_CONTEXTS = 100;

export class CheckpointContexts {
  readonly #db: BufferedDatabase;
  /** Contexts of the threads that were used last, by thread and id. */
  readonly #known: Map<string, Map<string, CheckpointContext>> | LRUCache<string, Map<string, CheckpointContext>>;

  /** @param transient the store lives as long as one run, so that its caches need no bounds. */
  constructor(db: BufferedDatabase, transient: boolean) {
    this.#db = db;
    this.#known = transient ? new Map() : new LRUCache({ max: 500 });
  }

  find(threadId: string, id: string): CheckpointContext | undefined {
    const known = this.#known.get(threadId)?.get(id);
    if (known !== undefined) return known;
    const text = this.#db.get(keys.context(threadId, id));
    if (text === undefined) return undefined;
    const context = JSON.parse(text) as CheckpointContext;
    this.#remember(threadId, id, context);
    return context;
  }

  #remember(threadId: string, id: string, context: CheckpointContext): void {
    let known = this.#known.get(threadId);
    // A thread may have many contexts, when its runs have metadata of their own; the newest are read most.
    if (known === undefined || known.size >= MAX_CONTEXTS) this.#known.set(threadId, (known = new Map()));
    known.set(id, context);
  }

  /**
   * The id of a context, which is stored with the next commit if it is not yet.
   * @param journal of the run whose checkpoints have it.
   */
  idOf(threadId: string, context: CheckpointContext, journal?: RunJournal): string {
    const text = JSON.stringify(context);
    const id = createHash("sha1").update(text).digest("base64url").slice(0, 12);
    if (this.find(threadId, id) === undefined) {
      this.#db.writeSoon([{ key: keys.context(threadId, id), value: text }]);
      this.#remember(threadId, id, context);
      journal?.contexts.push(id);
    }
    return id;
  }

  /** Forgets what is in memory of a thread. */
  forget(threadId: string): void {
    this.#known.delete(threadId);
  }
}
