// An iterable that is filled from outside: the end of a pipe into code that only takes async iterables.

export class PushIterator<T> implements AsyncIterable<T>, AsyncIterator<T, undefined> {
  readonly #items: T[] = [];
  #waiting: { resolve: (result: IteratorResult<T, undefined>) => void; reject: (error: unknown) => void } | undefined;
  #end: { readonly error?: unknown } | undefined;

  push(item: T): void {
    if (this.#end !== undefined) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#items.push(item);
    else waiting.resolve({ done: false, value: item });
  }

  /** Nothing more will come. */
  end(): void {
    this.#end ??= {};
    this.#waiting?.resolve({ done: true, value: undefined });
    this.#waiting = undefined;
  }

  /** What comes behind the items that are there is this error. */
  fail(error: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#items.length > 0) return Promise.resolve({ done: false, value: this.#items.shift()! });
    if (this.#end === undefined) {
      return new Promise((resolve, reject) => {
        this.#waiting = { resolve, reject };
      });
    }
    return "error" in this.#end ? Promise.reject(this.#end.error) : Promise.resolve({ done: true, value: undefined });
  }

  /** The reader wants no more. */
  return(): Promise<IteratorResult<T, undefined>> {
    this.#items.length = 0;
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return this;
  }
}
