// What a run has written on its thread, as far as must be known to take it back: without it the whole thread would have to be read. A few
// numbers per run, in memory; of a run that began before the server did, there is none, and its thread is read (runs/rollback.ts).

/** Parts of one channel's log, from a number on. */
export interface WrittenParts {
  readonly ns: string;
  readonly channel: string;
  readonly first: number;
}

export class RunJournal {
  readonly threadId: string;
  readonly checkpoints: { readonly ns: string; readonly id: string }[] = [];
  /** Ids of the contexts that were not there before. */
  readonly contexts: string[] = [];
  /** It changed what waited at checkpoints of earlier runs, and what was there before is kept. */
  changedEarlier = false;
  readonly #parts = new Map<string, WrittenParts>();

  constructor(threadId: string) {
    this.threadId = threadId;
  }

  /** Takes note of parts that were written. Only one run writes on a thread, so that all parts from the first on are its own. */
  took(ns: string, channel: string, first: number): void {
    const name = `${ns}/${channel}`;
    if (!this.#parts.has(name)) this.#parts.set(name, { ns, channel, first });
  }

  get parts(): Iterable<WrittenParts> {
    return this.#parts.values();
  }
}
