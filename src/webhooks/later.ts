// What is to be sent at a later time, the earliest first. A binary heap: with many dead receivers tens of thousands wait for their next try,
// and each new delivery passes here.

interface Entry<T> {
  readonly value: T;
  readonly due: number;
  /** Of the same time, what came first goes first. */
  readonly order: number;
}

const before = (a: Entry<unknown>, b: Entry<unknown>): boolean =>
  a.due < b.due || (a.due === b.due && a.order < b.order);

/** Values with the time when each is due. */
export class Later<T> {
  /** The entry at `i` goes before those at `2i + 1` and `2i + 2`. */
  readonly #heap: Entry<T>[] = [];
  #added = 0;

  /** @param due not before this time, in milliseconds. */
  add(value: T, due: number): void {
    const entry = { value, due, order: this.#added++ };
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (!before(entry, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  /** Takes out the earliest if it is due; undefined when nothing is. */
  take(now: number): T | undefined {
    const heap = this.#heap;
    const first = heap[0];
    if (first === undefined || first.due > now) return undefined;
    const last = heap.pop()!;
    if (last === first) return first.value;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (child >= heap.length || before(last, heap[child]!)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first.value;
  }

  /** When the earliest is due; Infinity when there is none. */
  get earliest(): number {
    return this.#heap[0]?.due ?? Infinity;
  }
}
