// Keeps the order in which puts were asked for. A put that waits for its embedding is stored later than it came; what was put or
// deleted under the same name meanwhile came after it and must win.

/** The order of the changes of one store. */
export class Order {
  #last = 0;
  #waiting = 0;
  /** Of the names that were changed while some put waits: the latest change. */
  readonly #changed = new Map<string, number>();

  /** The place of a change that is made at once. */
  next(): number {
    return ++this.#last;
  }

  /** Runs a change that has to wait for something; it gets its place. */
  async waiting<T>(work: (place: number) => Promise<T>): Promise<T> {
    const place = this.next();
    this.#waiting++;
    try {
      return await work(place);
    } finally {
      if (--this.#waiting === 0) this.#changed.clear();
    }
  }

  /** Whether the change of `name` that has this place comes too late. */
  isLate(name: string, place: number): boolean {
    return (this.#changed.get(name) ?? 0) > place;
  }

  /** Notes a change that was stored. */
  stored(name: string, place: number): void {
    if (this.#waiting > 0) this.#changed.set(name, place);
  }
}
