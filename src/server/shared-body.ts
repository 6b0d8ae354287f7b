// A request body that may be read twice: by the project's own app, and by the server, when the app leaves the request to it. Nothing is
// read before somebody asks for it, and nothing is kept longer than somebody might.

/** A body with two readers, who may be anywhere in it. What the slower one has not read yet is in memory. */
export class SharedBody {
  readonly #source: () => ReadableStream<Uint8Array>;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  /** What was read, in order; undefined where it is not needed any more. */
  readonly #chunks: (Uint8Array | undefined)[] = [];
  #ended = false;
  #reading: Promise<void> | undefined;
  #kept = true;

  /** @param source the body itself, asked for at the first read. */
  constructor(source: () => ReadableStream<Uint8Array>) {
    this.#source = source;
  }

  /** The whole body for one reader. */
  stream(): ReadableStream<Uint8Array> {
    let at = 0;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const chunk = await this.#chunk(at);
          if (chunk === undefined) return controller.close();
          if (!this.#kept) this.#chunks[at] = undefined;
          at++;
          controller.enqueue(chunk);
        },
      },
      // Nothing is read ahead.
      { highWaterMark: 0 },
    );
  }

  /** Nobody will read it from its beginning again. */
  release(): void {
    this.#kept = false;
  }

  async #chunk(at: number): Promise<Uint8Array | undefined> {
    while (at >= this.#chunks.length && !this.#ended) {
      // oxlint-disable-next-line no-await-in-loop -- one piece after the other
      await (this.#reading ??= this.#read());
    }
    return this.#chunks[at];
  }

  async #read(): Promise<void> {
    try {
      this.#reader ??= this.#source().getReader();
      const { done, value } = await this.#reader.read();
      if (done) this.#ended = true;
      else this.#chunks.push(value);
    } finally {
      this.#reading = undefined;
    }
  }
}
