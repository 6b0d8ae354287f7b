// What a run has written on its thread, as far as must be known to take it back: without it the whole thread would have to be read. It is in
// memory and small; of a run that began before the server did, there is none, and its thread is read (runs/rollback.ts).

/** Checkpoints that are noted; a run that writes more is taken back by what stands in storage. */
const MAX_CHECKPOINTS = 20_000;

/** Parts of one channel's log, from a number on. */
export interface WrittenParts {
  readonly ns: string;
  readonly channel: string;
  readonly first: number;
}

export class RunJournal {
  readonly threadId: string;
  /** There were too many checkpoints: not all of them are here. */
  overflown = false;
  readonly checkpoints: { readonly ns: string; readonly id: string }[] = [];
  /** Ids of the contexts that were not there before. */
  readonly contexts: string[] = [];
  /** It changed what waited at checkpoints of earlier runs, and what was there before is kept. */
  changedEarlier = false;
  readonly #parts = new Map<string, WrittenParts>();

  constructor(threadId: string) {
    this.threadId = threadId;
  }

  /** Takes note of a checkpoint that was written. */
  wrote(ns: string, id: string): void {
    if (this.checkpoints.length < MAX_CHECKPOINTS) this.checkpoints.push({ ns, id });
    else this.overflown = true;
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
