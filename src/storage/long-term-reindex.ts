// Gives vectors to items that have none of the present settings: put before `store.index` was there, or under another model or other
// fields. That happens when a search meets them, so that nothing is sent to a provider for items that nobody searches.
import type { Entry } from "./long-term-index.ts";
import type { LongTermItems } from "./long-term-items.ts";
import type { SemanticIndex } from "./long-term-semantic.ts";

/** Items embedded in one call. So many a search waits for. */
const BATCH = 100;
/** Items that are tried one by one, without a success, until it is clear that it is not the items. */
const TRIES = 3;

/** Told what the person at the terminal should know. */
export type Notice = (level: "info" | "warn", message: string) => void;

/** Embeds what is missing: a batch at once, more in the background. */
export class Reindexer {
  readonly #items: LongTermItems;
  readonly #semantic: SemanticIndex;
  readonly #notice: Notice;
  readonly #queue = new Set<Entry>();
  #working: Promise<void> | undefined;
  #stopped = false;
  #warned = "";

  constructor(items: LongTermItems, semantic: SemanticIndex, notice: Notice) {
    this.#items = items;
    this.#semantic = semantic;
    this.#notice = notice;
  }

  /** Embeds these items. Up to one batch is done when the promise resolves, more goes on behind it. Never rejects. */
  async index(entries: readonly Entry[]): Promise<void> {
    if (this.#stopped) return;
    for (const entry of entries) this.#queue.add(entry);
    const inBackground = this.#queue.size > BATCH;
    if (inBackground && this.#working === undefined) {
      this.#notice("info", `Embedding ${this.#queue.size} store items for semantic search; until then they come last.`);
    }
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
    if (!inBackground) await this.#working;
  }

  /** Ends the work; what is under way is not stored. */
  stop(): void {
    this.#stopped = true;
    this.#queue.clear();
  }

  async #work(): Promise<void> {
    while (this.#queue.size > 0) {
      const batch = [...this.#queue].slice(0, BATCH);
      try {
        // oxlint-disable-next-line no-await-in-loop -- a provider is asked for one batch at a time
        await this.#embed(batch);
      } catch (error) {
        // oxlint-disable-next-line no-await-in-loop -- as above
        await this.#embedSingly(batch, error);
      }
      for (const entry of batch) this.#queue.delete(entry);
    }
  }

  /** @returns whether something was embedded. */
  async #embed(batch: readonly Entry[]): Promise<boolean> {
    const entries = batch.filter((entry) => !this.#stopped && this.#items.index.has(entry));
    const asked = entries.map((entry) =>
      this.#semantic.textsOf({ text: this.#items.text(entry), index: entry.head.index }),
    );
    const records = await this.#semantic.embed(asked);
    if (this.#stopped) return false;
    this.#items.storeVectors(entries, records);
    for (const [i, entry] of entries.entries()) if (records[i] === undefined) this.#semantic.settle(entry);
    return records.some((record) => record !== undefined);
  }

  /** Finds the item that a provider refuses, so that it does not hold up the others for ever. */
  async #embedSingly(batch: readonly Entry[], error: unknown): Promise<void> {
    const failed: Entry[] = [];
    let reason = error;
    let succeeded = false;
    for (const entry of batch) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one after the other, to stop in time
        succeeded = (await this.#embed([entry])) || succeeded;
      } catch (cause) {
        failed.push(entry);
        reason = cause;
      }
      if (this.#stopped) return;
      if (!succeeded && failed.length === Math.min(TRIES, batch.length)) {
        // It is not the items. A later search tries again.
        this.#queue.clear();
        return this.#warn("Items of the store cannot be embedded now; semantic searches have them last", reason);
      }
    }
    if (failed.length === 0) return;
    for (const entry of failed) this.#semantic.settle(entry);
    const names = failed.map(({ head: { namespace, key } }) => [...namespace, key].join("/"));
    this.#warn(`Not embedded, so last in semantic searches: ${names.slice(0, 5).join(", ")}`, reason);
  }

  #warn(what: string, error: unknown): void {
    const message = `${what}: ${error instanceof Error ? error.message : String(error)}`;
    if (message !== this.#warned) this.#notice("warn", message);
    this.#warned = message;
  }
}
